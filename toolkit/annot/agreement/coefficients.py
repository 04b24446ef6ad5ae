"""Agreement coefficients on a matrix of grades, by name; where one has no value, it says why in words.

All take `ratings`: array, shape (M, N), M assessors, N pairs, nan where not judged; and `grades`: the scale,
consecutive integers in ascending order, used or not. Values come from the table of counts (`contingency`); what is
degenerate is recognised here, before anything is divided.

More than two assessors: alpha, AC1, AC2 and the percentages are defined for any number of them; rho, tau and the kappas
are the mean over the pairs of assessors that have judged something in common (Light 1971, Psychological Bulletin 76(5),
365-377), and have no value when one of these pairs of assessors has none.

How each is checked, and against what, is listed in the package's docstring (`annot.agreement`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from annot.agreement.contingency import COEFFICIENTS_OF_COUNTS, count
from annot.errors import InputError, UndefinedStatistic

Ratings = npt.NDArray[np.float64]
Coefficient = Callable[[Ratings, Sequence[int]], float]

HEADLINE = ("spearman_rho", "alpha_ordinal", "kappa", "percent")
"""The coefficients that are shown first: those of CSFCube's Table 2, in its order."""
RANKS = ("spearman_rho", "kendall_tau_b")
MIN_PAIRS = 2
MIN_PAIRS_FOR_RANKS = 3
"""With two pairs a rank correlation can only be -1 or 1."""

NOT_JUDGED_TWICE = "no pair was judged by two assessors"
WITHOUT_VARIATION = "without variation, agreement cannot be distinguished from chance"


class NoValue(UndefinedStatistic):
    """Raised with the counts of the data in the reason; `in_general` is the same without them."""

    def __init__(self, reason: str, *, in_general: str) -> None:
        super().__init__(reason)
        self.in_general = in_general


class UndefinedBetween(NoValue):
    """Raised when a mean over pairs of assessors has no value because two of them, rows of `ratings`, have none."""

    def __init__(self, first: int, second: int, why: NoValue) -> None:
        super().__init__(f"assessors no. {first + 1} and {second + 1}: {why}", in_general=why.in_general)
        self.first = first
        self.second = second
        self.reason = str(why)


def coefficient(name: str, ratings: Ratings, grades: Sequence[int]) -> float:
    """The coefficient `name`, a key of `COEFFICIENTS`. Raises NoValue with the reason where it has none.

    Gwet's AC1 and AC2 have a value, 1, even where everybody gives one and the same grade. Percentages are 0..100.
    """
    ratings = _checked(ratings, grades)
    pairable = _judged_twice(ratings)
    if name == "percent_within_one" and len(grades) < 3:
        reason = f"on a scale of {len(grades)} grades all judgements are within one grade"
        raise NoValue(reason, in_general=reason)
    if name.startswith(("alpha", "ac")):
        _require(pairable, grades, at_least=MIN_PAIRS)
    else:
        _require(pairable, grades, at_least=1)
    if name.startswith("alpha"):
        _require_variation(pairable, grades)
    elif name in RANKS or name.startswith("kappa"):
        _require_of_two(ratings, grades, ranks=name in RANKS)
    return float(COEFFICIENTS_OF_COUNTS[name](count(ratings, grades), grades))


COEFFICIENTS: dict[str, Coefficient] = {name: partial(coefficient, name) for name in COEFFICIENTS_OF_COUNTS}

TITLES: dict[str, str] = {
    "spearman_rho": "Spearman's rho",
    "kendall_tau_b": "Kendall's tau-b",
    "alpha_ordinal": "Krippendorff's alpha (ordinal)",
    "alpha_nominal": "Krippendorff's alpha (nominal)",
    "alpha_interval": "Krippendorff's alpha (interval)",
    "kappa": "Cohen's kappa",
    "kappa_linear": "Cohen's kappa (linear weights)",
    "kappa_quadratic": "Cohen's kappa (quadratic weights)",
    "ac1": "Gwet's AC1",
    "ac2": "Gwet's AC2 (quadratic weights)",
    "percent": "Agreement, %",
    "percent_within_one": "Agreement within one grade, %",
}

