"""A format of papers, a format of topics and a kind of import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.base.errors import Faults
from annot.formats.corpora import Format
from annot.formats.judgements_file import FileJudgement, columns_of
from annot.formats.topics import Record, TopicFormat
from annot.judging.plan_on_record import import_judgements
from annot.steps.imports import ImportKind
from annot.study.workspace import Workspace


def csl_paper(record: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a work as reference managers export it (Citation Style Language, `csl-data.json` 1.0.2)."""
    parts = (record.get("issued") or {}).get("date-parts") or [[None]]
    return {
        **{name: record.get(source) for name, source in {"doi": "DOI", "pmid": "PMID", "key": "id"}.items()},
        **{name: record.get(name) for name in ("title", "abstract")},
        "year": parts[0][0],
    }


CSL = Format(
    "example:csl", paper=csl_paper, bibliographic=True, fits=lambda record: {"type", "issued"} <= record.keys()
)


def topic_lines(text: str, faults: Faults) -> Iterator[Record]:
    """Topics of a file with a line `id: title` for each."""
    for number, line in enumerate(text.splitlines()[1:], start=2):
        topic_id, separator, title = line.partition(": ")
        if separator:
            yield Record(number, {"id": topic_id, "title": title})
        else:
            faults.add(f"found {line!r}, expected `id: title`", line=number)


LINES = TopicFormat("lines", matches=lambda text: text.startswith("#topics\n"), records=topic_lines)


@dataclass(frozen=True)
class Votes:
    """Result of an import of votes."""

    counts: dict[str, int]
    notes: tuple[str, ...]


def import_votes(ws: Workspace, path: Path, *, dry_run: bool) -> Votes:
    """Import a file with a line `query document yes|no` for each pair that one person judged."""
    data = path.read_bytes()
    rows = [
        FileJudgement(number, query, document, "a1", 3 * (vote == "yes"), None, None, None, 1, {"vote": vote})
        for number, (query, document, vote) in enumerate(
            (line.split() for line in data.decode().splitlines()[1:]), start=2
        )
    ]
    imported = import_judgements(
        *(ws, columns_of(rows), data),
        name=str(path),
        facet=None,
        adjudicators=(),
        foreign=None,
        same_person=None,
        dry_run=dry_run,
    )
    return Votes({"votes": len(rows)}, imported.notes)


VOTES = ImportKind(read=import_votes, is_text=lambda beginning: beginning.startswith("#votes\n"))
