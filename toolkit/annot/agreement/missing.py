"""What a missing judgement counts as: named policies, printed with every figure they touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Ratings = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Policy = Callable[[Ratings, Mask], Ratings]


def drop(ratings: Ratings, asked: Mask) -> Ratings:
    """A missing judgement is missing: coefficients use the judgements there are.

    ratings: shape (M, N), nan where there is no grade. asked: shape (M, N), true where the assessor was given the pair.
    """
    return ratings


def zero(ratings: Ratings, asked: Mask) -> Ratings:
    """A judgement that was asked for and not given counts as grade 0, as in CSFCube's published figures.

    A pair that an assessor was never given stays without a grade.
    """
    return np.where(asked & np.isnan(ratings), 0.0, ratings)


POLICIES: dict[str, Policy] = {"drop": drop, "zero": zero}

IN_WORDS: dict[str, str] = {
    "drop": "A missing judgement is left out; its pair keeps the other grades. Only pairs with at least two grades are "
    "compared. Rho, tau and kappa are computed for every two assessors on the pairs that both graded, then averaged; "
    "alpha, AC1, AC2 and the percentages use all grades of a pair. The chance term of AC1 and AC2 also counts pairs "
    "with a single grade, as Gwet defines it.",
    "zero": "A judgement that was requested but is missing counts as grade 0. A pair that an assessor was never given "
    "stays without that assessor's grade.",
}
"""What each policy does, in sentences for a reader of the figures."""
