"""Reading papers lot by lot, each lot of pieces by itself, so that processes can share the work.

The papers of a lot are written as Parquet; what comes back is small: the marks by which papers are told apart, and a
count of what could not be read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO
from uuid import uuid4

from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings.sections import CorpusSettings
from annot.corpus.cleanings import Changed, CleaningCount, LotCleanings
from annot.corpus.corpus_filters import KEPT, Marks, Tally, joined, marks_of
from annot.formats.cleaned import Cleaned
from annot.formats.corpora import Broken, Piece, format_named
from annot.formats.corpora.cutting import PIECE_BYTES
from annot.formats.paper_lines import paper_of_record
from annot.store import papers
from annot.store.paper_writing import PaperWriter, keep_rows

AT_ONCE = 1_000
TOLD = 100
"""Faults of a piece that can be told; all of them are counted, and written to its file of rejected records."""


@dataclass(slots=True)
class PieceRead:
    """What became of one piece."""

    piece: Piece
    places: int = 0
    """Lines, rows or entries of the piece, blank ones too."""
    read: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    """Records that cannot be read, by reason."""
    faults: list[tuple[int, str]] = field(default_factory=list)
    """What is wrong with the first of them, with their places from 1 in the piece."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What one lot brought."""

    pieces: tuple[PieceRead, ...]
    marks: Marks
    """Of every paper that could be read."""
    papers: Path | None
    """The Parquet file of the papers that nothing speaks against by themselves, in their order; not there for none."""
    rejected: Path | None
    """The records that cannot be read, one JSON object a line, with their piece's number and place; not there for
    none."""
    cleaned: dict[int, Changed]
    """What cleaning changed, by the position of the paper among the marks."""

    def keep(self, tally: Tally, cleanings: CleaningCount) -> Path | None:
        """Count the papers, and leave those to keep in the file; its path, None where it has none."""
        import numpy

        kept = tally.take(self.marks)
        cleanings.take(self.cleaned[at] for at in kept.tolist() if at in self.cleaned)
        if self.papers is None or not len(kept):
            return None
        passing = numpy.flatnonzero(self.marks.reason == KEPT)
        if len(kept) < len(passing):
            keep_rows(self.papers, numpy.isin(passing, kept))
        return self.papers


def known_marks(group: tuple[Path, int]) -> Marks:
    """The marks of papers that are in the corpus: those of one group of rows."""
    return marks_of(papers.read_group(*group, ("title", "sentences", "year")), None)


def lots_of(files: Iterable[tuple[str, str]]) -> list[tuple[Piece, ...]]:
    """The pieces of files or datasets, given as (format, name), in order; small ones together."""
    lots: list[list[Piece]] = []
    room = 0.0
    for form, name in files:
        cuts = format_named(form).cut(name)
        size = (Path(name).stat().st_size if Path(name).is_file() else PIECE_BYTES) / len(cuts)
        for start, stop in cuts:
            if size > room or not lots:
                lots.append([])
                room = PIECE_BYTES
            lots[-1].append(Piece(name, form, start, stop))
            room -= size
    return [tuple(lot) for lot in lots]


@dataclass(frozen=True, slots=True)
class LotReader:
    """Reads the lots that a process is given.

    folder: where the files go; None writes none. labels: those that sentences can have.
    """

    folder: Path | None
    settings: CorpusSettings
    labels: tuple[str, ...]

    def __call__(self, numbered: tuple[int, Sequence[Piece]]) -> Brought:
        """Read the lot with this number, which names its files."""
        number, lot = numbered
        # A lot whose worker seemed lost is read again, perhaps while the first one still writes.
        name = f"{number:06d}-{uuid4().hex[:8]}"
        rejected = self.folder / f"{name}.jsonl" if self.folder else None
        reading = [PieceRead(piece) for piece in lot]
        cleaned = LotCleanings()
        parts = [marks_of((), self.settings)]
        writer = PaperWriter(self.folder, name=f"{name}.parquet") if self.folder else None
        with writer or nullcontext(), _RejectsFile(rejected) as rejects:
            source = (paper for at, one in enumerate(reading) for paper in self._papers(one, at, rejects, cleaned))
            while some := list(islice(source, AT_ONCE)):
                parts.append(marks_of(some, self.settings))
                if writer:
                    for paper, reason in zip(some, parts[-1].reason.tolist(), strict=True):
                        if reason == KEPT:
                            writer.add(paper)
        return Brought(tuple(reading), joined(parts), writer.path if writer else None, rejected, cleaned.by_position)

    def _papers(self, read: PieceRead, at: int, rejects: _RejectsFile, cleaned: LotCleanings) -> Iterator[Paper]:
        form = format_named(read.piece.format)
        for place, record in form.records(read.piece):
            read.places = place
            if record is None:
                continue
            if not isinstance(record, Broken):
                try:
                    changed: list[Cleaned] = []
                    paper = paper_of_record(form.paper(record), self.labels, clean_text=True, changed=changed)
                except InputError as error:
                    record = Broken(error.message, error.faults, json.dumps(record, ensure_ascii=False, default=str))
                else:
                    read.read += 1
                    cleaned.add(changed)
                    yield paper
                    continue
            read.broken[record.reason] += 1
            read.faults += [(place, fault) for fault in record.faults[: TOLD - len(read.faults)]]
            rejects.add({"piece": at, "place": place, **record._asdict()})


class _RejectsFile:
    """The file of rejected records, made with the first of them."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def __enter__(self) -> _RejectsFile:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file:
            self._file.close()

    def add(self, record: dict[str, object]) -> None:
        if self._path is not None:
            self._file = self._file or self._path.open("w", encoding="utf-8")
            self._file.write(json.dumps(record) + "\n")
