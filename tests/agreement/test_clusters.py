"""Intervals of ratios over whole clusters: the jackknife by its definition, and how often they hold the truth."""

import numpy as np
import pytest
from annot.base.stats.inference import ratio_interval
from annot.base.stats.values import Interval
from scipy import stats


def ends(sums: np.ndarray, sizes: np.ndarray, **options: float) -> tuple[float, float]:
    found = ratio_interval(sums, sizes, level=0.95, unit="query paper", **options)
    assert isinstance(found, Interval)
    assert found.method == f"jackknife over {len(sizes)} query papers, Fisher's z, Student's t"
    return found.low, found.high


def by_definition(sums: np.ndarray, sizes: np.ndarray, least: float = 0.0) -> tuple[float, float]:
    """Pseudo-values of the figure on the scale of Fisher's z (Efron and Tibshirani 1993, 11.6), then SciPy's t."""

    def figure(rows: list[int]) -> float:
        ratios = [sums[rows, fold].sum() / sizes[rows, fold].sum() for fold in range(sums.shape[1])]
        return float(np.arctanh((np.mean(ratios) - (1 + least) / 2) * 2 / (1 - least)))

    n = len(sizes)
    whole = figure(list(range(n)))
    pseudo = [n * whole - (n - 1) * figure([row for row in range(n) if row != left]) for left in range(n)]
    low, high = stats.t.interval(0.95, n - 1, whole, stats.sem(pseudo))
    return tuple((1 + least) / 2 + np.tanh([low, high]) * (1 - least) / 2)


def planted(seed: int, n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 2 to 30 pairs, each with a share of its own: shapes (n, 1)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 31, (n, 1)).astype(float)
    return rng.binomial(sizes.astype(int), rng.beta(2, 5, (n, 1))).astype(float), sizes


def test_the_interval_of_a_ratio_is_the_jackknifes_by_its_definition() -> None:
    sums, sizes = planted(1)
    assert ends(sums, sizes) == pytest.approx(by_definition(sums, sizes), rel=1e-9)
    difference = sums - planted(2)[0]
    assert ends(difference, 2 * sizes, least=-1.0) == pytest.approx(
        by_definition(difference, 2 * sizes, -1.0), rel=1e-9
    )


@pytest.mark.parametrize("papers", [5, 10, 20, 50])
def test_it_holds_the_truth_as_often_as_it_says(papers: int) -> None:
    """800 studies of a skewed measure, papers of one to three queries: 95 of 100, within three standard errors."""
    rng = np.random.default_rng(papers)
    held = 0
    for _ in range(800):
        sizes = rng.integers(1, 4, (papers, 1)).astype(float)
        low, high = ends(rng.beta(1.5, 5, (papers, 1)) * sizes, sizes)
        held += low <= 1.5 / 6.5 <= high
    assert held / 800 == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 800))
