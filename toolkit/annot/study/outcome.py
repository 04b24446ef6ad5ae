"""Where every planned pair stands: what its assessors said, whether it is in dispute, and its final grade."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlmodel import Session

from annot.adjudication import Pair, Settlement, rulings_of, settle
from annot.records import Adjudication, Assignment, Decision, Judgement, Qrel
from annot.settings import Settings
from annot.store.adjudications import read_adjudications
from annot.store.judgements import read_judgements
from annot.store.people import read_assignments


@dataclass(frozen=True, slots=True)
class Outcome:
    """The pairs of the plan, all from one look at the store."""

    planned: dict[Pair, tuple[str, ...]]
    judgements: tuple[Judgement, ...]
    """One for each pair and assessor that has any: the latest that counts, else the latest of all."""
    repeats: tuple[Judgement, ...]
    """The answers to hidden repeats, chosen the same way. They settle nothing."""
    settlement: Settlement
    adjudications: dict[Pair, Adjudication]
    """The adjudication that counts, of each pair that has a grade from one."""
    unjudgeable: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that nobody can judge: their assessors do not agree, and no adjudicator who was asked could judge them.
    They have ended, without a final grade."""
    passed_on: dict[Pair, tuple[Adjudication, ...]]
    """Pairs that an adjudicator could not judge and that wait for another one."""
    decisions: tuple[Decision, ...]
    """By pair."""
    open: tuple[Pair, ...]
    """Pairs in dispute that nobody has settled yet."""
    incomplete: tuple[Pair, ...]
    """Pairs that have not ended and that not all of their assessors have answered."""

    @property
    def everything(self) -> tuple[Judgement, ...]:
        """Judgements and repeats, by pair, assessor and occasion."""
        return tuple(sorted((*self.judgements, *self.repeats), key=_key))

    @property
    def qrels(self) -> tuple[Qrel, ...]:
        """The final grades, by pair; a pair without one is not among them."""
        return tuple(Qrel(decision.query_id, decision.doc_id, decision.grade) for decision in self.decisions)

    @property
    def of_answered_pairs(self) -> tuple[Judgement, ...]:
        """The judgements of the pairs that all planned assessors have answered: none is missing."""
        incomplete = set(self.incomplete)
        return tuple(
            judgement for judgement in self.judgements if (judgement.query_id, judgement.doc_id) not in incomplete
        )


def outcome_of(session: Session, settings: Settings) -> Outcome:
    """The state of every planned pair in the store."""
    return outcome_from(
        read_assignments(session),
        read_judgements(session),
        read_adjudications(session),
        asked=settings.adjudication.asked,
    )


def outcome_from(
    plan: tuple[Assignment, ...], judgements: Iterable[Judgement], settled: Iterable[Adjudication], *, asked: int
) -> Outcome:
    """The state of every planned pair.

    asked: see `annot.adjudication.rulings_of`. A grade from an adjudicator stands once it is given, also where an
    assessor changed a grade afterwards and the two now agree. An adjudicator who could not judge settles nothing where
    the assessors agree.
    """
    planned = assessors_by_pair(plan)
    latest = current_judgements(judgements)
    current = tuple(one for one in latest if one.occasion == 1)
    settlement = settle(planned, current)
    rulings = rulings_of((one for one in settled if (one.query_id, one.doc_id) in planned), asked=asked)
    adjudications = rulings.graded
    decisions = {(decision.query_id, decision.doc_id): decision for decision in settlement.agreed}
    unjudgeable = {pair: said for pair, said in rulings.unjudgeable.items() if pair not in decisions}
    for pair, one in adjudications.items():
        assert one.grade is not None
        decisions[pair] = Decision(*pair, one.grade, "adjudicated", one.adjudicator, one.reason)
    return Outcome(
        planned=planned,
        judgements=current,
        repeats=tuple(one for one in latest if one.occasion > 1),
        settlement=settlement,
        adjudications=adjudications,
        unjudgeable=unjudgeable,
        passed_on=rulings.passed_on,
        decisions=tuple(decisions[pair] for pair in sorted(decisions)),
        open=tuple(
            (dispute.query_id, dispute.doc_id)
            for dispute in settlement.disputed
            if (dispute.query_id, dispute.doc_id) not in adjudications | unjudgeable
        ),
        incomplete=tuple(pair for pair in settlement.incomplete if pair not in adjudications | unjudgeable),
    )


def assessors_by_pair(plan: tuple[Assignment, ...]) -> dict[Pair, tuple[str, ...]]:
    """The assessors of each planned pair."""
    found: dict[Pair, set[str]] = {}
    for assignment in plan:
        found.setdefault((assignment.query_id, assignment.doc_id), set()).add(assignment.assessor)
    return {pair: tuple(sorted(names)) for pair, names in found.items()}


def current_judgements(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Of several answers of one assessor on one occasion, the latest that counts; where none counts, the latest."""
    found: dict[tuple[str, str, str, int], Judgement] = {}
    for judgement in judgements:
        if _key(judgement) not in found or not judgement.flags or found[_key(judgement)].flags:
            found[_key(judgement)] = judgement
    return tuple(found[key] for key in sorted(found))


def _key(one: Judgement) -> tuple[str, str, str, int]:
    return one.query_id, one.doc_id, one.assessor, one.occasion
