"""Ratings that hypothesis or a seed draws, and the value of a coefficient of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from annot.base.errors import UndefinedStatistic
from annot.measuring.agreement.coefficients import COEFFICIENTS, Ratings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

GRADES = (0, 1, 2, 3)
MIXES = ((0.25, 0.25, 0.25, 0.25), (0.7, 0.2, 0.08, 0.02), (0.97, 0.01, 0.01, 0.01), (0.02, 0.02, 0.06, 0.9))


def ratings(assessors: st.SearchStrategy[int], *, missing: bool) -> st.SearchStrategy[Ratings]:
    values = st.sampled_from([0.0, 1.0, 2.0, 3.0, *([np.nan] if missing else [])])
    shapes = st.tuples(assessors, st.integers(0, 14))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=values))


TWO = ratings(st.just(2), missing=False)
ALL_OF_MANY = ratings(st.integers(2, 4), missing=False)
SOME = ratings(st.integers(2, 4), missing=True)


def skewed(n_assessors: int, n_pairs: int, *, mix: Sequence[float], seed: int) -> Ratings:
    """Ratings of a latent grade drawn with the frequencies `mix`; each assessor errs on a quarter of the pairs."""
    rng = np.random.default_rng(seed)
    latent = rng.choice(4, p=mix, size=n_pairs)
    drawn = rng.choice(4, p=mix, size=(n_assessors, n_pairs))
    return np.where(rng.random((n_assessors, n_pairs)) < 0.25, drawn, latent).astype(np.float64)


def value(name: str, matrix: Ratings, grades: Sequence[int] = GRADES) -> float:
    """The coefficient, nan where undefined."""
    try:
        return COEFFICIENTS[name](matrix, grades)
    except UndefinedStatistic:
        return np.nan
