"""Count how often intervals of Kendall's tau between two orders of the runs hold the truth: too seldom, or too wide.

    python benchmarks/tau_interval_coverage.py [--studies 1000] [--papers 4 5 6 8 10 20 50]

Tau compares the orders of 4 and of 10 runs under two assessors; its truth is its mean over studies of this size. Prints
a line for each number of runs and method: intervals of 100 at 95% that held the truth, and in brackets how many of 100
there were, if not all. `bca` and `percentile` are bootstraps of whole papers.
"""

import warnings
from collections.abc import Callable

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import jackknife_interval, tau_b_of_rows
from annot.base.stats.values import Interval
from command import Command
from scipy import stats

LEVEL = 0.95
RESAMPLES = 500
Ends = tuple[float, float] | None
Draw = Callable[[int, np.random.Generator], tuple[float, dict[str, Ends]]]
"""True value of a study of so many papers, and the interval of each method."""


COMMAND = Command(
    __doc__,
    options={"studies": 1000, "papers": [4, 5, 6, 8, 10, 20, 50]},
    smallest="--studies 2 --papers 4",
    seconds=lambda options: sum(0.5 + options.studies * (0.005 + 0.0002 * papers) for papers in options.papers),
)


def main() -> None:
    options = COMMAND.read()
    warnings.simplefilter("ignore", stats.DegenerateDataWarning)
    warnings.simplefilter("ignore", RuntimeWarning)  # SciPy divides by 0 where all papers are alike.
    print(f"{'':28}" + "".join(f"{papers:>11}" for papers in options.papers))
    for title, draw in FIGURES.items():
        columns = [held(draw, papers, options.studies) for papers in options.papers]
        for method in columns[0]:
            print(f"{title:<16}{method:<12}" + "".join(f"{column[method]:>11}" for column in columns), flush=True)


def held(draw: Draw, papers: int, studies: int) -> dict[str, str]:
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


def tau(n_runs: int) -> Draw:
    """Of so many runs, whose means lie 0.02 apart."""
    levels = 0.4 + 0.02 * np.arange(n_runs)[:, None]
    truths: dict[int, float] = {}

    def graded(papers: int, rng: np.random.Generator) -> tuple[Array, Array]:
        common = levels + rng.normal(0, 0.15, papers) + rng.normal(0, 0.1, (n_runs, papers))
        return common + rng.normal(0, 0.08, common.shape), common + rng.normal(0, 0.08, common.shape)

    def between(first: Array, second: Array, rows: Array) -> Array:
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
        low, high = np.quantile(drawn, [0.025, 0.975])
        found = jackknife_interval(whole, without, level=LEVEL)
        return truths[papers], {
            "jackknife": (found.low, found.high) if isinstance(found, Interval) else None,
            "bca": _bca(whole, drawn, without),
            "percentile": (float(low), float(high)),
        }

    return draw


def _bca(whole: float, drawn: Array, without: Array) -> Ends:
    """Efron and Tibshirani 1993, An Introduction to the Bootstrap, equations 14.9-14.15."""
    below = np.mean(drawn < whole) + np.mean(drawn == whole) / 2
    gaps = without.mean() - without
    if not 0 < below < 1 or not gaps.any():
        return None
    acceleration = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)
    shifted = stats.norm.ppf(below) + stats.norm.ppf([0.025, 0.975])
    tails = stats.norm.cdf(stats.norm.ppf(below) + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(drawn, tails)
    return float(low), float(high)


FIGURES = {"tau of 4": tau(4), "tau of 10": tau(10)}


if __name__ == "__main__":
    main()
