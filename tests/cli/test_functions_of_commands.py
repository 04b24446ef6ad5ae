"""The functions of the commands, called by themselves: which arguments go together, and what is printed."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer
from annot.base.errors import InputError, MissingInput
from annot.cli import draw, judge, keep, main, measure, prepare, settle
from annot.study.workspace import Workspace
from small_study import FirstPairs, Small
from study_stages import copied


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The first query is judged and settled. Nothing changes it here."""
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path_factory.mktemp("functions") / "study")


FILE = Path("nowhere.csv")


@pytest.mark.parametrize(
    "given", [{"paper": "p1"}, {"facet": "method"}, {"sentences": "1"}, {"paper": "p1", "facet": "method"}]
)
def test_a_file_of_queries_is_alone(ws: Workspace, given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected --file alone"):
        prepare.query_add(ws, file=FILE, dry_run=True, **given)


def test_a_query_is_a_paper_and_a_facet(ws: Workspace) -> None:
    with pytest.raises(InputError, match="found no paper, expected"):
        prepare.query_add(ws, facet="method", dry_run=True)
    with pytest.raises(InputError, match="found paper 'd00' without --facet"):
        prepare.query_add(ws, paper="d00", dry_run=True)
    with pytest.raises(InputError, match=r"nowhere\.csv: no such file"):
        prepare.query_add(ws, file=str(FILE), dry_run=True)
    assert prepare.query_add(ws, paper="d00", facet="method", dry_run=True).text == "d00-method: sentences 2"
    assert prepare.query_add(ws, paper="d00", facet="method", sentences="1,3", dry_run=True).text.endswith(" 1, 3")


def test_queries_that_are_chosen_without_a_rating_have_no_sheet(ws: Workspace) -> None:
    with pytest.raises(typer.BadParameter, match="found --choose and --out"):
        prepare.query_sample(ws, out=FILE, number=2, dry_run=True)
    assert prepare.query_sample(ws, number=2, dry_run=True).data.queries_before == 4
    assert prepare.query_sample(ws, dry_run=True).data.path.name == ws.sheet.name


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"query": "p1", "documents": ["d99"]},
        {"query": "p1", "reason": "by hand"},
        {"documents": ["d99"], "reason": "by hand"},
    ],
)
def test_papers_found_by_hand_have_a_query_and_a_reason(ws: Workspace, given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected QUERY DOC"):
        draw.pool_add(ws, dry_run=True, **given)


def test_papers_of_a_method_are_added_without_any_named(ws: Workspace) -> None:
    with pytest.raises(InputError, match="cannot be used with QUERY"):
        draw.pool_add(ws, query="p1", method="abs_bm25", dry_run=True)
    # What is asked for is understood: the study has no rankings.
    with pytest.raises(MissingInput, match="rankings"):
        draw.pool_add(ws, query="p1", documents=["d99"], reason="by hand", dry_run=True)


@pytest.mark.parametrize(
    "given", [{}, {"name": "mine"}, {"files": [FILE]}, {"name": "mine", "files": [FILE], "encoder": "specter"}]
)
def test_vectors_come_from_files_or_an_encoder(ws: Workspace, given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected NAME FILES, NAME --encoder MODEL, or --words FILE"):
        draw.vectors_add(ws, dry_run=True, **given)


def test_vectors_of_words_have_no_name(ws: Workspace) -> None:
    with pytest.raises(InputError, match="cannot be used with NAME"):
        draw.vectors_add(ws, name="mine", words=FILE, dry_run=True)
    with pytest.raises(InputError, match="1 file not found"):
        draw.vectors_add(ws, name="mine", files=[FILE], dry_run=True)
    with pytest.raises(InputError, match="cannot be used with --model"):
        draw.vectors_add(ws, name="mine", encoder="specter", model="m", dry_run=True)


def test_agreement_by_assessor_or_guidelines_has_no_options_of_the_table_by_facet(ws: Workspace) -> None:
    for by in ("assessor", "guidelines"):
        with pytest.raises(typer.BadParameter, match="without --by"):
            settle.agreement(ws, by=by, per_query=True)
    for by_other in (None, "guidelines"):
        with pytest.raises(typer.BadParameter, match="--by assessor"):
            settle.agreement(ws, by=by_other, query=["p1-method"])
    assert settle.agreement(ws, by="guidelines").text == "no guidelines were changed after they were sent"
    assert settle.agreement(ws, by="assessor").tables


def test_pulls_that_watch_take_no_round_and_delete_nothing(ws: Workspace) -> None:
    for wrong in ({"round": "training"}, {"dry_run": True}, {"accept_deletions": True}):
        given: dict[str, Any] = {"watch": True, **wrong}
        with pytest.raises(InputError, match="--watch"):
            judge.pull(ws, **given)
    with pytest.raises(InputError, match="--every can only be used with --watch"):
        judge.pull(ws, every=60)


def test_pairs_are_returned_one_by_one_or_by_a_file(ws: Workspace) -> None:
    whole: dict[str, Any] = {"query_id": "p1-method", "doc_id": "d00", "to": "a1", "why": "look again"}
    assert judge.return_pairs(ws, **whole, dry_run=True).data
    for missing in ("query_id", "doc_id", "to"):
        with pytest.raises(typer.BadParameter, match="expected QUERY DOC --to NAME"):
            judge.return_pairs(ws, **(whole | {missing: None}), dry_run=True)
    for name, value in whole.items():
        with pytest.raises(typer.BadParameter, match="--file FILE alone"):
            judge.return_pairs(ws, **{name: value}, file=FILE, dry_run=True)
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        judge.return_pairs(ws, file=FILE, dry_run=True)


def test_each_kind_of_import_reads_its_own_files(tmp_path: Path) -> None:
    empty = copied(Small(), "labelled", tmp_path / "study")
    for kind, words in (
        ("csfcube", "expected the folder of a CSFCube release"),
        ("citations", "1 file not found"),
        ("grades", "nowhere.csv: no such file"),
        ("judgements", "nowhere.csv: no such file"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            prepare.import_files(empty, [FILE], kind=kind, dry_run=True)


def test_figures_of_a_paper_are_not_written_into_a_folder(ws: Workspace, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="found --against and --out"):
        measure.evaluate(ws, against=FILE, out=tmp_path)


def test_papers_that_are_left_out_need_no_model(ws: Workspace) -> None:
    with pytest.raises(typer.BadParameter, match="found --leave-out and --model"):
        prepare.facets_label(ws, leave_out=True, model=FILE, dry_run=True)
    assert (
        prepare.facets_label(ws, leave_out=True, dry_run=True).text
        == "0 papers would be removed from the corpus, 15 left"
    )
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        prepare.facets_label(ws, model=FILE, dry_run=True)


def test_a_table_of_the_report_is_printed_alone(ws: Workspace, tmp_path: Path) -> None:
    assert keep.report(ws, table="agreement").name == "report --table"
    with pytest.raises(InputError, match="nothing"):
        keep.report(ws, table="nothing")


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("faults", "terminal", "more"), [(20, True, False), (21, True, True), (21, False, False)])
def test_a_terminal_gets_the_first_twenty_faults(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, faults: int, terminal: bool, more: bool
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    main.report(InputError("wrong", faults=[f"fault {at}" for at in range(faults)]))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "annot: wrong"
    assert sum("fault " in line for line in lines) == (20 if terminal else faults)
    assert ("  ... and 1 more" in "\n".join(lines)) is more


def test_an_error_of_the_file_system_names_its_file() -> None:
    assert main.refusal(PermissionError(13, "Permission denied", "a.txt")).message == "a.txt: no permission"
    assert "the disk is full" in main.refusal(OSError(28, "No space left on device")).message
    assert main.refusal(OSError(28, "Full", "a", None, "b")).message.startswith("b: the disk is full")
    assert main.refusal(OSError(5, "Input/output error", "a", None, "b")).message == "b: Input/output error"


def test_parts_of_the_index_are_listed_or_removed_without_other_wishes(ws: Workspace) -> None:
    for name, given in (("--list", {"listed": True}), ("--clean", {"clean": True})):
        wrong: dict[str, Any] = {**given, "repair": True}
        with pytest.raises(InputError, match=f"index {name}` cannot be used with --repair"):
            draw.index_build(ws, **wrong)
    assert draw.index_build(ws, listed=True).text.startswith("the index is empty")
    assert draw.index_build(ws, clean=True, dry_run=True).text == "nothing to remove: all of the index is used"
