"""Datasets of papers that are published as a whole: OpenAlex, Semantic Scholar and S2ORC, arXiv, CORD-19."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from annot.base.errors import MOST_FAULTS, InputError
from annot.base.libraries import pc, pq, pyarrow
from annot.formats.corpora.bibtex import unicode_of
from annot.formats.corpora.pieces import (
    BrokenRecord,
    Format,
    Piece,
    PieceRead,
    Records,
    cut_lines,
    json_records,
    whole_file_piece,
)
from annot.formats.corpora.tables import csv_rows
from annot.formats.corpora.tables import table_paper as paper_of_row
from annot.formats.input_files import is_gzip, opened
from annot.formats.paper_records import year_in

# ----------------------------------------------------------------------------------------------------------------------
# OpenAlex's works: its snapshot as JSON Lines, pages of its API, lists of works, and single ones.
#
# https://docs.openalex.org/api-entities/works/work-object. An abstract comes as an inverted index, each word with its
# positions.
# ----------------------------------------------------------------------------------------------------------------------


DELETED = "W4285719527"
"""Deleted works became this one, with the title `Deleted Work`; other works still cite it."""
_ENTITY = re.compile(r"(?:https?://(?:api\.)?openalex\.org/)?(?:works/)?([A-Z])(\d+)", re.IGNORECASE)
_CITED_WORK = re.compile(r"(?:https?://(?:api\.)?openalex\.org/)?(?:works/)?W([1-9]\d{0,14})", re.IGNORECASE | re.ASCII)
_ABSTRACTS = ("abstract_inverted_index", "abstract_inverted_index_v3")
_MISSING = 100
"""So many positions may have no word, and besides as many as there are words."""


def openalex_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the work, or of a record with its id that a person made.

    Raises InputError for a record that is not a work, or whose abstract cannot be read.
    """
    ids = record["ids"] if isinstance(record.get("ids"), dict) else {}
    work_id = record.get("id") or ids.get("openalex")
    work = _work(work_id)
    if work is None and work_id is not None:
        raise InputError("no work", faults=(f"id: found {work_id!r:.60}, expected a work, such as W2741809807",))
    if work == DELETED:
        raise InputError("a deleted work", faults=(f"id: found {DELETED}, which OpenAlex gave to all deleted works",))
    cited = record.get("referenced_works")
    works = map(
        _CITED_WORK.fullmatch, filter(lambda raw: isinstance(raw, str), cited if isinstance(cited, list) else ())
    )
    return {
        "openalex": work,
        "doi": record.get("doi") or ids.get("doi"),
        "pmid": ids.get("pmid"),
        "title": record.get("title") or record.get("display_name"),
        "abstract": _abstract(record),
        "year": record.get("publication_year") or str(record.get("publication_date") or "")[:4] or record.get("year"),
        **({"retracted": True} if record.get("is_retracted") is True else {}),
        # OpenAlex finds it out from title and abstract; other databases have the language of the full text.
        **({"language": record["language"]} if record.get("language") else {}),
        "cited": [f"openalex:{normal}" for match in works if match and (normal := f"W{match[1]}") != DELETED],
    }


def _work(work: object) -> str | None:
    """The id of a work without the address before it; None for anything else."""
    match = _ENTITY.fullmatch(work) if isinstance(work, str) else None
    return f"W{match[2]}" if match and match[1] in "Ww" else None


def _abstract(record: Mapping[str, Any]) -> str | None:
    for name in _ABSTRACTS:
        if index := record.get(name):
            return text_of_inverted_index(index, name=name)
    return record.get("abstract") or record.get("text") or None


def text_of_inverted_index(index: object, *, name: str) -> str | None:
    """The text of an inverted index: its words in the order of their positions.

    Positions without a word are passed over; of two words at one position the first stays. Raises InputError, with the
    name of the field, for what is no index, and where most of the positions have no word.

    >>> text_of_inverted_index({"to": [0, 4], "be": [1, 5], "or": [2], "not": [3]}, name="abstract")
    'to be or not to be'
    """
    if not isinstance(index, dict):
        raise _unusable(name, f"{index!r:.40}")
    words: dict[int, str] = {}
    for word, places in index.items():
        for place in places if isinstance(places, list) else [places]:
            if type(place) is not int or place < 0:
                raise _unusable(name, f"{word!r:.40} at position {place!r:.40}")
            words.setdefault(place, word)
    if words and (last := max(words)) >= 2 * len(words) + _MISSING:
        raise _unusable(name, f"position {last!r:.40} for {len(words)} words")
    return " ".join(words[place] for place in sorted(words)) or None


