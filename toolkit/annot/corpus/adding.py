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
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import uuid4

import numpy as np

from annot.base.arrow_arrays import mask_of
from annot.base.errors import InputError
from annot.base.records import Paper
from annot.base.settings.sections import CorpusSettings
from annot.corpus.corpus_filters import KEPT, Marks, Tally, joined, marks_of
from annot.corpus.files_read import common_in_lot
from annot.corpus.other_ids import Known, RowsAside, RowWriter
from annot.corpus.rejects import PieceRead
from annot.formats.cleaning import Cleaned, CleanedCounts, counts_of, kinds
from annot.formats.corpora import Broken, format_named
from annot.formats.corpora.cutting import PIECE_BYTES, Piece
from annot.formats.corpora.plain import IDS
from annot.formats.corpora.sections import HeadingCount, Headings, ReadableRecord, SectionLabels, readable
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
    """The papers that were cleaned, and where to see them."""

    counts: CleanedCounts
    file: str | None
    """The path of their texts before and after; None if there are none, and in a dry run."""
    written: int
    """Papers in the file."""
    examples: tuple[tuple[str, str], ...] = ()
    """A notice that was cut, by the name of its rule."""


Changed = tuple[tuple[str, ...], Cleaned | None]
"""The kinds that a cleaned paper is counted under, and its texts if they may be written down."""


