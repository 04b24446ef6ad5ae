"""What an import of judgements reports is what its rows hold, counted by hand; a dry run records none of them."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.formats.judgements_file import FileJudgement, columns_of
from annot.judging.plan_on_record import ImportedJudgements, import_judgements
from annot.store.answers import JUDGEMENTS
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_stages import copied

QUERY = "p1-method"


def row(doc: str, who: str, grade: int | None, *, occasion: int = 1, query: str = QUERY, **more: Any) -> FileJudgement:
    known: dict[str, Any] = {"judged_at": None, "seconds": None, "comment": None, "row": {}, **more}
    return FileJudgement(1, query, doc, who, grade, occasion=occasion, **known)


ROWS = (
    row("d00", "a1", 1),
    row("d00", "a2", 1),
    row("d00", "a1", 2, occasion=2),
    row("d01", "a1", 0),
    row("d01", "a2", 3),
    row("d01", "j1", 2),
    row("d02", "a1", None),
    row("d03", "a1", 3, query="p2-method"),
)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "labelled", tmp_path / "study")


def imported(ws: Workspace, *rows: FileJudgement, dry_run: bool = False) -> ImportedJudgements:
    settling = ("j1",) if any(one.assessor == "j1" for one in rows) else ()
    return import_judgements(
        *(ws, columns_of(rows), b""),
        name="file",
        facet=None,
        adjudicators=settling,
        foreign=None,
        same_person=None,
        dry_run=dry_run,
    )


@pytest.mark.parametrize("dry_run", [True, False])
def test_rows_are_counted_by_pair_and_person(ws: Workspace, dry_run: bool) -> None:
    found = imported(ws, *ROWS, dry_run=dry_run)
    assert (found.judgements, found.adjudications, found.without_grade) == (7, 1, 1)
    assert (found.queries, found.new_queries) == (2, 2)
    assert found.pairs_by_assessors == {1: 2, 2: 2}  # d02 and d03; d00, whose repeat is no other assessor, and d01
    assert found.rows_by_person == {"a1": 5, "a2": 2, "j1": 1}
    assert (found.added, found.revised, found.unchanged) == ((0, 0, 0) if dry_run else (8, 0, 0))
    with ws.reading() as session:
        assert len(JUDGEMENTS.records(session)) == (0 if dry_run else 7)


def test_the_same_rows_again_are_unchanged_and_a_corrected_grade_is_a_revision(ws: Workspace) -> None:
    imported(ws, *ROWS)
    again = imported(ws, *ROWS)
    assert (again.added, again.revised, again.unchanged, again.new_queries) == (0, 0, 8, 0)
    corrected = imported(ws, row("d00", "a1", 3), *ROWS[1:])
    assert (corrected.added, corrected.revised, corrected.unchanged) == (0, 1, 7)


def test_a_study_with_a_plan_of_its_own_is_left_alone(tmp_path: Path) -> None:
    ws = copied(Small(), "planned", tmp_path / "planned")
    with pytest.raises(InputError, match="has its own plan"):
        imported(ws, *ROWS, dry_run=True)


def test_why_a_row_has_no_grade_is_kept_or_said(ws: Workspace) -> None:
    imported(ws, row("d00", "a1", None), row("d01", "a1", None, cannot_judge="no abstract"), row("d02", "a1", 0))
    with ws.reading() as session:
        why = {one.doc_id: one.cannot_judge for one in JUDGEMENTS.records(session)}
    assert why == {"d00": "no grade in the file", "d01": "no abstract", "d02": None}


def test_a_row_that_does_not_count_is_kept_and_makes_no_assessor_of_its_pair(ws: Workspace) -> None:
    found = imported(ws, row("d00", "a1", None, flags=("skipped",)), row("d00", "a2", 1), row("d01", "a1", 0))
    assert (found.judgements, found.without_grade, found.pairs_by_assessors) == (3, 1, {1: 2})
    with ws.reading() as session:
        (skipped,) = [one for one in JUDGEMENTS.read(session) if one.record.flags]
    assert (skipped.record.assessor, skipped.record.cannot_judge) == ("a1", None)
    assert found.notes == ("1 answer kept that does not count: skipped",)


def test_judgements_of_the_studys_own_people_keep_a_file_out(tmp_path: Path) -> None:
    ws = copied(Small(answers=FirstPairs(40)), "judged", tmp_path / "judged")
    with pytest.raises(InputError, match="has its own plan or judgements"):
        imported(ws, *ROWS, dry_run=True)
