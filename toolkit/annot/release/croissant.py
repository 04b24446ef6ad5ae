"""Croissant 1.1 metadata (https://docs.mlcommons.org/croissant/) with the fields of its RAI extension."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annot.errors import InputError
from annot.formats.beir import BeirFiles
from annot.formats.irds import dataset_id
from annot.release.answers import (
    ISOLATION,
    MISSING,
    RATINGS,
    missing_told,
    people_told,
    per_item,
    settled_told,
    unjudged_told,
)
from annot.release.collection import TOGETHER, AgreementFigure, CollectionFacts, counted, figure_text, thousands
from annot.release.licences import known_licence, licence
from annot.release.questions import Answers, answered

CROISSANT = "http://mlcommons.org/croissant/1.1"
RAI = "http://mlcommons.org/croissant/RAI/1.0"
TEXT, INTEGER = "sc:Text", "sc:Integer"

FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".parquet": "application/x-parquet",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
    ".tsv": "text/tab-separated-values",
}
"""Media types by ending, in Croissant's spelling; anything else is plain text."""

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The specification's context (its appendix 1), in which the terms below are short."""

ANSWERS: dict[str, tuple[str, ...]] = {
    "rai:dataCollection": ("collection.acquired",),
    "rai:annotatorDemographics": ("statement.annotators", "collection.involved"),
    "rai:dataBiases": ("uses.effects",),
    "rai:dataLimitations": ("uses.unsuitable", "composition.errors"),
    "rai:dataUseCases": ("motivation.purpose", "uses.tasks"),
    "rai:personalSensitiveInformation": ("composition.people", "composition.identifiable", "composition.sensitive"),
    "rai:dataReleaseMaintenancePlan": ("maintenance.updates", "maintenance.older_versions"),
}
"""Questions of the datasheet whose answers say what a field asks for."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name in the file, its type, and the `<table>/<column>` it refers to."""

    name: str
    type: str
    description: str
    refers_to: str | None = None
    several: bool = False
    """Whether a cell holds a list."""


@dataclass(frozen=True, slots=True)
class TableOf:
    """A file of rows (TSV, CSV or JSON Lines) and what its columns mean. `key`: the columns that make a row unique."""

    name: str
    path: str
    description: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]


def beir_tables(paths: BeirFiles, *, with_text: bool) -> tuple[TableOf, ...]:
    """The tables of the BEIR files; qrels and pools refer to queries and corpus."""
    texts = (Column("title", TEXT, "Title."), Column("text", TEXT, "Abstract.")) if with_text else ()
    query_text = (Column("text", TEXT, "The sentences of the abstract that make the query."),) if with_text else ()
    query = Column("query-id", TEXT, "Query.", refers_to="queries/_id")
    return (
        TableOf("corpus", paths.corpus, "The papers.", ("_id",), (Column("_id", TEXT, "Paper id."), *texts)),
        TableOf(
            "queries",
            paths.queries,
            "The queries: a paper and one of its facets.",
            ("_id",),
            (Column("_id", TEXT, "Query id, <paper>-<facet>."), *query_text),
        ),
        TableOf(
            "qrels",
            paths.qrels,
            "The final grades. A pair that is not there is unjudged.",
            ("query-id", "corpus-id"),
            (
                query,
                Column("corpus-id", TEXT, "Paper.", refers_to="corpus/_id"),
                Column("score", INTEGER, "Final grade."),
            ),
        ),
        TableOf(
            "top_ranked",
            paths.top_ranked,
            "What is to be ranked for each query: its pool, or what was judged where no pool led to the judgements; in "
            "the order of the ids.",
            ("query-id",),
            (query, Column("corpus-ids", TEXT, "Pooled papers.", refers_to="corpus/_id", several=True)),
        ),
    )


