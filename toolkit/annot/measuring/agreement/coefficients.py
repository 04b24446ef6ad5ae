"""Agreement coefficients by name, with the reason in words if one has no value.

Values come from counts (`contingency`); what is degenerate is recognised here. Ratings are an array of shape (M, N), M
assessors, N pairs, nan where not judged; `grades` is the scale, consecutive integers in ascending order, used or not.

More than two assessors: alpha, AC1, AC2 and the percentages are defined for any number of them, and kappa is Conger's
(1980, Psychological Bulletin 88, 322-328), which for two is Cohen's. A rank correlation is the mean over every two
assessors who share at least `LEAST_OVERLAP` pairs, weighted by how many they share. Such a mean has a value where more
than half of what two assessors share has one.

How each is checked, and against what, is listed in the package's docstring (`annot.measuring.agreement`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from annot.base.errors import InputError, UndefinedStatistic
from annot.base.names import counted, verb
from annot.base.stats.arrays import Array
from annot.base.stats.values import Undefined, Value
from annot.measuring.agreement.contingency import (
    ALPHAS,
    OF_COUNTS,
    OF_TABLES,
    Counts,
    alpha_of_units,
    count,
    n_judged_twice,
    tables_between,
    units_of,
)

Ratings = Array
Coefficient = Callable[[Ratings, Sequence[int]], float]

HEADLINE = ("spearman_rho", "alpha_ordinal", "kappa", "percent")
"""Coefficients that are shown first: those of CSFCube's Table 2, in its order."""
HEADLINE_OF_MANY = ("alpha_ordinal", "percent", "kappa", "spearman_rho")
"""Coefficients shown first if a query has more than two assessors: those defined for any number come first."""
HEADLINE_OF_TWO = ("alpha_ordinal", "kappa", "ac1", "percent")
"""Coefficients shown first on two grades: a rank correlation adds nothing to kappa there, and AC1 bears rare grades."""
LEAST_OVERLAP = 5
"""Pairs that two of many assessors must share for a rank correlation: that of fewer is far too low."""

NOT_JUDGED_TWICE = "no pair was judged by two assessors"
WITHOUT_VARIATION = "without variation, agreement cannot be distinguished from chance"


def coefficient(name: str, ratings: Ratings, grades: Sequence[int]) -> float:
    """Value of the coefficient `name`, a key of `COEFFICIENTS`. Raises UndefinedStatistic with the reason if it has
    none.

    Gwet's AC1 and AC2 are 1 even if all assessors always give the same grade. Percentages are 0..100.
    """
    value = value_of(name, ratings, grades)
    if isinstance(value, Undefined):
        raise UndefinedStatistic(value.reason)
    return value


def value_of(name: str, ratings: Ratings, grades: Sequence[int], weights: Array | None = None) -> Value:
    """Value of the coefficient `name`, a key of `COEFFICIENTS`, or why there is none. weights: of the pairs, shape
    (N,).
    """
    if ratings.ndim != 2 or len(ratings) < 2:
        return Undefined("fewer than two assessors")
    _check(ratings, grades)
    return value_between(name, count(ratings, grades, weights), tables_between(ratings, grades, weights)[1], grades)


def value_between(name: str, counts: Counts, tables: Array, grades: Sequence[int]) -> Value:
    """Value of the coefficient `name` between all assessors, or why there is none. tables: shape (P, K, K), of two who
    met.
    """
    if len(counts.margins) < 2:
        return Undefined("fewer than two assessors")
    if name in OF_TABLES:
        return mean_of_tables(name, tables, grades)
    why = _why_none(name, counts, grades)
    if why is None and name in ALPHAS and counts.units is not None:
        return alpha_of_units(name, counts.units, grades)
    return why or float(OF_COUNTS[name](counts, grades))


def mean_of_tables(name: str, tables: Array, grades: Sequence[int]) -> Value:
    """Mean of the coefficient `name` over tables of two, weighted by their pairs, or why there is none."""
    sizes = tables.sum(axis=(-1, -2))
    if not sizes.any():
        return Undefined(NOT_JUDGED_TWICE)
    tables, sizes = tables[sizes > 0], sizes[sizes > 0]
    values, sizes_used = of_tables(name, tables, grades, many=len(tables) > 2)
    if name in ALPHAS and (tables == np.rint(tables)).all():
        values[sizes_used > 0] = [alpha_of_units(name, units_of(table), grades) for table in tables[sizes_used > 0]]
    if rests_on_most(sizes_used.sum(), sizes.sum()):
        return float((values * sizes_used).sum() / sizes_used.sum())
    without = np.flatnonzero(sizes_used == 0)
    why = _why_none(name, Counts.of_tables(tables[without[0]]), grades)
    if why is None:
        why = Undefined(
            f"only {counted(int(sizes[without[0]]), 'shared pair')}", f"fewer than {LEAST_OVERLAP} shared pairs"
        )
    if len(tables) == 1:
        return why
    return Undefined(
        f"comparisons without a value: {len(without)} of {len(tables)}, such as this one: {why.reason}",
        f"comparisons without a value: {why.kind}",
    )