def _unusable(name: str, problem: str) -> InputError:
    return InputError(f"{name} cannot be used", faults=(f"{name}: found {problem}, expected words with positions",))


def _openalex_fits(record: Mapping[str, Any]) -> bool:
    work_id = record.get("id")
    return (isinstance(work_id, str) and "openalex.org/" in work_id) or any(name in record for name in _ABSTRACTS)


OPENALEX = Format("openalex", paper=openalex_paper, fits=_openalex_fits, bibliographic=True)


# ----------------------------------------------------------------------------------------------------------------------
# Semantic Scholar's datasets `papers` and `abstracts`, JSON Lines, joined by `corpusid`; and S2ORC.
#
# https://api.semanticscholar.org/api-docs/datasets. `papers` has title and year, `abstracts` the text; each is many
# times larger than memory. So the rows of both are spread over shares by their id, and one share is joined at a time.
#
# S2ORC (Lo et al., ACL 2020, https://github.com/allenai/s2orc) is read as Semantic Scholar's datasets have it: the text
# of the whole paper, and places in it. Its releases of 2019 and 2020 are not offered any more.
# ----------------------------------------------------------------------------------------------------------------------


SHARE_BYTES = 1 << 28
"""Characters of text in one share, roughly; its tables take several times as much memory while they are joined."""
MOST_SHARES = 256
"""So many files are open at once."""
_GZIP_RATIO = 4
_ROWS = 2_000
_KINDS = {"corpusid": int, "title": str, "year": int, "abstract": str}
_EXPECTED = {int: "a whole number of at most 63 bits", str: "text"}


def spread_rows(numbered: tuple[int, str], *, folder: Path, shares: int) -> tuple[PieceRead, Path]:
    """Spread the rows of a file over this many folders below `folder`, by their ids. numbered: the file and its number,
    which the order of the papers follows. Returns the counts, and the path of the rows that cannot be read."""
    number, name = numbered
    number_type, text = pyarrow.int64(), pyarrow.string()
    kinds = {"corpusid": number_type, "place": number_type, "title": text, "year": number_type, "abstract": text}
    schema = pyarrow.schema(kinds)
    waiting: dict[int, list[dict[str, Any]]] = {}
    writers: dict[int, Any] = {}
    read, rejected = PieceRead(Piece(name, SEMANTIC_SCHOLAR.name, 0, None)), folder / f"{number:05d}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)

    def write(share: int) -> None:
        if share not in writers:
            place = folder / f"{share:03d}"
            place.mkdir(exist_ok=True)
            writers[share] = pq.ParquetWriter(place / f"{number:05d}.parquet", schema)
        writers[share].write_table(pyarrow.Table.from_pylist(waiting.pop(share), schema))

    for place, record in json_records(read.piece):
        read.places = place
        row = _row(record) if isinstance(record, dict) else record
        if isinstance(row, BrokenRecord):
            read.reject(place, row, rejected)
            if not read.read and read.broken.total() == MOST_FAULTS:
                break
        elif row is not None:
            read.read += 1
            share = row["corpusid"] % shares
            waiting.setdefault(share, []).append(row | {"place": number << 40 | place})
            if len(waiting[share]) == _ROWS:
                write(share)
    for share in list(waiting):
        write(share)
    for writer in writers.values():
        writer.close()
    return read, rejected


