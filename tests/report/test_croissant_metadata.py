"""Croissant 1.1: mlcroissant accepts it and reads the data through it; foreign keys, checksums, RAI fields."""

import hashlib
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.formats.beir import beir_paths, fields_of, write_beir
from annot.formats.judgements_file import write_decisions, write_judgements
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import croissant, release_tables
from annot_csfcube.files import Material
from collection_facts import changed, demo_facts
from demo_collection import demo_qrels

pytestmark = pytest.mark.filterwarnings(
    # mlcroissant 1.1 reads JSON-LD with a class that its own rdflib no longer likes.
    "ignore:ConjunctiveGraph is deprecated:DeprecationWarning"
)

ANSWERS = {
    "statement.annotators": "Four programs.",
    "composition.people": "No.",
    "collection.acquired": "Written for the demo.",
    "uses.tasks": "TODO",
    "maintenance.updates": "Never.",
    "maintenance.older_versions": "Kept.",
}


def parts(material: Material, *, with_text: bool = True) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
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
    judged = material.judgements
    files["judgements.jsonl"] = write_judgements(judged, again=(), comments=judged, versions={}).encode()
    files["decisions.jsonl"] = write_decisions(material.decisions, [], comments={}).encode()
    fields = fields_of(material.papers, material.queries, {}, with_text=with_text)
    paths = beir_paths("beir/", with_text=with_text, worded=with_text)
    return files, release_tables(paths, with_text=with_text, fields=fields)


def loaded(folder: Path, text: str, files: dict[str, bytes]) -> Any:
    """The dataset as mlcroissant has it, which raises on any error."""
    import mlcroissant

    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "croissant.json").write_text(text, encoding="utf-8")
    return mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))


@pytest.mark.parametrize("with_text", [True, False])
def test_mlcroissant_accepts_it_without_error_or_warning(
    material: Material, tmp_path: Path, with_text: bool, caplog: pytest.LogCaptureFixture
) -> None:
    files, tables = parts(material, with_text=with_text)
    text = croissant(demo_facts(material, with_text=with_text), files=files, tables=tables, answers=ANSWERS)
    with caplog.at_level(logging.WARNING):
        dataset = loaded(tmp_path, text, files)
    issues = dataset.metadata.ctx.issues
    assert (set(issues.errors), set(issues.warnings)) == (set(), set())
    assert [record.getMessage() for record in caplog.records if record.name == "absl"] == []
    assert dataset.metadata.ctx.is_v1_1()


def test_mlcroissant_reads_every_table_through_it(material: Material, facts: CollectionFacts, tmp_path: Path) -> None:
    files, tables = parts(material)
    dataset = loaded(tmp_path, croissant(facts, files=files, tables=tables, answers={}), files)

    def told(value: Any) -> Any:
        return value.decode() if isinstance(value, bytes) else value

    qrels = [
        tuple(told(row[f"qrels/{key}"]) for key in ("query-id", "corpus-id", "score"))
        for row in dataset.records("qrels")
    ]
    assert qrels == sorted(demo_qrels(material))
    assert {told(row["corpus/_id"]): told(row["corpus/title"]) for row in dataset.records("corpus")} == {
        paper.paper_id: paper.title for paper in material.papers
    }
    assert sum(1 for _ in dataset.records("queries")) == len(material.queries)
    assert sum(1 for _ in dataset.records("judgements")) == len(material.judgements)
    pools = {pool.topic_id: sorted(entry.doc_id for entry in pool.entries) for pool in material.pools}
    assert {
        told(row["top_ranked/query-id"]): list(map(told, row["top_ranked/corpus-ids"]))
        for row in dataset.records("top_ranked")
    } == {query.query_id: pools[query.topic_id] for query in material.queries}


