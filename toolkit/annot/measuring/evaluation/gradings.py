"""The measures of one ranked list under many gradings at once.

Grades are a matrix, one row for each grading, and every operation works on all rows.
`annot.measuring.evaluation.measures` explains the conventions. It computes CSFCube's measures here, with one row, and
leaves trec_eval's to ir_measures; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array
from annot.measuring.agreement.contingency import ratio

Grades = npt.NDArray[np.integer[Any]]

Discount = Callable[[int], Array]
"""Function from n to the discounts of the first n ranks."""


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

    @property
    def gains(self) -> Array:
        """The gain at each rank, shape (B, n)."""
        return self.submitted.astype(np.float64)

    @property
    def hits(self) -> Array:
        """1 at the rank of a relevant document, shape (B, n)."""
        return (self.submitted >= self.relevant_from).astype(np.float64)


def _top(graded: Graded, k: int) -> Array:
    return np.asarray(graded.hits[:, :k].sum(axis=1))


def relevant_of(graded: Graded, family: Family) -> Array:
    """Relevant documents of the submitted list or among the judged, shape (B,)."""
    grades = graded.submitted if family.of_submitted else graded.judged
    return np.asarray((grades >= graded.relevant_from).sum(axis=1), dtype=np.float64)


def _share(part: Array, whole: Array) -> Array:
    return ratio(part, whole, where=whole > 0, otherwise=0.0)


def _precision_at_last(graded: Graded, family: Family, k: int) -> Array:
    hits, relevant = graded.hits, relevant_of(graded, family)
    n = hits.shape[1]
    last = n - np.argmax(hits[:, ::-1], axis=1) if n else np.zeros(len(hits), dtype=np.int64)
    return ratio(relevant, last.astype(np.float64), where=relevant > 0, otherwise=0.0)


def _r_precision(graded: Graded, family: Family, k: int) -> Array:
    hits, relevant = graded.hits, relevant_of(graded, family)
    within = np.arange(1, hits.shape[1] + 1) <= relevant[:, None]
    return _share((hits * within).sum(axis=1), relevant)


def _precision(graded: Graded, family: Family, k: int) -> Array:
    return _top(graded, k) / k


def _recall(graded: Graded, family: Family, k: int) -> Array:
    return _share(_top(graded, k), relevant_of(graded, family))


def _average_precision(graded: Graded, family: Family, k: int) -> Array:
    hits, relevant = graded.hits, relevant_of(graded, family)
    precision = hits.cumsum(axis=1) / np.arange(1, hits.shape[1] + 1)
    return _share((precision * hits).sum(axis=1), relevant)


def _ndcg(graded: Graded, family: Family, k: int) -> Array:
    grades = graded.submitted if family.of_submitted else graded.judged
    return _share(_dcg(graded.gains, family, k), _dcg(np.sort(grades, axis=1)[:, ::-1], family, k))


def _dcg(gains: npt.NDArray[Any], family: Family, k: int) -> Array:
    cut = family.cut(gains.shape[1], k)
    return np.asarray(gains[:, :cut] @ family.discount(cut), dtype=np.float64)


def _csfcube_discount(n: int) -> Array:
    """Discounts that leave ranks 1 and 2 undiscounted (Jarvelin and Kekalainen 2002, b = 2)."""
    return np.asarray(1 / np.maximum(1.0, np.log2(np.arange(1, n + 1))))


def _trec_discount(n: int) -> Array:
    return np.asarray(1 / np.log2(np.arange(2, n + 2)))


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that differ only in k: `NDCG%20` is the member with k = 20 of a family with `percent`."""

    pattern: str
    kind: str
    of_submitted: bool
    """True if recall and the ideal order come from the submitted list; else they come from all judged documents."""
    discount: Discount = _trec_discount
    percent: bool = False
    """True if k is a share of the list, in percent."""

    def cut(self, n: int, k: int) -> int:
        """Number of the first n ranks that count; k = 0 counts all of them."""
        return (n * k // 100) if self.percent else min(n, k or n)


_IN_BOTH = (("Rprec", "Rprec"), (r"P@(\d+)", "P"), (r"R@(\d+)", "R"), ("AP", "AP"))

FAMILIES: dict[str, tuple[Family, ...]] = {
    "csfcube": (
        *(Family(*names, of_submitted=True) for names in _IN_BOTH),
        Family("RP@last", "RP@last", of_submitted=True),
        Family(r"NDCG%(\d+)", "NDCG", of_submitted=True, discount=_csfcube_discount, percent=True),
        Family(r"NDCG@(\d+)", "NDCG", of_submitted=True, discount=_csfcube_discount),
    ),
    "trec": (
        *(Family(*names, of_submitted=False) for names in _IN_BOTH),
        Family(r"nDCG(?:@(\d+))?", "NDCG", of_submitted=False),
    ),
}
"""Measures that are computed here, by convention."""

COMPUTED: dict[str, Callable[[Graded, Family, int], Array]] = {
    "RP@last": _precision_at_last,
    "Rprec": _r_precision,
    "P": _precision,
    "R": _recall,
    "NDCG": _ndcg,
    "AP": _average_precision,
}


def family_of(convention: str, name: str) -> tuple[Family, int] | None:
    """Family of the measure and its k (0 if it has none); None if the convention has no measure of this name."""
    for family in FAMILIES[convention]:
        if match := re.fullmatch(family.pattern, name, re.ASCII):
            k = int(match[1]) if match.lastindex else 0
            if match.lastindex and not (0 < k <= (100 if family.percent else 10**6)):
                return None
            return family, k
    return None


def measured(convention: str, name: str, graded: Graded) -> Array:
    """Measure under every grading, shape (B,). Raises KeyError if the convention has no measure of this name."""
    member = family_of(convention, name)
    if member is None:
        raise KeyError(name)
    family, k = member
    return COMPUTED[family.kind](graded, family, k)


MEASURES: dict[str, tuple[str, ...]] = {
    "csfcube": ("RP@last", "P@20", "R@20", "NDCG%100", "NDCG%20", "AP"),
    "trec": ("Rprec", "P@20", "R@20", "nDCG", "AP"),
}
"""Measures that are always shown, by convention and in this order."""
