"""Lists that `corpus add` shows: ids of papers, the numbers of a PRISMA flow diagram, sentences of many papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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


def common_in_lot(counts: Mapping[str, int], *, papers: int) -> dict[str, int]:
    """The number of papers of each sentence of a lot; of many papers, only of sentences that come again."""
    fewest = 1 if papers < _ALL else 1 + papers // 1_000
    return {sentence: count for sentence, count in counts.items() if count >= fewest}


def shared_sentences(counts: Counter[str], *, papers: int) -> tuple[tuple[str, int], ...]:
    """Sentences that many papers share, perhaps notices that no rule knows, with their numbers; the most frequent
    first."""
    fewest = max(FEWEST, SHARE * papers)
    return tuple((sentence, count) for sentence, count in counts.most_common() if count >= fewest)
