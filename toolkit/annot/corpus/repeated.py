"""Sentences that many papers share: perhaps a notice that no rule knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from annot.base.records import Paper

FEWEST, SHARE = 5, 0.01
"""A sentence is shown if at least so many papers have it, and this share of all."""
_ALL = 1_000
"""Of a lot with fewer papers, all sentences are counted."""


class SentenceCount:
    """In how many papers each sentence is; of many papers, a count may lack those of lots where it is rare."""

    def __init__(self) -> None:
        self._papers = 0
        self._counts = Counter[str]()

    def take(self, papers: Iterable[Paper]) -> None:
        """Count the sentences of these papers."""
        for paper in papers:
            self._papers += 1
            self._counts.update({*paper.sentences})

    @property
    def of_lot(self) -> dict[str, int]:
        """The counts of a lot: of many papers, only those of sentences that come again."""
        fewest = 1 if self._papers < _ALL else 1 + self._papers // 1_000
        return {sentence: count for sentence, count in self._counts.items() if count >= fewest}

    def add(self, papers: int, counts: Mapping[str, int]) -> None:
        """Count the sentences of a lot."""
        self._papers += papers
        self._counts.update(counts)

    @property
    def repeated(self) -> tuple[tuple[str, int], ...]:
        """The sentences to show, the most frequent first, with the number of papers."""
        fewest = max(FEWEST, SHARE * self._papers)
        return tuple((sentence, count) for sentence, count in self._counts.most_common() if count >= fewest)
