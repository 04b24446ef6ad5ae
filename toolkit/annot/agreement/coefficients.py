"""Agreement coefficients on a matrix of grades, by name; where one has no value, it says why in words.

All take `ratings`: array, shape (M, N), M assessors, N pairs, nan where not judged; and `grades`: the scale,
consecutive integers in ascending order, used or not. Degenerate data is recognised here, before any library sees it:
the libraries answer it with nan, a warning, an exception or a number, each in its own way.

More than two assessors: alpha, AC1, AC2 and the percentages are defined for any number of them; rho, tau and the kappas
are the mean over the pairs of assessors that have judged something in common (Light 1971, Psychological Bulletin 76(5),
365-377), and have no value when one of these pairs of assessors has none.

How each is checked, and against what, is listed in the package's docstring (`annot.agreement`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from annot.agreement.contingency import COEFFICIENTS_OF_COUNTS, count
from annot.errors import InputError, UndefinedStatistic

Ratings = npt.NDArray[np.float64]
Coefficient = Callable[[Ratings, Sequence[int]], float]

HEADLINE = ("spearman_rho", "alpha_ordinal", "kappa", "percent")
"""The coefficients that are shown first: those of CSFCube's Table 2, in its order."""
MIN_PAIRS = 2
MIN_PAIRS_FOR_RANKS = 3
"""With two pairs a rank correlation can only be -1 or 1."""
OF_RANKS = ("spearman_rho", "kendall_tau_b")

NOT_JUDGED_TWICE = "no pair was judged by two assessors"
WITHOUT_VARIATION = "without variation, agreement cannot be told from chance"


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


def spearman_rho(ratings: Ratings, grades: Sequence[int]) -> float:
    """Spearman's rho with average ranks (Spearman 1904, American Journal of Psychology 15, 72-101)."""
    return _over_assessor_pairs("spearman_rho", ratings, grades)


def kendall_tau_b(ratings: Ratings, grades: Sequence[int]) -> float:
    """Kendall's tau-b, corrected for ties (Kendall 1945, Biometrika 33, 239-251)."""
    return _over_assessor_pairs("kendall_tau_b", ratings, grades)


def alpha_ordinal(ratings: Ratings, grades: Sequence[int]) -> float:
    """Krippendorff's alpha, ordinal metric (Krippendorff 2011, Computing Krippendorff's alpha-reliability)."""
    return _alpha(ratings, grades, "ordinal")


def alpha_nominal(ratings: Ratings, grades: Sequence[int]) -> float:
    """Krippendorff's alpha, nominal metric."""
    return _alpha(ratings, grades, "nominal")


def alpha_interval(ratings: Ratings, grades: Sequence[int]) -> float:
    """Krippendorff's alpha, interval metric."""
    return _alpha(ratings, grades, "interval")


def kappa(ratings: Ratings, grades: Sequence[int]) -> float:
    """Cohen's kappa, unweighted (Cohen 1960, Educational and Psychological Measurement 20, 37-46)."""
    return _over_assessor_pairs("kappa", ratings, grades)


def kappa_linear(ratings: Ratings, grades: Sequence[int]) -> float:
    """Cohen's kappa, disagreement weighted by |a - b| (Cohen 1968, Psychological Bulletin 70, 213-220)."""
    return _over_assessor_pairs("kappa_linear", ratings, grades)


def kappa_quadratic(ratings: Ratings, grades: Sequence[int]) -> float:
    """Cohen's kappa, disagreement weighted by (a - b)^2 (Fleiss and Cohen 1973)."""
    return _over_assessor_pairs("kappa_quadratic", ratings, grades)


def ac1(ratings: Ratings, grades: Sequence[int]) -> float:
    """Gwet's AC1 (Gwet 2008, British Journal of Mathematical and Statistical Psychology 61, 29-48).

    It has a value, 1, even where everybody gives one and the same grade.
    """
    return _from_counts("ac1", ratings, grades, at_least=MIN_PAIRS)


def ac2(ratings: Ratings, grades: Sequence[int]) -> float:
    """Gwet's AC2 with quadratic weights (Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, chapter 3)."""
    return _from_counts("ac2", ratings, grades, at_least=MIN_PAIRS)


