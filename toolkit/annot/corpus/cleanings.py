"""What cleaning changed of the papers that were kept: counted, and the first of them written beside the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from annot.formats.cleaned import Cleaned, CleanedCounts, counts_of, kinds
from annot.formats.json_lines import AS_JSON, json_lines
from annot.study.workspace import write_file

MOST = 1_000
"""Papers that are written down with their texts before and after; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Cleanings:
    """How many papers were cleaned, and where to see them."""

    counts: CleanedCounts
    file: str | None
    """Where their texts before and after are; None where there are none, and in a dry run."""
    written: int
    """How many are in the file."""


Changed = tuple[tuple[str, ...], Cleaned | None]
"""What a paper is counted under; and its texts, where they may be written down."""


class LotCleanings:
    """What cleaning changed of the papers of a lot, by their position in it."""

    def __init__(self) -> None:
        self.by_position: dict[int, Changed] = {}
        self._papers = 0

    def add(self, changed: Sequence[Cleaned]) -> None:
        """Note what was changed of the next paper: nothing, or one thing."""
        for one in changed:
            self.by_position[self._papers] = (kinds(one), one if len(self.by_position) < MOST else None)
        self._papers += 1


class CleaningCount:
    """Counts papers as they are kept."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._first: list[Cleaned] = []

    def take(self, several: Iterable[Changed]) -> None:
        """Count these."""
        for counted_under, one in several:
            self._counts.update(counted_under)
            if one is not None and len(self._first) < MOST:
                self._first.append(one)

    @property
    def facts(self) -> dict[str, int]:
        """How many papers by kind, as the store keeps it; nothing where none was cleaned."""
        return dict(self._counts)

    def written(self, folder: Path | None, content: str) -> Cleanings:
        """The counts, with the first papers in a file named after the hash of what was read; no folder: no file."""
        counts = counts_of(self._counts)
        if folder is None or not self._first:
            return Cleanings(counts, None, 0)
        path = folder / f"cleaned-{content[:12]}.jsonl"
        write_file(path, json_lines(one._asdict() for one in self._first).encode("utf-8", AS_JSON))
        return Cleanings(counts, str(path), len(self._first))
