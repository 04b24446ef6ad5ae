"""Papers added to the corpus: files read lot by lot, records rejected by reason, and counts by file."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from annot.base.array_files import mask_of
from annot.base.errors import MOST_FAULTS, InputError
from annot.base.names import counted
from annot.base.plugins import PluginNames
from annot.base.records import Paper
from annot.base.settings import Settings
from annot.corpus.corpus_filters import KEPT, Marks, Rejection, Tally, joined, marks_of
from annot.corpus.paper_ids import Known, RowsAside, RowWriter
from annot.formats.cleaning import CleanedCounts, CleanedPaper, counts_of, identified, is_retracted, kinds
from annot.formats.corpora import FORMATS, BrokenRecord, encoding_in, format_named, format_of
from annot.formats.corpora.datasets import JOINED, SEMANTIC_SCHOLAR
from annot.formats.corpora.pieces import PIECE_BYTES, Piece, PieceRead, json_records
from annot.formats.corpora.sections import HeadingCount, Headings, SectionLabels, readable
from annot.formats.corpora.tables import IDS, document, usual_paper
from annot.formats.input_files import AS_JSON, json_lines, written_sheet
from annot.formats.paper_records import document_of_record
from annot.store import papers
from annot.store.papers import PaperWriter, keep_rows
from annot.study.workspace import check_files, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The result of reading each piece of a file, and the records that could not be read, counted by reason.
# ----------------------------------------------------------------------------------------------------------------------


_REASONS = 10
"""Faults that are shown of a file without a readable record."""
_UNKNOWN, _EMPTY = "a file in no known format", "the file is empty"
MOST_UNREADABLE, MOST_SHARE = 20, 0.05
"""A file with more unreadable records than this number, and than this share of all, is refused."""


class Rejects:
    """Records that could not be read, over all pieces in their order.

    noun: the word for a record, such as paper. most_shown: faults kept to be shown. part_of: by file, the folder
    in whose place it was read. A folder counts as one file: it can be read if any of its files can.
    """

    def __init__(self, noun: str, *, most_shown: int, part_of: Mapping[str, str] | None = None) -> None:
        self._noun = noun
        self._part_of = part_of or {}
        self._places: Counter[str] = Counter()
        self._most_shown = most_shown
        self._of: dict[str, _OfFile] = {}
        self._files: list[tuple[Path, list[tuple[str, int]]]] = []
        self._notes: Counter[str] = Counter()

    @property
    def faults(self) -> list[str]:
        """Faults of the first records that cannot be read."""
        return [fault for of_file in self._of.values() for fault in of_file.shown_faults][: self._most_shown]

    @property
    def counts(self) -> dict[str, int]:
        """Number of records by reason."""
        reasons = sum((of_file.reasons for of_file in self._of.values()), Counter[str]())
        return {f"cannot be read: {reason}": count for reason, count in sorted(reasons.items())}

    def count(self, pieces: tuple[PieceRead, ...], rejected: Path | None) -> None:
        """Count the records of these pieces that could not be read; rejected: the file of these records, which may not
        exist.

        Raises InputError for a file that begins with a thousand unreadable records.
        """
        origins = []
        for piece in pieces:
            name = "papers and abstracts" if piece.piece.format == JOINED.name else piece.piece.path
            file = self._part_of.get(name, name)
            of_file = self._of.setdefault(file, _OfFile(piece.piece.format))
            rows_before = self._places[name]
            origins.append((name, rows_before))
            of_file.shown_faults += [f"{name}:{rows_before + place}: {fault}" for place, fault in piece.faults]
            for reason, (place, fault) in piece.first.items():
                of_file.first.setdefault(reason, f"{name}:{rows_before + place}: {fault}")
            self._notes.update(piece.noted)
            if file != name and piece.piece[2:] == (0, None) and not (piece.read or piece.broken):
                of_file.leave_out(_EMPTY, f"{name}: found no {self._noun}")
            del of_file.shown_faults[self._most_shown :]
            self._places[name] += piece.places
            of_file.read += piece.read
            of_file.reasons += piece.broken
            if not of_file.read and of_file.reasons.total() >= MOST_FAULTS:
                stopped = f"the first {of_file.reasons.total()} records cannot be read, reading stopped"
                self._raise([file], f"{file}: {stopped}")
        if rejected is not None and rejected.is_file():
            self._files.append((rejected, origins))

    def leave_out(self, name: str, fault: str) -> None:
        """Count a file of a folder that is in no format that is read."""
        self._of.setdefault(self._part_of[name], _OfFile("")).leave_out(_UNKNOWN, fault)

    @property
    def unreadable(self) -> int:
        """Number of records that cannot be read in files that were read."""
        return sum(of_file.unreadable for of_file in self._of.values())

    def notes(self) -> tuple[tuple[str, int, str], ...]:
        """Parts that were left out of readable records, with their number and the first of each with its place."""
        first = {noun: fault for of_file in reversed(self._of.values()) for noun, fault in of_file.first.items()}
        return tuple((noun, count, first[noun]) for noun, count in sorted(self._notes.items()))

    def raise_if_unreadable(self, *, partial: bool) -> None:
        """Raise InputError with the faults of every file of which no record could be read, or too few.

        partial: accept a file of which many records cannot be read.
        """
        if bad := [name for name, of_file in self._of.items() if not of_file.read]:
            self._raise(bad, f"{', '.join(bad)}: no {self._noun} can be read")
        if many := [name for name, of_file in self._of.items() if of_file.is_mostly_lost]:
            shares = (f"{self._of[name].unreadable:,} of {self._of[name].total:,} in {name}" for name in many)
            hint = "nothing was kept; correct the files, or add the other records with --partial"
            if not partial:
                self._raise(many, f"too many records cannot be read: {', '.join(shares)}", hint=hint)

    def write(self, path: Path) -> str | None:
        """Write the records to `path`, with their file and place, and return its name; None without records."""
        if not self._files:
            return None
        scratch = self._files[0][0].with_suffix(".all")
        with scratch.open("w", encoding="utf-8", errors=AS_JSON) as file:
            for part, origins in self._files:
                with part.open(encoding="utf-8") as lines:
                    for record in map(json.loads, lines):
                        name, rows_before = origins[record.pop("piece")]
                        record["place"] += rows_before
                        file.write(json.dumps({"file": name, **record}, ensure_ascii=False) + "\n")
        scratch.replace(path)
        return str(path)

    def _raise(
        self, names: list[str], message: str, *, hint: str = "nothing was kept; check the files and --format"
    ) -> None:
        faults = [fault for name in names for fault in self._of[name].faults(name, self._noun)]
        raise InputError(message, faults=faults, hint=hint)


@dataclass(slots=True)
class _OfFile:
    """The results for one file or folder, over its pieces."""

    format: str
    read: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    """The first fault of each reason."""
    shown_faults: list[str] = field(default_factory=list)
    """The first faults, for any reason."""

    @property
    def unreadable(self) -> int:
        """Number of records that cannot be read; records of files that cannot be read at all do not count."""
        return self.reasons.total() - self.reasons[_UNKNOWN] - self.reasons[_EMPTY]

    @property
    def total(self) -> int:
        """Number of records."""
        return self.read + self.unreadable

    @property
    def is_mostly_lost(self) -> bool:
        """True if too many records cannot be read."""
        return self.unreadable > max(MOST_UNREADABLE, MOST_SHARE * self.total)

    def leave_out(self, reason: str, fault: str) -> None:
        """Count a whole file as one record that cannot be read."""
        self.reasons[reason] += 1
        self.first.setdefault(reason, fault)
        self.shown_faults.append(fault)

    def faults(self, name: str, noun: str) -> list[str]:
        """One fault for each reason why no record can be read, with its count."""
        if not self.reasons:
            lines = self.format not in FORMATS or FORMATS[self.format].records is json_records
            return [f"{name}: {'the file is empty, or has only blank lines' if lines else f'found no {noun}'}"]
        counted_reasons = self.reasons.most_common()
        faults = [
            self.first.get(reason, f"{name}: {reason}")
            if count == 1
            else f"{name}: {reason} in each of {count:,} records; the first: {self.first.get(reason, reason)}"
            for reason, count in counted_reasons[:_REASONS]
        ]
        n_more = len(counted_reasons) - _REASONS
        return faults if n_more < 1 else [*faults, f"{name}: {counted(n_more, 'other reason')}"]


# ----------------------------------------------------------------------------------------------------------------------
# The files that a person adds to the corpus: their formats, and how many papers each of them added.
# ----------------------------------------------------------------------------------------------------------------------


def files_below(sources: Iterable[str]) -> list[tuple[str, str]]:
    """The files, each with its source: itself, or the folder that it is in. Hidden files of a folder are left out.

    Raises InputError with every file that is not there, and for a folder without one.
    """
    sources = list(sources)
    check_files(path for path in map(Path, sources) if not path.is_dir())
    files: list[tuple[str, str]] = []
    for source in sources:
        below = _files_in_folder(source) if Path(source).is_dir() else [source]
        if not below:
            raise InputError(f"{source}: an empty folder, expected files of papers")
        files += [(name, source) for name in below]
    return files


def _files_in_folder(folder: str) -> list[str]:
    """The files in a folder by their names; links to other folders are not followed."""
    paths = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in names if not name.startswith(".")]
    return sorted(str(path) for path in paths if path.is_file())


def formats_of(
    names: Sequence[str], form: str | None, plugins: PluginNames = ()
) -> tuple[list[tuple[str, str]], dict[str, InputError]]:
    """Format and name of each file, and the errors by name of files in no format that is read; without files that
    another one brings."""
    forms: dict[str, str] = {}
    errors: dict[str, InputError] = {}
    brought = set[Path]()
    # A folder that a file brings may have hundreds of thousands of others, and is next to it.
    for name in sorted(names, key=lambda name: name.count(os.sep)):
        if brought and not brought.isdisjoint(Path(name).parents):
            continue
        try:
            forms[name] = format_of(name, form, plugins)
        except InputError as error:
            errors[name] = error
        else:
            if (folder := format_named(forms[name]).brings(name)) is not None:
                brought.add(folder)
    return [(forms[name], name) for name in names if name in forms], errors


@dataclass(frozen=True, slots=True)
class FileRead:
    """The counts of one file. The files of Semantic Scholar, whose rows are joined, count as one."""

    name: str
    """Name of the file without its folder, which differs between machines."""
    format: str
    encoding: str
    """The encoding of its text if that is not UTF-8; otherwise empty."""
    read: int = 0
    """Records, including those that cannot be read."""
    kept: int = 0
    """Papers that are new in the corpus."""
    without_abstract: int = 0
    without_year: int = 0
    without_id: int = 0
    """Records of a library without an id; their papers get one from title and year."""
    sheet: str = ""
    """The sheet that is read of a workbook with several; otherwise empty."""


_MANY = 100
COUNTS = ("read", "kept", "without_abstract", "without_year", "without_id")


class FilesRead:
    """The counts of all files. files: their formats and names. folders: the folder in whose place a file was read;
    the files of one folder and format count as one."""

    def __init__(self, files: Sequence[tuple[str, str]], folders: Mapping[str, str]) -> None:
        self._names: dict[str, list[str]] = {}
        self._counts: dict[str, FileRead] = {}
        self._key: dict[str, str] = {JOINED.name: JOINED.name}
        for form, name in files:
            encoding, sheet = encoding_in(form, name), format_named(form).sheet(name)
            lot_file = folders.get(name, name)
            key = JOINED.name if form == SEMANTIC_SCHOLAR.name else name if lot_file == name else f"{form} {lot_file}"
            key = " ".join(filter(None, (key, encoding, sheet))) if lot_file != name else key
            self._key[name] = key
            self._names.setdefault(key, []).append(name)
            self._counts.setdefault(key, FileRead(Path(lot_file).name or lot_file, form, encoding, sheet=sheet))
        for key, names in self._names.items():
            file = self._counts[key]
            if folders.get(names[0], names[0]) != names[0] and key != JOINED.name:
                self._counts[key] = replace(file, name=f"{file.name}: {counted(len(names), 'file')}")
            elif len(names) > 1:
                self._counts[key] = replace(file, name=f"{file.name} and {counted(len(names) - 1, 'more file')}")

    def take(self, pieces: Iterable[PieceRead]) -> None:
        """Count the records of these pieces."""
        for piece in pieces:
            key = self._key[JOINED.name if piece.piece.format == JOINED.name else piece.piece.path]
            counts = {name: getattr(piece, name) for name in COUNTS} | {"read": piece.read + piece.broken.total()}
            self._counts[key] = _sum(self._counts[key], counts)

    @property
    def found(self) -> tuple[FileRead, ...]:
        """The counts of each file, in the order in which the files were read."""
        return tuple(self._counts[name] for name in self._names)

    def facts(self, sha256: Mapping[str, str]) -> list[dict[str, Any]]:
        """The counts as the study remembers them; sha256: by name."""
        return [
            asdict(self._counts[key]) | {"sha256": _hashes_in_short([sha256[name] for name in names])}
            for key, names in self._names.items()
        ]


def _hashes_in_short(hashes: list[str]) -> list[str]:
    """The hashes, or the one of all if there are many."""
    return hashes if len(hashes) < _MANY else [hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()]


def merged(several: Iterable[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Facts of files. A file that was added again comes once: with all papers that it added, and its other counts of
    the last time."""
    files: dict[tuple[str, ...], dict[str, Any]] = {}
    for facts in several:
        for file in facts:
            key = tuple(file["sha256"])
            earlier = files.get(key, {"name": file["name"], "kept": 0})
            files[key] = {**file, "name": earlier["name"], "kept": earlier["kept"] + file["kept"]}
    return list(files.values())


