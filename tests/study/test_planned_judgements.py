"""Planned judgements less those that count, in every state of a small plan."""

from dataclasses import replace
from typing import Any

import pytest
from annot.base.records import Adjudication, Assignment, Judgement, PairKey, PairReturn
from annot.store.answers import SourcedAdjudication
from annot.store.models import Plan
from annot.study.outcome import Outcome, outcome_from

TEAM = ("a1", "a2")
PAIRS = ("one", "two", "three")
WHOLE_PLAN = tuple(Assignment("q", doc, name, at) for name in TEAM for at, doc in enumerate(PAIRS, start=1))
"""Two judgements of each of three pairs: six in all."""
MOMENT = "2031-01-01T{}:00+00:00"


def judgement(doc: str, who: str, grade: int | None = 1, **more: Any) -> Judgement:
    return Judgement("q", doc, who, grade, **more)


EVERYTHING = tuple(judgement(doc, name) for doc in PAIRS for name in TEAM)


def outcome(
    given: tuple[Judgement, ...] = EVERYTHING,
    *,
    plan: tuple[Assignment, ...] = WHOLE_PLAN,
    settled: tuple[SourcedAdjudication, ...] = (),
    returned: tuple[PairReturn, ...] = (),
    per_pair: int | None = 2,
    vacant: tuple[tuple[str, str], ...] = (),
    accepted: dict[tuple[str, str], str] | None = None,
) -> Outcome:
    drawn = None if per_pair is None else Plan("1", 13, "2031", per_pair, vacant)
    return outcome_from(plan, given, settled, returned, asked=1, drawn=drawn, accepted=accepted or {})


def without(doc: str, who: str) -> tuple[Judgement, ...]:
    return tuple(one for one in EVERYTHING if (one.doc_id, one.assessor) != (doc, who))


def ruling(doc: str, at: str, grade: int | None = 2) -> SourcedAdjudication:
    reason = None if grade is not None else "no abstract"
    said = Adjudication("q", doc, "j1", grade, "shown", TEAM, cannot_judge=reason, judged_at=MOMENT.format(at))
    return SourcedAdjudication(said, "label-studio", doc, {}, changed_at=MOMENT.format(at))


def back(doc: str, who: str, occasion: int = 3, at: str = "10:00") -> PairReturn:
    return PairReturn("q", doc, who, occasion, "Look again.", MOMENT.format(at))


def left_plan(*gone: tuple[str, str]) -> tuple[Assignment, ...]:
    return tuple(one for one in WHOLE_PLAN if (one.doc_id, one.assessor) not in gone)


@pytest.mark.parametrize(
    ("found", "given", "left", "missing"),
    [
        (outcome(()), 0, 6, 6),
        (outcome(), 6, 0, 0),
        (outcome(without("one", "a2")), 5, 1, 1),
        # An answer that does not count has to be given again; "cannot judge" is an answer.
        (outcome((*without("one", "a2"), judgement("one", "a2", flags=("skipped",)))), 5, 1, 1),
        (outcome((*without("one", "a2"), judgement("one", "a2", None, cannot_judge="no abstract"))), 6, 0, 0),
        # What was never planned is not work that is done.
        (outcome((*EVERYTHING, judgement("one", "a9"), judgement("one", "a1", occasion=2))), 6, 0, 0),
        # a2 left without an answer on one pair, or both left another: nobody has to give these judgements.
        (outcome(without("one", "a2"), plan=left_plan(("one", "a2"))), 5, 1, 1),
        (outcome(EVERYTHING[2:], plan=left_plan(("one", "a1"), ("one", "a2")), vacant=(("q", "one"),)), 4, 2, 2),
        # The lead accepts one judgement: nobody waits for the other, and it is missing all the same.
        (outcome(without("one", "a2"), plan=left_plan(("one", "a2")), accepted={("q", "one"): "a2 left"}), 5, 0, 1),
        # A pair without any judgement cannot be accepted as it is.
        (
            outcome(
                EVERYTHING[2:],
                plan=left_plan(("one", "a1"), ("one", "a2")),
                vacant=(("q", "one"),),
                accepted={("q", "one"): "why"},
            ),
            4,
            2,
            2,
        ),
        # Accepted, and then given to somebody after all: that judgement is waited for.
        (outcome(without("one", "a2"), accepted={("q", "one"): "a2 left"}), 5, 1, 1),
        # An adjudicator has closed the pair, with a grade or without: nothing more is asked.
        (outcome(without("one", "a2"), settled=(ruling("one", "09:00"),)), 5, 0, 1),
        (outcome(without("one", "a2"), settled=(ruling("one", "09:00", None),)), 5, 0, 1),
        (outcome(without("one", "a2"), plan=left_plan(("one", "a2")), settled=(ruling("one", "09:00"),)), 5, 0, 1),
        # Returned: the first answer is on record, the one that counts is not there yet.
        (outcome(returned=(back("one", "a2"),)), 5, 1, 0),
        (outcome((*EVERYTHING, judgement("one", "a2", 2, occasion=3)), returned=(back("one", "a2"),)), 6, 0, 0),
        (
            outcome(
                (*EVERYTHING, judgement("one", "a2", 2, occasion=3)),
                returned=(back("one", "a2"), back("one", "a2", 4, "11:00")),
            ),
            5,
            1,
            0,
        ),
        (outcome(returned=(replace(back("one", "a2"), withdrawn_at=MOMENT.format("11:00")),)), 6, 0, 0),
        (outcome(returned=(back("one", "a2"),), settled=(ruling("one", "11:00"),)), 5, 0, 0),
        # Hidden repeats are judgements, too, also of pairs that are settled.
        (outcome(plan=(*WHOLE_PLAN, Assignment("q", "one", "a1", 9, 2))), 6, 1, 0),
        (outcome(plan=(*WHOLE_PLAN, Assignment("q", "one", "a1", 9, 2)), settled=(ruling("one", "09:00"),)), 6, 1, 0),
        # Of an imported plan it is not known how many judgements a pair was to have.
        (outcome(without("one", "a2"), plan=left_plan(("one", "a2")), per_pair=None), 5, 0, 0),
        (outcome(without("one", "a2"), per_pair=None), 5, 1, 1),
    ],
)
def test_the_planned_judgements_are_given_or_still_to_be_given(
    found: Outcome, given: int, left: int, missing: int
) -> None:
    progress = found.progress
    assert (progress.given.total(), progress.left, progress.missing) == (given, left, missing)
    # Pairs wait exactly as long as a judgement for their grade does, and every pair is in one state.
    waiting = {*found.incomplete, *found.waiting}
    assert waiting == progress.unfinished
    settled = {one.pair for one in found.decisions} | found.unjudgeable.keys()
    assert waiting | settled | {*found.open} == found.planned.keys()
    assert not waiting & settled


def test_who_has_to_give_them_is_told_from_those_that_nobody_has() -> None:
    progress = outcome((judgement("one", "a1"),), plan=left_plan(("one", "a2"), ("two", "a1"))).progress
    assert progress.left_by_assessor == {"a1": 1, "a2": 2}
    assert progress.vacant == {("q", "one"): 1, ("q", "two"): 1}
    assert progress.left == 1 + 2 + 1 + 1
    assert progress.pending[0] == ("a1", PairKey("q", "three"))
