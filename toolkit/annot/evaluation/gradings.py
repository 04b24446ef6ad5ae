"""The measures of one ranked list under many gradings at once.

Grades are a matrix, one row a grading, and every operation runs down its rows. What the conventions mean is told in
`annot.evaluation.measures`, which measures CSFCube's here, with one row; trec_eval's it leaves to ir_measures, and a
test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Grades = npt.NDArray[np.integer[Any]]

CUTOFF = 20


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


MEASURED: dict[str, dict[str, Callable[[Graded], Array]]] = {
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
"""By convention and measure, in the order in which they are shown."""
