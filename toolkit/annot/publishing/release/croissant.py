"""Croissant 1.1 metadata (https://docs.mlcommons.org/croissant/) with the fields of its RAI extension."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from annot.base.templating import render
from annot.formats.beir import BeirFiles, Fields, dataset_id
from annot.publishing.release.collection_facts import CollectionFacts
from annot.publishing.release.prose import fill
from annot.publishing.release.questions import Answers, answered
from annot.publishing.release.sampled import SampleInWords

FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".tsv": "text/tab-separated-values",
    ".xml": "application/xml",
}
"""Media types by ending, in Croissant's spelling; anything else is plain text."""


def release_tables(
    beir: BeirFiles, *, with_text: bool, fields: Fields, sampled: SampleInWords | None = None
) -> list[dict[str, Any]]:
    """The tables of a release, as `templates/tables.toml.j2` has them, with the paths of their files."""
    values = {"with_text": with_text, "fields": fields, "sampled": sampled}
    text = render("tables.toml.j2", values, overrides=None)
    paths = beir._asdict()
    return [table | {"file": paths.get(table["file"], table["file"])} for table in tomllib.loads(text)["table"]]


def croissant(
    facts: CollectionFacts, *, files: Mapping[str, bytes], tables: Sequence[Mapping[str, Any]], answers: Answers
) -> str:
    """The text of `croissant.json`: every file with size and SHA-256, every table with its columns and foreign keys.

    files: what the release holds besides this file and `SHA256SUMS`, by path relative to this file. tables: as
    `release_tables` gives them.
    """
    text = fill(
        "croissant.json.j2",
        facts,
        overrides=None,
        name=dataset_id(facts.collection.name),
        version=semantic_version(facts.collection.version),
        answer=lambda question: answers[question] if answered(answers, question) else "",
    )
    document = {key: value for key, value in json.loads(text).items() if value or not key.startswith("rai:")}
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


def _record_set(table: Mapping[str, Any]) -> dict[str, Any]:
    name = table["name"]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": table["description"],
        "key": [{"@id": f"{name}/{column}"} for column in table["key"]],
        "field": [_field(table, column) for column in table["column"]],
    }


def _field(table: Mapping[str, Any], column: Mapping[str, Any]) -> dict[str, Any]:
    name = f"{table['name']}/{column['name']}"
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "description": column["description"],
        "dataType": column["type"],
        "source": {"fileObject": {"@id": table["file"]}, "extract": {"column": column["name"]}},
    }
    if column.get("several"):
        field |= {"isArray": True, "arrayShape": "-1"}
    if "refers_to" in column:
        field["references"] = {"field": {"@id": column["refers_to"]}}
    return field