def croissant(
    facts: CollectionFacts, *, files: Mapping[str, bytes], tables: Sequence[TableOf], answers: Answers
) -> str:
    """The text of `croissant.json`: every file with size and SHA-256, every table with its columns and foreign keys.

    files: what the release holds besides this file and `SHA256SUMS`, by path relative to this file. Raises InputError
    with every table whose file is not there and every reference to a column that no table has.
    """
    _check(files, tables)
    document: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RAI],
        "name": dataset_id(facts.name),
        "alternateName": facts.title,
        "description": facts.description,
        "license": _licences(facts),
        "url": facts.url,
        "creator": [{"@type": "sc:Organization", "name": name} for name in facts.creators],
        **({"datePublished": facts.published} if facts.published else {}),
        "version": semantic_version(facts.version),
        "inLanguage": facts.language,
        "keywords": ["information retrieval", "test collection", *facts.keywords],
        "citeAs": facts.citation,
        "isLiveDataset": False,
    }
    document |= responsible_ai(facts, answers)
    document["distribution"] = [_file(path, files[path]) for path in sorted(files)]
    document["recordSet"] = [_record_set(table) for table in tables]
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def semantic_version(version: str) -> str:
    """`version` as MAJOR.MINOR.PATCH, which Croissant asks for; what cannot be read so stays as it is.

    >>> semantic_version("0.1"), semantic_version("v2")
    ('0.1.0', '2.0.0')
    """
    match = re.fullmatch(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?((?:[-+].*)?)", version)
    if match is None:
        return version
    numbers = (str(int(part or 0)) for part in match.groups()[:3])
    return ".".join(numbers) + match[4]


def responsible_ai(facts: CollectionFacts, answers: Answers) -> dict[str, Any]:
    """The fields of the RAI extension: from the records, and from what people answered in the datasheet."""
    judging, pool = facts.judging, facts.pool
    simulated = "Simulated: programs stood in for assessors and adjudicator. " if judging.simulated else ""
    tools = [f"pooling: {method}" for method in pool.methods if pool.judged]
    tools += [f"sentence labels of {thousands(count)} papers: {origin}" for origin, count in facts.sentence_labels]
    fields: dict[str, Any] = {
        "rai:dataAnnotationProtocol": f"{simulated}{_protocol(facts)}",
        "rai:dataAnnotationPlatform": [judging.platform],
        "rai:annotationsPerItem": per_item(facts),
        "rai:dataAnnotationAnalysis": [
            f"{settled_told(facts, cited='')} {_rule(MISSING, judging.missing)}.",
            *(_agreement_sentence(one, level=facts.interval_level) for one in facts.agreement),
            *(f"Audit: {finding}" for finding in judging.audit),
        ],
        "rai:annotatorDemographics": [f"{simulated}{people_told(facts)}"],
        "rai:machineAnnotationTools": [*tools, f"annot {facts.annot_version}"],
        "rai:dataCollectionMissingData": f"{missing_told(facts)}. {unjudged_told(facts)}",
        "rai:dataPreprocessingProtocol": [
            f"{reason}: {thousands(count)} papers left out" for reason, count in facts.rejected
        ],
    }
    for name, asked in ANSWERS.items():
        given = [answers[question].strip() for question in asked if answered(answers, question)]
        if given:
            fields[name] = [*fields.get(name, []), *given]
    # This one is a single text; the others may be lists.
    if "rai:dataCollection" in fields:
        fields["rai:dataCollection"] = " ".join(fields["rai:dataCollection"])
    if "rai:dataReleaseMaintenancePlan" in fields:
        fields["rai:dataReleaseMaintenancePlan"] = " ".join(fields["rai:dataReleaseMaintenancePlan"])
    return {name: value for name, value in fields.items() if value}


def _licences(facts: CollectionFacts) -> str | list[str]:
    """The licence of the judgements; with the texts' own beside it, where they are here under another one."""
    found = licence(facts.licence)
    texts = known_licence(facts.text_licence) if facts.with_text else None
    return found.url if texts is None or texts == found else [found.url, texts.url]


def _protocol(facts: CollectionFacts) -> str:
    judging = facts.judging
    paper = "pooled paper" if facts.pool.judged else "paper"
    graded = f"Each pair of a query and a {paper} was graded on the scale {facts.scale} by"
    if judging.imported:
        by = f"{per_item(facts)} assessors"
    else:
        by = f"{judging.per_pair} assessors independently, assigned {judging.assignment}, in an order of their own, "
        by += "without method, rank or score"
    settled = ""
    if facts.adjudicated or not judging.imported:
        settled = " Where grades differed or someone could not judge, an adjudicator settled the pair."
    if judging.unsettled:
        settled += f" {counted(judging.unsettled, 'pair')} without a common grade stayed unsettled."
    return f"{graded} {by}. {_rule(ISOLATION, judging.isolation)}{settled} {_rule(RATINGS, judging.ratings)}"


def _agreement_sentence(figure: AgreementFigure, *, level: float) -> str:
    whose = "all facets together" if figure.facet == TOGETHER else f"facet {figure.facet}"
    return (
        f"{figure.coefficient}, {figure.statistic}, {figure.stage} adjudication, {whose}: {figure_text(figure)} "
        f"({thousands(figure.n_queries)} queries, {thousands(figure.n_pairs)} pairs; {100 * level:g}% interval over "
        "whole queries)"
    )


def _rule(words: Mapping[str, str], policy: str) -> str:
    """The policy as a sentence; its bare name where there is none."""
    text = words.get(policy, policy)
    return text[:1].upper() + text[1:]


def _file(path: str, content: bytes) -> dict[str, Any]:
    ending = "." + path.rpartition("/")[2].rpartition(".")[2]
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": FORMATS.get(ending, "text/plain"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(table: TableOf) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.description,
        "key": [{"@id": f"{table.name}/{column}"} for column in table.key],
        "field": [_field(table, column) for column in table.columns],
    }


def _field(table: TableOf, column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": f"{table.name}/{column.name}",
        "description": column.description,
        "dataType": column.type,
        "source": {"fileObject": {"@id": table.path}, "extract": {"column": column.name}},
    }
    if column.several:
        field |= {"isArray": True, "arrayShape": "-1"}
    if column.refers_to:
        field["references"] = {"field": {"@id": column.refers_to}}
    return field


def _check(files: Mapping[str, bytes], tables: Sequence[TableOf]) -> None:
    known = {f"{table.name}/{column.name}" for table in tables for column in table.columns}
    faults = [f"table {table.name}: no file {table.path} in the release" for table in tables if table.path not in files]
    faults += [
        f"table {table.name}: column {column.name} refers to {column.refers_to}, which no table has"
        for table in tables
        for column in table.columns
        if column.refers_to is not None and column.refers_to not in known
    ]
    if faults:
        raise InputError(f"Croissant metadata: {len(faults)} fault(s)", faults=faults)