def files_of(facts: Iterable[Mapping[str, Any]]) -> tuple[FileRead, ...]:
    """Facts of files as records. Facts of another version may have other keys, which are skipped."""
    return tuple(FileRead(**{name: file[name] for name in FileRead.__slots__ if name in file}) for file in facts)


def by_format(files: Iterable[FileRead]) -> dict[str, tuple[int, FileRead]]:
    """The number of files of each format, with the sum of their counts."""
    formats: dict[str, tuple[int, FileRead]] = {}
    for file in files:
        number, total = formats.get(file.format, (0, FileRead("", file.format, "")))
        formats[file.format] = number + 1, _sum(total, asdict(file))
    return formats


def _sum(total: FileRead, counts: Mapping[str, Any]) -> FileRead:
    return replace(total, **{name: getattr(total, name) + counts[name] for name in COUNTS})


REPEATED = (Rejection.DUPLICATE_ID, Rejection.DIFFERING_ID, Rejection.SAME_PAPER)


@dataclass(frozen=True, slots=True)
class PrismaNumbers:
    """The first boxes of a flow diagram (Page et al.: The PRISMA 2020 statement, BMJ 372:n71, figure 1)."""

    identified: int
    duplicates: int
    other_reasons: int
    """Papers left out by the limits of the corpus, or because they cannot be read."""
    to_screen: int


