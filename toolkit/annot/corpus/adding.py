"""Reading papers lot by lot, each lot of pieces by itself, so that processes can share the work.

The papers of a lot are written as Parquet; what comes back is small: the marks by which papers are told apart, and a
count of what could not be read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import numpy as np

from annot.base.arrow_arrays import mask_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings.sections import CorpusSettings
from annot.corpus.added_lists import SentenceCount
from annot.corpus.corpus_filters import KEPT, Marks, Tally, joined, marks_of
from annot.corpus.other_ids import Known, RowsAside, RowWriter
from annot.corpus.rejects import PieceRead
from annot.formats.cleaning import Cleaned, CleanedCounts, counts_of, kinds
from annot.formats.corpora import Broken, format_named
from annot.formats.corpora.cutting import PIECE_BYTES, Piece
from annot.formats.corpora.plain import IDS
from annot.formats.corpora.readable_texts import Readable, readable
from annot.formats.corpora.sections import HeadingCount, Headings, SectionLabels
from annot.formats.json_lines import AS_JSON, json_lines
from annot.formats.notices import is_retracted
from annot.formats.paper_lines import document_of_record
from annot.formats.same_work import identified
from annot.store import papers
from annot.store.paper_writing import PaperWriter, keep_rows
from annot.study.workspace import write_file

MOST = 1_000
"""Papers that are written down with their texts before and after; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Cleanings:
    """How many papers were cleaned, and where to see them."""

    counts: CleanedCounts
    file: str | None
    """Where their texts before and after are; None if there are none, and in a dry run."""
    written: int
    """How many are in the file."""
    examples: tuple[tuple[str, str], ...] = ()
    """A notice that was cut, by the name of its rule."""


Changed = tuple[tuple[str, ...], Cleaned | None]
"""What a paper is counted under, and its texts if they may be written down."""


