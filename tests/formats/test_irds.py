"""The ir_datasets module: the real ir_datasets reads documents, queries, qrels and scored documents through it."""

import ast
import hashlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from annot.base.errors import InputError
from annot.base.records import Qrel
from annot.base.settings import CollectionSettings
from annot.formats.beir import beir_paths, dataset_id, fields_of, module_name, write_beir, write_irds
from annot_csfcube.files import Material
from demo_collection import demo_material, demo_qrels

GRADES = ("Irrelevant", "Related", "Similar", "Near-identical")


@pytest.fixture(scope="module")
def material() -> Material:
    return demo_material()


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


def test_without_text_there_are_no_documents_and_the_rest_is_there(
    material: Material, tmp_path: Path, ir_datasets: ModuleType
) -> None:
    name = lay_out(tmp_path / "release", material, name="Demo Ids", with_text=False)
    importlib.import_module("irds_demo_ids")
    dataset = ir_datasets.load(name)
    assert not dataset.has_docs()
    assert {query.query_id: query.sentences for query in dataset.queries_iter()} == {
        query.query_id: query.sentences for query in material.queries
    }
    assert len(list(dataset.qrels_iter())) == len(material.decisions)


def test_the_module_runs_on_the_oldest_python_that_it_promises(material: Material, tmp_path: Path) -> None:
    lay_out(tmp_path, material, name="x", with_text=True)
    ast.parse((tmp_path / "irds_x.py").read_text(encoding="utf-8"), feature_version=(3, 8))


def test_a_name_without_any_letter_is_refused() -> None:
    with pytest.raises(InputError, match="no letter or digit"):
        dataset_id("…")
