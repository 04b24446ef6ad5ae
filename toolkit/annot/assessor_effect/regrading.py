"""One pool under many gradings: each assessor's, random choices among theirs, and what a ranked list measures in each.

The measures are those of `annot.evaluation.measures`, which grades one list once; here the grades are a matrix, one
row a grading, and every operation runs down its rows. A test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.errors import InputError
from annot.stats.seeding import generator

Array = npt.NDArray[np.float64]
Grades = npt.NDArray[np.int8]

CUTOFF = 20
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
    asked: npt.NDArray[np.bool_]
    """Shape (M, N), true where the assessor had the pair to judge."""
    final: Grades
    """Shape (N,)."""


@dataclass(frozen=True, slots=True)
class Grading:
    """A grade for each pair of each query, 0 where it has none; `queries` are the positions of those it covers."""

    name: str
    grades: tuple[Grades, ...]
    queries: npt.NDArray[np.int64]
    """Those of which the assessor was given every pair."""
    partly: npt.NDArray[np.int64]
    """Those of which the assessor was given some pairs and not others: they are left out."""
    n_ungraded: int


@dataclass(frozen=True, slots=True)
class Graded:
    """One ranked list under B gradings.

    submitted: shape (B, n), the grades of the submitted documents, best rank first; 0 where there is none.
    judged: shape (B, N), the grades of all judged documents, in any order.
    relevant_from: the smallest grade that counts as relevant in the binary measures.
    """

    submitted: Grades
    judged: Grades
    relevant_from: int


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


def regraded(graded: Graded, *, convention: str, measure: str) -> Array:
    """The measure of the list under each grading, shape (B,), a fraction. Raises InputError for an unknown measure."""
    check_measure(convention, measure)
    return REGRADED[convention][measure](graded)


def check_measure(convention: str, measure: str) -> None:
    """Raise InputError when there is no such convention, or it has no such measure."""
    if convention not in REGRADED:
        raise InputError(f"convention {convention!r}: no such convention", hint=f"one of {', '.join(REGRADED)}")
    if measure not in REGRADED[convention]:
        known = ", ".join(REGRADED[convention])
        raise InputError(f"measure {measure!r}: not in the convention {convention}", hint=f"one of {known}")


def _grading(name: str, cells: Sequence[JudgedQuery], chosen: Sequence[npt.NDArray[np.bool_]]) -> Grading:
    """chosen: of each query, whose answer to each pair is taken, shape (M, N) with one true a column at most."""
    given = [of.any(axis=0) for of in chosen]
    whole = np.array([at for at, pairs in enumerate(given) if pairs.all()], dtype=np.int64)
    partly = np.array([at for at, pairs in enumerate(given) if pairs.any() and not pairs.all()], dtype=np.int64)
    rows = [np.where(of, cell.ratings, 0.0).sum(axis=0) for cell, of in zip(cells, chosen, strict=True)]
    ungraded = sum(int(np.isnan(rows[at]).sum()) for at in whole)
    return Grading(name, tuple(np.nan_to_num(row).astype(np.int8) for row in rows), whole, partly, ungraded)


_NOWHERE: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def _hits(graded: Graded) -> npt.NDArray[np.bool_]:
    return graded.submitted >= graded.relevant_from


def _found(graded: Graded) -> Array:
    """Relevant documents of the submitted list, shape (B,)."""
    return np.asarray(_hits(graded).sum(axis=1), dtype=np.float64)


def _relevant(graded: Graded) -> Array:
    """Relevant documents among the judged, shape (B,)."""
    return np.asarray((graded.judged >= graded.relevant_from).sum(axis=1), dtype=np.float64)


def _top(graded: Graded) -> Array:
    return np.asarray(_hits(graded)[:, :CUTOFF].sum(axis=1), dtype=np.float64)


def _precision_at_last(graded: Graded) -> Array:
    hits = _hits(graded)
    n = hits.shape[1]
    last = n - np.argmax(hits[:, ::-1], axis=1) if n else np.zeros(len(hits), dtype=np.int64)
    return _ratio(_found(graded), last.astype(np.float64), where=_found(graded) > 0)


def _r_precision(graded: Graded) -> Array:
    hits, relevant = _hits(graded), _relevant(graded)
    within = np.arange(1, hits.shape[1] + 1) <= relevant[:, None]
    return _ratio((hits & within).sum(axis=1).astype(np.float64), relevant, where=relevant > 0)


def _precision(graded: Graded) -> Array:
    return _top(graded) / CUTOFF


def _recall(of: Callable[[Graded], Array]) -> Callable[[Graded], Array]:
    return lambda graded: _ratio(_top(graded), of(graded), where=of(graded) > 0)


def _average_precision(of: Callable[[Graded], Array]) -> Callable[[Graded], Array]:
    def measure(graded: Graded) -> Array:
        hits = _hits(graded)
        precision = hits.cumsum(axis=1) / np.arange(1, hits.shape[1] + 1)
        return _ratio((precision * hits).sum(axis=1), of(graded), where=of(graded) > 0)

    return measure


def _ndcg(*, one_in: int) -> Callable[[Graded], Array]:
    """CSFCube's: ranks 1 and 2 undiscounted, cut at one in so many of the list, the list re-sorted as the ideal."""

    def measure(graded: Graded) -> Array:
        k = graded.submitted.shape[1] // one_in
        discount = 1 / np.maximum(1.0, np.log2(np.arange(1, k + 1)))
        ideal = _best_first(graded.submitted)[:, :k] @ discount
        return _ratio(graded.submitted[:, :k] @ discount, ideal, where=ideal > 0)

    return measure


def _ndcg_of_trec(graded: Graded) -> Array:
    gain = graded.submitted @ _discount(graded.submitted.shape[1])
    ideal = _best_first(graded.judged) @ _discount(graded.judged.shape[1])
    return _ratio(gain, ideal, where=ideal > 0)


def _discount(n: int) -> Array:
    return np.asarray(1 / np.log2(np.arange(2, n + 2)))


def _best_first(grades: Grades) -> Grades:
    return np.sort(grades, axis=1)[:, ::-1]


def _ratio(numerator: Array, denominator: Array, *, where: npt.NDArray[np.bool_]) -> Array:
    result = np.zeros(len(numerator))
    np.divide(numerator, denominator, out=result, where=where)
    return result


REGRADED: dict[str, dict[str, Callable[[Graded], Array]]] = {
    "csfcube": {
        "RP@last": _precision_at_last,
        "P@20": _precision,
        "R@20": _recall(_found),
        "NDCG%100": _ndcg(one_in=1),
        "NDCG%20": _ndcg(one_in=5),
        "AP": _average_precision(_found),
    },
    "trec": {
        "Rprec": _r_precision,
        "P@20": _precision,
        "R@20": _recall(_relevant),
        "nDCG": _ndcg_of_trec,
        "AP": _average_precision(_relevant),
    },
}
"""By convention and measure, in the order of `annot.evaluation.measures.MEASURES`."""
