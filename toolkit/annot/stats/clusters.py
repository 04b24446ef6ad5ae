"""Intervals of shares and means whose observations come in clusters, as pairs come in queries and queries in papers.

Whole clusters are drawn with all that is in them, so that what they share counts as often as it was seen. The interval
is that of `annot.stats.bootstrap`, of a ratio of two sums: clusters differ in size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annot.stats.bootstrap import Bootstrap, draw, intervals
from annot.stats.intervals import Intervals
from annot.stats.undefined import Undefined

Array = npt.NDArray[np.float64]


def of_clusters(sums: Array, sizes: Array, *, cluster: str, plan: Bootstrap, key: str) -> Intervals:
    """Intervals of the mean, over strata, of (sum of `sums`) / (sum of `sizes`), by resampling the clusters.

    sums, sizes: shape (C, S), C clusters in S strata; one stratum for a plain share or mean. In a resample that leaves
    a stratum without any observation the figure has no value. cluster: what one is called. key: names
    what is resampled; figures of one key see the same resamples and can be compared.
    """
    n = len(sizes)
    if n < 2:
        few = Undefined(f"{n or 'no'} {cluster}: nothing to resample")
        return Intervals(few, few)
    drawn = draw(n, plan=plan, key=key)
    times = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float64)
    whole, replicates, left_out = (_means(sums, sizes, weights) for weights in (np.ones((1, n)), times, 1 - np.eye(n)))
    return intervals(estimate=float(whole[0]), replicates=replicates, left_out=left_out, level=plan.level)


def _means(sums: Array, sizes: Array, weights: Array) -> Array:
    """The figure under each weighting of the clusters, shape (B,); nan where a stratum is empty."""
    total, of = weights @ sums, weights @ sizes
    ratios = np.full(total.shape, np.nan)
    np.divide(total, of, out=ratios, where=of > 0)
    return np.asarray(ratios.mean(axis=1))
