"""The result of reading each piece of a file, and the records that could not be read, counted by reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annot.base.errors import MOST_FAULTS, InputError
from annot.base.names import counted
from annot.base.records import Paper
from annot.formats.corpora import FORMATS, Broken
from annot.formats.corpora.cutting import Piece, json_records
from annot.formats.corpora.semantic_scholar import JOINED, SEMANTIC_SCHOLAR, Spread
from annot.formats.json_lines import AS_JSON, json_lines

_REASONS = 10
"""At most so many faults are shown of a file without a readable record."""
_SHOWN = 60
_UNKNOWN, _EMPTY = "a file in no known format", "the file is empty"
MOST_UNREADABLE, MOST_SHARE = 20, 0.05
"""A file with more unreadable records than this number, and than this share of all, is refused."""
TOLD = 100
"""At most so many faults of a piece are kept to be shown. All are counted, and written to its file of rejected
records."""


@dataclass(slots=True)
class PieceRead:
    """The result of reading one piece."""

    piece: Piece
    places: int = 0
    """Lines, rows or entries of the piece, including blank ones."""
    read: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    """Records that cannot be read, by reason."""
    faults: list[tuple[int, str]] = field(default_factory=list)
    """The faults of the first of them, with their places from 1 in the piece."""
    first: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The fault or part of the first record with each reason, and its place."""
    kept: int = 0
    """How many papers are in the corpus now."""
    without_abstract: int = 0
    without_year: int = 0
    without_id: int = 0
    """How many records of a library have no id of any kind."""

    noted: Counter[str] = field(default_factory=Counter)
    """Records of which a part was left out, by what it was."""

    def note(self, place: int, what: str, value: str) -> None:
        """Count a record of which a part was left out. what: in words; value: the part."""
        self.noted[what] += 1
        self.first.setdefault(what, (place, " ".join(value.split())[:_SHOWN]))

    def take(self, paper: Paper) -> None:
        """Count a paper that was read."""
        self.read += 1
        self.without_abstract += not any(sentence.strip() for sentence in paper.sentences)
        self.without_year += paper.year is None

    def reject(self, place: int, broken: Broken) -> None:
        """Count a record that cannot be read."""
        self.broken[broken.reason] += 1
        self.faults += [(place, fault) for fault in broken.faults[: TOLD - len(self.faults)]]
        for fault in broken.faults[:1]:
            self.first.setdefault(broken.reason, (place, fault))


