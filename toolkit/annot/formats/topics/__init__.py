"""The files in which topics come, each read into topics with the lines on which they begin.

What a file is is found by how it begins. Whatever the format, `fields.topics_of` makes the topics: one set of rules
for ids and texts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from annot.base.errors import Faults, InputError, numbered
from annot.formats.corpora.plain import dataset_named, downloading
from annot.formats.input_files import SAVE_AS_UTF_8, UnreadEncoding, content_of, encoding_of_start
from annot.formats.json_lines import read_objects
from annot.formats.spreadsheet import SEPARATORS, decoded, plain, read_table, unguarded
from annot.formats.topics.fields import (
    DESCRIPTIONS,
    IDS,
    NARRATIVES,
    SHOWN,
    TITLES,
    GivenTopic,
    Record,
    TopicFile,
    id_fault,
    tidy,
    topics_of,
)
from annot.formats.topics.markup import is_sgml, sgml_records, xml_records

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


def text_of(data: bytes, faults: Faults) -> str:
    """The text, in the encoding that its first bytes tell or that an XML declaration names.

    A byte of another encoding is not guessed at, as people judge what they read. Raises InputError with its place.
    """
    try:
        encoding = encoding_of_start(data)
    except UnreadEncoding as error:
        faults.add(str(error), line=1)
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
        raise AssertionError from None
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before, after = data[: error.start], data[error.start : error.start + SHOWN]
        shown = before.rpartition(b"\n")[2][-SHOWN:] + after.splitlines()[0]
        faults.add(
            f"not {encoding.upper()}: byte 0x{after[0]:02X} at position {error.start}; "
            f"Windows-1252 would read {shown.decode('cp1252', 'replace').strip()!r}",
            line=before.count(b"\n") + 1,
        )
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
        raise AssertionError from None
    if "\0" in text:
        faults.add("found a zero byte, expected text", line=text[: text.index("\0")].count("\n") + 1)
        faults.raise_if_any(hint=SAVE_AS_UTF_8)
    return text


KNOWN = frozenset((*IDS, *TITLES, *DESCRIPTIONS, *NARRATIVES))


def headings_of(text: str) -> set[str]:
    """The cells of the first line that is not empty, as headings are compared."""
    lines = (
        line for line in text.splitlines() if line.strip(f"{SEPARATORS} ") and not line.strip('"').startswith("sep=")
    )
    return {plain(cell.strip(' "')) for cell in re.split(f"[{SEPARATORS}]", next(lines, "").removeprefix("\ufeff"))}


def has_header(text: str) -> bool:
    """Whether the first line names fields of topics."""
    return bool(headings_of(text) & KNOWN)


def table_records(text: str, faults: Faults) -> Iterator[Record]:
    """The rows that are not empty; columns of any name."""
    for line, cells in read_table(text, faults, known=KNOWN).rows:
        yield Record(line, {plain(heading): unguarded(cell) for heading, cell in cells.items() if heading})


def list_records(text: str, faults: Faults) -> Iterator[Record]:
    """An id, a tab and a text on each line; quotation marks are text."""
    for line, row in numbered(io.StringIO(text), faults):
        cells = row.split("\t")
        if len(cells) == 2:
            yield Record(line, {"id": cells[0], "text": cells[1]})
        else:
            faults.add(f"found {len(cells)} cells, expected an id, a tab and a text", line=line)


PREFIX = "irds:"


def dataset_records(name: str) -> Iterator[Record]:
    """The queries, in the dataset's order and with its names of their fields. Raises InputError if it has none."""
    dataset = dataset_named(name)
    if not dataset.has_queries():
        raise InputError(f"{name}: this dataset of ir_datasets has no queries")
    with downloading(name):
        for number, query in enumerate(dataset.queries_iter(), start=1):
            yield Record(number, query._asdict())
