"""`annot release`: what it writes, that others can read it, and that it is the same whenever it is made."""

import hashlib
import importlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from annot.base.records import Qrel
from annot.base.settings import Settings
from annot.publishing.release.citing import upload_commands
from annot.publishing.release.prose import unanswered
from annot.steps.publish import release
from annot.store import papers
from annot.store.database import open_store
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace
from study_answers import Simulated
from study_stages import COLLECTION, advance, files_of, published


def make(ws: Workspace, folder: Path, *, with_text: bool | None = None) -> Path:
    release(ws, folder, with_text=with_text, licence=None, published=None, allowed=(), draft=False, dry_run=False)
    return folder


@pytest.fixture(scope="module")
def released(finished: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of the study; nobody writes into it."""
    return make(finished, tmp_path_factory.mktemp("released") / "release")


@pytest.fixture(scope="module")
def ids_only(finished: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(finished, tmp_path_factory.mktemp("ids-only") / "release", with_text=False)


def decided(ws: Workspace) -> list[Qrel]:
    with open_store(ws.database_url) as store, store.read() as session:
        return [Qrel(one.query_id, one.doc_id, one.grade) for one in outcome_of(session, ws.settings).decisions]


def test_a_study_made_anew_at_another_time_on_another_server_gives_the_same_bytes(
    released: Path, tmp_path: Path
) -> None:
    other = advance(
        published(3, Simulated("2029-07-01T12:34:56+00:00", 770001)), tmp_path / "elsewhere", after=None, to="measured"
    )
    assert files_of(make(other, tmp_path / "release")) == files_of(released)


def test_others_can_cite_archive_and_upload_it(released: Path, finished: Workspace) -> None:
    """Fields of the Citation File Format 1.2.0, and of Zenodo's deposits."""
    collection = finished.settings.collection
    licence = (released / "LICENSE").read_text(encoding="utf-8")
    assert "CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/)" in licence
    cited = yaml.safe_load((released / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert (cited["type"], cited["title"], cited["license"]) == ("dataset", collection.title, "CC-BY-4.0")
    assert [author["name"] for author in cited["authors"]] == [*collection.creators]
    assert cited["references"][0]["title"] == "annot"
    archived = json.loads((released / ".zenodo.json").read_text(encoding="utf-8"))
    assert archived["upload_type"] == "dataset"
    assert archived["creators"] == [{"name": name} for name in collection.creators]
    described = json.loads((released / "croissant.json").read_text(encoding="utf-8"))
    published = str(collection.published) if collection.published else None
    assert described.get("datePublished") == cited.get("date-released") == archived.get("publication_date") == published
    assert described["rai:dataSocialImpact"]
    hugging_face, zenodo = upload_commands(Path("a folder"), collection.name)
    assert hugging_face.startswith("hf upload ")
    assert "'a folder' . --repo-type dataset" in hugging_face
    for command in (hugging_face, zenodo):
        subprocess.run(["sh", "-n", "-c", command], check=True)


def test_everything_asked_for_is_in_it(released: Path, finished: Workspace) -> None:
    found = files_of(released)
    assert {path.partition("/")[0] for path in found} == {
        *("LICENSE", "CITATION.cff", ".zenodo.json"),
        *("README.md", "DATASHEET.md", "datasheet.html", "croissant.json", "SHA256SUMS", "agreement.json"),
        *("qrels.txt", "query_papers.tsv", "judgements.jsonl", "decisions.jsonl", "irds_annot_demo.py"),
        *("beir", "csfcube", "citations.tsv", "pools", "runs"),
        *("report.html", "report.md", "report.tex", "evaluation.json", "assessor-effect.json"),
        *("guidelines", "screen.xml", "plan.jsonl"),
    }
    guidelines = {path for path in found if path.startswith("guidelines/")}
    assert guidelines == {f"guidelines/{name}.md" for name in ("general", "background", "method", "result")}
    assert found["irds_annot_demo.py"].startswith(b"# SPDX-License-Identifier: 0BSD\n")
    assert found["plan.jsonl"] == (finished.pools / "plan.jsonl").read_bytes()
    datasheet = found["DATASHEET.md"].decode()
    for path in (*guidelines, "screen.xml", "plan.jsonl"):
        assert f"| {path} | `{hashlib.sha256(found[path]).hexdigest()}` |" in datasheet
    queries = [json.loads(line)["_id"] for line in found["beir/queries.jsonl"].splitlines()]
    listed = [f"{query_id}\t{query_id.partition('-')[0]}" for query_id in sorted(queries)]
    assert found["query_papers.tsv"].decode().splitlines() == ["query_id\tquery_paper", *listed]
    types = {json.loads(line)["metadata"]["paper_type"] for line in found["beir/queries.jsonl"].splitlines()}
    assert types == set(Settings().queries.types[:3])
    assert all(f",{one}\r\n" in found["csfcube/queries-release.csv"].decode() for one in types)
    pools = [path for path in found if path.startswith("pools/")]
    assert [found[path] for path in pools] == [(finished.query_pools / Path(path).name).read_bytes() for path in pools]
    assert len(pools) == 3
    runs = [path for path in found if path.endswith(".run")]
    assert [found[path] for path in runs] == [(finished.exports / path).read_bytes() for path in runs]
    assert json.loads(found["runs/fabs_bm25.json"])["settings"]["k1"] > 0
    judgements = [json.loads(line) for line in found["judgements.jsonl"].decode().splitlines()]
    with closing(sqlite3.connect(finished.root / "annot.db")) as connection:
        rows = connection.execute(
            "SELECT query_id, doc_id, assessor, occasion, grade, cannot_judge, comment FROM judgement"
            " ORDER BY query_id, doc_id, assessor"
        ).fetchall()
    assert [tuple(one.values()) for one in judgements] == rows
    decisions = [json.loads(line) for line in found["decisions.jsonl"].decode().splitlines()]
    assert [Qrel(one["query_id"], one["doc_id"], one["grade"]) for one in decisions] == decided(finished)
    assert {one["adjudicator"] for one in decisions if one["origin"] == "adjudicated"} == {"j1"}
    assert all(one["comment"] for one in decisions if one["origin"] == "adjudicated")


def test_sha256sum_accepts_every_file(released: Path) -> None:
    done = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=released, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(files_of(released)) - 1


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_mlcroissant_accepts_it_and_reads_its_tables(finished: Workspace, released: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(released / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert (set(issues.errors), set(issues.warnings)) == (set(), set())

    def rows(name: str, *columns: str) -> list[tuple[object, ...]]:
        told = [tuple(row[f"{name}/{column}"] for column in columns) for row in dataset.records(name)]
        return [tuple(one.decode() if isinstance(one, bytes) else one for one in row) for row in told]

    assert rows("qrels", "query-id", "corpus-id", "score") == decided(finished)
    assert rows("decisions", "query_id", "doc_id", "grade") == decided(finished)
    with closing(sqlite3.connect(finished.root / "annot.db")) as connection:
        stored = connection.execute("SELECT assessor, grade, cannot_judge FROM judgement").fetchall()
    assert sorted(rows("judgements", "assessor", "grade", "cannot_judge"), key=repr) == sorted(stored, key=repr)


@pytest.mark.filterwarnings("ignore::ResourceWarning:ir_datasets")
def test_ir_datasets_reads_it_and_ir_measures_scores_its_runs(
    released: Path, finished: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ir_measures
    from ir_measures import nDCG

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    folder = Path(shutil.copytree(released, tmp_path / "release"))
    monkeypatch.syspath_prepend(str(folder))
    import ir_datasets

    before = dict(ir_datasets.registry._registered)
    try:
        importlib.import_module("irds_annot_demo")
        dataset = ir_datasets.load("annot-demo")
        qrels = list(dataset.qrels_iter())
        assert [Qrel(*qrel[:3]) for qrel in qrels] == decided(finished)
        assert sum(1 for _ in dataset.docs_iter()) == papers.count_papers(finished.corpus)
        assert {query.facet for query in dataset.queries_iter()} == {"background", "method", "result"}
        run = list(ir_measures.read_trec_run(str(folder / "runs" / "fabs_bm25.run")))
        score = ir_measures.calc_aggregate([nDCG], qrels, run)[nDCG]
        # trec_eval's own reading of the files gives the same as ir_datasets' road.
        from_file = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
        assert ir_measures.calc_aggregate([nDCG], from_file, run)[nDCG] == pytest.approx(score)
        assert 0.3 < score < 1
    finally:
        ir_datasets.registry._registered = before


def test_the_lines_of_its_card_run_in_its_folder(released: Path, finished: Workspace, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "release"))
    card = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert len(blocks) == 2
    environment = {**os.environ, "IR_DATASETS_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", "".join(blocks)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = decided(finished)
    assert done.stdout.startswith(f"{len(expected)} TrecQrel(query_id='{expected[0].query_id}'")
    for grade, count in Counter(one.relevance for one in expected).items():
        assert re.search(rf"^{grade} +{count}$", done.stdout, re.MULTILINE)


def test_ids_only_holds_no_title_and_no_sentence(ids_only: Path, finished: Workspace) -> None:
    # The guidelines quote some of the demonstration's own sentences as examples.
    found = {path: content for path, content in files_of(ids_only).items() if not path.startswith("guidelines/")}
    everything = b"\n".join(found.values()).decode()
    for paper in papers.read_papers(finished.corpus):
        assert paper.title not in everything
        assert not any(sentence in everything for sentence in paper.sentences)
    assert "fic0101" in everything
    assert not (ids_only / "beir" / "corpus.jsonl").exists()


def test_everything_that_is_missing_is_told_at_once_and_a_draft_gives_what_is_there(
    ws: Workspace, annot: Callable, tmp_path: Path
) -> None:
    settings = ws.settings_file.read_text(encoding="utf-8")
    for key in ("creators", "description", "url"):
        value = json.dumps(COLLECTION[key])
        assert f"{key} = {value}" in settings
        settings = settings.replace(f"{key} = {value}", f"{key} = {json.dumps(type(COLLECTION[key])())}")
    ws.settings_file.write_text(settings.replace('"CC-BY-4.0"', '"CC BY 4.0"'), encoding="utf-8")
    (ws.root / "datasheet.toml").unlink()
    (ws.runs / "fabs_bm25.run").unlink()
    with closing(sqlite3.connect(ws.root / "annot.db")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM adjudication WHERE id = (SELECT min(id) FROM adjudication)")
        connection.commit()
    ran = annot("release", tmp_path / "release")
    assert (ran.exit_code, ran.stdout) == (1, "")
    missing = (
        *("licence 'CC BY 4.0': expected an SPDX identifier", "creators", "description", "url"),
        *("fabs_bm25.run: missing", "in dispute, not adjudicated"),
    )
    every = len(unanswered({}))
    counted = f"datasheet.toml: {every} questions are open"
    for says in (*missing, counted, "--draft"):
        assert says in ran.stderr
    assert not (tmp_path / "release").exists()
    ran = annot("release", tmp_path / "release", "--draft", "--json")
    assert ran.exit_code == 0, ran.stderr
    found = {path: content.decode() for path, content in files_of(tmp_path / "release").items()}
    assert counted in ran.stderr
    for says in missing:
        assert says in ran.stderr
        assert says in found["MISSING.md"]
    pages = ("README.md", "DATASHEET.md", "datasheet.html", "MISSING.md", "report.html", "report.md")
    for page in (*pages, "croissant.json", "irds_annot_demo.py"):
        assert "DRAFT: A demonstration collection" in found[page]
    assert len(ran.data["missing"]) + len(ran.data["notes"]) == found["MISSING.md"].count("\n- ") - every + 1
    assert "runs/fabs_bm25.run" not in found
    assert "license:" not in found["README.md"]


def test_what_would_be_lost_is_never_written_over(annot: Callable, released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "release"))
    (folder / "thesis.tex").write_text("x")
    before = files_of(folder)
    ran = annot("release", folder)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "thesis.tex: not part of" in ran.stderr
    assert files_of(folder) == before
