"""What is still being judged: while anything is, a final grade that gets about could reach somebody who is to judge."""

from __future__ import annotations

from collections.abc import Iterator

from sqlmodel import Session

from annot.base.records import Assignment, Judgement
from annot.store import trials
from annot.store.projects import StoredRound, read_hidden
from annot.study.exports import unfinished
from annot.study.snapshot import Snapshot

TRIALS: tuple[StoredRound, ...] = ("train", "substudy-abstract", "substudy-full")


def under_way(session: Session, snapshot: Snapshot) -> tuple[str, ...]:
    """What is still to be answered, in words; empty once everything has ended.

    Pairs without a final grade, and what is asked of people who are to answer without knowing that grade: hidden
    repeats, hidden gold, training, the sub-study. Nobody waits for people who have left.
    """
    return tuple(_waiting(session, snapshot))


def _waiting(session: Session, snapshot: Snapshot) -> Iterator[str]:
    open_pairs = len(unfinished(snapshot.outcome))
    if open_pairs:
        yield f"{open_pairs} pair(s) without a final grade"
    gone = {person.assessor for person in snapshot.people if person.left_on is not None}

    def unanswered(asked: Iterator[tuple[str, str, str]], answers: tuple[Judgement, ...]) -> int:
        given = {(one.assessor, one.query_id, one.doc_id) for one in answers if one.counts}
        return sum(one not in given and one[0] not in gone for one in asked)

    repeats = unanswered(
        (_who(one) for one in snapshot.assignments if one.occasion > 1),
        tuple(one for one in snapshot.outcome.everything if one.occasion > 1),
    )
    if repeats:
        yield f"{repeats} pair(s) to be judged again"
    hidden = unanswered(
        ((name, *pair) for name, pairs in read_hidden(session).items() for pair in pairs),
        _answers(session, "hidden-gold"),
    )
    in_trials = hidden + sum(
        unanswered(map(_who, trials.read_assignments(session, round)), _answers(session, round)) for round in TRIALS
    )
    if in_trials:
        yield f"{in_trials} answer(s) of training or the sub-study"


def _who(one: Assignment) -> tuple[str, str, str]:
    return one.assessor, one.query_id, one.doc_id


def _answers(session: Session, round: StoredRound) -> tuple[Judgement, ...]:
    return tuple(answer.record for answer in trials.read_answers(session, round))
