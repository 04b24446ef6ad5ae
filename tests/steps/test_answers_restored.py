"""Answers that were withdrawn count again by the lead's word, and the pairs that most systems get wrong come first."""

import csv
from pathlib import Path
from typing import Any

import pytest
from annot.measuring.evaluation.comparisons import FAR_DOWN, NEAR_TOP, ErrorCase
from annot.steps import changes, evaluate
from annot.store.answers import JUDGEMENTS
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_stages import copied

LATER = "2031-03-15T18:00:00+00:00"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """a1 and a2 judged the ten pairs of the first query; of each the answers to d00 and d01 were withdrawn."""
    ws = copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")
    with ws.writing() as session:
        gone = [one for one in JUDGEMENTS.read(session) if one.record.doc_id in ("d00", "d01")]
        JUDGEMENTS.withdraw(session, [(one, "its task was deleted") for one in gone], recorded_at=LATER)
    return ws


def withdrawn(ws: Workspace) -> set[tuple[str, str]]:
    """Which answers do not count."""
    return {(one.assessor, one.doc_id) for one in changes.withdrawn(ws) if not one.counts}


ALL = {(who, doc_id) for who in ("a1", "a2") for doc_id in ("d00", "d01")}


def test_one_answer_of_one_person_is_restored(ws: Workspace) -> None:
    assert withdrawn(ws) == ALL
    for dry_run, left in ((True, ALL), (False, ALL - {("a1", "d00")})):
        restored, kept = changes.restore(ws, "p1-method", "d00", assessor="a1", every=False, dry_run=dry_run)
        assert [(one.assessor, one.doc_id) for one in restored] == [("a1", "d00")]
        assert (kept, withdrawn(ws)) == ([], left)
    assert (ws.exports / "judgements.jsonl").is_file()


@pytest.mark.parametrize(("who", "left"), [(None, set()), ("a2", {("a1", "d00"), ("a1", "d01")})])
def test_all_answers_or_all_of_a_person_are_restored(
    ws: Workspace, who: str | None, left: set[tuple[str, str]]
) -> None:
    changes.restore(ws, None, None, assessor=who, every=True, dry_run=False)
    assert withdrawn(ws) == left


# -- the sheet of errors -----------------------------------------------------------------------------------------------


def sheet(ws: Workspace) -> list[dict[str, str]]:
    with (ws.root / evaluate.input_files.SHEET).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_pairs_that_most_systems_get_wrong_come_first_and_what_was_entered_stays(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [("d03", 1), ("d02", 2), ("d01", 2)]
    cases = [
        ErrorCase(f"run{at}", "p1-method", doc_id, NEAR_TOP if at else FAR_DOWN, grade, 3)
        for grade, (doc_id, many) in enumerate(wrong)
        for at in range(many)
    ]
    monkeypatch.setattr(evaluate, "refuse_unfinished", lambda outcome, *, partial: None)
    monkeypatch.setattr(evaluate.measured, "read_run_files", lambda ws: {})
    monkeypatch.setattr(evaluate, "error_cases", lambda runs, qrels, *, relevant_from: cases)
    entered: dict[tuple[str, str], Any] = {("p1-method", "gone"): ("other", "odd"), ("p1-method", "d02"): ("", "")}
    monkeypatch.setattr(evaluate, "read_entered", lambda ws: entered)
    found = evaluate.write_error_sheet(ws)
    assert (found.pairs, found.with_kind) == (4, 1)
    rows = sheet(ws)
    assert [row["doc_id"] for row in rows] == ["d01", "d02", "d03", "gone"]
    assert [row["grade"] for row in rows] == ["2", "1", "0", ""]
    assert [row["title"] for row in rows] == ["Title of d01", "Title of d02", "Title of d03", ""]
    assert {row["facet"] for row in rows} == {"method"}
