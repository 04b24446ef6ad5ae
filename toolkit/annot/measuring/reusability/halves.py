"""Two halves of the queries as two studies: do they order the runs alike, and how often does a difference turn round?

Voorhees and Buckley 2002, The Effect of Topic Set Size on Retrieval Experiment Error, SIGIR.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from annot.base.stats.seeding import generator
from annot.base.stats.significance import tau_b_of_rows
from annot.base.stats.values import Value
from annot.measuring.reusability.scoring import SAME_TAU, Standing

HALVINGS = 1000
BOUNDS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.10, 1.0)
"""Of the difference between two runs in the first half."""
FEWEST_PAPERS = 4


@dataclass(frozen=True, slots=True)
class Swaps:
    """Differences of one size, and how many of them are the other way round in the other half."""

    least: float
    below: float
    differences: int
    swapped: int


@dataclass(frozen=True, slots=True)
class Halves:
    """All halvings together."""

    papers: int
    """In each half."""
    tau: Value
    """Between the orders of the two halves, the mean over the halvings in which neither ties all runs."""
    swaps: tuple[Swaps, ...]


def split_halves(whole: Standing, *, seed: int) -> Halves | None:
    """`HALVINGS` random halvings of the query papers; None with fewer than four papers or two runs.

    With an odd number of papers one is left out of each halving. Two runs that tie in a half are no swap.
    """
    n_runs, papers = whole.by_paper.shape
    half = papers // 2
    if papers < FEWEST_PAPERS or n_runs < 2:
        return None
    draw = generator(seed, "halves")
    orders = np.stack([draw.permutation(papers) for _ in range(HALVINGS)])
    first = whole.by_paper[:, orders[:, :half]].mean(axis=2).T
    second = whole.by_paper[:, orders[:, half : 2 * half]].mean(axis=2).T
    pairs = np.array(list(itertools.combinations(range(n_runs), 2)))
    one = first[:, pairs[:, 0]] - first[:, pairs[:, 1]]
    other = second[:, pairs[:, 0]] - second[:, pairs[:, 1]]
    swapped = one * other < 0
    size = np.abs(one)
    taus = tau_b_of_rows(first, second)
    taus = taus[~np.isnan(taus)]
    return Halves(
        papers=half,
        tau=float(taus.mean()) if len(taus) else SAME_TAU,
        swaps=tuple(
            Swaps(least, below, int(within.sum()), int((swapped & within).sum()))
            for least, below in itertools.pairwise(BOUNDS)
            if (within := (size >= least) & ((size < below) | (below == 1.0))).any()
        ),
    )
