"""Which judgements count: the latest revision that nothing speaks against, first occasions, and grades on the scale."""

import pytest
from annot.base.errors import InputError
from annot.base.records import Decision, Judgement, counted, first_judgements

FACETS = {"q": "method"}


def test_the_latest_revision_counts_where_it_has_no_flag() -> None:
    first, second = Judgement("q", "d", "a1", 1), Judgement("q", "d", "a1", 2, revision=2)
    other = Judgement("q", "e", "a1", 0)
    assert counted([second, other, first]) == (second, other)
    assert counted([first, other, second]) == (second, other)
    flagged = Judgement("q", "d", "a1", 3, revision=3, flags=("too late",))
    assert counted([first, second, flagged, other]) == (other,)


def test_a_hidden_repeat_and_another_person_are_judgements_of_their_own() -> None:
    rows = [Judgement("q", "d", "a1", 1), Judgement("q", "d", "a1", 2, occasion=2), Judgement("q", "d", "a2", 3)]
    assert counted(rows) == tuple(rows)
    assert first_judgements(rows, [], FACETS, grades=None) == (rows[0], rows[2])


def test_two_judgements_in_one_revision_are_refused_once() -> None:
    rows = [Judgement("q", "d", "a1", grade) for grade in (1, 2, 3)]
    with pytest.raises(InputError) as caught:
        counted(rows)
    assert caught.value.faults == ("q d a1: two judgements with revision 1, expected one",)


def test_every_fault_of_judgements_and_decisions_is_named() -> None:
    rows = [Judgement("q", "d", "a1", 4), Judgement("q", "d", "a2", None), Judgement("x", "d", "a1", 0)]
    decisions = [Decision("q", "d", -1, "adjudicated"), Decision("q", "e", 3, "agreed")]
    with pytest.raises(InputError) as caught:
        first_judgements(rows, decisions, FACETS, grades=range(4))
    assert caught.value.faults == (
        "x: judged, but not a known query",
        "q d: a1 has grade 4, expected one of 0, 1, 2, 3",
        "q d: the final decision has grade -1, expected one of 0, 1, 2, 3",
    )


def test_without_a_scale_any_grade_is_taken() -> None:
    rows = (Judgement("q", "d", "a1", 99),)
    assert first_judgements(rows, [Decision("q", "d", 98, "adjudicated")], FACETS, grades=None) == rows