class CleaningCount:
    """Counts papers as they are kept."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._first: list[Cleaned] = []
        self._examples: dict[str, str] = {}

    def take(self, several: Iterable[Changed]) -> None:
        """Count these."""
        for counted_under, one in several:
            self._counts.update(counted_under)
            if one is not None and len(self._first) < MOST:
                self._first.append(one)
                for rule, notice in one.notices:
                    self._examples.setdefault(rule, notice)

    @property
    def facts(self) -> dict[str, int]:
        """How many papers by kind, as the store keeps it; nothing if none was cleaned."""
        return dict(self._counts)

    def written(self, folder: Path | None, content: str) -> Cleanings:
        """The counts, with the first papers in a file named after the hash of what was read; no folder: no file."""
        counts, examples = counts_of(self._counts), tuple(sorted(self._examples.items()))
        if folder is None or not self._first:
            return Cleanings(counts, None, 0, examples)
        path = folder / f"cleaned-{content[:12]}.jsonl"
        write_file(path, json_lines(one._asdict() for one in self._first).encode("utf-8", AS_JSON))
        return Cleanings(counts, str(path), len(self._first), examples)


AT_ONCE = 1_000


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
    headings: dict[int, Headings]
    """Of structured abstracts, by the same."""
    aside: RowsAside
    """The other ids of the papers, and what they cite."""
    retracted: frozenset[int]
    """Of the papers that were retracted or withdrawn, the positions among the marks."""
    sentences: dict[str, int]
    """In how many papers a sentence is, as `SentenceCount` has it of a lot."""

    def keep(
        self,
        tally: Tally,
        cleanings: CleaningCount,
        headings: HeadingCount,
        retracted: list[str],
        corrections: list[Any],
    ) -> Path | None:
        """Count the papers, and leave those to keep in the file; its path, None if it has none.

        retracted: takes the ids of retracted papers that are kept. corrections: takes a table of the papers that
        replace one of the corpus.
        """
        corrected = tally.corrections(self.marks)
        kept = tally.take(self.marks, corrected)
        taken = sorted((*kept.tolist(), *corrected.tolist()))
        cleanings.take(self.cleaned[at] for at in taken if at in self.cleaned)
        headings.take(self.headings[at] for at in taken if at in self.headings)
        retracted += [self.marks.ids[at].as_py() for at in taken if at in self.retracted]
        ends = np.cumsum([one.read for one in self.pieces])
        of_piece = np.bincount(np.searchsorted(ends, kept, side="right"), minlength=len(self.pieces))
        for one, count in zip(self.pieces, of_piece.tolist(), strict=True):
            one.kept = count
        passing = np.flatnonzero(self.marks.reason == KEPT)
        if self.papers is not None and len(corrected):
            rows = papers.open_papers(self.papers).read()
            corrections.append(rows.filter(mask_of(np.isin(passing, corrected))))
        if self.papers is None or not len(kept):
            return None
        if len(kept) < len(passing):
            keep_rows(self.papers, np.isin(passing, kept))
        return self.papers


@dataclass(frozen=True, slots=True)
class KnownMarks:
    """The marks of papers that are in the corpus: those of one group of rows. works: of their works, too."""

    works: bool

    def __call__(self, group: papers.RowGroups) -> Marks:
        """The marks of this group."""
        columns = ("paper_id", "title", "sentences", "year", papers.PART_OF)
        return marks_of(papers.read_group(group, columns), None, works=self.works)


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

    folder: where the files go; None writes none. labels: those that sentences can have. sections: those that the
    sentences of a section have. works: whether papers are told by their works, as a file of a library is added.
    """

    folder: Path | None
    settings: CorpusSettings
    labels: tuple[str, ...]
    sections: SectionLabels
    works: bool

    def __call__(self, numbered: tuple[int, Sequence[Piece]]) -> Brought:
        """Read the lot with this number, which names its files."""
        number, lot = numbered
        # A lot whose worker seemed lost is read again, perhaps while the first one still writes.
        name = f"{number:06d}-{uuid4().hex[:8]}"
        rejected = self.folder / f"{name}.jsonl" if self.folder else None
        reading = [PieceRead(piece) for piece in lot]
        cleaned: dict[int, Changed] = {}
        headings: dict[int, Headings] = {}
        retracted: set[int] = set()
        sentences = SentenceCount()
        parts = [marks_of((), self.settings, works=self.works)]
        aside = RowWriter(self.folder, name)
        writer = PaperWriter(self.folder, name=f"{name}.parquet") if self.folder else None
        text = rejected.open("w", encoding="utf-8") if rejected else nullcontext()
        with aside, writer or nullcontext(), text as rejects:
            source = self._papers(reading, rejects, cleaned, headings, retracted)
            while found := list(islice(source, AT_ONCE)):
                some, known = zip(*found, strict=True)
                aside.add(known)
                sentences.take(some)
                ids = [one and one.ids for one in known]
                parts.append(marks_of(some, self.settings, ids, works=self.works))
                if writer:
                    for paper, reason in zip(some, parts[-1].reason.tolist(), strict=True):
                        if reason == KEPT:
                            writer.add(paper)
        if rejected and not any(one.broken for one in reading):
            rejected.unlink()
        path = writer.path if writer else None
        marks = joined(parts)
        texts = (cleaned, headings, aside.written, frozenset(retracted), sentences.of_lot)
        return Brought(tuple(reading), marks, path, rejected, *texts)

    def up_to_a_paper(self, lot: Sequence[Piece]) -> tuple[PieceRead, ...]:
        """What became of the records up to the first that can be read; of all if none can."""
        reading = tuple(map(PieceRead, lot))
        next(self._papers(reading, None, {}, {}, set()), None)
        return reading

    def _papers(
        self,
        reading: Sequence[PieceRead],
        rejects: IO[str] | None,
        cleaned: dict[int, Changed],
        headings: dict[int, Headings],
        retracted: set[int],
    ) -> Iterator[tuple[Paper, Known]]:
        position = 0
        # Papers share the few headings that there are, here and on their way to another process.
        shared: dict[Headings, Headings] = {}
        for at, read in enumerate(reading):
            form = format_named(read.piece.format)
            for place, record in form.records(read.piece):
                read.places = place
                if record is None:
                    continue
                if not isinstance(record, Broken):
                    try:
                        changed: list[Cleaned] = []
                        noted: list[tuple[str, str]] = []
                        fields, known = form.paper(record), None
                        if form.bibliographic and fields.keys().isdisjoint(IDS):
                            known = identified(fields, self.settings.ids)
                            fields = known.record
                        came, text = fields, Readable(fields) if form.published else readable(fields)
                        fields, named = self.sections.applied(text.record)
                        paper = document_of_record(fields, self.labels, changed=changed, noted=noted)
                        if text.record is not came:
                            changed = list(filter(None, [text.changed(came, paper)]))
                    except InputError as error:
                        record = Broken(
                            error.message, error.faults, json.dumps(record, ensure_ascii=False, default=str)
                        )
                    else:
                        for one in changed:
                            cleaned[position] = (kinds(one), one if len(cleaned) < MOST else None)
                        if is_retracted(came, paper):
                            retracted.add(position)
                        for what, value in (*noted, *came.get("noted", ())):
                            read.note(place, what, value)
                        if named:
                            headings[position] = shared.setdefault(named, named)
                        position += 1
                        read.take(paper)
                        read.without_id += known is not None and known.made
                        yield paper, known
                        continue
                read.reject(place, record)
                if rejects:
                    rejects.write(json.dumps({"piece": at, "place": place, **record._asdict()}) + "\n")
