"""Every pair without a final grade is named with the reason, and `--partial` lets it pass."""

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Adjudication, Assignment, Judgement, PairReturn
from annot.store.answers import SourcedAdjudication
from annot.study.outcome import Outcome, outcome_from
from annot.study.snapshot import refuse_unfinished, too_few, unfinished

TEAM = ("a1", "a2")


def study(
    grades: dict[str, tuple[int | None, ...]],
    *,
    unable: tuple[str, ...] = (),
    asked: int = 2,
    returned: tuple[PairReturn, ...] = (),
) -> Outcome:
    """grades: of a1 and a2, by document; None where there is none. unable: pairs that j1 could not judge."""
    plan = tuple(Assignment("q1", doc, name, 1) for doc in grades for name in TEAM)
    given = [
        Judgement("q1", doc, name, grade)
        for doc, both in grades.items()
        for name, grade in zip(TEAM, both, strict=True)
        if grade is not None
    ]
    said = [
        Adjudication("q1", doc, "j1", None, "shown", TEAM, cannot_judge="no abstract", judged_at="2031-01-01T10:00:00Z")
        for doc in unable
    ]
    settled = [SourcedAdjudication(one, "label-studio", one.doc_id, {}) for one in said]
    return outcome_from(plan, given, settled, returned, asked=asked)


def test_each_reason_is_its_own() -> None:
    again = PairReturn("q1", "back", "a2", 3, "Look again.", "2031-01-01T09:00:00Z")
    grades = {"agreed": (1, 1), "open": (0, 3), "passed": (0, 3), "half": (1, None), "back": (0, 3)}
    found = unfinished(study(grades, unable=("passed",), returned=(again,)))
    assert sorted(found) == [
        "q1 back: returned to a2, who has not answered yet; `annot return q1 back --to a2 --undo` takes it back",
        "q1 half: not judged by all assessors yet",
        "q1 open: in dispute, not adjudicated",
        "q1 passed: in dispute, one adjudicator could not judge it, a second is needed",
    ]


def test_a_pair_that_every_adjudicator_asked_could_not_judge_is_closed() -> None:
    assert unfinished(study({"d1": (0, 3)}, unable=("d1",), asked=1)) == []


def test_a_study_with_a_pair_left_is_unfinished_unless_it_may_be() -> None:
    outcome = study({"d1": (1, 1), "d2": (0, 3)})
    with pytest.raises(InputError, match="1 pair without a final grade") as error:
        refuse_unfinished(outcome, partial=False)
    assert list(error.value.faults) == ["q1 d2: in dispute, not adjudicated"]
    assert "--partial" in str(error.value.hint)
    refuse_unfinished(outcome, partial=True)
    refuse_unfinished(study({"d1": (1, 1)}), partial=False)
    assert too_few(outcome) == []


def test_nothing_judged_and_nothing_settled_are_refused_even_as_a_part() -> None:
    for grades in ({"d1": (None, None)}, {"d1": (0, 3)}):
        with pytest.raises(MissingInput):
            refuse_unfinished(study(grades), partial=True)
