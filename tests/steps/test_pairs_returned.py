"""A pair goes back to its assessor with a reason: what is refused, what is noted, and what becomes of it."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import PairKey
from annot.judging.progress import progress_of
from annot.steps import changes as returns
from annot.steps.changes import change, change_one, listing
from annot.store import people
from annot.store.answers import JUDGEMENTS, read_returned
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace
from small_study import RECORDED, FirstPairs, Small, judgement, sent_to, sourced
from study_stages import copied

PAIR = ("p1-method", "d00")
LATER = "2031-03-15T18:00:00+00:00"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 judged the ten pairs of the first query of four; j1 settled d08 and d09."""
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


def back(
    ws: Workspace, pair: tuple[str, str] = PAIR, *, to: str = "a1", why: str = "Look again.", undo: bool = False,
    dry_run: bool = False,
) -> bool:  # fmt: skip
    """Whether something changed."""
    (found,) = change_one(ws, pair, assessor=to, why=why, undo=undo, dry_run=dry_run)
    assert (found.query_id, found.doc_id, found.assessor) == (*pair, to)
    return found.changed


def answer(ws: Workspace, *, occasion: int, grade: int | None, annotation: str = "999") -> None:
    """a1 answers what was asked again."""
    with ws.writing() as session:
        (first,) = (one for one in people.read_assignments(session) if one.pair == PAIR and one.assessor == "a1")
        given = replace(judgement(first), occasion=occasion, grade=grade)
        if grade is None:
            given = replace(given, cannot_judge="no text")
        again = [one._replace(annotation=annotation) for one in sourced([given])]
        JUDGEMENTS.record(session, again, recorded_at=LATER)


def returned(ws: Workspace) -> list[tuple[str, int, bool]]:
    with ws.reading() as session:
        return [(one.doc_id, one.occasion, one.withdrawn_at is not None) for one in read_returned(session)]


def test_the_same_again_changes_nothing_and_what_waits_is_not_returned_twice(ws: Workspace) -> None:
    assert back(ws, dry_run=True)
    assert returned(ws) == []
    assert back(ws, why="  Look \n again. ")
    assert not back(ws)
    assert returned(ws) == [("d00", 2, False)]
    with pytest.raises(InputError, match="p1-method d00: already waits for a1"):
        back(ws, why="Another reason.")
    assert back(ws, to="a2")
    assert back(ws, ("p1-method", "d01"))
    assert [one[:2] for one in returned(ws)] == [("d00", 2), ("d00", 2), ("d01", 2)]


def test_what_is_answered_can_be_returned_once_more_under_a_new_number_but_not_taken_back(ws: Workspace) -> None:
    back(ws)
    answer(ws, occasion=2, grade=3)
    with pytest.raises(InputError, match="p1-method d00: a1 has already answered"):
        back(ws, undo=True)
    assert back(ws, why="Once more.")
    assert returned(ws) == [("d00", 2, False), ("d00", 3, False)]


def test_a_returned_pair_is_one_judgement_with_its_new_grade(ws: Workspace) -> None:
    """d00 has grade 1 from a1 at first: while it waits it is none of the judgements, then it has the new grade."""

    def grades() -> list[int]:
        now = datetime(2032, 1, 1, tzinfo=UTC)
        a1, _ = progress_of(read_snapshot(ws), now=now, agreement=lambda snapshot: None).assessors
        assert sum(a1.grades.values()) + a1.cannot_judge == a1.judged
        return [a1.grades[grade] for grade in range(4)]

    first = grades()
    back(ws)
    assert sum(grades()) == sum(first) - 1
    answer(ws, occasion=2, grade=3)
    assert [later - before for later, before in zip(grades(), first, strict=True)] == [0, -1, 0, 1]


def test_what_waits_is_taken_back_once(ws: Workspace) -> None:
    with pytest.raises(InputError, match="p1-method d00: was not returned to a1"):
        back(ws, undo=True)
    back(ws)
    with pytest.raises(InputError, match="was not returned to a2"):
        back(ws, to="a2", undo=True)
    assert back(ws, undo=True, dry_run=True)
    assert returned(ws) == [("d00", 2, False)]
    assert back(ws, undo=True)
    assert not back(ws, undo=True)
    assert returned(ws) == [("d00", 2, True)]
    assert back(ws)
    assert returned(ws) == [("d00", 2, True), ("d00", 3, False)]


