"""Citations from files: who cites whom, in blocks of columns, so that ten million need neither time nor memory.

Semantic Scholar's `citations` (JSON Lines, https://api.semanticscholar.org/api-docs/datasets), two columns, and
papers with the list of what they cite, in any format of `formats.corpora`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import InputError
from annot.base.libraries import LazyLibrary
from annot.base.names import counted
from annot.formats.cleaning import ID_KINDS, identified, normalised_id
from annot.formats.corpora import FORMATS, format_named, format_of
from annot.formats.corpora.pieces import BrokenRecord, Piece, head_of, json_records, read_lines
from annot.formats.corpora.tables import CSV, IDS, PARQUET
from annot.formats.corpora.xml_papers import PUBMED
from annot.formats.input_files import SAVE_AS_UTF_8, opened, unicode_of_start

pyarrow = LazyLibrary("pyarrow", "compute", "csv", "json")

BLOCK_BYTES = 8_000_000
PAPERS_AT_ONCE = 5_000
SEMANTIC_SCHOLAR = "citations of semantic-scholar"
COLUMNS = "two columns"
_CITING, _CITED = "citingcorpusid", "citedcorpusid"
_HEADS = {"citing": 0, _CITING: 0, "from": 0, "source": 0, "cited": 1, _CITED: 1, "to": 1, "target": 1}
_BETWEEN = (rb"\t", rb"[,;]", rb" ")
"""Separators of columns: a line with a tab is separated by tabs, whatever else it contains."""


class Edges(NamedTuple):
    """A block of citations, and its unreadable lines."""

    citing: Any
    """pyarrow array of strings, without nulls."""
    cited: Any
    places: int
    """Lines of the block."""
    broken: list[tuple[int, BrokenRecord]]
    """Unreadable lines with their places in the block, from 1; 0 if the place is not known."""
    any_ids: bool
    """True if a paper may be named by any of its ids: one of Semantic Scholar's numbers is no PMID."""


PapersOf = Callable[[Sequence[Sequence[str]]], Sequence[str]]
"""Function from the known ids of each of several papers to its id in the corpus."""


def edge_format(name: str) -> str:
    """Kind of the file, by its beginning. Raises InputError for a format of papers that has no citations."""
    piece = Piece(name, COLUMNS, 0, None)
    record = next((parsed for _, parsed in islice(json_records(piece), 100) if isinstance(parsed, dict)), None)
    if record is not None:
        return SEMANTIC_SCHOLAR if _CITING in record else format_of(name, None)
    head = head_of(name)
    expected = next((form.name for form in FORMATS.values() if form is not CSV and form.matches(head)), COLUMNS)
    if expected not in (COLUMNS, PUBMED.name, PARQUET.name):
        raise InputError(
            f"{name}: papers in the format {expected}, which has no citations",
            hint="give a table with the columns citing and cited, or papers from PubMed or OpenAlex",
        )
    return expected


def first_ids(several: Sequence[Sequence[str]]) -> list[str]:
    """First known id of each paper."""
    return [ids[0] for ids in several]


def edges_of(piece: Piece, papers_of: PapersOf = first_ids) -> Iterator[Edges]:
    """The citations of a piece, block by block. Raises InputError for a table of more columns without known names.

    papers_of: for records of libraries, whose papers may have another of their ids.
    """
    if piece.format not in (SEMANTIC_SCHOLAR, COLUMNS):
        yield from _edges_of_papers(piece, papers_of)
        return
    read = _json_block if piece.format == SEMANTIC_SCHOLAR else _column_block(piece.path)
    for block in _blocks(piece):
        yield read(block)


def _blocks(piece: Piece) -> Iterator[bytes]:
    """The lines that begin in the piece, some megabytes at a time."""
    with opened(Path(piece.path)) as file:
        if piece.start:
            file.seek(piece.start - 1)
            file.readline()
        # Decompressed data cannot report its position, and is one piece.
        while block := file.read(
            BLOCK_BYTES if piece.stop is None else max(0, min(BLOCK_BYTES, piece.stop - file.tell()))
        ):
            yield block if block.endswith(b"\n") else block + file.readline()


def _json_block(block: bytes) -> Edges:
    schema = pyarrow.schema({_CITING: pyarrow.int64(), _CITED: pyarrow.int64()})
    parsing = pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    reading = pyarrow.json.ReadOptions(use_threads=False, block_size=len(block))
    places = block.count(b"\n") + (not block.endswith(b"\n"))
    try:
        table = pyarrow.json.read_json(io.BytesIO(block), reading, parsing)
        citing, cited = (table[name].cast(pyarrow.string()).combine_chunks() for name in (_CITING, _CITED))
        if not citing.null_count and not cited.null_count:
            return Edges(citing, cited, places, [], any_ids=False)
    except (pyarrow.ArrowInvalid, KeyError):
        # A line of the block is broken: read one by one, they tell which.
        pass
    pairs, broken = [], []
    for place, line in enumerate(block.splitlines(), start=1):
        if line.strip():
            try:
                record = json.loads(line)
                pair = [record[name] for name in (_CITING, _CITED)]
                if not all(isinstance(value, int | str) and not isinstance(value, bool) for value in pair):
                    raise TypeError
                pairs.append([str(value) for value in pair])
            except (ValueError, KeyError, TypeError, RecursionError):
                fault = f"found {line[:60]!r}, expected {_CITING} and {_CITED}"
                broken.append((place, BrokenRecord("no citation", (fault,), line.decode("utf-8", "replace"))))
    return Edges(*_columns(pairs), places, broken, any_ids=False)


