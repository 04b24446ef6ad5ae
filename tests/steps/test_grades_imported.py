"""Grades of another collection: which queries and pools they make, their folds, and what is noted of them."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel
from annot.steps import imports
from annot.steps.imports import ImportedGrades, grades_from, kind_of
from annot.store import pools, runs
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """A corpus with p1 to p4 and d00 to d09, and no query."""
    return copied(Small(), "labelled", tmp_path / "study")


def qrels(ws: Workspace, name: str, *lines: str) -> Path:
    path = ws.root / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def imported(
    ws: Workspace, *files: Path, facet: str | None = None, foreign: str | None = None, dry_run: bool = False
) -> ImportedGrades:
    return grades_from(ws, files, form="qrels", facet=facet, per_topic=1, foreign=foreign, dry_run=dry_run)


def splits(ws: Workspace) -> dict[str, dict[str, tuple[str, ...]]]:
    with ws.reading() as session:
        return {name: dict(parts) for name, parts in runs.read_splits(session).items()}


def test_graded_documents_become_the_pools_of_the_queries(ws: Workspace) -> None:
    file = qrels(ws, "all.txt", "p1-method 0 d00 2", "p1-method 0 d01 0", "p2-result 0 d00 2", "p9-method 0 d00 3")
    found = imported(ws, file, foreign="keep")
    assert (found.queries, found.pairs, found.grades, found.folds) == (3, 4, {0: 1, 2: 2, 3: 1}, {})
    with ws.reading() as session:
        assert {name: [one.doc_id for one in pool.entries] for name, pool in pools.read_pools(session).items()} == {
            "p1": ["d00", "d01"], "p2": ["d00"],
        }  # fmt: skip
    assert splits(ws) == {}
    assert any("p9" in note for note in found.notes)
    assert not any("p2" in note for note in found.notes)


def test_a_facet_is_named_for_queries_that_are_papers(ws: Workspace) -> None:
    assert imported(ws, qrels(ws, "all.txt", "p1 0 d00 2"), facet="method", dry_run=True).queries == 1
    with pytest.raises(InputError, match="no query is a paper of the corpus, expected ids such as p8"):
        imported(ws, qrels(ws, "other.txt", "p8-method 0 d00 2"))


@pytest.mark.parametrize("dry_run", [True, False])
def test_several_files_are_folds(ws: Workspace, dry_run: bool) -> None:
    files = [
        qrels(ws, "train.txt", "p1-method 0 d00 2", "p2-method 0 d00 1"),
        qrels(ws, "test.txt", "p3-method 0 d00 1"),
    ]
    found = imported(ws, *files, dry_run=dry_run)
    assert found.folds == {"train": 2, "test": 1}
    tested = {ids for parts in splits(ws).values() for part, ids in parts.items() if part.endswith("test")}
    assert tested == (set() if dry_run else {("p3-method",)})


def test_files_of_one_name_are_refused(ws: Workspace) -> None:
    (ws.root / "other").mkdir()
    files = [qrels(ws, "fold.txt", "p1-method 0 d00 2"), qrels(ws, "other/fold.txt", "p2-method 0 d00 2")]
    with pytest.raises(InputError, match=r"found files with the same name \(fold, fold\)"):
        imported(ws, *files)


@pytest.mark.parametrize(("highest", "noted"), [(0, True), (1, True), (2, False), (3, False)])
def test_grades_of_which_none_is_relevant_are_noted(ws: Workspace, highest: int, noted: bool) -> None:
    ws = ws.replaced("evaluation", relevant_from=2)
    lines = ["p1-method 0 d00 0", f"p1-method 0 d01 {highest}"]
    notes = imported(ws, qrels(ws, "all.txt", *lines), dry_run=True).notes
    assert any("relevant_from" in note for note in notes) is noted


def test_topics_become_papers_only_in_the_form_that_has_topics(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []

    def papers(given: object, **how: Any) -> list[Qrel]:
        told.append(how)
        return [Qrel("p1", "d01", 1)]

    monkeypatch.setattr(imports, "topics_as_papers", papers)
    file = qrels(ws, "all.txt", "t1 0 d00 2", "t1 0 d01 0")
    plain = imports._rows(ws, file, "qrels", 7)
    assert list(zip(*(plain[name] for name in ("line", "query", "document", "grade", "occasion")), strict=True)) == [
        (1, "t1", "d00", 2, 1), (2, "t1", "d01", 0, 1),
    ]  # fmt: skip
    assert told == []
    of_papers = imports._rows(ws, file, "treccovid-rf", 7)
    assert [*zip(of_papers["query"], of_papers["document"], strict=True)] == [("p1", "d01")]
    assert told == [{"per_topic": 7, "seed": ws.settings.seed}]


# -- a table of judgements ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("facet", "fault"), [(None, False), ("method", False), ("colour", True)])
def test_a_facet_of_judgements_is_one_of_the_study(ws: Workspace, facet: str | None, fault: bool) -> None:
    file = ws.root / "table.csv"
    file.write_text("query_id,doc_id,assessor,grade\np1-method,d00,ann,2\n", encoding="utf-8")
    wanted: dict[str, Any] = {"columns": {}, "export": None, "grades": (), "adjudicators": (), "dry_run": True}
    wanted |= {"foreign": None, "same_person": None}
    if fault:
        with pytest.raises(InputError, match="colour"):
            imports.judgements_from(ws, file, facet=facet, **wanted)
        return
    assert imports.judgements_from(ws, file, facet=facet, **wanted).queries == 1


# -- what a file is, by how it begins ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("query_id,doc_id,assessor,grade\nq1,d1,a1,2\n", "judgements"),
        ("query_id\tdoc_id\tassessor\tgrade\nq1\td1\ta1\t2\n", "judgements"),
        ('{"query_id": "q1", "doc_id": "d1", "assessor": "a1", "grade": 2}\n', "judgements"),
        ("q1 0 d1 2\n", "grades"),
        ("q1 Q0 d1 2\nq1 Q0 d2 0\n", "grades"),
        ("1 4.5 005b2j4b 2\n", "grades"),
        ("51\t0\tclueweb09-1\t-2\n", "grades"),
        ("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "grades"),
        ('{"query-id": "q1", "corpus-id": "d1", "score": 1}\n', "grades"),
        ("query_id,doc_id,assessor,label\nq1,d1,a1,2\n", "judgements"),
        ('[{"id": 1, "annotations": []}]', "labelstudio"),
        ("citing,cited\np1,p2\n", "citations"),
        ('{"citingcorpusid": 1, "citedcorpusid": 2}\n', "citations"),
    ],
)
def test_a_kind_is_known_by_the_beginning_of_the_text(tmp_path: Path, text: str, kind: str) -> None:
    file = tmp_path / "file.txt"
    file.write_text(text, encoding="utf-8")
    assert kind_of([file]) == kind


@pytest.mark.parametrize("text", ["", "hello\n", "[1, 2]", "q1 2 d1 0\n", "q1 0 d1 0 more\n", "doc,grade\nd1,2\n"])
def test_what_is_of_no_kind_is_refused_with_the_kinds_there_are(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="unknown kind of file") as error:
        kind_of([file])
    assert error.value.hint.startswith("name it with --as csfcube|judgements|grades|labelstudio|citations; papers are")


@pytest.mark.parametrize(
    ("name", "known"), [("abstracts-csfcube-preds.jsonl", True), ("notes.txt", False), ("judgements.jsonl", False)]
)
def test_a_folder_is_a_release_by_the_names_of_its_files(tmp_path: Path, name: str, known: bool) -> None:
    (tmp_path / name).touch()
    if known:
        assert kind_of([tmp_path]) == "csfcube"
        return
    with pytest.raises(InputError, match="unknown kind of file") as error:
        kind_of([tmp_path])
    assert ("decisions.jsonl" in error.value.hint) is (name == "judgements.jsonl")
