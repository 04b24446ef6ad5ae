"""The expected value of a measure where documents tie: its mean over all orders of those that tie. Exact.

What is linear in the gains at each rank takes the mean gain of the tie there; average precision is by McSherry and
Najork 2008, Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores, ECIR,
section 2. A list without ties has its plain value. A list in which all tie is a random order: what chance reaches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array
from annot.measuring.evaluation.gradings import Discount, Family, family_of


@dataclass(frozen=True, slots=True)
class Tied:
    """One ranked list: the grades of the documents of each tie, best tie first, and those of all judged documents."""

    groups: tuple[tuple[int, ...], ...]
    judged: tuple[int, ...]
    relevant_from: int

    def gains(self) -> Array:
        """The mean gain at each rank."""
        return _by_rank([np.array(group, dtype=np.float64) for group in self.groups])

    def hits(self) -> Array:
        """The chance of a relevant document at each rank."""
        return _by_rank([np.array(group) >= self.relevant_from for group in self.groups])

    def relevant(self, family: Family) -> int:
        """The relevant documents that recall is of: of the submitted list, or of all judged."""
        grades = [grade for group in self.groups for grade in group] if family.of_submitted else self.judged
        return sum(grade >= self.relevant_from for grade in grades)


def expected(convention: str, name: str, tied: Tied) -> float | None:
    """The expected value of a measure of `annot.measuring.evaluation.gradings`; None for any other name."""
    found = family_of(convention, name)
    if found is None:
        return None
    family, k = found
    return EXPECTED[family.kind](tied, family, k)


def _precision(tied: Tied, family: Family, k: int) -> float:
    return float(tied.hits()[:k].sum()) / k


def _recall(tied: Tied, family: Family, k: int) -> float:
    relevant = tied.relevant(family)
    return float(tied.hits()[:k].sum()) / relevant if relevant else 0.0


def _r_precision(tied: Tied, family: Family, k: int) -> float:
    relevant = tied.relevant(family)
    return float(tied.hits()[:relevant].sum()) / relevant if relevant else 0.0


def _ndcg(tied: Tied, family: Family, k: int) -> float:
    gains = tied.gains()
    ideal = np.sort(gains_of(tied) if family.of_submitted else np.array(tied.judged, dtype=np.float64))[::-1]
    cut = family.cut(len(gains), k)
    best = _dcg(ideal[: family.cut(len(ideal), k)], family.discount)
    return _dcg(gains[:cut], family.discount) / best if best else 0.0


def gains_of(tied: Tied) -> Array:
    """The grades of the submitted documents, in any order."""
    return np.array([grade for group in tied.groups for grade in group], dtype=np.float64)


def _average_precision(tied: Tied, family: Family, k: int) -> float:
    """Given a relevant document at place i of its tie, each other there is relevant with chance (r - 1) / (m - 1)."""
    total, before, found = 0.0, 0, 0
    for group in tied.groups:
        m, r = len(group), sum(grade >= tied.relevant_from for grade in group)
        others = (r - 1) / (m - 1) if m > 1 else 0.0
        total += r / m * math.fsum((1 + found + (i - 1) * others) / (before + i) for i in range(1, m + 1)) if r else 0.0
        before, found = before + m, found + r
    relevant = tied.relevant(family)
    return total / relevant if relevant else 0.0


def _precision_at_last(tied: Tied, family: Family, k: int) -> float:
    """The last relevant document lies in the last tie that has one: at its place j in C(j - 1, r - 1) of C(m, r)."""
    relevant = tied.relevant(family)
    before = len(gains_of(tied))
    for group in reversed(tied.groups):
        m, r = len(group), sum(grade >= tied.relevant_from for grade in group)
        before -= m
        if r:
            orders = math.comb(m, r)
            chances = ((math.comb(j - 1, r - 1) / orders, before + j) for j in range(r, m + 1))
            return math.fsum(chance * relevant / last for chance, last in chances)
    return 0.0


EXPECTED: dict[str, Callable[[Tied, Family, int], float]] = {
    "RP@last": _precision_at_last,
    "Rprec": _r_precision,
    "P": _precision,
    "R": _recall,
    "NDCG": _ndcg,
    "AP": _average_precision,
}


def _by_rank(groups: Sequence[npt.NDArray[np.generic]]) -> Array:
    means = [np.full(len(group), group.mean()) for group in groups if len(group)]
    return np.concatenate(means) if means else np.zeros(0)


def _dcg(gains: Array, discount: Discount) -> float:
    return float(gains @ discount(len(gains)))
