"""Lists that `corpus add` shows: ids of papers, the numbers of a PRISMA flow diagram, sentences of many papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annot.base.records import Paper
from annot.corpus.corpus_filters import Rejection
from annot.formats.spreadsheet import written_sheet

REPEATED = (Rejection.DUPLICATE_ID, Rejection.DIFFERING_ID, Rejection.SAME_PAPER)


@dataclass(frozen=True, slots=True)
class PrismaNumbers:
    """The first boxes of a flow diagram (Page et al.: The PRISMA 2020 statement, BMJ 372:n71, figure 1)."""

    identified: int
    duplicates: int
    other_reasons: int
    """Left out by the limits of the corpus, or because they cannot be read."""
    to_screen: int


def prisma_of(read: int, rejected: Mapping[Rejection, int], kept: int) -> PrismaNumbers:
    """The numbers of what was read and kept. rejected: of readable papers, by reason."""
    duplicates = sum(rejected.get(reason, 0) for reason in REPEATED)
    return PrismaNumbers(read, duplicates, read - kept - duplicates, kept)


def id_lists(lists: Mapping[str, Iterable[tuple[str, ...]]]) -> str:
    """CSV with one id a row, under the name of its list; `other_id` is the paper that it is compared with. Empty if all
    lists are."""
    rows = [(name, ids[0], ids[1] if len(ids) > 1 else "") for name, several in lists.items() for ids in several]
    return written_sheet([("list", "id", "other_id"), *rows]) if rows else ""


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
