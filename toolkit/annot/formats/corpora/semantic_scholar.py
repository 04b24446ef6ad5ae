"""Semantic Scholar's datasets `papers` and `abstracts`, JSON Lines, joined by `corpusid`; and S2ORC.

https://api.semanticscholar.org/api-docs/datasets. `papers` has title and year, `abstracts` the text; each is many
times larger than memory. So the rows of both are spread over shares by their id, and one share is joined at a time.

S2ORC and the Open Research Corpus before it are read in each of the forms in which they were released (Lo et al.:
S2ORC, ACL 2020, https://github.com/allenai/s2orc). Open Research Corpus: `paperAbstract`, `outCitations`. S2ORC of
2019: the paper's fields below `metadata`. S2ORC of 2020: `outbound_citations`. Semantic Scholar's datasets: the text of
the whole paper, and places in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from annot.base.errors import MOST_FAULTS
from annot.formats.corpora.cutting import Broken, Format, Piece, Records, in_one_piece, json_records
from annot.formats.input_files import is_gzip

SHARE_BYTES = 1 << 28
"""What the text of one share comes to, about; its tables take several times as much memory while they are joined."""
MOST_SHARES = 256
"""So many files are open at once."""
_GZIP_RATIO = 4
_ROWS = 2_000
_KINDS = {"corpusid": int, "title": str, "year": int, "abstract": str}
_EXPECTED = {int: "a whole number of at most 63 bits", str: "text"}


class Spread(NamedTuple):
    """The result of reading one file."""

    name: str
    lines: int
    rows: int
    broken: tuple[tuple[int, Broken], ...]
    """With their lines."""


@dataclass(frozen=True, slots=True)
class Spreading:
    """Spreads the rows of a file over `shares` folders below `folder`, by their ids."""

    folder: Path
    shares: int

    def __call__(self, numbered: tuple[int, str]) -> Spread:
        """Spread the file with this number, which the order of the papers follows."""
        import pyarrow
        import pyarrow.parquet

        number, name = numbered
        schema = _schema()
        waiting: dict[int, list[dict[str, Any]]] = {}
        writers: dict[int, Any] = {}

        def write(share: int) -> None:
            if share not in writers:
                place = self.folder / f"{share:03d}"
                place.mkdir(parents=True, exist_ok=True)
                writers[share] = pyarrow.parquet.ParquetWriter(place / f"{number:05d}.parquet", schema)
            writers[share].write_table(pyarrow.Table.from_pylist(waiting.pop(share), schema))

        broken, lines, rows = [], 0, 0
        for lines, record in json_records(Piece(name, SEMANTIC_SCHOLAR.name, 0, None)):
            row = _row(record) if isinstance(record, dict) else record
            if isinstance(row, Broken):
                broken.append((lines, row))
                if not rows and len(broken) == MOST_FAULTS:
                    break
            elif row is not None:
                rows += 1
                share = row["corpusid"] % self.shares
                waiting.setdefault(share, []).append(row | {"place": number << 40 | lines})
                if len(waiting[share]) == _ROWS:
                    write(share)
        for share in list(waiting):
            write(share)
        for writer in writers.values():
            writer.close()
        return Spread(name, lines, rows, tuple(broken))


def shares_of(names: Iterable[str]) -> int:
    """Over how many shares the rows of these files are to be spread."""
    sizes = [(path.stat().st_size, is_gzip(path)) for path in map(Path, names)]
    text = sum(size * (_GZIP_RATIO if compressed else 1) for size, compressed in sizes)
    return min(MOST_SHARES, 1 + text // SHARE_BYTES)


def joined(piece: Piece) -> Records:
    """The papers of one share with their abstracts, in the order of the files of `papers`.

    A paper without an abstract has none, which the filters of the corpus count; an abstract without a paper is broken.
    """
    import pyarrow.compute
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(piece.path)
    papers = rows.filter(pyarrow.compute.is_valid(rows["title"])).drop_columns(["abstract"])
    abstracts = rows.filter(pyarrow.compute.is_null(rows["title"])).select(["corpusid", "abstract"])
    whole = papers.join(abstracts, "corpusid", join_type="left outer").sort_by("place")
    places = count(1)
    for batch in whole.to_batches(_ROWS):
        for row in batch.to_pylist():
            yield next(places), row
    alone = abstracts.join(papers.select(["corpusid"]), "corpusid", join_type="left anti").sort_by("corpusid")
    for row in alone.to_pylist():
        fault = f"corpusid {row['corpusid']}: no paper of this id in `papers`"
        yield next(places), Broken("abstract without a paper", (fault,), json.dumps(row, ensure_ascii=False))


def _row(record: Mapping[str, Any]) -> dict[str, Any] | Broken:
    """The columns of a line of either dataset; a line with an abstract is one of `abstracts`."""
    row = {name: record.get(name) for name in ("corpusid", "title", "year", "abstract")}
    row["title"] = None if row["abstract"] is not None or "openaccessinfo" in record else row["title"] or ""
    wrong = [
        name
        for name, kind in _KINDS.items()
        if not (_fits(row[name], kind) or (row[name] is None and name != "corpusid"))
    ]
    if not wrong:
        return {name: _without_surrogates(value) if isinstance(value, str) else value for name, value in row.items()}
    faults = tuple(f"{name}: found {row[name]!r:.60}, expected {_EXPECTED[_KINDS[name]]}" for name in wrong)
    return Broken(f"{wrong[0]} cannot be used", faults, json.dumps(record, ensure_ascii=False))


def _fits(value: Any, kind: type) -> bool:
    """Whether a column can hold the value; a bool is no number, and numbers have 64 bits there."""
    return type(value) is kind and not (isinstance(value, int) and value.bit_length() > 63)


def _without_surrogates(text: str) -> str:
    """The text as UTF-8 can have it; `cleaning.clean` leaves lone surrogates out, too."""
    return text if text.isascii() else text.encode("utf-8", "ignore").decode("utf-8")


def _schema() -> Any:
    import pyarrow

    number, text = pyarrow.int64(), pyarrow.string()
    return pyarrow.schema({"corpusid": number, "place": number, "title": text, "year": number, "abstract": text})


def _paper(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"paper_id": record["corpusid"], **{name: record[name] for name in ("title", "abstract", "year")}}


SEMANTIC_SCHOLAR = Format("semantic-scholar", paper=_paper, fits=lambda record: "corpusid" in record)
JOINED = Format("semantic-scholar-share", paper=_paper, records=joined, cut=in_one_piece)
"""The name of the folder of one share."""


_BY_PLACES = ("content", "body")


def s2orc_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record in annot's fields, whichever release it is of."""
    if "paperAbstract" in record:
        renamed = {"id": "paper_id", "paperAbstract": "abstract", "outCitations": "citations"}
        return {renamed.get(name, name): value for name, value in record.items()}
    metadata = record.get("metadata")
    if isinstance(metadata, dict) and "title" in metadata:
        return metadata | {"paper_id": record.get("paper_id")}
    for name in _BY_PLACES:
        if isinstance(record.get(name), dict):
            return _by_places(record, record[name])
    return record


def _by_places(record: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    text, annotations = whole.get("text") or "", whole.get("annotations") or {}
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
    found = annotations.get(kind) or []
    return json.loads(found) if isinstance(found, str) else found


def _fits_s2orc(record: Mapping[str, Any]) -> bool:
    metadata = record.get("metadata")
    return (
        "paperAbstract" in record
        or {"outbound_citations", "mag_id"} <= record.keys()
        or (isinstance(metadata, dict) and "title" in metadata)
        or ("corpusid" in record and any(isinstance(record.get(name), dict) for name in _BY_PLACES))
    )


S2ORC = Format("s2orc", paper=s2orc_paper, fits=_fits_s2orc)