class CleaningCount:
    """Counts papers as they are kept."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._first: list[Cleaned] = []
        self._examples: dict[str, str] = {}

    def take(self, several: Iterable[Changed]) -> None:
        """Count these."""
        for counted_under, texts in several:
            self._counts.update(counted_under)
            if texts is not None and len(self._first) < MOST:
                self._first.append(texts)
                for rule, notice in texts.notices:
                    self._examples.setdefault(rule, notice)

    @property
    def facts(self) -> dict[str, int]:
        """The number of papers by kind, as the store keeps it; nothing if none was cleaned."""
        return dict(self._counts)

    def written(self, folder: Path | None, content: str) -> Cleanings:
        """The counts, with the first papers in a file named after the hash of what was read; no folder: no file."""
        counts, examples = counts_of(self._counts), tuple(sorted(self._examples.items()))
        if folder is None or not self._first:
            return Cleanings(counts, None, 0, examples)
        path = folder / f"cleaned-{content[:12]}.jsonl"
        write_file(path, json_lines(texts._asdict() for texts in self._first).encode("utf-8", AS_JSON))
        return Cleanings(counts, str(path), len(self._first), examples)


AT_ONCE = 1_000


class PaperNotes(NamedTuple):
    """Facts of one paper that are counted if it is kept."""

    cleaned: Changed | None
    """Its texts before and after, if cleaning changed them."""
    headings: Headings
    """The headings of its structured abstract."""
    retracted: bool
    """True if it was retracted or withdrawn."""


@dataclass(frozen=True, slots=True)
class LotRead:
    """The result of reading one lot."""

    pieces: tuple[PieceRead, ...]
    marks: Marks
    """The marks of every paper that could be read."""
    papers: Path | None
    """The Parquet file of the papers that nothing speaks against by themselves, in their order; not there for none."""
    rejected: Path | None
    """The records that cannot be read, one JSON object a line, with their piece's number and place; not there for
    none."""
    notes: dict[int, PaperNotes]
    """The notes by the position of the paper among the marks; papers without any are left out."""
    aside: RowsAside
    """The other ids of the papers, and what they cite."""
    sentences: dict[str, int]
    """The number of papers of each sentence, as `added_lists.common_in_lot` has it."""

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
        taken = {at: self.notes[at] for at in sorted((*kept.tolist(), *corrected.tolist())) if at in self.notes}
        cleanings.take(notes.cleaned for notes in taken.values() if notes.cleaned)
        headings.take(notes.headings for notes in taken.values() if notes.headings)
        retracted += [self.marks.ids[at].as_py() for at, notes in taken.items() if notes.retracted]
        ends = np.cumsum([piece.read for piece in self.pieces])
        of_piece = np.bincount(np.searchsorted(ends, kept, side="right"), minlength=len(self.pieces))
        for piece, kept_of_it in zip(self.pieces, of_piece.tolist(), strict=True):
            piece.kept = kept_of_it
        passing = np.flatnonzero(self.marks.reason == KEPT)
        if self.papers is not None and len(corrected):
            rows = papers.open_papers(self.papers).read()
            corrections.append(rows.filter(mask_of(np.isin(passing, corrected))))
        if self.papers is None or not len(kept):
            return None
        if len(kept) < len(passing):
            keep_rows(self.papers, np.isin(passing, kept))
        return self.papers


def known_marks(group: papers.RowGroups, *, works: bool) -> Marks:
    """The marks of papers that are in the corpus, of one group of rows. works: with those of their works."""
    columns = ("paper_id", "title", "sentences", "year", papers.PART_OF)
    return marks_of(papers.read_group(group, columns), None, works=works)


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

    def __call__(self, numbered: tuple[int, Sequence[Piece]]) -> LotRead:
        """Read the lot with this number, which names its files."""
        number, lot = numbered
        # A lot whose worker seemed lost is read again, perhaps while the first one still writes.
        name = f"{number:06d}-{uuid4().hex[:8]}"
        rejected = self.folder / f"{name}.jsonl" if self.folder else None
        reading = [PieceRead(piece) for piece in lot]
        notes: dict[int, PaperNotes] = {}
        sentences = Counter[str]()
        parts = [marks_of((), self.settings, works=self.works)]
        aside, positions = RowWriter(self.folder, name), count()
        writer = PaperWriter(self.folder, name=f"{name}.parquet") if self.folder else None
        text = rejected.open("w", encoding="utf-8") if rejected else nullcontext()
        with aside, writer or nullcontext(), text as rejects:
            source = self._papers(reading, rejects)
            while batch := list(islice(source, AT_ONCE)):
                some, known, several = zip(*batch, strict=True)
                aside.add(known)
                sentences.update(sentence for paper in some for sentence in {*paper.sentences})
                notes |= {place: facts for facts, place in zip(several, positions, strict=False) if facts is not None}
                ids = [record and record.ids for record in known]
                parts.append(marks_of(some, self.settings, ids, works=self.works))
                if writer:
                    for paper, reason in zip(some, parts[-1].reason.tolist(), strict=True):
                        if reason == KEPT:
                            writer.add(paper)
        if rejected and not any(piece.broken for piece in reading):
            rejected.unlink()
        path, marks = writer.path if writer else None, joined(parts)
        common = common_in_lot(sentences, papers=len(marks.ids))
        return LotRead(tuple(reading), marks, path, rejected, notes, aside.written, common)

    def up_to_a_paper(self, lot: Sequence[Piece]) -> tuple[PieceRead, ...]:
        """Read up to the first record that can be read, or to the end if none can."""
        reading = tuple(map(PieceRead, lot))
        next(self._papers(reading, None), None)
        return reading

    def _papers(
        self, reading: Sequence[PieceRead], rejects: IO[str] | None
    ) -> Iterator[tuple[Paper, Known, PaperNotes | None]]:
        written = 0
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
                        came, text = fields, ReadableRecord(fields) if form.published else readable(fields)
                        fields, headings = self.sections.applied(text.record)
                        paper = document_of_record(fields, self.labels, changed=changed, noted=noted)
                        if text.record is not came:
                            changed = list(filter(None, [text.changed(came, paper)]))
                    except InputError as error:
                        raw = json.dumps(record, ensure_ascii=False, default=str)
                        record = Broken(error.message, error.faults, raw)
                    else:
                        cleaned = (kinds(changed[0]), changed[0] if written < MOST else None) if changed else None
                        written += len(changed)
                        for what, value in (*noted, *came.get("noted", ())):
                            read.note(place, what, value)
                        read.take(paper)
                        read.without_id += known is not None and known.made
                        facts = PaperNotes(cleaned, shared.setdefault(headings, headings), is_retracted(came, paper))
                        yield paper, known, facts if any(facts) else None
                        continue
                read.reject(place, record)
                if rejects:
                    rejects.write(json.dumps({"piece": at, "place": place, **record._asdict()}) + "\n")
