"""The ids of papers that `corpus add` lists, as a file; and the numbers of a PRISMA flow diagram."""

from __future__ import annotations

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
