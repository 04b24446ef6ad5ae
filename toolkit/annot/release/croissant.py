"""Croissant 1.1 metadata (https://docs.mlcommons.org/croissant/) with the fields of its RAI extension."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as packaged
from typing import Any

from annot.errors import InputError
from annot.formats.beir import BeirFiles
from annot.formats.irds import dataset_id
from annot.release.collection_facts import CollectionFacts
from annot.release.licences import known_licence, licence
from annot.release.prose import fill
from annot.release.questions import Answers, answered

FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".tsv": "text/tab-separated-values",
}
"""Media types by ending, in Croissant's spelling; anything else is plain text."""


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


def release_tables(beir: BeirFiles, *, with_text: bool) -> tuple[TableOf, ...]:
    """The tables of a release, from `templates/tables.toml`."""
    document = tomllib.loads(packaged("annot.templates").joinpath("tables.toml").read_text(encoding="utf-8"))
    paths = beir._asdict()
    return tuple(
        TableOf(
            name=table["name"],
            path=paths.get(table["file"], table["file"]),
            description=table["description"],
            key=tuple(table["key"]),
            columns=tuple(
                Column(**column) for column in table["column"] if not column.pop("with_text", False) or with_text
            ),
        )
        for table in document["table"]
    )


def croissant(
    facts: CollectionFacts, *, files: Mapping[str, bytes], tables: Sequence[TableOf], answers: Answers
) -> str:
    """The text of `croissant.json`: every file with size and SHA-256, every table with its columns and foreign keys.

    files: what the release holds besides this file and `SHA256SUMS`, by path relative to this file. Raises InputError
    with every table whose file is not there and every reference to a column that no table has.
    """
    _check(files, tables)
    judgements = licence(facts.terms.licence)
    texts = known_licence(facts.terms.text_licence) if facts.terms.with_text else None
    text = fill(
        "croissant.json.j2",
        facts,
        overrides=None,
        name=dataset_id(facts.collection.name),
        version=semantic_version(facts.collection.version),
        licences=judgements.url if texts is None or texts == judgements else [judgements.url, texts.url],
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