def prisma_of(read: int, rejected: Mapping[Rejection, int], included: int) -> PrismaNumbers:
    """Numbers of read, rejected and kept papers. rejected: readable papers by reason."""
    duplicates = sum(rejected.get(reason, 0) for reason in REPEATED)
    return PrismaNumbers(read, duplicates, read - included - duplicates, included)


def id_lists(lists: Mapping[str, Iterable[tuple[str, ...]]]) -> str:
    """CSV with one id a row, under the name of its list; `other_id` is the paper that it is compared with. Empty if all
    lists are."""
    rows = [(name, ids[0], ids[1] if len(ids) > 1 else "") for name, several in lists.items() for ids in several]
    return written_sheet([("list", "id", "other_id"), *rows]) if rows else ""


FEWEST, SHARE = 5, 0.01
"""A sentence is shown if at least this many papers have it, and this share of all papers."""
_ALL = 1_000
"""Papers of a lot; all sentences of a smaller one are counted."""


def common_in_lot(counts: Mapping[str, int], *, papers: int) -> dict[str, int]:
    """The number of papers of each sentence of a lot; of many papers, only of sentences that come again."""
    fewest = 1 if papers < _ALL else 1 + papers // 1_000
    return {sentence: count for sentence, count in counts.items() if count >= fewest}


