"""Intervals of medians against binomial chances counted by hand and all changes of sign of the papers."""

import itertools

import numpy as np
import pytest
from annot.base.stats.inference import clusters_of, median_interval, median_of_clusters
from annot.base.stats.values import Interval, Undefined


def ends(found: Interval | Undefined) -> tuple[float, float]:
    assert isinstance(found, Interval), found
    return found.low, found.high


@pytest.mark.parametrize(
    ("n", "level", "k", "held", "next_held"),
    [
        # The chance that the k-th of n from both ends hold the median: 1 - 2 * (binomial sum below k) / 2^n.
        (10, 0.95, 2, 1002 / 1024, 912 / 1024),
        (10, 1002 / 1024, 2, 1002 / 1024, 912 / 1024),
        (8, 0.5, 3, 182 / 256, 70 / 256),
        (7, 0.9, 1, 126 / 128, 112 / 128),
        (3, 0.5, 1, 6 / 8, 0.0),
        (4, 0.3, 2, 6 / 16, -6 / 16),
    ],
)
def test_the_ends_are_between_the_order_statistics_on_both_sides_of_the_level(
    n: int, level: float, k: int, held: float, next_held: float
) -> None:
    """Hettmansperger and Sheather 1986: I = (held - level) / (held - next); (n - k) I / (k + (n - 2k) I) inwards."""
    part = (held - level) / (held - next_held)
    inwards = (n - k) * part / (k + (n - 2 * k) * part)
    values = np.arange(1.0, n + 1) ** 2
    low = k**2 + inwards * ((k + 1) ** 2 - k**2)
    high = (n + 1 - k) ** 2 - inwards * ((n + 1 - k) ** 2 - (n - k) ** 2)
    assert ends(median_interval(np.flip(values), level=level)) == pytest.approx((low, high))


def lower_end(values: np.ndarray, papers: list[int], level: float) -> float:
    """From the lowest gap up, the sign test by every change of sign, until a gap is not rejected."""
    known = np.sort(values)
    flips = np.array(list(itertools.product((-1, 1), repeat=len(set(papers)))))

    def chance(gap: int) -> float:
        sums = np.array(
            [np.sign(values[np.equal(papers, paper)] - known[gap] + 1e-9).sum() for paper in sorted(set(papers))]
        )
        return float(np.mean(flips @ np.abs(sums) >= sums.sum()))

    missed = (1 - level) / 2
    kept = next(gap for gap in range(len(known)) if chance(gap) > missed)
    part = (missed - chance(kept - 1)) / (chance(kept) - chance(kept - 1))
    inwards = (len(known) - kept) * part / (kept + (len(known) - 2 * kept) * part)
    return float(known[kept - 1] + inwards * (known[kept] - known[kept - 1]))


PAPERS = [
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    [0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 4, 5, 6],
    [0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7],
    [0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7],
]


@pytest.mark.parametrize("papers", PAPERS)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_over_papers_each_end_is_in_the_first_gap_that_the_sign_test_keeps(
    papers: list[int], level: float, seed: int
) -> None:
    values = np.random.default_rng(seed).normal(3, 1, len(papers)) + 0.3 * np.array(papers)
    expected = (lower_end(values, papers, level), -lower_end(-values, papers, level))
    found = median_of_clusters(values, clusters_of(range(len(papers)), papers), level=level)
    assert ends(found) == pytest.approx(expected)


def test_papers_whose_queries_cancel_out_say_nothing_of_the_median() -> None:
    """Below all values all 6 papers are above, 1 of 64; in the next gap the 5 that do not cancel out, 1 of 32."""
    values = np.array([-1.0, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6])
    part = (0.025 - 1 / 64) / (1 / 32 - 1 / 64)
    end = 6 - 11 * part / (1 + 10 * part)
    found = median_interval(values, level=0.95, topics=[str(at // 2) for at in range(12)])
    assert ends(found) == pytest.approx((-end, end))