def _column_block(name: str) -> Callable[[bytes], Edges]:
    """Reader of blocks of a table, with the delimiter and the columns of the first line that is not blank."""
    first = next((line for _, line in read_lines(Piece(name, COLUMNS, 0, None)) if line.strip()), b"")
    first = first or b"citing,cited"
    if (unicode := unicode_of_start(first)) != "utf-8":
        raise InputError(f"{name}: {unicode.upper()}, expected UTF-8", hint=SAVE_AS_UTF_8)
    delimiter = next((separator[0] for pattern in _BETWEEN if (separator := re.search(pattern, first.strip()))), b",")
    heads = [head.strip().strip(b"\"'").decode("utf-8", "replace").lower() for head in first.split(delimiter)]
    place_of = {_HEADS[head]: place for place, head in enumerate(heads) if head in _HEADS}
    if len(place_of) < 2 and len(heads) != 2:
        raise InputError(
            f"{name}: {counted(len(heads), 'column')}, expected citing and cited", hint="name them in the first line"
        )
    header = first if len(place_of) == 2 else None
    places = (place_of[0], place_of[1]) if header else (0, 1)

    def read(block: bytes) -> Edges:
        # Only the beginning of a file has a header; as a block may begin anywhere, it is known by its text.
        skipped = 1 if header is not None and block.lstrip(b"\xef\xbb\xbf").startswith(header) else 0
        names = [str(place) for place in range(len(heads))]
        lines, any_ids = block.count(b"\n") + (not block.endswith(b"\n")), not {_CITING, _CITED} & {*heads}
        try:
            table = pyarrow.csv.read_csv(
                io.BytesIO(block),
                pyarrow.csv.ReadOptions(
                    use_threads=False, block_size=len(block), column_names=names, skip_rows=skipped
                ),
                pyarrow.csv.ParseOptions(delimiter=delimiter.decode()),
                pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string())),
            )
            columns = [table[str(place)].combine_chunks() for place in places]
            citing, cited = map(pyarrow.compute.utf8_trim_whitespace, columns)
            if not any(pyarrow.compute.any(pyarrow.compute.equal(ids, "")).as_py() for ids in (citing, cited)):
                return Edges(citing, cited, lines, [], any_ids=any_ids)
        except pyarrow.ArrowInvalid:
            # A line of the block is broken: read one by one, they tell which.
            pass
        pairs, broken = [], []
        for number, line in enumerate(block.split(b"\n"), start=1):
            row = _row(line, delimiter.decode(), len(heads), places) if number > skipped else None
            if isinstance(row, BrokenRecord):
                broken.append((number, row))
            elif row:
                pairs.append(row)
        return Edges(*_columns(pairs), lines, broken, any_ids=any_ids)

    return read


def _row(line: bytes, delimiter: str, width: int, places: tuple[int, int]) -> list[str] | BrokenRecord | None:
    """The ids in the line of a table, or why it has none; None for a blank line."""
    try:
        text = line.decode("utf-8").removeprefix("\ufeff").rstrip("\r")
    except UnicodeDecodeError:
        return BrokenRecord("not UTF-8", ("not UTF-8",), line.decode("utf-8", "replace"))
    cells = next(csv.reader([text], delimiter=delimiter), [])
    if cells and len(cells) != width:
        return BrokenRecord("another number of columns", (f"{len(cells)} columns, expected {width}",), text)
    ids = [cells[place].strip() for place in places] if cells else []
    return ids if all(ids) else BrokenRecord("an empty id", ("an empty id",), text)


def _edges_of_papers(piece: Piece, papers_of: PapersOf) -> Iterator[Edges]:
    form = format_named(piece.format)
    records = form.records(piece)
    lines_before = 0
    while some := list(islice(records, PAPERS_AT_ONCE)):
        edges_read: list[tuple[Sequence[str], Sequence[str]]] = []
        broken = []
        for place, record in some:
            if record is None:
                continue
            try:
                if not isinstance(record, BrokenRecord):
                    edges_read.append(_ids_and_cited(form.paper(record), bibliographic=form.bibliographic))
                    continue
            except InputError as error:
                record = BrokenRecord("no citation", error.faults, json.dumps(record, default=str))
            broken.append((place - lines_before, record))
        named = papers_of([ids for ids, _ in edges_read])
        pairs = [(citing, cited_id) for citing, (_, cited) in zip(named, edges_read, strict=True) for cited_id in cited]
        yield Edges(*_columns(pairs), some[-1][0] - lines_before, broken, any_ids=form.bibliographic)
        lines_before = some[-1][0]


def _ids_and_cited(fields: Mapping[str, Any], *, bibliographic: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The ids of a paper and its citations: as in the file or, for a library's record without an id of the file, every
    id with its kind and without, and citations with their kinds."""
    if bibliographic and fields.keys().isdisjoint(IDS):
        ids = identified(fields, ID_KINDS)
        without = (normalised_id(kind, fields.get(kind)) for kind in ID_KINDS)
        return (*ids.ids, *filter(None, without), ids.record["paper_id"]), ids.cites
    citing = next((fields[name] for name in IDS if fields.get(name) is not None), None)
    cited = fields.get("citations") or fields.get("outbound_citations") or []
    if citing is None or not isinstance(cited, list):
        raise InputError("no citation", faults=("found no id, or citations that are not a list",))
    return (str(citing),), [str(cited_id) for cited_id in cited]


def _columns(pairs: list[Any]) -> tuple[Any, Any]:
    citing, cited = zip(*pairs, strict=True) if pairs else ((), ())
    return pyarrow.array(citing, pyarrow.string()), pyarrow.array(cited, pyarrow.string())
