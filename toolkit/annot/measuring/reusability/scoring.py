"""What every part needs: the runs measured under some qrels, their order, and which differences are significant."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.base.records import Qrel
from annot.base.stats.arrays import Array
from annot.base.stats.clustered import parts_of_mean
from annot.base.stats.max_t import max_t_tests
from annot.base.stats.significance import tau_b_of_rows
from annot.base.stats.values import Undefined, Value

Score = Callable[[Sequence[Qrel]], Mapping[str, Mapping[str, float]]]
"""The measure of each query (by id) of each run, under qrels; every run has every query of the qrels."""

ALPHA = 0.05
PERMUTATIONS = 10_000
SAME_TAU = Undefined("one of the two ties all runs")
DIGITS = 12
"""Beyond, means differ by rounding."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The runs under one set of qrels."""

    runs: tuple[str, ...]
    """By name."""
    by_paper: Array
    """Shape (runs, papers): what the queries of a paper add to the mean over all queries."""

    @property
    def means(self) -> Array:
        """Shape (runs,), over queries."""
        return np.asarray(np.round(self.by_paper.mean(axis=1), DIGITS))

    @property
    def ranks(self) -> Array:
        """Shape (runs,), from 1; runs that tie share the best of their ranks."""
        return np.asarray((self.means[:, None] < self.means[None, :]).sum(axis=1) + 1)

    def better(self, *, seed: int) -> frozenset[tuple[str, str]]:
        """(better, worse) of every two runs whose difference holds, as in `annot evaluate`."""
        pairs = list(itertools.combinations(range(len(self.runs)), 2))
        if not pairs:
            return frozenset()
        differences = np.stack([self.by_paper[a] - self.by_paper[b] for a, b in pairs])
        p_values = max_t_tests(differences, alpha=ALPHA, permutations=PERMUTATIONS, seed=seed).p_values
        return frozenset(
            (self.runs[a], self.runs[b]) if difference.sum() > 0 else (self.runs[b], self.runs[a])
            for (a, b), difference, p in zip(pairs, differences, p_values, strict=True)
            if p <= ALPHA
        )


def standing(values: Mapping[str, Mapping[str, float]], papers: Mapping[str, str]) -> Standing:
    """values: by run, then query. papers: the query paper of each query; its facets share one pool."""
    runs = tuple(sorted(values))
    queries = sorted(values[runs[0]])
    by_query = np.array([[values[run][query_id] for query_id in queries] for run in runs])
    return Standing(runs, parts_of_mean(by_query, [papers[query_id] for query_id in queries]))


def tau(first: Standing, second: Standing) -> Value:
    """Kendall's tau-b between two orders of the same runs."""
    found = float(tau_b_of_rows(first.means[None, :], second.means[None, :])[0])
    return SAME_TAU if np.isnan(found) else found
