"""Which answers a meeting looks at, in which order, and which pairs are kept out of it: made-up answers by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Assignment, Judgement, PairKey, PairReturn
from annot.judging import comments
from annot.judging.comments import knew
from annot.store.models import How, Notice
from annot.study.outcome import gap_of

EARLY, LATE = "2031-03-05T10:00:00+00:00", "2031-03-12T10:00:00+00:00"


def answer(grade: int | None, comment: str | None = None, *, at: str | None = EARLY, who: str = "a1") -> Judgement:
    why = None if grade is not None else "outside my field"
    return Judgement("q", "d", who, grade, cannot_judge=why, comment=comment, judged_at=at)


@pytest.mark.parametrize(
    ("moments", "last"),
    [((EARLY, LATE), LATE), ((LATE, EARLY), LATE), ((EARLY,), EARLY), ((EARLY, None), None), ((None, None), None)],
)
def test_a_pair_is_finished_with_its_last_answer_if_all_say_when(
    moments: tuple[str | None, ...], last: str | None
) -> None:
    found = comments._last([answer(1, at=moment) for moment in moments])
    assert (found and found.isoformat()) == last


def test_answers_are_ordered_by_grade_and_words_with_those_without_a_grade_last() -> None:
    given = [answer(None, "b"), answer(1, "z"), answer(0, "y"), answer(None, "a"), answer(1, "c"), answer(0)]
    ordered = [(one.grade, one.comment) for one in comments._ordered(given)]
    assert ordered == [(0, None), (0, "y"), (1, "c"), (1, "z"), (None, "a"), (None, "b")]


def test_of_two_grades_the_lower_is_first_whatever_is_written() -> None:
    low, high = Judgement("q", "d", "a1", 0, comment="Z"), Judgement("q", "d", "a2", 1, comment="A")
    assert comments._ordered([high, low]) == [low, high]


@pytest.mark.parametrize(
    ("occasion", "answered", "held_back"), [(1, False, False), (2, False, True), (2, True, False), (3, False, True)]
)
def test_a_hidden_repeat_is_kept_out_until_it_is_answered(occasion: int, answered: bool, held_back: bool) -> None:
    assigned = Assignment("q", "d", "a1", 1, occasion)
    given = (
        {("a1", assigned.pair_key)}
        if answered
        else {("a2", assigned.pair_key), ("a1", PairKey("q", "other", occasion))}
    )
    outcome = SimpleNamespace(answered=given, returned=())
    snapshot: Any = SimpleNamespace(outcome=outcome, assignments=[assigned])
    assert comments.asked_again(snapshot) == ({("q", "d")} if held_back else set())


@pytest.mark.parametrize("answered", [False, True])
def test_a_returned_pair_is_kept_out_until_it_is_answered(*, answered: bool) -> None:
    back = PairReturn("q", "d", "a1", 3, "Look again.", EARLY)
    given = {("a1", back.pair_key)} if answered else {("a2", back.pair_key)}
    snapshot: Any = SimpleNamespace(outcome=SimpleNamespace(answered=given, returned=[back]), assignments=[])
    assert comments.asked_again(snapshot) == (set() if answered else {("q", "d")})


def test_grades_that_meet_are_counted_over_the_pairs_with_two_grades() -> None:
    told = {
        ("r", "d6"): [answer(1), answer(0)],
        ("q", "d1"): [answer(0), answer(3), answer(3)],
        ("q", "d2"): [answer(3), answer(0)],
        ("q", "d3"): [answer(1), answer(2)],
        ("q", "d4"): [answer(2), answer(2)],
        ("q", "d5"): [answer(2), answer(None)],
    }
    found = comments._recurring(told, {"q": "method", "r": "result"})
    assert [(one.facet, one.low, one.high, one.pairs, one.of) for one in found] == [
        ("method", 0, 3, 2, 4), ("method", 1, 2, 1, 4), ("result", 0, 1, 1, 1),
    ]  # fmt: skip
    assert [gap_of(answers) for answers in told.values()] == [1, 3, 3, 1, 0, 0]


def test_reasons_are_listed_with_the_most_frequent_first() -> None:
    assert comments._most_frequent(["b", None, "a", "c", "c"]) == (("c", 2), ("a", 1), ("b", 1))


# -- words go into a release only of people who knew of publication when they wrote, or who agreed later ---------------


WROTE = "2031-01-02T10:00:00+00:00"
BEFORE, LATER = "2031-01-02T09:59:59+00:00", "2031-01-02T10:00:01+00:00"


def notice(how: How, at: str, published: bool = True, *, person: str = "a1", kind: str = "comments") -> Notice:
    return Notice(person, kind, how, at, published)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("notices", "known"),
    [
        ([], False),
        ([notice("letter", BEFORE)], True),
        ([notice("letter", WROTE)], True),
        ([notice("letter", LATER)], False),
        ([notice("letter", BEFORE, False)], False),
        ([notice("letter", BEFORE, person="a2")], False),
        ([notice("letter", BEFORE, kind="reasons")], False),
        ([notice("screen", BEFORE)], True),
        ([notice("screen", BEFORE, False)], False),
        ([notice("letter", BEFORE), notice("screen", WROTE, False)], True),
        ([notice("letter", BEFORE), notice("letter", WROTE, False)], False),
        ([notice("letter", BEFORE), notice("letter", WROTE, False), notice("screen", WROTE, False)], False),
        ([notice("screen", BEFORE), notice("screen", WROTE, False)], False),
        ([notice("consent", LATER)], True),
        ([notice("consent", WROTE)], True),
        ([notice("consent", BEFORE)], False),
        ([notice("letter", BEFORE, False), notice("consent", LATER)], True),
        ([notice("consent", LATER, person="a2")], False),
    ],
)
def test_who_knew_at_the_moment_of_writing(notices: list[Notice], known: bool) -> None:
    """A screen that says nothing leaves what the letter said; consent reaches back to all that was written before."""
    assert knew(notices, "a1", "comments", WROTE) is known


@pytest.mark.parametrize(("how", "known"), [("letter", False), ("screen", False), ("consent", True)])
def test_words_without_a_moment_need_consent(how: How, known: bool) -> None:
    assert knew([notice(how, BEFORE)], "a1", "comments", None) is known