def shared_sentences(counts: Counter[str], *, papers: int) -> tuple[tuple[str, int], ...]:
    """Sentences that many papers share, perhaps notices that no rule knows, with their numbers; the most frequent
    first."""
    fewest = max(FEWEST, SHARE * papers)
    return tuple((sentence, count) for sentence, count in counts.most_common() if count >= fewest)


# ----------------------------------------------------------------------------------------------------------------------
# Reading papers lot by lot, each lot of pieces by itself, so that processes can share the work.
#
# The papers of a lot are written as Parquet; what comes back is small: the marks by which papers are told apart, and
# a count of what could not be read.
# ----------------------------------------------------------------------------------------------------------------------


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


Changed = tuple[tuple[str, ...], CleanedPaper | None]
"""The kinds that a cleaned paper is counted under, and its texts if they may be written down."""


class CleaningCount:
    """Counts papers as they are kept."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._first: list[CleanedPaper] = []
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
        """Counts, with the first papers in a file named after the hash of all that was read; no folder: no file."""
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
    """Texts of the paper before and after cleaning; None if it changed nothing."""
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
    """Other ids of the papers, and their citations."""
    sentences: dict[str, int]
    """The number of papers of each sentence, as `common_in_lot` has it."""

    def keep(
        self,
        tally: Tally,
        cleanings: CleaningCount,
        headings: HeadingCount,
        retracted: list[str],
        corrections: list[Any],
    ) -> Path | None:
        """Count the papers, and remove those not to keep from the file; returns its path, None if it is empty.

        retracted: takes the ids of retracted papers that are kept. corrections: takes a table of the papers that
        replace one of the corpus.
        """
        corrected = tally.corrections(self.marks)
        new_rows = tally.take(self.marks, corrected)
        used_notes = {
            row: self.notes[row] for row in sorted((*new_rows.tolist(), *corrected.tolist())) if row in self.notes
        }
        cleanings.take(notes.cleaned for notes in used_notes.values() if notes.cleaned)
        headings.take(notes.headings for notes in used_notes.values() if notes.headings)
        retracted += [self.marks.ids[row].as_py() for row, notes in used_notes.items() if notes.retracted]
        ends = np.cumsum([piece.read for piece in self.pieces])
        of_piece = np.bincount(np.searchsorted(ends, new_rows, side="right"), minlength=len(self.pieces))
        for piece, kept in zip(self.pieces, of_piece.tolist(), strict=True):
            piece.kept = kept
        passing = np.flatnonzero(self.marks.reason == KEPT)
        if self.papers is not None and len(corrected):
            rows = papers.open_papers(self.papers).read()
            corrections.append(rows.filter(mask_of(np.isin(passing, corrected))))
        if self.papers is None or not len(new_rows):
            return None
        if len(new_rows) < len(passing):
            keep_rows(self.papers, np.isin(passing, new_rows))
        return self.papers


def known_marks(group: papers.RowGroups, *, works: bool) -> Marks:
    """The marks of papers that are in the corpus, of one group of rows. works: with those of their works."""
    columns = ("paper_id", "title", "sentences", "year", *papers.OPTIONAL)
    return marks_of(papers.papers_in(papers.read_columns([group], columns)), None, works=works)


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


def read_lot(
    numbered: tuple[int, Sequence[Piece]],
    *,
    folder: Path | None,
    settings: Settings,
    works: bool,
) -> LotRead:
    """Read a lot. numbered: the lot and its number, which names its files.

    folder: where the files go; None writes none. works: whether papers are told apart by their works, as a file of a
    library is added.
    """
    number, lot = numbered
    # A lot whose worker seemed lost is read again, perhaps while the first one still writes.
    name = f"{number:06d}-{uuid4().hex[:8]}"
    rejected = folder / f"{name}.jsonl" if folder else None
    reading = [PieceRead(piece) for piece in lot]
    notes: dict[int, PaperNotes] = {}
    sentences = Counter[str]()
    parts = [marks_of((), settings.corpus, works=works)]
    record_writer, positions = RowWriter(folder, name), count()
    writer = PaperWriter(folder, name=f"{name}.parquet") if folder else None
    with record_writer, writer or nullcontext():
        source = _papers(reading, rejected, settings)
        while batch := list(islice(source, AT_ONCE)):
            papers, known, changes = zip(*batch, strict=True)
            record_writer.add(known)
            sentences.update(sentence for paper in papers for sentence in {*paper.sentences})
            notes |= {place: facts for facts, place in zip(changes, positions, strict=False) if facts is not None}
            parts.append(marks_of(papers, settings.corpus, [record and record.ids for record in known], works=works))
            if writer:
                for paper, reason in zip(papers, parts[-1].reason.tolist(), strict=True):
                    if reason == KEPT:
                        writer.add(paper)
    path, marks = writer.path if writer else None, joined(parts)
    common = common_in_lot(sentences, papers=len(marks.ids))
    return LotRead(tuple(reading), marks, path, rejected, notes, record_writer.written, common)


def read_up_to_a_paper(lot: Sequence[Piece], settings: Settings) -> tuple[PieceRead, ...]:
    """Read up to the first record that can be read, or to the end if none can."""
    reading = tuple(map(PieceRead, lot))
    next(_papers(reading, None, settings), None)
    return reading


def _papers(
    reading: Sequence[PieceRead], rejected: Path | None, settings: Settings
) -> Iterator[tuple[Paper, Known, PaperNotes | None]]:
    labels, written = settings.labels, 0
    sections = SectionLabels.of(labels.names, labels.sections, faceted=settings.faceted)
    # Papers share the few headings that there are, here and on their way to another process.
    shared: dict[Headings, Headings] = {}
    for number, read in enumerate(reading):
        form = format_named(read.piece.format)
        for place, record in form.records(read.piece):
            read.places = place
            if record is None:
                continue
            if isinstance(record, BrokenRecord):
                read.reject(place, record, rejected, number=number)
                continue
            if form.paper is document and (usual := usual_paper(record)):
                read.read += 1
                read.without_year += usual.year is None
                yield usual, None, PaperNotes(None, (), True) if is_retracted(record, usual) else None
                continue
            try:
                noted: list[tuple[str, str]] = []
                fields, known = form.paper(record), None
                if form.bibliographic and fields.keys().isdisjoint(IDS):
                    known = identified(fields, settings.corpus.ids)
                    fields = known.record
                original, (fields, changes) = fields, readable(fields, published=form.published)
                fields, headings = sections.applied(fields)
                paper = document_of_record(fields, labels.names, noted=noted, language=settings.collection.language)
            except InputError as error:
                raw = json.dumps(record, ensure_ascii=False, default=str)
                read.reject(place, BrokenRecord(error.message, error.faults, raw), rejected, number=number)
                continue
            cleaned = None
            if changed := changes(paper):
                cleaned = kinds(changed), changed if written < MOST else None
                written += 1
            for noun, value in (*noted, *original.get("noted", ())):
                read.note(place, noun, value)
            read.read += 1
            read.without_abstract += not any(sentence.strip() for sentence in paper.sentences)
            read.without_year += paper.year is None
            read.without_id += known is not None and known.made
            facts = PaperNotes(cleaned, shared.setdefault(headings, headings), is_retracted(original, paper))
            yield paper, known, facts if any(facts) else None