class Rejects:
    """What could not be read, over all pieces in their order.

    what: what a record is, such as a paper. told: how many faults are kept to be shown. part_of: of a file, the folder
    in whose place it was read. A folder counts as one file: it can be read if any of its files can.
    """

    def __init__(self, what: str, *, told: int, part_of: Mapping[str, str] | None = None) -> None:
        self._what = what
        self._part_of = part_of or {}
        self._places: Counter[str] = Counter()
        self._told = told
        self._of: dict[str, _OfFile] = {}
        self._files: list[tuple[Path, list[tuple[str, int]]]] = []
        self._notes: Counter[str] = Counter()

    @property
    def faults(self) -> list[str]:
        """What is wrong with the first records that cannot be read."""
        return [fault for of in self._of.values() for fault in of.told][: self._told]

    @property
    def counts(self) -> dict[str, int]:
        """How many records, by reason."""
        reasons = sum((one.reasons for one in self._of.values()), Counter[str]())
        return {f"cannot be read: {reason}": count for reason, count in sorted(reasons.items())}

    def take_spread(self, spread: Spread, scratch: Path) -> None:
        """Count the rows of a file that could not be read before they were joined; scratch: a new file for them."""
        one = PieceRead(Piece(spread.name, SEMANTIC_SCHOLAR.name, 0, None), spread.lines, spread.rows)
        for place, broken in spread.broken:
            one.reject(place, broken)
        records = ({"piece": 0, "place": place, **broken._asdict()} for place, broken in spread.broken)
        if spread.broken:
            scratch.write_text(json_lines(records), encoding="utf-8", errors=AS_JSON)
        self.count((one,), scratch)

    def count(self, pieces: tuple[PieceRead, ...], rejected: Path | None) -> None:
        """Count what these pieces could not read; rejected: the file of these records, which may not exist.

        Raises InputError for a file that begins with a thousand unreadable records.
        """
        origins = []
        for one in pieces:
            name = "papers and abstracts" if one.piece.format == JOINED.name else one.piece.path
            whole = self._part_of.get(name, name)
            of = self._of.setdefault(whole, _OfFile(one.piece.format))
            before = self._places[name]
            origins.append((name, before))
            of.told += [f"{name}:{before + place}: {fault}" for place, fault in one.faults]
            for reason, (place, fault) in one.first.items():
                of.first.setdefault(reason, f"{name}:{before + place}: {fault}")
            self._notes.update(one.noted)
            if whole != name and one.piece[2:] == (0, None) and not (one.read or one.broken):
                of.leave_out(_EMPTY, f"{name}: found no {self._what}")
            del of.told[self._told :]
            self._places[name] += one.places
            of.read += one.read
            of.reasons += one.broken
            if not of.read and of.reasons.total() >= MOST_FAULTS:
                stopped = f"the first {of.reasons.total()} records cannot be read, reading stopped"
                self._raise([whole], f"{whole}: {stopped}")
        if rejected is not None and rejected.is_file():
            self._files.append((rejected, origins))

    def leave_out(self, name: str, fault: str) -> None:
        """Count a file of a folder that is in no format that is read."""
        self._of.setdefault(self._part_of[name], _OfFile("")).leave_out(_UNKNOWN, fault)

    @property
    def unreadable(self) -> int:
        """How many records of files that were read cannot be read."""
        return sum(of.unreadable for of in self._of.values())

    def notes(self) -> tuple[tuple[str, int, str], ...]:
        """What was left out of records that were read, in how many, and the first of it with its place."""
        first = {what: fault for of in reversed(self._of.values()) for what, fault in of.first.items()}
        return tuple((what, count, first[what]) for what, count in sorted(self._notes.items()))

    def raise_if_unreadable(self, *, partial: bool) -> None:
        """Raise InputError with the faults of every file of which no record could be read, or too few.

        partial: accept a file of which many records cannot be read.
        """
        if bad := [name for name, of in self._of.items() if not of.read]:
            self._raise(bad, f"{', '.join(bad)}: no {self._what} can be read")
        if many := [name for name, of in self._of.items() if of.is_mostly_lost]:
            shares = (f"{self._of[name].unreadable:,} of {self._of[name].total:,} in {name}" for name in many)
            hint = "nothing was kept; correct the files, or add the other records with --partial"
            if not partial:
                self._raise(many, f"too many records cannot be read: {', '.join(shares)}", hint=hint)

    def write(self, path: Path) -> str | None:
        """Write them to `path`, with their file and place in it, and return its name; None if there is none."""
        if not self._files:
            return None
        scratch = self._files[0][0].with_suffix(".all")
        with scratch.open("w", encoding="utf-8", errors=AS_JSON) as file:
            for part, origins in self._files:
                with part.open(encoding="utf-8") as lines:
                    for record in map(json.loads, lines):
                        name, before = origins[record.pop("piece")]
                        record["place"] += before
                        file.write(json.dumps({"file": name, **record}, ensure_ascii=False) + "\n")
        scratch.replace(path)
        return str(path)

    def _raise(
        self, names: list[str], message: str, *, hint: str = "nothing was kept; check the files and --format"
    ) -> None:
        faults = [fault for name in names for fault in self._of[name].faults(name, self._what)]
        raise InputError(message, faults=faults, hint=hint)


@dataclass(slots=True)
class _OfFile:
    """The results for one file or folder, over its pieces."""

    format: str
    read: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    """The first fault of each reason."""
    told: list[str] = field(default_factory=list)
    """The first faults, for any reason."""

    @property
    def unreadable(self) -> int:
        """How many records cannot be read; whole files are none."""
        return self.reasons.total() - self.reasons[_UNKNOWN] - self.reasons[_EMPTY]

    @property
    def total(self) -> int:
        """How many records there are."""
        return self.read + self.unreadable

    @property
    def is_mostly_lost(self) -> bool:
        """Whether too many records cannot be read."""
        return self.unreadable > max(MOST_UNREADABLE, MOST_SHARE * self.total)

    def leave_out(self, reason: str, fault: str) -> None:
        """Count a whole file as one record that cannot be read."""
        self.reasons[reason] += 1
        self.first.setdefault(reason, fault)
        self.told.append(fault)

    def faults(self, name: str, what: str) -> list[str]:
        """One fault for each reason why no record can be read, with its count."""
        if not self.reasons:
            lines = self.format not in FORMATS or FORMATS[self.format].records is json_records
            return [f"{name}: {'the file is empty, or has only blank lines' if lines else f'found no {what}'}"]
        several = self.reasons.most_common()
        found = [
            self.first.get(reason, f"{name}: {reason}")
            if count == 1
            else f"{name}: {reason} in each of {count:,} records; the first: {self.first.get(reason, reason)}"
            for reason, count in several[:_REASONS]
        ]
        more = len(several) - _REASONS
        return found if more < 1 else [*found, f"{name}: {counted(more, 'other reason')}"]