def test_foreign_keys_lead_from_qrels_pools_and_judgements_to_queries_and_corpus(
    material: Material, facts: CollectionFacts, tmp_path: Path
) -> None:
    files, tables = parts(material)
    dataset = loaded(tmp_path, croissant(facts, files=files, tables=tables, answers={}), files)
    keys = {
        field.id: field.references.field
        for record_set in dataset.metadata.record_sets
        for field in record_set.fields
        if field.references.uuid
    }
    assert keys == {
        "qrels/query-id": "queries/_id",
        "qrels/corpus-id": "corpus/_id",
        "top_ranked/query-id": "queries/_id",
        "top_ranked/corpus-ids": "corpus/_id",
        "judgements/query_id": "queries/_id",
        "judgements/doc_id": "corpus/_id",
        "decisions/query_id": "queries/_id",
        "decisions/doc_id": "corpus/_id",
    }


def test_every_file_has_its_size_and_sha256(material: Material, facts: CollectionFacts) -> None:
    files, tables = parts(material)
    document = json.loads(croissant(facts, files=files, tables=tables, answers={}))
    assert {one["contentUrl"]: (one["contentSize"], one["sha256"]) for one in document["distribution"]} == {
        path: (f"{len(content)} B", hashlib.sha256(content).hexdigest()) for path, content in files.items()
    }


def test_the_rai_fields_say_what_happened(material: Material, facts: CollectionFacts, tmp_path: Path) -> None:
    files, tables = parts(material)
    metadata = loaded(tmp_path, croissant(facts, files=files, tables=tables, answers=ANSWERS), files).metadata
    assert metadata.annotations_per_item == "2"
    assert metadata.data_annotation_platform == ["Label Studio 1.23.2 (free edition)"]
    (protocol,) = metadata.data_annotation_protocol
    assert protocol.startswith("Simulated: ")
    assert "The server did not enforce blindness" in protocol
    assert "The adjudicator saw the assessors' ratings" in protocol
    analysis = " ".join(metadata.data_annotation_analysis)
    settled = sum(one.origin == "adjudicated" for one in material.decisions)
    assert f"An adjudicator settled {settled} of {len(material.decisions)} pairs" in analysis
    assert "0.26 [0.20, 0.31] (5 queries, 100 pairs" in analysis
    assert "undefined: one grade only" in analysis
    assert "Four programs." in metadata.annotator_demographics
    assert "pooling: abs_tfidf" in metadata.machine_annotation_tools
    assert metadata.data_collection == "Written for the demo."
    assert metadata.data_release_maintenance_plan == "Never. Kept."
    assert metadata.data_use_cases is None
    assert metadata.personal_sensitive_information == ["No."]


def test_documents_that_were_left_out_are_called_so_where_topics_are_texts(
    facts: CollectionFacts, material: Material
) -> None:
    files, tables = parts(material)
    for topics, word in (((9, 0), "papers"), ((0, 9), "documents")):
        found = json.loads(croissant(changed(facts, topics=topics), files=files, tables=tables, answers=ANSWERS))
        assert found["rai:dataPreprocessingProtocol"] == [f"4,321 {word} left out: fewer than 3 sentences"]


def test_texts_under_a_licence_of_their_own_have_it_named(material: Material, facts: CollectionFacts) -> None:
    files, tables = parts(material)

    def licences(**others: object) -> object:
        told = croissant(changed(facts, terms=replace(facts.terms, **others)), files=files, tables=tables, answers={})
        return json.loads(told)["license"]

    judgements, texts = licences()  # type: ignore[misc]
    assert (judgements, texts) == (
        "https://creativecommons.org/licenses/by/4.0/",
        "https://creativecommons.org/publicdomain/zero/1.0/",
    )
    assert licences(with_text=False) == judgements
    assert licences(text_licence="CC-BY-4.0") == judgements
    assert licences(text_licence="with the publishers") == judgements


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("data.v2/queries.jsonl", "application/jsonlines"),
        ("csv/qrels.tsv", "text/tab-separated-values"),
        ("LICENSE", "text/plain"),
    ],
)
def test_a_file_has_the_format_of_its_ending(facts: CollectionFacts, path: str, kind: str) -> None:
    (found,) = json.loads(croissant(facts, files={path: b"four"}, tables=[], answers={}))["distribution"]
    assert (found["encodingFormat"], found["contentSize"], found["@id"]) == (kind, "4 B", path)
