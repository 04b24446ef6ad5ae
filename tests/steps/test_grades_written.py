"""The qrels: grades by query, the lead's word for incomplete pairs, and two files compared."""

from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.names import OF_PAPERS
from annot.base.records import Qrel
from annot.formats.trec import write_qrels
from annot.steps import agreement, changes, qrels
from annot.store import people
from annot.store.answers import JUDGEMENTS
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, RECORDED, FirstPairs, Small, judgement, sourced, write_runs
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """The first query is judged by both; j1 gave its last two documents grade 3."""
    return copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")


def test_grades_are_counted_by_query(ws: Workspace) -> None:
    found = qrels.write(ws, partial=True)
    # Grades of d00 to d07 are (at + 1) % 4: each grade twice; then two of grade 3.
    assert found.grades == {"p1-method": (2, 2, 2, 4)}
    assert (found.pairs, found.open, found.incomplete, found.accepted) == (10, 0, 30, 0)
    columns = qrels.grade_columns(found).of(found.grades.items())
    assert columns.headings == ("query", "grade 0", "grade 1", "grade 2", "grade 3")
    assert columns.rows == (("p1-method", 2, 2, 2, 4),)


def test_pairs_of_one_who_left_count_by_the_leads_word(tmp_path: Path) -> None:
    """a2 answered ten of forty pairs and leaves; no one else can take the thirty."""
    ws = copied(Small(answers=FirstPairs(10)), "settled", tmp_path / "study")
    with pytest.raises(InputError, match="every pair with fewer judgements than planned has an assessor"):
        qrels.write(ws, partial=True, allow_single="the time is up")
    with pytest.raises(InputError, match="the reason is empty"):
        qrels.write(ws, partial=True, allow_single="  ")
    changes.leave(ws, "a2", successor=None, contest=False, offline=True, dry_run=False)
    with ws.writing() as session:
        more = [one for one in people.read_assignments(session) if one.assessor == "a1" and one.position in (11, 12)]
        JUDGEMENTS.record(session, sourced([judgement(one) for one in more]), recorded_at=RECORDED)
    found = qrels.write(ws, partial=True, allow_single="the  time is up")
    assert (found.accepted, found.pairs) == (2, 12)
    assert any("the time is up" in note for note in found.notes)
    assert qrels.write(ws, partial=True).accepted == 2


# -- two qrels ---------------------------------------------------------------------------------------------------------


def file_of(path: Path, *queries: str, lower: int = 0) -> Path:
    lines = [Qrel(name, doc_id, max(at % 4 - lower, 0)) for name in queries for at, doc_id in enumerate(DOCUMENTS)]
    path.write_text(write_qrels(lines), encoding="utf-8")
    return path


def compared(ws: Workspace, a: Path, b: Path) -> qrels.ComparedQrels:
    return qrels.compare(ws, a, b, conventions=("csfcube", "trec"), measures=())


def test_only_queries_of_both_and_of_the_study_are_compared(ws: Workspace, tmp_path: Path) -> None:
    write_runs(ws)
    one, two = (query.query_id for query in QUERIES[:2])
    a = file_of(tmp_path / "a.txt", one, two, "x-method")
    b = file_of(tmp_path / "b.txt", two, one, lower=1)
    found = compared(ws, a, b)
    assert [note.partition(": ")[2][:7] for note in found.notes] == ["1 of it"]
    assert found.found.facet == "method"
    assert [topic.query_id for topic in found.found.topics] == [one, two]
    assert found.found.convention == "csfcube"
    # Grades 0 1 2 3 0 1 2 3 0 1 against 0 0 1 2 0 0 1 2 0 0, of two queries.
    assert found.found.confusion == ((6, 0, 0, 0), (6, 0, 0, 0), (0, 4, 0, 0), (0, 0, 4, 0))
    tables = {table.name: table for table in qrels.tables(found, OF_PAPERS)}
    assert tables["confusion"].rows[2] == (2, 0, 4, 0, 0)


def test_files_without_a_common_query_are_refused_with_three_of_each(ws: Workspace, tmp_path: Path) -> None:
    a = file_of(tmp_path / "a.txt", "w", "x", "y", "z")
    b = file_of(tmp_path / "b.txt", QUERIES[0].query_id)
    for first, second in ((a, b), (b, a), (a, a)):
        with pytest.raises(InputError, match="no query of this study in common") as error:
            compared(ws, first, second)
        assert any(fault.endswith("found w, x, y") for fault in error.value.faults)


# -- agreement -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "binarised_at", "kept"),
    [(None, None, True), ("same", None, True), ("other", None, False), (None, 2, False)],
)
def test_only_the_agreement_that_the_settings_ask_for_is_kept(
    ws: Workspace, missing: str | None, binarised_at: int | None, kept: bool
) -> None:
    usual = ws.settings.judging.missing
    other = next(name for name in agreement.POLICIES if name != usual)
    named = {"same": usual, "other": other}.get(missing or "")
    file = ws.exports / agreement.measured.AGREEMENT_FILE
    agreement.measure(ws, missing=named, binarised_at=binarised_at, tell=lambda _: None)
    assert file.is_file() == kept


def test_a_policy_that_there_is_not_is_refused(ws: Workspace) -> None:
    with pytest.raises(InputError, match="--missing"):
        agreement.measure(ws, missing="nothing", binarised_at=None, tell=lambda _: None)
