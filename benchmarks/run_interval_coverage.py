"""Count how often intervals of measures of runs, of their differences, and of Kendall's tau hold the truth.

    python benchmarks/run_interval_coverage.py [--studies 1000] [--papers 4 5 6 8 10 20 50]

Query papers differ in difficulty and have one to three queries; a measure is a mean over the queries. `jackknife` is
the interval that `annot evaluate` prints, `bca` and `percentile` are SciPy's bootstrap of whole papers. Tau compares
the orders of 4 and of 10 runs under two assessors; its truth is its mean over studies of this size. Prints a line a
figure and method: intervals of 100 at 95% that held the truth, and in brackets how many of 100 there were, if not all.

Measured:

FIGURES
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from annot.stats.clustered import jackknife_interval, ratio_interval
from annot.stats.significance import tau_b_of_rows
from annot.stats.values import Interval, Undefined
from scipy import stats

LEVEL = 0.95
RESAMPLES = 500
Ends = tuple[float, float] | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--papers", type=int, nargs="+", default=[4, 5, 6, 8, 10, 20, 50])
    options = parser.parse_args()
    warnings.simplefilter("ignore", stats.DegenerateDataWarning)
    print(f"{'':28}" + "".join(f"{papers:>11}" for papers in options.papers))
    for title, draw in FIGURES.items():
        columns = [held(draw, papers, options.studies) for papers in options.papers]
        for method in columns[0]:
            print(f"{title:<16}{method:<12}" + "".join(f"{column[method]:>11}" for column in columns), flush=True)


def held(draw, papers: int, studies: int) -> dict[str, str]:
    """Of each method, how many of 100 intervals held the truth."""
    rng = np.random.default_rng(papers)
    found: dict[str, list[bool]] = {}
    for truth, intervals in (draw(papers, rng) for _ in range(studies)):
        for method, ends in intervals.items():
            made = found.setdefault(method, [])
            if ends is not None:
                made.append(ends[0] <= truth <= ends[1])
    return {
        method: (f"{100 * np.mean(made):.1f}" if made else "-")
        + (f" ({100 * len(made) / studies:.0f})" if len(made) < 0.995 * studies else "")
        for method, made in found.items()
    }


def of_measure(values: np.ndarray, sizes: np.ndarray, least: float) -> dict[str, Ends]:
    """values, sizes: shape (papers, 1): the mean of a paper's queries, and how many these are."""
    found = {"jackknife": ends_of(ratio_interval(values * sizes, sizes, level=LEVEL, unit="query paper", least=least))}

    def mean(sums: np.ndarray, counts: np.ndarray, axis: int = -1) -> np.ndarray:
        return sums.sum(axis=axis) / counts.sum(axis=axis)

    for method in ("bca", "percentile"):
        ends = stats.bootstrap(
            ((values * sizes)[:, 0], sizes[:, 0]), mean, paired=True, n_resamples=RESAMPLES, method=method, rng=1
        ).confidence_interval
        found[method] = None if np.isnan(ends.low) else (ends.low, ends.high)
    return found


def middling(papers: int, rng: np.random.Generator) -> tuple[float, dict[str, Ends]]:
    return 0.6, of_measure(rng.beta(6, 4, (papers, 1)), _sizes(papers, rng), 0.0)


def low(papers: int, rng: np.random.Generator) -> tuple[float, dict[str, Ends]]:
    return 1 / 7, of_measure(rng.beta(1, 6, (papers, 1)), _sizes(papers, rng), 0.0)


def at_its_end(papers: int, rng: np.random.Generator) -> tuple[float, dict[str, Ends]]:
    """Six of ten papers reach 1, as a recall or NDCG may."""
    values = np.where(rng.random((papers, 1)) < 0.6, 1, rng.uniform(0.2, 1, (papers, 1)))
    return 0.84, of_measure(values, _sizes(papers, rng), 0.0)


def difference(papers: int, rng: np.random.Generator) -> tuple[float, dict[str, Ends]]:
    return 0.05, of_measure(rng.normal(0.05, 0.12, (papers, 1)), _sizes(papers, rng), -1.0)


def tau(n_runs: int):
    """Of so many runs, whose means lie 0.02 apart."""
    levels = 0.4 + 0.02 * np.arange(n_runs)[:, None]
    truths: dict[int, float] = {}

    def graded(papers: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        common = levels + rng.normal(0, 0.15, papers) + rng.normal(0, 0.1, (n_runs, papers))
        return common + rng.normal(0, 0.08, common.shape), common + rng.normal(0, 0.08, common.shape)

    def between(first: np.ndarray, second: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return tau_b_of_rows(first[:, rows].mean(axis=-1).T, second[:, rows].mean(axis=-1).T)

    def draw(papers: int, rng: np.random.Generator) -> tuple[float, dict[str, Ends]]:
        everything = np.arange(papers)[None, :]
        if papers not in truths:
            truths[papers] = float(np.nanmean([between(*graded(papers, rng), everything)[0] for _ in range(4000)]))
        first, second = graded(papers, rng)
        whole = float(between(first, second, everything)[0])
        others = np.array([np.delete(np.arange(papers), left) for left in range(papers)])
        without = between(first, second, others)
        drawn = between(first, second, rng.integers(0, papers, (RESAMPLES, papers)))
        return truths[papers], {
            "jackknife": ends_of(jackknife_interval(whole, without, level=LEVEL)),
            "bca": _bca(whole, drawn, without),
            "percentile": tuple(np.quantile(drawn, [0.025, 0.975])),
        }

    return draw


def _bca(whole: float, drawn: np.ndarray, without: np.ndarray) -> Ends:
    """Efron and Tibshirani 1993, An Introduction to the Bootstrap, equations 14.9-14.15."""
    below = np.mean(drawn < whole) + np.mean(drawn == whole) / 2
    gaps = without.mean() - without
    if not 0 < below < 1 or not gaps.any():
        return None
    acceleration = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)
    shifted = stats.norm.ppf(below) + stats.norm.ppf([0.025, 0.975])
    tails = stats.norm.cdf(stats.norm.ppf(below) + shifted / (1 - acceleration * shifted))
    return tuple(np.quantile(drawn, tails))


def ends_of(found: Interval | Undefined) -> Ends:
    return None if isinstance(found, Undefined) else (found.low, found.high)


def _sizes(papers: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(1, 4, (papers, 1)).astype(float)


FIGURES = {
    "middling": middling,
    "low": low,
    "at its end": at_its_end,
    "difference": difference,
    "tau of 4": tau(4),
    "tau of 10": tau(10),
}


if __name__ == "__main__":
    main()
