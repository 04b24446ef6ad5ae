"""BEIR files: read by the readers of ir_datasets, queries without a pool refused, no empty text passed off as real."""

import ast
import hashlib
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel
from annot.base.settings import CollectionSettings
from annot.formats.beir import Fields, beir_paths, dataset_id, fields_of, module_name, write_beir, write_irds
from annot_csfcube.files import Material
from demo_collection import demo_material, demo_qrels


@pytest.fixture(scope="module")
def material() -> Material:
    return demo_material()


def written(material: Material, *, with_text: bool = True, folder: str = "", **changed: Any) -> dict[str, bytes]:
    parts = {
        "papers": material.papers,
        "queries": material.queries,
        "qrels": demo_qrels(material),
        "pools": material.pools,
        "judged": {},
        "texts": {},
    }
    return write_beir(**(parts | changed), folder=folder, with_text=with_text)


def rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().splitlines()]


class OnDisk:
    """What ir_datasets calls a download: a file that is already there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def path(self) -> Path:
        return self._path

    def stream(self) -> Any:
        return self._path.open("rb")


def test_the_beir_readers_of_ir_datasets_read_back_what_went_in(material: Material, tmp_path: Path) -> None:
    from ir_datasets.datasets.beir import BeirDocs, BeirQrels, BeirQueries, BeirTitleDoc
    from ir_datasets.formats import GenericQuery

    for name, content in written(material).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    paths = beir_paths("", with_text=True, worded=True)
    docs: Iterator[Any] = BeirDocs("x", OnDisk(tmp_path / paths.corpus), BeirTitleDoc)._docs_iter()
    assert {doc.doc_id: (doc.title, doc.text) for doc in docs} == {
        paper.paper_id: (paper.title, " ".join(paper.sentences)) for paper in material.papers
    }
    queries = BeirQueries("x", OnDisk(tmp_path / paths.queries), GenericQuery).queries_iter()
    papers = {paper.paper_id: paper for paper in material.papers}
    assert {query.query_id: query.text for query in queries} == {
        query.query_id: " ".join(papers[query.topic_id].sentences[at] for at in query.sentences)
        for query in material.queries
    }
    qrels = BeirQrels(OnDisk(tmp_path / paths.qrels), {}).qrels_iter()
    assert [Qrel(*qrel[:3]) for qrel in qrels] == sorted(demo_qrels(material))


def test_without_text_no_word_of_a_paper_and_no_file_under_the_usual_names_is_written(material: Material) -> None:
    files = written(material, with_text=False, folder="beir/")
    assert set(files) == {*beir_paths("beir/", with_text=False, worded=False)}
    assert not {"beir/corpus.jsonl", "beir/queries.jsonl"} & set(files)
    everything = b"".join(files.values()).decode()
    for paper in material.papers:
        assert paper.title not in everything
        assert not any(sentence in everything for sentence in paper.sentences)
    first = rows(files["beir/queries-ids.jsonl"])[0]
    assert set(first) == {"_id", "metadata"}
    positions = {query.query_id: list(query.sentences) for query in material.queries}
    assert first["metadata"]["sentences"] == positions[first["_id"]]


def test_queries_without_a_pool_are_faults(material: Material) -> None:
    first, second, *_ = sorted({query.topic_id for query in material.queries})
    pools = [pool for pool in material.pools if pool.topic_id not in (first, second)]
    with pytest.raises(InputError) as caught:
        written(material, pools=pools)
    assert caught.value.faults == tuple(
        f"BEIR files: query {query.query_id}: its paper {query.topic_id} has no pool"
        for query in sorted(material.queries, key=lambda query: query.query_id)
        if query.topic_id in (first, second)
    )


def test_a_collection_is_called_as_ir_datasets_calls_them() -> None:
    assert (dataset_id("--My Collection, 2nd!"), module_name("2nd-x")) == ("my-collection-2nd", "irds_2nd_x")
    with pytest.raises(InputError, match="no letter or digit"):
        dataset_id("äö")


@pytest.mark.parametrize(
    ("kinds", "topics", "shown"),
    [("papers", "de", "LANGUAGE"), ("texts", "de-AT", "'de'"), ("both", "de", "None"), ("both", "en", "LANGUAGE")],
)
def test_queries_in_two_languages_have_none_in_ir_datasets(kinds: str, topics: str, shown: str) -> None:
    fields = {"papers": ("paper_id", "facet"), "texts": (), "both": ("topic_id", "kind", "title")}[kinds]
    source = write_irds(
        CollectionSettings(name="Mine", title="A title", language="en", topic_language=topics),
        files=beir_paths("", with_text=True, worded=True),
        docs_sha256="0" * 64,
        with_text=True,
        fields=Fields((), fields, True),
        facets=[],
        grades=["no", "yes"],
    )
    assert f"    def queries_lang(self):\n        return {shown}\n" in source
    assert ("import GenericQuery as Query" in source) == (kinds == "texts")
    compile(source, "irds_mine.py", "exec")


GRADES = ("Irrelevant", "Related", "Similar", "Near-identical")


def lay_out(folder: Path, material: Material, *, name: str, with_text: bool) -> str:
    """The release folder with the module in it; the id of the data set."""
    files = write_beir(
        papers=material.papers,
        queries=material.queries,
        texts={},
        qrels=demo_qrels(material),
        pools=material.pools,
        judged={},
        folder="beir/",
        with_text=with_text,
    )
    paths = beir_paths("beir/", with_text=with_text, worded=with_text)
    files[module_name(name) + ".py"] = write_irds(
        CollectionSettings(name=name, title='A "title" with \\ and é', language="en-GB"),
        fields=fields_of(material.papers, material.queries, {}, with_text=with_text),
        files=paths,
        docs_sha256=hashlib.sha256(files[paths.corpus]).hexdigest(),
        with_text=with_text,
        facets=("background", "method", "result"),
        grades=GRADES,
    ).encode()
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    importlib.invalidate_caches()
    return dataset_id(name)


@pytest.fixture
def ir_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """ir_datasets with an empty home and its registry given back as it was."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    (tmp_path / "release").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "release"))
    import ir_datasets

    before = dict(ir_datasets.registry._registered)
    modules = set(sys.modules)
    yield ir_datasets
    ir_datasets.registry._registered = before
    for name in set(sys.modules) - modules:
        if name.startswith("irds_"):
            del sys.modules[name]