def percent(ratings: Ratings, grades: Sequence[int]) -> float:
    """Percent agreement, 0..100: of a pair's assessors the share of twos that agree, its mean over the pairs."""
    return _from_counts("percent", ratings, grades, at_least=1)


def percent_within_one(ratings: Ratings, grades: Sequence[int]) -> float:
    """Percent of twos of assessors at most one grade apart, 0..100, the mean over the pairs."""
    if len(grades) < 3:
        raise UndefinedStatistic(f"on a scale of {len(grades)} grades all judgements are within one grade")
    return _from_counts("percent_within_one", ratings, grades, at_least=1)


COEFFICIENTS: dict[str, Coefficient] = {
    "spearman_rho": spearman_rho,
    "kendall_tau_b": kendall_tau_b,
    "alpha_ordinal": alpha_ordinal,
    "alpha_nominal": alpha_nominal,
    "alpha_interval": alpha_interval,
    "kappa": kappa,
    "kappa_linear": kappa_linear,
    "kappa_quadratic": kappa_quadratic,
    "ac1": ac1,
    "ac2": ac2,
    "percent": percent,
    "percent_within_one": percent_within_one,
}

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


def _alpha(ratings: Ratings, grades: Sequence[int], level: str) -> float:
    import krippendorff

    pairable = _judged_twice(_checked(ratings, grades))
    _require(pairable, grades, at_least=MIN_PAIRS)
    _require_variation(pairable, grades)
    return float(krippendorff.alpha(reliability_data=pairable, level_of_measurement=level, value_domain=list(grades)))


def _from_counts(name: str, ratings: Ratings, grades: Sequence[int], *, at_least: int) -> float:
    # Gwet's chance agreement uses every judgement, also of pairs that only one assessor has judged.
    _require(_judged_twice(_checked(ratings, grades)), grades, at_least=at_least)
    return float(COEFFICIENTS_OF_COUNTS[name](count(ratings, grades), grades))


def _over_assessor_pairs(name: str, ratings: Ratings, grades: Sequence[int]) -> float:
    _require(_judged_twice(_checked(ratings, grades)), grades, at_least=1)
    ranks = name in OF_RANKS
    at_least = MIN_PAIRS_FOR_RANKS if ranks else MIN_PAIRS
    values = []
    for first, second in itertools.combinations(range(len(ratings)), 2):
        both = ratings[[first, second]]
        both = both[:, ~np.isnan(both).any(axis=0)]
        if both.shape[1] == 0:
            continue
        try:
            _require(both, grades, at_least=at_least)
            _require_variation(both, grades)
            if ranks:
                _require_two_orders(both, grades)
        except NoValue as undefined:
            if len(ratings) == 2:
                raise
            raise UndefinedBetween(first, second, undefined) from None
        values.append(float(COEFFICIENTS_OF_COUNTS[name](count(both, grades), grades)))
    return float(np.mean(values))


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
            f"only {n_pairs} pair(s) judged twice, at least {at_least} needed ({given})",
            in_general=f"fewer than {at_least} pairs were judged twice",
        )


def _require_variation(ratings: Ratings, grades: Sequence[int]) -> None:
    used = {grade: times for grade, times in prevalence(ratings, grades).items() if times}
    if len(used) == 1:
        raise NoValue(
            f"unanimous: every judgement is grade {next(iter(used))} ({ratings.shape[1]} pairs); {WITHOUT_VARIATION}",
            in_general=f"unanimous: every judgement is one and the same grade; {WITHOUT_VARIATION}",
        )


def _require_two_orders(both: Ratings, grades: Sequence[int]) -> None:
    for row, other in ((both[0], both[1]), (both[1], both[0])):
        if len(set(row.tolist())) == 1:
            raise NoValue(
                f"one assessor gave grade {row[0]:g} to all {len(row)} pairs, which orders nothing "
                f"(the other: {_in_words(prevalence(other, grades))})",
                in_general="one assessor gave one and the same grade to all pairs, which orders nothing",
            )


def _in_words(times_by_grade: dict[int, int]) -> str:
    return ", ".join(f"grade {grade} x {times}" for grade, times in times_by_grade.items() if times)
