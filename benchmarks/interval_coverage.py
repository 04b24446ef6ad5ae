"""Count how often intervals over queries hold the truth: shares, and kappa between two assessors, from few queries.

    python benchmarks/interval_coverage.py [--studies 300] [--pairs 40] [--queries 2 3 4 5 8 12 30]

Each study draws so many queries of `--pairs` pairs, which two assessors judge on a scale of four grades. Queries differ
in how similar their documents are and in how hard they are to judge. Prints a line a number of queries: intervals of
100 at 95% that held the figure of 20,000 queries, with their mean length; a dash where there is no interval.

Measured with 300 studies of 40 pairs (and of 10 pairs; with 300, 95 of 100 may show as 92 to 98):

    queries  kappa, jackknife  kappa, bootstrap  share, Wilson  share, bootstrap
          2                              46 (47)      100 (100)          50 (43)
          3                              62 (65)      100 (100)          77 (80)
          4           90 (93)            75 (77)        96 (99)          79 (82)
          5           94 (93)            78 (77)        96 (98)          84 (82)
          8           93 (94)            85 (88)        96 (96)          91 (88)
         12           96 (94)            88 (87)        95 (96)          89 (91)
         30           96 (93)            94 (88)        95 (96)          94 (95)

So a share has Wilson's interval, clustered by query, and kappa between two assessors, who often share only a few
queries, a jackknife on the scale of Fisher's z with Student's t. On kappa's own scale the jackknife covers as much,
but leaves its range.
"""

from __future__ import annotations

import argparse

import numpy as np
from annot.agreement.coefficients import COEFFICIENTS
from annot.agreement.contingency import Counts, count
from annot.agreement.groups import of_pooled, resample
from annot.errors import UndefinedStatistic
from annot.stats.bootstrap import Bootstrap, of_clusters
from annot.stats.clustered import jackknife_interval, share_of_counts
from annot.stats.values import Interval, Intervals, Undefined

GRADES = (0, 1, 2, 3)
THRESHOLDS = np.array([-0.2, 0.8, 1.8])
NAME = "kappa_quadratic"
METHODS = ("kappa, jackknife", "kappa, bootstrap", "share, Wilson", "share, bootstrap")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--queries", type=int, nargs="+", default=[2, 3, 4, 5, 8, 12, 30])
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    many = study(20_000, options.pairs, rng)
    kappa = COEFFICIENTS[NAME](np.concatenate(list(many), axis=1), GRADES)
    truth = (kappa, kappa, *[float((many[:, 0] != many[:, 1]).mean())] * 2)
    print("queries  " + "  ".join(f"{method:>20}" for method in METHODS))
    for queries in options.queries:
        held, made, length = np.zeros(4), np.zeros(4), np.zeros(4)
        for seed in range(options.studies):
            found = intervals(study(queries, options.pairs, rng), Bootstrap(600, 0.95, seed))
            for at, interval in enumerate(found):
                if isinstance(interval, Intervals):
                    interval = interval.percentile if isinstance(interval.bca, Undefined) else interval.bca
                if isinstance(interval, Interval):
                    held[at] += interval.low <= truth[at] <= interval.high
                    made[at] += 1
                    length[at] += interval.high - interval.low
        cells = [
            f"{100 * h / n:.0f} (length {total / n:.2f})" if n else "-"
            for h, n, total in zip(held, made, length, strict=True)
        ]
        print(f"{queries:>7}  " + "  ".join(f"{cell:>20}" for cell in cells), flush=True)


def study(queries: int, pairs: int, rng: np.random.Generator) -> np.ndarray:
    """The grades of two assessors, shape (queries, 2, pairs)."""
    similarity = rng.normal(rng.normal(-0.3, 0.8, (queries, 1, 1)), 1.0, (queries, 1, pairs))
    noise = np.exp(rng.normal(-0.5, 0.35, (queries, 1, 1)))
    seen = similarity + noise * rng.normal(size=(queries, 2, pairs))
    return np.asarray((seen[..., None] > THRESHOLDS).sum(axis=-1), dtype=float)


def intervals(ratings: np.ndarray, plan: Bootstrap) -> tuple[Interval | Intervals | Undefined, ...]:
    """In the order of METHODS."""
    counts = Counts.stack([Counts.stack([count(of_query, GRADES)]) for of_query in ratings])
    differ = (ratings[:, 0] != ratings[:, 1]).sum(axis=1).astype(float)
    sizes = np.full(len(ratings), float(ratings.shape[2]))
    clusters = of_clusters(differ[:, None], sizes[:, None], cluster="query", plan=plan, key="share")
    return (
        jackknife(ratings, plan.level),
        of_pooled(resample(counts, plan=plan, key="kappa"), GRADES, name=NAME, plan=plan),
        share_of_counts(differ, sizes, level=plan.level).interval,
        clusters,
    )


def jackknife(ratings: np.ndarray, level: float) -> Interval | Undefined:
    def kappa(of: np.ndarray) -> float:
        return COEFFICIENTS[NAME](np.concatenate(list(of), axis=1), GRADES)

    try:
        without = [kappa(np.delete(ratings, at, axis=0)) for at in range(len(ratings))]
        return jackknife_interval(kappa(ratings), np.array(without), level=level)
    except UndefinedStatistic as error:
        return Undefined(str(error))


if __name__ == "__main__":
    main()
