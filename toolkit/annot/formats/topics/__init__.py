"""The files in which topics come, each read into topics with the lines on which they begin.

What a file is is found by how it begins. Whatever the format, `fields.topics_of` makes the topics: one set of rules
for ids and texts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from annot.base.errors import Faults
from annot.formats.input_files import content_of
from annot.formats.json_lines import read_objects
from annot.formats.spreadsheet import decoded, plain
from annot.formats.topics.decoding import text_of
from annot.formats.topics.fields import IDS, SHOWN, GivenTopic, Record, TopicFile, id_fault, tidy, topics_of
from annot.formats.topics.irds import PREFIX, dataset_records
from annot.formats.topics.sgml import is_sgml, sgml_records
from annot.formats.topics.tables import has_header, headings_of, list_records, table_records
from annot.formats.topics.xml import xml_records

LARGEST = 1 << 26
"""64 MiB: all queries of MS MARCO have half of that."""
EXPECTED = "TREC topics, BEIR queries, JSON Lines, CSV or TSV"


def read_topics(source: str) -> TopicFile:
    """The topics of a file, or of a dataset of `ir_datasets` given as `irds:NAME`, in their order.

    Raises InputError with the line of every fault.
    """
    if source.startswith(PREFIX):
        name = source.removeprefix(PREFIX)
        return topics_of(dataset_records(name), Faults(f"{source}, query"), form="ir_datasets")
    return topics_in(given_topics(Path(source)), name=source)


def given_topics(path: Path) -> bytes:
    """The content of the file, decompressed. Raises InputError if there is none, or more than topics can have."""
    return content_of(path, expected=EXPECTED, most=LARGEST)


def names_papers(path: Path) -> bool:
    """Whether the file is a table of queries that are papers: a column paper_id or facet, and no id of topics."""
    if not path.is_file():
        return False
    headings = headings_of(decoded(given_topics(path)))
    return bool(headings & {"paper_id", "facet"}) and headings.isdisjoint(IDS)


def topics_in(data: bytes, *, name: str) -> TopicFile:
    """The topics in the bytes of a file. Raises InputError with the line of every fault."""
    faults = Faults(name)
    text = text_of(data, faults)
    form, records = _records(text, faults)
    return topics_of(records, faults, form=form)


def _records(text: str, faults: Faults) -> tuple[str, Iterator[Record]]:
    start = text.lstrip()
    if re.match(r"<(!doctype\s+)?html\b", start, re.IGNORECASE):
        return _unknown("a web page (HTML)", faults)
    if start.startswith("<"):
        return ("TREC SGML", sgml_records(text, faults)) if is_sgml(text) else ("XML", xml_records(text, faults))
    if start.startswith("{"):
        return "JSON Lines", _json_records(text, faults)
    if start.startswith("["):
        return _unknown("a JSON array: write one object per line", faults)
    if has_header(text):
        return "CSV or TSV with header", table_records(text, faults)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "\t" in first:
        return "TSV without header", list_records(text, faults)
    return _unknown(repr(first[:SHOWN]) if first else "an empty file", faults)


def _json_records(text: str, faults: Faults) -> Iterator[Record]:
    for line, record in read_objects(io.StringIO(text), faults):
        found = {plain(name): value for name, value in record.items()}
        metadata = found.pop("metadata", None)
        yield Record(line, found, metadata if isinstance(metadata, dict) else {})


def _unknown(found: str, faults: Faults) -> tuple[str, Iterator[Record]]:
    faults.add(f"found {found}, expected {EXPECTED}")
    faults.raise_if_any(
        hint="a table of topics has a header with topic_id and title; one of papers, paper_id and facet"
    )
    raise AssertionError


__all__ = ["GivenTopic", "TopicFile", "id_fault", "names_papers", "read_topics", "tidy", "topics_in"]