@pytest.mark.filterwarnings("ignore::ResourceWarning:ir_datasets")
def test_ir_datasets_reads_the_collection(material: Material, tmp_path: Path, ir_datasets: ModuleType) -> None:
    name = lay_out(tmp_path / "release", material, name="Demo Whole", with_text=True)
    importlib.import_module("irds_demo_whole")
    dataset = ir_datasets.load(name)
    papers = {paper.paper_id: paper for paper in material.papers}
    assert {doc.doc_id: doc[1:] for doc in dataset.docs_iter()} == {
        paper.paper_id: (paper.title, " ".join(paper.sentences), paper.year) for paper in material.papers
    }
    looked_up = dataset.docs_store().get("fic0304")
    assert looked_up.default_text() == f"{papers['fic0304'].title} {' '.join(papers['fic0304'].sentences)}"
    assert [query.query_id for query in dataset.queries_iter()] == sorted(q.query_id for q in material.queries)
    first = next(iter(dataset.queries_iter()))
    (query,) = (query for query in material.queries if query.query_id == first.query_id)
    assert first.default_text() == " ".join(papers[query.topic_id].sentences[at] for at in query.sentences)
    assert (first.paper_id, first.facet) == (query.topic_id, query.facet)
    assert [Qrel(*qrel[:3]) for qrel in dataset.qrels_iter()] == sorted(demo_qrels(material))
    assert dataset.qrels_defs() == dict(enumerate(GRADES))
    assert (dataset.docs_lang(), dataset.docs_count()) == ("en", len(material.papers))
    pools = {pool.topic_id: {entry.doc_id for entry in pool.entries} for pool in material.pools}
    scored = list(dataset.scoreddocs_iter())
    assert {(one.query_id, one.doc_id) for one in scored} == {
        (query.query_id, doc_id) for query in material.queries for doc_id in pools[query.topic_id]
    }
    assert {one.score for one in scored} == {0.0}


def test_a_facet_is_a_subset_and_shares_the_documents(
    material: Material, tmp_path: Path, ir_datasets: ModuleType
) -> None:
    name = lay_out(tmp_path / "release", material, name="Demo Facets", with_text=True)
    module = importlib.import_module("irds_demo_facets")
    method = ir_datasets.load(f"{name}/method")
    wanted = {query.query_id for query in material.queries if query.facet == "method"}
    assert {query.query_id for query in method.queries_iter()} == wanted
    assert {qrel.query_id for qrel in method.qrels_iter()} == wanted
    assert {one.query_id for one in method.scoreddocs_iter()} == wanted
    assert ir_datasets.docs_parent_id(f"{name}/method") == name
    module.register()
    assert ir_datasets.load(f"{name}/method") is method


def test_the_module_runs_on_the_oldest_python_that_it_promises(material: Material, tmp_path: Path) -> None:
    lay_out(tmp_path, material, name="x", with_text=True)
    ast.parse((tmp_path / "irds_x.py").read_text(encoding="utf-8"), feature_version=(3, 8))
