"""The records of files that cannot be read: counted by reason, and written aside."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from annot.base.errors import InputError
from annot.corpus.corpus_lots import Brought, PieceRead
from annot.formats.corpora.cutting import Piece
from annot.formats.corpora.semantic_scholar import JOINED, SEMANTIC_SCHOLAR, Spread
from annot.formats.faults import MOST_FAULTS
from annot.formats.json_lines import AS_JSON, json_lines


class Rejects:
    """What could not be read, over all pieces in their order.

    what: a record is of what. told: how many faults are kept to be told.
    """

    def __init__(self, what: str, *, told: int) -> None:
        self._what = what
        self.faults: list[str] = []
        self._told = told
        self._reasons: Counter[str] = Counter()
        self._read: Counter[str] = Counter()
        self._broken: Counter[str] = Counter()
        self._places: Counter[str] = Counter()
        self._first: dict[str, list[str]] = {}
        self._files: list[tuple[Path, list[tuple[str, int]]]] = []

    @property
    def counts(self) -> dict[str, int]:
        """How many by reason."""
        return {f"cannot be read: {reason}": count for reason, count in sorted(self._reasons.items())}

    def take_spread(self, spread: Spread, scratch: Path) -> None:
        """Count what could not be read of a file before its rows were joined; scratch: a new file for it."""
        one = PieceRead(Piece(spread.name, SEMANTIC_SCHOLAR.name, 0, None), spread.lines, spread.rows)
        for place, broken in spread.broken:
            one.broken[broken.reason] += 1
            one.faults += [(place, fault) for fault in broken.faults]
        records = ({"piece": 0, "place": place, **broken._asdict()} for place, broken in spread.broken)
        if spread.broken:
            scratch.write_text(json_lines(records), encoding="utf-8", errors=AS_JSON)
        self.count((one,), scratch)

    def take(self, brought: Brought) -> None:
        """Count what one lot left. Raises InputError for a file that begins with a thousand unreadable records."""
        self.count(brought.pieces, brought.rejected)

    def count(self, pieces: tuple[PieceRead, ...], rejected: Path | None) -> None:
        """Count what these pieces left; rejected: the file of it, there or not."""
        origins = []
        for one in pieces:
            name = "papers and abstracts" if one.piece.format == JOINED.name else one.piece.path
            origins.append((name, self._places[name]))
            first = self._first.setdefault(name, [])
            first += [f"{name}:{self._places[name] + place}: {fault}" for place, fault in one.faults]
            del first[MOST_FAULTS:]
            self._places[name] += one.places
            self._read[name] += one.read
            self._broken[name] += one.broken.total()
            self._reasons += one.broken
            if not self._read[name] and self._broken[name] >= MOST_FAULTS:
                self._raise([name], f"{name}: the first {self._broken[name]} records cannot be read, reading stopped")
        if rejected is not None and rejected.is_file():
            self._files.append((rejected, origins))
        self.faults = [fault for first in self._first.values() for fault in first][: self._told]

    def raise_if_unreadable(self) -> None:
        """Raise InputError with the faults of every file of which no record could be read."""
        if bad := [name for name in self._places if not self._read[name]]:
            self._raise(bad, f"{', '.join(bad)}: no {self._what} can be read")

    def write(self, path: Path) -> str | None:
        """Write them to `path`, with their file and place in it, and return its name; None where there is none."""
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

    def _raise(self, names: list[str], message: str) -> None:
        faults = [
            fault
            for name in names
            for fault in self._first[name]
            or [f"{name}: found no line, or only blank ones, expected one {self._what} a line"]
        ]
        raise InputError(message, faults=faults, hint="nothing was kept; are these the right files, and --format?")
