"""Answers that came faster than anyone can read: whose they are, and to which pairs. They count all the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import median_high
from typing import NamedTuple

from sqlmodel import Session

from annot.base.names import moment_of
from annot.base.records import Adjudication, Judgement, grouped
from annot.store import trials
from annot.store.models import StoredRound
from annot.study.outcome import Outcome, Pair

FLOOR_SECONDS = 1.0
"""Nobody reads two texts and presses two keys in less."""
SHARE, ENOUGH_TIMES = 0.05, 20
"""Share of the study's median time, once people have that many times each: long texts need more than a second."""
LOADING_SECONDS = 3.0
"""Seconds that a slow server needs from one pair to the next."""
BESIDE: tuple[StoredRound, ...] = ("train", "substudy-abstract", "substudy-full")
"""The rounds whose grades do not count, by their names in the store."""


def answers_of(session: Session, outcome: Outcome) -> list[tuple[StoredRound, Judgement]]:
    """Every answer of assessors that counts, each with the round of the project that it is in: hidden gold is judged
    among the others."""
    answers: list[tuple[StoredRound, Judgement]] = [("judge", answer) for answer in outcome.everything]
    answers += [("judge", gold.record) for gold in trials.read_answers(session, "hidden-gold")]
    answers += [(round, answer.record) for round in BESIDE for answer in trials.read_answers(session, round)]
    return [(round, answer) for round, answer in answers if answer.counts]


class Rushed(NamedTuple):
    """The pairs that were answered too fast."""

    limit: float
    """Seconds in which a pair cannot be read."""
    pairs: Mapping[tuple[str, str], tuple[Pair, ...]]
    """Pairs of each person and round."""


NONE_RUSHED = Rushed(FLOOR_SECONDS, {})


def rushed_pairs(session: Session, outcome: Outcome) -> Rushed:
    """Everyone's answers and decisions that came too fast."""
    projects: dict[tuple[str, str], Sequence[Judgement | Adjudication]] = {
        **grouped(((answer.assessor, round), answer) for round, answer in answers_of(session, outcome)),
        **grouped(((ruling.adjudicator, "adjudicate"), ruling) for ruling in outcome.rulings),
    }
    limit = reading_limit(answers for (_, round), answers in projects.items() if round == "judge")
    return Rushed(limit, {project: too_fast(answers, limit) for project, answers in sorted(projects.items())})


def reading_limit(by_person: Iterable[Iterable[Judgement | Adjudication]]) -> float:
    """Seconds in which a pair cannot be read: one, or a twentieth of what a pair usually takes in this study.

    The usual time is a median over people of their medians. One hasty person cannot lower it.
    """
    times = (
        [answer.lead_time for answer in answers if answer.counts and answer.lead_time is not None]
        for answers in by_person
    )
    medians = [median_high(seconds) for seconds in times if len(seconds) >= ENOUGH_TIMES]
    return max(FLOOR_SECONDS, SHARE * median_high(medians)) if medians else FLOOR_SECONDS


def too_fast(answers: Iterable[Judgement | Adjudication], limit: float) -> tuple[Pair, ...]:
    """The pairs of one project that were answered within `limit` seconds of being shown, in their order.

    Whoever reloads the page, or comes back to an open pair, may have read it before: Label Studio counts the seconds
    from the last time it was shown. So there must also have been no time to read since the answer before.
    """
    dated = [(moment, answer) for answer in answers if answer.counts and (moment := moment_of(answer.judged_at))]
    fast = (
        answer.pair
        for (earlier, _), (moment, answer) in pairwise(sorted(dated, key=itemgetter(0)))
        if (answer.lead_time if answer.lead_time is not None else limit) < limit
        and (moment - earlier).total_seconds() < limit + LOADING_SECONDS
    )
    return tuple(dict.fromkeys(fast))
