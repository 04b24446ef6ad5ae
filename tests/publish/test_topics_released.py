"""The release of a study whose topics are texts, or papers and texts: what it has, and that others read it."""

import hashlib
import importlib
import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from annot.base.records import Topic
from annot.formats.topics import topics_in
from annot.formats.trec import write_topics
from command_line import Result, annot_done
from study_stages import COLLECTION, answered, copy_study, files_of, kept, set_in
from topic_study import DOCUMENTS, GRADED, TOPICS, OfTopics

WHOLE_TEXTS, MIXED = OfTopics(scale=GRADED), OfTopics(scale=GRADED, mixed=True)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of four topics that are texts; nobody writes into it."""
    return released(WHOLE_TEXTS, tmp_path_factory.mktemp("texts"))[0]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three texts, and a paper with its facet."""
    return released(MIXED, tmp_path_factory.mktemp("mixed"), topic_licence="MIT")[0]


@pytest.fixture(scope="module")
def mixed_ids(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The same, without the texts of documents."""
    return released(MIXED, tmp_path_factory.mktemp("mixed-ids"), "--ids-only")


def released(recipe: OfTopics, folder: Path, *words: str, **collection: object) -> tuple[Path, Result]:
    study = prepared(recipe, folder, **collection)
    return folder / "release", annot_done("release", folder / "release", *words, folder=study)


def prepared(recipe: OfTopics, folder: Path, **collection: object) -> Path:
    """The study, with all that a release asks for."""
    study = copy_study(kept(recipe, "measured"), folder / "study")
    named = {**COLLECTION, "name": "topics", "topic_language": "de-AT", **collection}
    set_in(study, {"collection": named, "release": {"comments": "left out", "reasons": "left out"}})
    (study / "datasheet.toml").write_text(answered(topics=True), encoding="utf-8")
    annot_done("qrels", folder=study)
    return study


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def expected_grades(release: Path) -> list[tuple[str, str, int]]:
    lines = (line.split() for line in (release / "qrels.txt").read_text().splitlines())
    return [(query_id, doc_id, int(grade)) for query_id, _, doc_id, grade in lines]


def test_topics_are_in_the_files_of_trec_and_beir_and_papers_in_none(texts: Path) -> None:
    sha256 = hashlib.sha256((texts / "topics.xml").read_bytes()).hexdigest()
    assert f"| topics.xml | `{sha256}` |" in (texts / "DATASHEET.md").read_text(encoding="utf-8")
    found = ET.parse(texts / "topics.xml").getroot()
    read = {one.get("number"): {part.tag: part.text for part in one} for one in found}
    from ir_datasets.formats import TrecXmlQueries

    given = topics_in((texts / "topics.xml").read_bytes(), name="topics.xml")
    assert [topic for _, topic in given.topics] == [replace(one, fields={}) for one in TOPICS]
    topics: Any = SimpleNamespace(stream=lambda: (texts / "topics.xml").open("rb"))
    assert [tuple(one) for one in TrecXmlQueries(topics).queries_iter()] == [
        (one.topic_id, one.title, one.description, one.narrative) for one in TOPICS
    ]
    parts = ("title", "description", "narrative")
    assert read == {one.topic_id: {name: text for name in parts if (text := getattr(one, name))} for one in TOPICS}
    assert rows(texts / "beir" / "queries.jsonl") == [
        {
            "_id": one.topic_id,
            "text": one.description or one.title,
            "metadata": {"title": one.title, "description": one.description, "narrative": one.narrative},
        }
        for one in TOPICS
    ]
    assert {tuple(row) for row in rows(texts / "beir" / "corpus.jsonl")} == {("_id", "title", "text")}
    ids = [one.topic_id for one in TOPICS]
    listed = (texts / "query_topics.tsv").read_text().splitlines()
    assert listed == ["query_id\ttopic_id", *(f"{one}\t{one}" for one in ids)]
    assert not (texts / "query_papers.tsv").exists()
    assert {query_id for query_id, _, _ in expected_grades(texts)} == set(ids)


@pytest.fixture
def ir_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """ir_datasets with an empty home and its registry given back as it was."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    import ir_datasets

    before = dict(ir_datasets.registry._registered)
    sys.modules.pop("irds_topics", None)
    yield ir_datasets
    ir_datasets.registry._registered = before
    sys.modules.pop("irds_topics", None)


def load(ir_datasets: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    importlib.import_module("irds_topics")
    return ir_datasets.load("topics")


@pytest.mark.filterwarnings("ignore::ResourceWarning:ir_datasets")
def test_ir_datasets_has_topics_with_title_description_and_narrative(
    texts: Path, ir_datasets: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = load(ir_datasets, texts, monkeypatch)
    found = list(dataset.queries_iter())
    assert found[0]._fields == ("query_id", "text", "title", "description", "narrative")
    assert [(one.query_id, *one[2:]) for one in found] == [
        (one.topic_id, one.title, one.description, one.narrative) for one in TOPICS
    ]
    assert [one.default_text() for one in found] == [one.description or one.title for one in TOPICS]
    assert [tuple(qrel[:3]) for qrel in dataset.qrels_iter()] == expected_grades(texts)
    untitled = dataset.docs_store().get("d03")
    assert (untitled._fields, untitled.default_text()) == (("doc_id", "title", "text"), "Why d03. How d03. What d03.")
    assert (dataset.docs_lang(), dataset.queries_lang(), dataset.docs_count()) == ("en", "de", len(DOCUMENTS) + 1)
    assert {one.doc_id for one in dataset.scoreddocs_iter()} == set(DOCUMENTS)
    assert [name for name in ir_datasets.registry if str(name).startswith("topics")] == ["topics"]


@pytest.mark.filterwarnings("ignore::ResourceWarning:ir_datasets")
def test_ir_datasets_tells_papers_from_texts_and_has_a_set_for_each_facet(
    mixed: Path, ir_datasets: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = load(ir_datasets, mixed, monkeypatch)
    found = {one.query_id: one for one in dataset.queries_iter()}
    assert {name: (one.topic_id, one.kind) for name, one in found.items()} == {
        **{one: (one, "text") for one in ("T1", "T2", "T3")},
        "p4-method": ("p4", "paper"),
    }
    assert dataset.queries_lang() is None
    assert [one.query_id for one in ir_datasets.load("topics/method").queries_iter()] == ["p4-method"]
    assert [one.query_id for one in ir_datasets.load("topics/whole").queries_iter()] == ["T1", "T2", "T3"]


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_mlcroissant_accepts_it_and_reads_its_topics(mixed: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(mixed / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert (set(issues.errors), set(issues.warnings)) == (set(), set())
    told = [row["queries/text"].decode() for row in dataset.records("queries")]
    assert told == [row["text"] for row in rows(mixed / "beir" / "queries.jsonl")]
    written = json.loads((mixed / "croissant.json").read_text(encoding="utf-8"))
    assert written["inLanguage"] == ["en", "de-AT"]
    (topics,) = (one for one in written["distribution"] if one["name"] == "topics.xml")
    assert topics["encodingFormat"] == "application/xml"


def test_ids_only_has_the_words_of_topics_alone(mixed_ids: tuple[Path, Result]) -> None:
    release, told = mixed_ids
    assert rows(release / "beir" / "corpus-ids.jsonl")[0] == {"_id": "d00"}
    assert "csfcube" not in {path.partition("/")[0] for path in files_of(release)}
    for note in ("1 query paper without a type", "CSFCube's format is left out"):
        assert note in told.stderr
    found = rows(release / "beir" / "queries-ids.jsonl")
    assert found[0]["text"] == TOPICS[0].description
    assert "text" not in found[-1]
    assert (found[-1]["metadata"]["title"], found[-1]["metadata"]["sentences"]) == (None, [1])
    everything = b"\n".join(files_of(release).values()).decode()
    assert [words for words in ("Title of p4", "Title of d0", "buildings") if words in everything] == []
    assert "4 queries (3 topics, and 1 paper with a facet of it)" in (release / "README.md").read_text(encoding="utf-8")


def test_characters_that_xml_does_not_have_are_left_out_and_all_others_are_kept() -> None:
    odd = Topic('T"<1', "a\x0b <b> & \ud800c\r\nd ☃ \U0001f41d ]]>", "\t\ufffe")
    (read,) = ET.fromstring(write_topics([odd]).encode())
    assert read.get("number") == 'T"<1'
    assert [part.text for part in read] == ["a <b> & c\r\nd ☃ \U0001f41d ]]>", "\t"]