def shares_of(names: Iterable[str]) -> int:
    """Number of shares over which the rows of these files are spread."""
    sizes = [(path.stat().st_size, is_gzip(path)) for path in map(Path, names)]
    text = sum(size * (_GZIP_RATIO if compressed else 1) for size, compressed in sizes)
    return min(MOST_SHARES, 1 + text // SHARE_BYTES)


def joined(piece: Piece) -> Records:
    """The papers of one share with their abstracts, in the order of the files of `papers`.

    A paper without an abstract has none, which the filters of the corpus count; an abstract without a paper is broken.
    """
    rows = pq.read_table(piece.path)
    papers = rows.filter(pc.is_valid(rows["title"])).drop_columns(["abstract"])
    abstracts = rows.filter(pc.is_null(rows["title"])).select(["corpusid", "abstract"])
    joined_table = papers.join(abstracts, "corpusid", join_type="left outer").sort_by("place")
    places = count(1)
    for batch in joined_table.to_batches(_ROWS):
        for row in batch.to_pylist():
            yield next(places), row
    alone = abstracts.join(papers.select(["corpusid"]), "corpusid", join_type="left anti").sort_by("corpusid")
    for row in alone.to_pylist():
        fault = f"corpusid {row['corpusid']}: no paper of this id in `papers`"
        yield next(places), BrokenRecord("abstract without a paper", (fault,), json.dumps(row, ensure_ascii=False))


def _row(record: Mapping[str, Any]) -> dict[str, Any] | BrokenRecord:
    """The columns of a line of either dataset; a line with an abstract is one of `abstracts`."""
    row = {name: record.get(name) for name in ("corpusid", "title", "year", "abstract")}
    row["title"] = None if row["abstract"] is not None or "openaccessinfo" in record else row["title"] or ""
    wrong = [
        name
        for name, kind in _KINDS.items()
        if not (_fits_column(row[name], kind) or (row[name] is None and name != "corpusid"))
    ]
    if not wrong:
        # UTF-8 has no lone surrogates, which `cleaning.clean` leaves out, too.
        texts = {name: value for name, value in row.items() if isinstance(value, str) and not value.isascii()}
        return row | {name: text.encode("utf-8", "ignore").decode("utf-8") for name, text in texts.items()}
    faults = tuple(f"{name}: found {row[name]!r:.60}, expected {_EXPECTED[_KINDS[name]]}" for name in wrong)
    return BrokenRecord(f"{wrong[0]} cannot be used", faults, json.dumps(record, ensure_ascii=False))


def _fits_column(value: Any, kind: type) -> bool:
    """True if a column can hold the value; a bool is no number, and numbers have 64 bits there."""
    return type(value) is kind and not (isinstance(value, int) and value.bit_length() > 63)


def _paper(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"paper_id": record["corpusid"], **{name: record[name] for name in ("title", "abstract", "year")}}


SEMANTIC_SCHOLAR = Format("semantic-scholar", paper=_paper, fits=lambda record: "corpusid" in record)
JOINED = Format("semantic-scholar-share", paper=_paper, records=joined, cut=whole_file_piece)
"""The name of the folder of one share."""


_BY_PLACES = ("content", "body")


def s2orc_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record in annot's fields."""
    fields = next((record[name] for name in _BY_PLACES if isinstance(record.get(name), dict)), None)
    if fields is None:
        return record
    text, annotations = fields.get("text") or "", fields.get("annotations") or {}
    entries = _places(annotations, "bib_entry") or _places(annotations, "bibentry")
    cited = [(entry.get("attributes") or {}).get("matched_paper_id") for entry in entries]
    title = record.get("title") or " ".join(_spans(text, annotations, "title"))
    return {
        "paper_id": record.get("corpusid"),
        "title": title,
        "abstract": "\n\n".join(_spans(text, annotations, "abstract")),
        "year": record.get("year"),
        "citations": [paper_id for paper_id in cited if paper_id is not None],
    }


def _spans(text: str, annotations: Mapping[str, Any], kind: str) -> list[str]:
    return [text[int(place["start"]) : int(place["end"])] for place in _places(annotations, kind)]


def _places(annotations: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """The places of one kind: a list, or a JSON text that holds one."""
    spans = annotations.get(kind) or []
    return json.loads(spans) if isinstance(spans, str) else spans


def _fits_s2orc(record: Mapping[str, Any]) -> bool:
    return "corpusid" in record and any(isinstance(record.get(name), dict) for name in _BY_PLACES)


S2ORC = Format("s2orc", paper=s2orc_paper, fits=_fits_s2orc)


# ----------------------------------------------------------------------------------------------------------------------
# arXiv's metadata snapshot, JSON Lines under CC0: `id`, `title`, `abstract`, `versions`, `update_date`.
# ----------------------------------------------------------------------------------------------------------------------


def arxiv_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """The year is that of the first version: `Mon, 2 Apr 2007 19:18:42 GMT`. Texts are TeX."""
    versions = record.get("versions")
    first = versions[0] if isinstance(versions, list) and versions else None
    dates = [first.get("created") if isinstance(first, dict) else None, record.get("update_date")]
    named = {"id": "paper_id", "title": "title", "abstract": "abstract"}
    fields = {name: record[source] for source, name in named.items() if source in record}
    for name in ("title", "abstract"):
        if isinstance(text := fields.get(name), str):
            fields[name] = unicode_of(text)
    return fields | {"year": year_in(date for date in dates if isinstance(date, str))}


ARXIV = Format("arxiv", paper=arxiv_paper, fits=lambda record: {"id", "abstract", "categories"} <= record.keys())


# ----------------------------------------------------------------------------------------------------------------------
# CORD-19: the table of a release with the full texts next to it, or full texts alone, one a JSON file or one a line.
#
# Wang et al.: CORD-19, NLP-COVID at ACL 2020, https://github.com/allenai/cord19 (`json_schema.txt`). The table,
# `metadata.csv`, has ids, year and abstract of each paper. It names the paper's full texts in the folder
# `document_parses`: they have what the paper cites, and often an abstract if the table has none. A full text alone is
# known by the SHA-1 of its PDF or by its PMC id. It has no year, and only that of a PDF has an abstract.
# ----------------------------------------------------------------------------------------------------------------------


FULL_TEXTS = "document_parses"
_FILES = ("pdf_json_files", "pmc_json_files")
"""Columns of the table with the names of full texts; semicolons are between them."""
_FILE = re.compile(rf"{FULL_TEXTS}/(?:pdf|pmc)_json/[\w-][\w.-]*\.json")
_TABLE = re.compile(rb'"?cord_uid"?,')
_CITED = {"DOI": "doi", "PMID": "pmid"}


def cord19_records(piece: Piece) -> Records:
    """The rows of the table, each with its full texts as papers; of other files the full texts."""
    if not _is_table(piece.path):
        yield from json_records(piece)
        return
    folder = Path(piece.path).parent
    for place, row in csv_rows(piece):
        if not isinstance(row, dict):
            yield place, row
            continue
        texts = []
        # A release can be downloaded without its full texts.
        names = [name.strip() for column in _FILES for name in row.get(column, "").split(";")]
        for path in (path for name in names if _FILE.fullmatch(name) and (path := folder / name).is_file()):
            for _, text in json_records(Piece(str(path), piece.format, 0, None)):
                if isinstance(text, dict):
                    texts.append(_full_text_record(text))
                elif isinstance(text, BrokenRecord):
                    faults = tuple(f"{path}: {fault}" for fault in text.faults)
                    yield place, text._replace(faults=faults)
        yield place, {**row, FULL_TEXTS: texts}


def cord19_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Paper of a row, with the parts that its full texts add, or of a full text."""
    if FULL_TEXTS not in record:
        return _full_text_record(record)
    row = paper_of_row({name: value for name, value in record.items() if name != FULL_TEXTS})
    texts = record[FULL_TEXTS]
    abstract = row.get("abstract") or next((text["abstract"] for text in texts if text["abstract"]), None)
    return {**row, "abstract": abstract, "cited": [cited for text in texts for cited in text["cited"]]}


def _full_text_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Record of a full text, whose abstract has no empty paragraphs."""
    metadata, abstract = record.get("metadata"), record.get("abstract")
    paragraphs = [str(part.get("text") or "") for part in _objects(abstract)]
    return {
        "key": record.get("paper_id"),
        "title": (metadata.get("title") if isinstance(metadata, dict) else None) or None,
        "abstract": "\n\n".join(text for text in paragraphs if text.strip()) or None,
        "cited": list(_cited(record)),
    }


def _cited(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    """The ids of each work in the bibliography, with their kinds: `"other_ids": {"DOI": ["10.1000/1"]}`."""
    entries = record.get("bib_entries")
    for entry in _objects(list(entries.values()) if isinstance(entries, dict) else entries):
        ids = entry.get("other_ids")
        ids_by_kind = [(name, ids.get(source)) for source, name in _CITED.items()] if isinstance(ids, dict) else []
        typed_ids = [(kind, value) for kind, ids in ids_by_kind for value in (ids if isinstance(ids, list) else [ids])]
        if texts := tuple((kind, value) for kind, value in typed_ids if isinstance(value, str)):
            yield texts


def _objects(several: object) -> list[dict[str, Any]]:
    return [value for value in several if isinstance(value, dict)] if isinstance(several, list) else []


def _is_table(name: str) -> bool:
    with opened(Path(name)) as file:
        return _TABLE.match(file.read(1 << 6).removeprefix(codecs.BOM_UTF8)) is not None


CORD19 = Format(
    "cord19",
    paper=cord19_paper,
    fits=lambda record: isinstance(record.get("metadata"), dict) and isinstance(record.get("body_text"), list),
    matches=lambda head: _TABLE.match(head.start),
    records=cord19_records,
    cut=lambda name: whole_file_piece(name) if _is_table(name) else cut_lines(name),
    brings=lambda name: Path(name).parent / FULL_TEXTS if _is_table(name) else None,
    bibliographic=True,
)