def of_tables(name: str, tables: Array, grades: Sequence[int], *, many: bool) -> tuple[Array, Array]:
    """Coefficient of each table of two, 0 if it has none, and the number of pairs by which it counts, then 0 too.

    tables: shape (P, K, K), which gives (P,). many: True if a rank correlation needs `LEAST_OVERLAP`.
    """
    sizes = tables.sum(axis=(-1, -2))
    ranks = name in OF_TABLES
    values = OF_TABLES[name](tables) if ranks else OF_COUNTS[name](Counts.of_tables(tables), grades)
    has_value = ~np.isnan(values) & (sizes >= (LEAST_OVERLAP if ranks and many else 1))
    return np.where(has_value, values, 0.0), np.where(has_value, sizes, 0.0)


def rests_on_most(part: float, total: float) -> bool:
    """True if the figure of a part may represent the whole."""
    return bool(2 * part > total)


COEFFICIENTS: dict[str, Coefficient] = {name: partial(coefficient, name) for name in (*OF_TABLES, *OF_COUNTS)}

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

TITLES_OF_TWO: dict[str, str] = {
    "alpha_ordinal": "Krippendorff's alpha",
    "kappa": TITLES["kappa"],
    "ac1": TITLES["ac1"],
    "percent": TITLES["percent"],
    "spearman_rho": "Correlation (phi)",
}
"""Coefficients on two grades. All others are one of these: weights and distances do not matter if there is one
distance, and the rank correlations of two grades are phi (Kendall and Gibbons 1990, Rank Correlation Methods).
"""


ON_TWO_GRADES: dict[str, str] = {
    "kendall_tau_b": "spearman_rho",
    "alpha_nominal": "alpha_ordinal",
    "alpha_interval": "alpha_ordinal",
    "kappa_linear": "kappa",
    "kappa_quadratic": "kappa",
    "ac2": "ac1",
    "percent_within_one": "percent",
}
"""Other coefficients, and the one that each equals on two grades; within one grade all are, which is trivial."""


def titles_of(grades: Sequence[int]) -> dict[str, str]:
    """Titles of the coefficients on this scale."""
    return TITLES | (TITLES_OF_TWO if len(grades) == 2 else {})


PERCENTAGES = ("percent", "percent_within_one")
"""Coefficients from 0 to 100 instead of up to 1."""


def _why_none(name: str, counts: Counts, grades: Sequence[int]) -> Undefined | None:
    """Reason why a coefficient of these counts has no value; a rank correlation's counts are those of two."""
    pairs = int(n_judged_twice(counts))
    times = dict(zip(grades, counts.margins.sum(axis=0).astype(int).tolist(), strict=True))
    if name == "percent_within_one" and len(grades) < 3:
        return Undefined(f"on a scale of {len(grades)} grades all judgements are within one grade")
    if pairs == 0:
        return Undefined(NOT_JUDGED_TWICE)
    # With two pairs a rank correlation can only be -1 or 1.
    least = 3 if name in OF_TABLES else 1 if name in PERCENTAGES else 2
    if pairs < least:
        return Undefined(
            f"only {counted(pairs, 'pair')} {verb(pairs, 'was', 'were')} judged twice; at least {least} are needed "
            f"({_in_words(times)})",
            f"fewer than {least} pairs were judged twice",
        )
    used = [grade for grade, n in times.items() if n]
    if len(used) == 1 and name not in ("ac1", "ac2", *PERCENTAGES):
        return Undefined(
            f"every judgement is grade {used[0]} ({counted(pairs, 'pair')}); {WITHOUT_VARIATION}",
            f"every judgement is the same grade; {WITHOUT_VARIATION}",
        )
    if name in OF_TABLES:
        for row, other in (counts.margins, counts.margins[::-1]):
            if np.count_nonzero(row) == 1:
                times = dict(zip(grades, other.astype(int).tolist(), strict=True))
                return Undefined(
                    f"one assessor gave grade {grades[int(np.argmax(row))]} to all {pairs} pairs, so there is no order "
                    f"to compare (the other: {_in_words(times)})",
                    "one assessor gave the same grade to all pairs, so there is no order to compare",
                )
    return None


def _check(ratings: Ratings, grades: Sequence[int]) -> None:
    if len(grades) < 2 or list(grades) != list(range(grades[0], grades[0] + len(grades))):
        raise InputError(f"scale {list(grades)}: expected two or more consecutive grades in ascending order")
    strange = sorted(set(ratings[~np.isnan(ratings)].tolist()) - set(grades))
    if strange:
        raise InputError(
            f"{counted(len(strange), 'value')} not on the scale {list(grades)}",
            faults=[f"found {value:g}" for value in strange],
        )


def _in_words(times_by_grade: dict[int, int]) -> str:
    return ", ".join(f"grade {grade} x {times}" for grade, times in times_by_grade.items() if times)