def test_only_an_assessors_own_judged_pair_goes_back(ws: Workspace) -> None:
    for pair, to, message in (
        (("p1-method", "d99"), "a1", "document 'd99': not planned for p1-method; see the plan"),
        (PAIR, "j1", "not a pair of j1"),
        (("p2-method", "d00"), "a1", "a1 has not judged it"),
    ):
        with pytest.raises(InputError, match=message):
            back(ws, pair, to=to)
    with pytest.raises(InputError, match="p5-method"):
        back(ws, ("p5-method", "d00"))


def test_who_left_gets_nothing_back_and_another_of_the_pair_is_named(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_left(session, "a1", RECORDED)
    with pytest.raises(InputError, match="p1-method d00: a1 has left the study") as error:
        back(ws)
    assert error.value.hint == "return it to a2"
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    with pytest.raises(InputError, match="has left") as error:
        back(ws)
    assert error.value.hint == "`annot assessor add` brings them back"


def test_a_judgement_of_another_tool_is_not_returned(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(0)), "settled", tmp_path / "study")
    with ws.writing() as session:
        (first,) = (one for one in people.read_assignments(session) if one.pair == PAIR and one.assessor == "a1")
        given = [one._replace(source="imported") for one in sourced([judgement(first)])]
        JUDGEMENTS.record(session, given, recorded_at=RECORDED)
    with pytest.raises(InputError, match="was judged with another tool"):
        back(ws)


@pytest.mark.parametrize(
    ("why", "message"),
    [
        ("", "has 0 characters, expected 1 to 300"),
        ("x" * 301, "has 301 characters, expected 1 to 300"),
        ("A2 says otherwise.", "names a2"),
        ("Ask bob@example.org.", "names bob@example.org"),
        ("It is first in title_tfidf.", "names title_tfidf"),
    ],
)
def test_a_reason_is_one_to_three_hundred_characters_and_reveals_nothing(ws: Workspace, why: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        back(ws, why=why)


@pytest.mark.parametrize("why", ["x", "x" * 300, "xa2x has nothing of it."])
def test_a_reason_may_be_as_long_as_that(ws: Workspace, why: str) -> None:
    assert back(ws, why=why)


def test_a_file_is_taken_whole_or_not_at_all(ws: Workspace) -> None:
    file = ws.root / "back.csv"
    with pytest.raises(MissingInput, match=r"back\.csv: no such file"):
        change(ws, file, undo=False, dry_run=False)
    head = "query_id,doc_id,to,why\np1-method,d00,a1,Look again.\n"
    file.write_text(f"{head}p2-method,d00,a1,Look again.\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        change(ws, file, undo=False, dry_run=False)
    assert len(error.value.faults) == 1
    assert "3: p2-method d00: a1 has not judged it" in error.value.faults[0]
    assert returned(ws) == []
    file.write_text(f"{head}p1-method,d01,a2,Look again.\n", encoding="utf-8")
    for undo in (False, True):
        assert [one.changed for one in change(ws, file, undo=undo, dry_run=False)] == [True, True]
        assert [one.changed for one in change(ws, file, undo=undo, dry_run=False)] == [False, False]


def test_a_returned_pair_is_not_sent_then_waits_then_is_answered(ws: Workspace) -> None:
    back(ws)
    states = []

    def look() -> None:
        (one,) = listing(ws)
        states.append((one.state, one.before, one.after))

    look()
    sent_to(ws, "a1", PairKey(*PAIR, 2))
    look()
    assert len(returns.notes(listing(ws))) == 1
    answer(ws, occasion=2, grade=3)
    look()
    assert states == [("not sent yet", "1", None), ("waiting", "1", None), ("answered", "1", "3")]
    assert returns.notes(listing(ws)) == ()


def test_who_cannot_judge_it_now_has_answered_too(ws: Workspace) -> None:
    back(ws)
    answer(ws, occasion=2, grade=None)
    assert [(one.state, one.after) for one in listing(ws)] == [("answered", "cannot judge")]
