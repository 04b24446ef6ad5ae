"""A study made and filled: folders and settings, files of papers and of citations, and a release of CSFCube."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.parallel import Engine
from annot.base.records import NAMELESS_ADJUDICATOR, Decision, Judgement, Paper, Query, Source
from annot.corpus.adding import Rejects, files_below, formats_of
from annot.formats.corpora.datasets import SEMANTIC_SCHOLAR
from annot.steps import corpus
from annot.steps.setup import FOLDERS, init
from annot.store import facet_labels, people
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS
from annot.store.models import ImportedSource
from annot.store.runs import put_import, read_imports, read_runs
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace, write_setting
from annot_csfcube import importing
from small_study import Small, pool_of
from study_stages import copied, quietly

# -- init --------------------------------------------------------------------------------------------------------------


def test_a_new_study_is_made_with_its_parents_and_once(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b"
    new = [SETTINGS_FILE, *(f"{name}/" for name in FOLDERS), ".gitignore"]
    assert init(root, name="one", dry_run=True) == (new, ())
    assert not root.exists()
    assert init(root, name="one", dry_run=False) == (new, ())
    assert (root / "annot.db").is_file()
    for name in (None, "one"):
        assert init(root, name=name, dry_run=False) == ([], ())
    with pytest.raises(InputError, match="already exists, for 'one'"):
        init(root, name="two", dry_run=False)
    (root / FOLDERS[0]).rmdir()
    assert init(root, name=None, dry_run=False) == ([f"{FOLDERS[0]}/"], ())


def test_a_study_is_not_made_in_a_folder_of_another(tmp_path: Path) -> None:
    init(tmp_path / "one", name=None, dry_run=False)
    for name in (FOLDERS[0], CACHE):
        for place in (tmp_path / "one" / name, tmp_path / "one" / name / "deep"):
            with pytest.raises(InputError, match="inside the study"):
                init(place, name=None, dry_run=True)
    assert init(tmp_path / "one" / "notes" / FOLDERS[0], name="x", dry_run=True)[0]


# -- papers ------------------------------------------------------------------------------------------------------------


def test_files_that_are_not_there_are_all_named_and_data_sets_are_no_files(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("one.jsonl", "two.jsonl")]
    with pytest.raises(InputError, match="2 files not found") as error:
        files_below(names)
    assert error.value.faults == tuple(f"{name}: no such file" for name in names)
    assert formats_of(["vaswani"], "irds") == ([("irds", "vaswani")], {})


def test_shares_take_the_place_of_semantic_scholars_files(tmp_path: Path) -> None:
    papers, abstracts = tmp_path / "papers.jsonl", tmp_path / "abstracts.jsonl"
    papers.write_text(json.dumps({"corpusid": 1, "title": "T", "year": 2001}) + "\n", encoding="utf-8")
    abstracts.write_text(json.dumps({"corpusid": 1, "abstract": "One. Two."}) + "\n", encoding="utf-8")
    given = [(SEMANTIC_SCHOLAR.name, str(papers)), ("jsonl", "own.jsonl"), (SEMANTIC_SCHOLAR.name, str(abstracts))]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    ws = copied(Small(), "made", tmp_path / "study").replaced("machine", processes=1)
    rejects = Rejects("paper", most_shown=10)
    found = corpus._joined(given, scratch, Engine.in_place(ws.machine), rejects)
    assert found[0] == ("jsonl", "own.jsonl")
    assert {Path(name).parent for _, name in found[1:]} == {scratch / "shares"}
    assert corpus._joined(given[1:2], scratch, Engine.in_place(ws.machine), rejects) == given[1:2]


def lines_of(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_ten_faults_are_shown_and_all_counted(tmp_path: Path) -> None:
    ws = copied(Small(), "labelled", tmp_path / "study").replaced("machine", processes=1)
    good = {
        "paper_id": "new",
        "title": "Title of d00",
        "abstract": ["We wrote a new text.", "It goes on for long.", "This is its end."],
    }
    again = {
        "paper_id": "other",
        "title": "Title of d00",
        "abstract": ["This is of another thing.", "It goes on for a while.", "It has some end."],
    }
    file = lines_of(tmp_path / "papers.jsonl", good, again, *([{"title": "no id"}] * 12))

    def added() -> corpus.AddedPapers:
        return corpus.add(ws, [file], form=None, dry_run=False, advance=quietly)

    found = added()
    assert (found.read, found.kept, found.in_corpus, len(found.faults)) == (14, 2, 17, 10)
    assert {"new", "other"} <= {name for pair in found.same_title for name in pair}
    assert found.rejected_file is not None
    name = Path(found.rejected_file).stem.removeprefix("rejected-")
    assert len(name) == 12
    assert (added().kept, added().same_title) == (0, ())
    with ws.reading() as session:
        assert len([one for one in read_imports(session) if one.what == "corpus"]) == 1


# -- citations ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "labelled", tmp_path / "study").replaced("machine", processes=1)


def cited(ws: Workspace, *files: Path, dry_run: bool = False) -> corpus.AddedCitations:
    return corpus.add_citations(ws, files, dry_run=dry_run, advance=quietly)


def edge(citing: object, cited: object) -> dict[str, object]:
    return {"citingcorpusid": citing, "citedcorpusid": cited}


def test_citations_of_papers_of_the_corpus_are_kept_and_the_others_counted(ws: Workspace, tmp_path: Path) -> None:
    file = lines_of(
        tmp_path / "edges.jsonl",
        edge("d00", "d01"),
        edge("d01", "x"),
        edge("y", "d00"),
        *([{"citingcorpusid": 1}] * 12),
    )
    dry = cited(ws, file, dry_run=True)
    assert ([(one.citations, one.kept) for one in dry.files], dry.rejected_files) == ([(3, 2)], ())
    found = cited(ws, file)
    (one,) = found.files
    assert (one.citations, one.kept, sum(one.rejected.values()), len(found.faults)) == (3, 2, 12, 10)
    (rejected,) = found.rejected_files
    assert len(Path(rejected).parent.name) == 16
    records = [json.loads(line) for line in Path(rejected).read_text(encoding="utf-8").splitlines()]
    assert [record["place"] for record in records] == list(range(4, 16))
    assert cited(ws, file).known == (str(file),)
    assert not (ws.corpus / corpus.CITATIONS_SCRATCH).exists()


# -- CSFCube -----------------------------------------------------------------------------------------------------------


def judged(doc_id: str, who: str) -> Judgement:
    return Judgement("q-method", doc_id, who, 1)


def test_pairs_of_a_release_are_planned_in_its_order_for_each_person() -> None:
    release: Any = SimpleNamespace(judgements=[judged("a", "x"), judged("a", "y"), judged("b", "x"), judged("c", "x")])
    plan = importing._plan_of(release)
    assert [(one.doc_id, one.assessor, one.position) for one in plan] == [
        ("a", "x", 1), ("a", "y", 1), ("b", "x", 2), ("c", "x", 3)
    ]  # fmt: skip


def test_a_release_is_counted_by_kind() -> None:
    decisions = [SimpleNamespace(origin=origin) for origin in ("adjudicated", "agreed", "agreed")]
    queries = [Query("p-method", "p", "method", (1,)), Query("p-result", "p", "result", (2,))]
    release: Any = SimpleNamespace(
        papers=[1] * 5, queries=queries, pools=[1], decisions=decisions, judgements=[1] * 7,
        facts=SimpleNamespace(missing_ratings=4), splits={}, runs=[1, 2],
    )  # fmt: skip
    found = importing._counts(release)
    assert (found["papers"], found["query papers"], found["queries"], found["pairs"]) == (5, 1, 2, 3)
    assert (found["adjudicated pairs"], found["missing judgements"], found["runs"]) == (1, 4, 2)


def test_a_missing_rating_counts_as_zero_from_then_on(tmp_path: Path) -> None:
    file = tmp_path / "annot.toml"
    for text in ("", '[judging]\nmissing = "out"  # why\n'):
        file.write_text(text, encoding="utf-8")
        write_setting(file, "judging", "missing", "zero")
        assert 'missing = "zero"' in file.read_text(encoding="utf-8")
    before = file.stat().st_mtime_ns
    write_setting(file, "judging", "missing", "zero")
    assert file.stat().st_mtime_ns == before


def test_a_release_fills_an_empty_study_or_its_own(tmp_path: Path) -> None:
    empty = copied(Small(), "made", tmp_path / "empty")
    importing._refuse_other_work(empty, "abc")
    (empty.corpus / importing.CORPUS_FILE).write_bytes(b"")
    importing._refuse_other_work(empty, "abc")
    (empty.corpus / "other.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="found another study, expected an empty one"):
        importing._refuse_other_work(empty, "abc")
    with empty.writing() as session:
        put_import(session, ImportedSource(Source.CSFCUBE, "abc", {}))
    importing._refuse_other_work(empty, "abc")
    with pytest.raises(InputError, match="found another study"):
        importing._refuse_other_work(empty, "def")


def test_a_release_is_stored_with_what_was_corrected_and_adjudicated(tmp_path: Path) -> None:
    ws = copied(Small(), "labelled", tmp_path / "study")
    labels = ("background", "method", "result")
    papers = [Paper("p1", "", (), labels=labels), Paper("d00", "", (), labels=labels), Paper("d01", "", ())]
    given = [
        Judgement("p1-method", doc_id, who, grade) for who, grade in (("x", 1), ("y", 2)) for doc_id in ("d00", "d01")
    ]
    decisions = [Decision("p1-method", "d00", 2, "adjudicated"), Decision("p1-method", "d01", 1, "agreed")]
    release: Any = SimpleNamespace(
        papers=papers, queries=[Query("p1-method", "p1", "method", (1,))], pools=[pool_of("p1")], judgements=given,
        decisions=decisions, splits={}, facts=SimpleNamespace(corrected_queries=["p1"]),
    )  # fmt: skip
    with ws.writing() as session:
        importing._store(session, release, {"run": "text"}, "abc", settings=ws.settings.model_copy(update={"seed": 3}))
        origins = {one.paper_id: one.origin for one in facet_labels.read_labels(session, ["p1", "d00", "d01"])}
        assert origins == {"p1": Source.CORRECTED, "d00": Source.CARRIED}
        roles = {one.assessor: (one.adjudicator, one.account) for one in people.read_assessors(session)}
        assert roles == {"x": (False, None), "y": (False, None), NAMELESS_ADJUDICATOR: (True, None)}
        settled = ADJUDICATIONS.records(session)
        assert [(one.doc_id, one.grade) for one in settled] == [("d00", 2)]
        assert [(one.tag, one.facts) for one in read_runs(session)] == [("run", {"imported": True})]
        assert len(people.read_assignments(session)) == len(JUDGEMENTS.records(session)) == 4
