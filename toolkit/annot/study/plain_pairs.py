"""Pairs that the database counts, and the outcome of the others: what every command needs for its next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from annot.base.records import Assignment, Judgement, Qrel
from annot.base.settings import Settings
from annot.store.answers import (
    ADJUDICATIONS,
    JUDGEMENTS,
    PlainPair,
    count_judgements,
    count_plain_pairs,
    plain_pairs,
    read_accepted,
    read_returned,
)
from annot.store.models import Session
from annot.store.people import count_by_assessor, read_assignments, read_plan
from annot.store.pools import withdrawn_ids
from annot.study.outcome import Outcome, Pair, last_outcome, outcome_from, outcome_of, texts_of

T = TypeVar("T", Assignment, Judgement)


@dataclass(frozen=True)
class PlainPairs:
    """Planned pairs that each of their assessors judged once with a grade, and of which nothing else is on record."""

    number: int
    disputed: int
    """Number of pairs on which the assessors differ."""
    given: Counter[str]
    """Number of each assessor's judgements."""
    most: int
    """Largest number of assessors of a pair."""
    rows: Callable[[], Iterable[PlainPair]]

    @cached_property
    def grades(self) -> Mapping[Pair, int | None]:
        """Grade on which the assessors agree; None if they differ."""
        return _grades(self.rows())

    @property
    def qrels(self) -> list[Qrel]:
        """The final grades of the others."""
        return [Qrel(*pair, grade) for pair, grade in self.grades.items() if grade is not None]


NO_PLAIN_PAIRS = PlainPairs(0, 0, Counter(), 0, tuple)


def counted_outcome(session: Session, settings: Settings, *, whole: bool) -> tuple[PlainPairs, Outcome]:
    """The plain pairs, as the database counts them, and the outcome of all others: most pairs of a large study are
    plain, and none of their rows is read. If all are, the pairs themselves are read only if their grades are asked for.

    whole: no pair is plain, because more than its counts is asked for.
    """
    drawn = read_plan(session)
    noted = read_returned(session) or read_accepted(session) or withdrawn_ids(session) or texts_of(session)
    if whole or noted or (drawn and drawn.vacant) or last_outcome(session, settings):
        return NO_PLAIN_PAIRS, outcome_of(session, settings)
    settled = ADJUDICATIONS.current(session)
    ruled, per_pair = {ruling.record.pair for ruling in settled}, (drawn and drawn.per_pair) or 0
    plain, plan, judgements = _told_apart(session, per_pair=per_pair, ruled=ruled)
    return plain, outcome_from(plan, judgements, settled, (), asked=settings.adjudication.asked, drawn=drawn)


def _told_apart(
    session: Session, *, per_pair: int, ruled: Collection[Pair]
) -> tuple[PlainPairs, tuple[Assignment, ...], tuple[Judgement, ...]]:
    """The plain pairs, and the rows of the others. ruled: pairs with an adjudicator's answer."""
    given = count_by_assessor(session)
    counts = None if ruled else count_plain_pairs(session, planned=given.total())
    if counts and counts.fewest >= per_pair:
        read = partial(plain_pairs, session, all_are=True)
        return PlainPairs(counts.pairs, counts.disputed, given, counts.most, read), (), ()
    rows = [row for row in plain_pairs(session) if row[2] >= per_pair and row[:2] not in ruled]
    grades, sizes = _grades(rows), [row[2] for row in rows]
    plan: tuple[Assignment, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    if max(given.total(), count_judgements(session)) > sum(sizes):
        plan = _rows_of_others(read_assignments(session), grades)
        judgements = _rows_of_others(JUDGEMENTS.records(session), grades)
    elsewhere = Counter(row.assessor for row in plan)
    disputed = sum(grade is None for grade in grades.values())
    return PlainPairs(len(rows), disputed, given - elsewhere, max(sizes, default=0), lambda: rows), plan, judgements


def _grades(rows: Iterable[PlainPair]) -> dict[Pair, int | None]:
    return {row[:2]: row[3] if row[3] == row[4] else None for row in rows}


def _rows_of_others(rows: Iterable[T], pairs: Collection[Pair]) -> tuple[T, ...]:
    return tuple([row for row in rows if row.pair not in pairs])


STATES = {
    "agreed": "agreed",
    "settled": "settled by an adjudicator",
    "unjudgeable": "closed without a grade",
    "open": "in dispute",
    "waiting": "returned and not answered yet",
    "vacant": "without an assessor",
    "incomplete": "still to be judged",
}
"""Words for the states of pairs, in the order in which they are shown."""


def states_of(outcome: Outcome, plain: PlainPairs = NO_PLAIN_PAIRS) -> dict[str, int]:
    """Number of planned pairs in each state, without empty states."""
    settled = outcome.adjudications.keys() & outcome.planned.keys()
    vacant = outcome.progress.vacant.keys() - set(outcome.waiting)
    agreed = {decision.pair for decision in outcome.agreed} - settled
    rest = (outcome.unjudgeable, outcome.open, outcome.waiting, vacant, set(outcome.incomplete) - vacant)
    counts = Counter({state: len(pairs) for state, pairs in zip(STATES, (agreed, settled, *rest), strict=True)})
    counts.update({"agreed": plain.number - plain.disputed, "open": plain.disputed})
    return {state: count for state, count in counts.items() if count}