PERCENTAGES = ("percent", "percent_within_one")
"""Those that lie in 0..100 instead of at most 1."""


def binarise(ratings: Ratings, *, at: int) -> Ratings:
    """1 where the grade is `at` or higher, 0 where it is lower, nan where there is none."""
    return np.where(np.isnan(ratings), np.nan, (ratings >= at).astype(np.float64))


def prevalence(ratings: Ratings, grades: Sequence[int]) -> dict[int, int]:
    """How often each grade of the scale was given."""
    return {grade: int(np.count_nonzero(ratings == grade)) for grade in grades}


def _require_of_two(ratings: Ratings, grades: Sequence[int], *, ranks: bool) -> None:
    """Every two assessors who have judged something in common must have a value."""
    for first, second in itertools.combinations(range(len(ratings)), 2):
        both = ratings[[first, second]]
        both = both[:, ~np.isnan(both).any(axis=0)]
        if both.shape[1] == 0:
            continue
        try:
            _require(both, grades, at_least=MIN_PAIRS_FOR_RANKS if ranks else MIN_PAIRS)
            _require_variation(both, grades)
            if ranks:
                _require_two_orders(both, grades)
        except NoValue as undefined:
            if len(ratings) == 2:
                raise
            raise UndefinedBetween(first, second, undefined) from None


def _checked(ratings: Ratings, grades: Sequence[int]) -> Ratings:
    if ratings.ndim != 2 or len(ratings) < 2:
        raise UndefinedStatistic("fewer than two assessors")
    if len(grades) < 2 or list(grades) != list(range(grades[0], grades[0] + len(grades))):
        raise InputError(f"scale {list(grades)}: expected two or more consecutive grades in ascending order")
    strange = sorted(set(ratings[~np.isnan(ratings)].tolist()) - set(grades))
    if strange:
        raise InputError(
            f"{len(strange)} value(s) are no grades of the scale {list(grades)}",
            faults=[f"found {value:g}" for value in strange],
        )
    return ratings


def _judged_twice(ratings: Ratings) -> Ratings:
    return ratings[:, np.count_nonzero(~np.isnan(ratings), axis=0) >= 2]


def _require(ratings: Ratings, grades: Sequence[int], *, at_least: int) -> None:
    n_pairs = ratings.shape[1]
    if n_pairs == 0:
        raise NoValue(NOT_JUDGED_TWICE, in_general=NOT_JUDGED_TWICE)
    if n_pairs < at_least:
        given = _in_words(prevalence(ratings, grades))
        raise NoValue(
            f"only {n_pairs} pair{' was' if n_pairs == 1 else 's were'} judged twice; at least {at_least} are needed "
            f"({given})",
            in_general=f"fewer than {at_least} pairs were judged twice",
        )


def _require_variation(ratings: Ratings, grades: Sequence[int]) -> None:
    used = {grade: times for grade, times in prevalence(ratings, grades).items() if times}
    if len(used) == 1:
        raise NoValue(
            f"every judgement is grade {next(iter(used))} ({ratings.shape[1]} pairs); {WITHOUT_VARIATION}",
            in_general=f"every judgement is the same grade; {WITHOUT_VARIATION}",
        )


def _require_two_orders(both: Ratings, grades: Sequence[int]) -> None:
    for row, other in ((both[0], both[1]), (both[1], both[0])):
        if len(set(row.tolist())) == 1:
            raise NoValue(
                f"one assessor gave grade {row[0]:g} to all {len(row)} pairs, so there is no order to compare "
                f"(the other: {_in_words(prevalence(other, grades))})",
                in_general="one assessor gave the same grade to all pairs, so there is no order to compare",
            )


def _in_words(times_by_grade: dict[int, int]) -> str:
    return ", ".join(f"grade {grade} x {times}" for grade, times in times_by_grade.items() if times)
