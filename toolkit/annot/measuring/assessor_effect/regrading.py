"""One pool under many gradings: the final one, each assessor's, and random choices among theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.seeding import generator

Grades = npt.NDArray[np.int8]

FINAL = "final"
FIRST = "A"
SECOND = "B"


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One query's pairs, N of them, with the grades of its M assessors."""

    query_id: str
    assessors: tuple[str, ...]
    """By pseudonym, in order."""
    doc_ids: tuple[str, ...]
    ratings: Array
    """Shape (M, N), nan where there is no grade; every pair has one at least."""
    asked: Mask
    """Shape (M, N), true where the assessor had the pair to judge."""
    final: Grades
    """Shape (N,)."""


@dataclass(frozen=True, slots=True)
class Grading:
    """A grade for each pair of each query, 0 where it has none; `queries` are the positions of those it covers."""

    name: str
    grades: tuple[Grades, ...]
    queries: Integers
    """Those of which the assessor was given every pair."""
    partly: Integers
    """Those of which the assessor was given some pairs and not others: they are left out."""
    n_ungraded: int


def gradings_of(cells: Sequence[JudgedQuery]) -> list[Grading]:
    """`final`; `A` and `B`, the first and the second assessor of each pair in the order of their pseudonyms; then the
    assessors by name. One rule for all: a grading covers the queries of which its assessor was given every pair, and an
    answer without a grade is 0 there. One that covers no query is there all the same, with none."""
    gradings = [Grading(FINAL, tuple(cell.final for cell in cells), np.arange(len(cells)), _NOWHERE, 0)]
    for name, place in ((FIRST, 1), (SECOND, 2)):
        chosen = [cell.asked & (cell.asked.cumsum(axis=0) == place) for cell in cells]
        gradings.append(_grading(name, cells, chosen))
    for assessor in sorted({name for cell in cells for name in cell.assessors}):
        chosen = [cell.asked & (np.array(cell.assessors) == assessor)[:, None] for cell in cells]
        gradings.append(_grading(assessor, cells, chosen))
    return gradings


def random_grades(cell: JudgedQuery, *, n: int, seed: int) -> Grades:
    """Each pair's grade from one of those who graded it, at random, shape (n, N); the first do not change with n."""
    graded = ~np.isnan(cell.ratings)
    givers = graded.sum(axis=0)
    pairs = np.arange(len(givers))
    drawn = np.floor(generator(seed, "mixture", cell.query_id).random((n, len(givers))) * givers).astype(np.int64)
    # Those who graded the pair come first in each column, in their order.
    order = np.argsort(~graded, axis=0, kind="stable")
    return np.asarray(cell.ratings[order[drawn, pairs], pairs].astype(np.int8))


def _grading(name: str, cells: Sequence[JudgedQuery], chosen: Sequence[Mask]) -> Grading:
    """chosen: of each query, whose answer to each pair is taken, shape (M, N) with one true a column at most."""
    given = [of.any(axis=0) for of in chosen]
    whole = np.array([at for at, pairs in enumerate(given) if pairs.all()], dtype=np.int64)
    partly = np.array([at for at, pairs in enumerate(given) if pairs.any() and not pairs.all()], dtype=np.int64)
    rows = [np.where(of, cell.ratings, 0.0).sum(axis=0) for cell, of in zip(cells, chosen, strict=True)]
    ungraded = sum(int(np.isnan(rows[at]).sum()) for at in whole)
    return Grading(name, tuple(np.nan_to_num(row).astype(np.int8) for row in rows), whole, partly, ungraded)


_NOWHERE: Integers = np.zeros(0, dtype=np.int64)
