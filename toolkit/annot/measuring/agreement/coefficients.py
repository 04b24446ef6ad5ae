"""Agreement coefficients by name, their formulas on tables of counts, and pairs of many queries pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from annot.base.errors import InputError, UndefinedStatistic
from annot.base.names import counted, verb
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import Clusters, clusters_of, jackknife_interval
from annot.base.stats.values import Estimate, Interval, Undefined, Value

# ----------------------------------------------------------------------------------------------------------------------
# Coefficients from tables of counts, which add up: the counts of two sets of pairs are those of both together.
#
# So a coefficient of all pairs of some queries needs the queries' counts only, not their judgements. If it has no
# value the result is nan here; `value_between` gives the reason in words.
#
# Alpha, Gwet's, the percentages and kappa (Conger's, for two assessors Cohen's) come from `Counts`, of any number of
# assessors. Rank correlations are of two: they come from a table of the grades that these two gave to the same pairs.
#
# Pairs may have weights if a sample of them was judged: 1 / pi each makes counts those of the whole pool. Weights of
# 1 are no weights.
#
# Shapes: `...` are leading axes (queries, tables), M assessors, K grades, N pairs of query and document.
# ----------------------------------------------------------------------------------------------------------------------


OfCounts = Callable[["Counts", Sequence[int]], Array]

NEARLY_WHOLE = 1e-6
NO_DUST = 9
"""Decimals of a difference of counts; further ones are the rest of fractions that cancel out."""


class Counts(NamedTuple):
    """Counts of a set of pairs, for coefficients of any number of assessors.

    coincidences: shape (..., K, K), Krippendorff's o_ck: each pair adds its ordered twos / (m - 1), m its judgements.
    agreement: shape (..., K, K), Gwet's: each pair judged twice or more adds its ordered twos / (m (m - 1)), that is 1.
    shares: shape (..., K), Gwet's: each pair judged at all adds the share of its judgements at each grade, that is 1.
    margins: shape (..., M, K), how often each assessor gave each grade to pairs judged twice or more.
    """

    coincidences: Array
    agreement: Array
    shares: Array
    margins: Array

    def weighted(self, weights: Array) -> Counts:
        """Weighted sums over the first axis. weights: shape (B, first axis); the result has B as its first axis."""
        return Counts(*[np.asarray(np.tensordot(weights, counts, axes=1)) for counts in self])

    def whole(self) -> Counts:
        """Sum over the first axis."""
        return Counts(*[counts.sum(axis=0) for counts in self])

    def left_out(self, clusters: Clusters) -> Counts:
        """Sums over the first axis without each sampling unit among its members."""
        return Counts(*[np.round(counts.sum(axis=0) - clusters.summed(counts), NO_DUST) for counts in self])

    @staticmethod
    def stack(counts: Sequence[Counts]) -> Counts:
        """Join several counts on a new first axis."""
        return Counts(*map(np.stack, zip(*counts, strict=True)))

    @staticmethod
    def of_tables(tables: Array) -> Counts:
        """Counts behind tables of two assessors, shape (..., K, K), who both judged every pair."""
        both = tables + tables.swapaxes(-1, -2)
        margins = np.stack([tables.sum(axis=-1), tables.sum(axis=-2)], axis=-2)
        return Counts(both, both / 2, margins.sum(axis=-2) / 2, margins)


def count(ratings: Array, grades: Sequence[int], weights: Array | None = None) -> Counts:
    """Count `ratings`, shape (M, N), nan where not judged. weights: shape (N,), of each pair; None is 1."""
    at_grade = one_hot(ratings, grades)
    by_pair = at_grade.sum(axis=0)  # (N, K)
    m = by_pair.sum(axis=1)
    twice, once = by_pair[m >= 2], by_pair[m >= 1]
    m_twice, m_once = m[m >= 2], m[m >= 1]
    twos = twice[:, :, None] * twice[:, None, :] - twice[:, :, None] * np.eye(len(grades))
    pair_weights = np.ones(len(m)) if weights is None else weights
    weights_of_twice = pair_weights[m >= 2]
    return Counts(
        coincidences=(weights_of_twice[:, None, None] * twos / (m_twice - 1)[:, None, None]).sum(axis=0),
        agreement=(weights_of_twice[:, None, None] * twos / (m_twice * (m_twice - 1))[:, None, None]).sum(axis=0),
        shares=(pair_weights[m >= 1][:, None] * once / m_once[:, None]).sum(axis=0),
        margins=(weights_of_twice[:, None] * at_grade[:, m >= 2]).sum(axis=1),
    )


def tables_between(ratings: Array, grades: Sequence[int], weights: Array | None = None) -> tuple[Integers, Array]:
    """Joint grades of every two assessors who met: their rows, shape (P, 2), and their tables, shape (P, K, K).

    weights: shape (N,), of each pair; None is 1.
    """
    m, k = len(ratings), len(grades)
    pair, row = np.nonzero(np.isin(ratings, grades).T)
    at = np.searchsorted(grades, ratings[row, pair])
    # The judgements of a pair follow one another: each is compared with the next one, the one after it, and so on.
    steps = range(1, int(np.bincount(pair).max(initial=1)))
    together = [(first, first + step) for step in steps for first in np.flatnonzero(pair[step:] == pair[:-step])[None]]
    first, second = np.concatenate(together, axis=1) if together else np.zeros((2, 0), dtype=np.int64)
    met, two = np.unique(row[first] * m + row[second], return_inverse=True)
    worth = None if weights is None else weights[pair[first]]
    tables = np.bincount((two * k + at[first]) * k + at[second], worth, len(met) * k * k).reshape(-1, k, k)
    return np.stack(np.divmod(met, m), axis=1), tables.astype(np.float64)


def tables_with(ratings: Array, final: Array, grades: Sequence[int], weights: Array | None = None) -> Array:
    """Joint grades of each assessor and the final grades, shape (N,): shape (M, K, K). weights: shape (N,)."""
    at_final_grade = one_hot(final, grades)
    weighted = at_final_grade if weights is None else at_final_grade * weights[:, None]
    tables = np.tensordot(one_hot(ratings, grades), weighted, axes=([1], [0]))
    return np.asarray(tables.swapaxes(1, 2))


def one_hot(ratings: Array, grades: Sequence[int]) -> Array:
    """Indicators with one more axis, of length K: 1 at the grade that was given."""
    return np.stack([ratings == grade for grade in grades], axis=-1).astype(np.float64)


def n_judged_twice(counts: Counts) -> Array:
    """Number of pairs with two or more judgements, each with its weight: shape (...)."""
    n = counts.agreement.sum(axis=(-1, -2))
    # Thirds and sixths that were rounded do not add up to the whole number that they are.
    return np.asarray(np.where(np.abs(n - np.rint(n)) < NEARLY_WHOLE, np.rint(n), n))


def spearman_rho(table: Array) -> Array:
    n = table.sum(axis=(-1, -2))
    rows, columns = _average_ranks(table.sum(axis=-1)), _average_ranks(table.sum(axis=-2))
    covariance = (table * rows[..., :, None] * columns[..., None, :]).sum(axis=(-1, -2))
    variances = (table.sum(axis=-1) * rows**2).sum(axis=-1) * (table.sum(axis=-2) * columns**2).sum(axis=-1)
    return ratio(covariance, np.sqrt(variances), where=n >= 3)


def kendall_tau_b(table: Array) -> Array:
    n = table.sum(axis=(-1, -2))
    later_rows = table[..., ::-1, :].cumsum(axis=-2)[..., ::-1, :] - table
    right = later_rows[..., ::-1].cumsum(axis=-1)[..., ::-1] - later_rows
    left = later_rows.cumsum(axis=-1) - later_rows
    score = (table * (right - left)).sum(axis=(-1, -2))
    untied = [_twos(n) - _twos(table.sum(axis=axis)).sum(axis=-1) for axis in (-1, -2)]
    return ratio(score, np.sqrt(untied[0] * untied[1]), where=n >= 3)


def _kappa(distance: Callable[[Array], Array], counts: Counts, grades: Sequence[int]) -> Array:
    """Kappa of Conger 1980: chance is the mean over every two assessors, with the shares of grades that they give."""
    weights, n = distance(_gaps(grades)), n_judged_twice(counts)
    n_grades = counts.margins.sum(axis=-1, keepdims=True)
    shares = ratio(counts.margins, n_grades, where=n_grades > 0, otherwise=0.0)
    m = (n_grades > 0).sum(axis=(-1, -2))
    summed = shares.sum(axis=-2)
    twos = summed[..., :, None] * summed[..., None, :] - shares.swapaxes(-1, -2) @ shares
    chance = (weights * twos).sum(axis=(-1, -2))
    observed = (weights * counts.agreement).sum(axis=(-1, -2))
    return 1 - ratio(m * (m - 1) * observed, n * chance, where=n >= 2)


def _alpha(distance: Callable[[Array, Array], Array], counts: Counts, grades: Sequence[int]) -> Array:
    o = counts.coincidences
    n_c = o.sum(axis=-1)
    delta2 = distance(n_c, _gaps(grades))
    observed = (n_c.sum(axis=-1) - 1) * (delta2 * o).sum(axis=(-1, -2))
    expected = (delta2 * n_c[..., :, None] * n_c[..., None, :]).sum(axis=(-1, -2))
    return 1 - ratio(observed, expected, where=n_judged_twice(counts) >= 2)


def _ordinal(n_c: Array, gaps: Array) -> Array:
    """Squared distance of Krippendorff 2011, page 6: (sum of n_g for g from c to k - (n_c + n_k) / 2)^2."""
    middle = n_c.cumsum(axis=-1) - n_c / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


def _ac(similarity: Callable[[Array], Array], counts: Counts, grades: Sequence[int]) -> Array:
    weights, q = similarity(_gaps(grades)), len(grades)
    n = n_judged_twice(counts)
    p_a = ratio((weights * counts.agreement).sum(axis=(-1, -2)), n, where=n >= 2)
    pi = ratio(counts.shares, counts.shares.sum(axis=-1, keepdims=True), where=n[..., None] >= 2)
    p_e = weights.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=-1)
    return np.asarray((p_a - p_e) / (1 - p_e))


def _percent(within: int, counts: Counts, grades: Sequence[int]) -> Array:
    n = n_judged_twice(counts)
    enough = (n >= 1) & (len(grades) > within + 1)
    near = _gaps(grades) <= within
    return 100 * ratio((near * counts.agreement).sum(axis=(-1, -2)), n, where=enough)


def _differ(gaps: Array) -> Array:
    return (gaps > 0).astype(np.float64)


OF_TABLES: dict[str, Callable[[Array], Array]] = {"spearman_rho": spearman_rho, "kendall_tau_b": kendall_tau_b}
"""Rank correlations of two assessors from their table, shape (..., K, K), which give (...)."""
OF_COUNTS: dict[str, OfCounts] = {
    "alpha_ordinal": partial(_alpha, _ordinal),
    "alpha_nominal": partial(_alpha, lambda n_c, gaps: _differ(gaps)),
    "alpha_interval": partial(_alpha, lambda n_c, gaps: gaps**2),
    "kappa": partial(_kappa, _differ),
    "kappa_linear": partial(_kappa, lambda gaps: gaps),
    "kappa_quadratic": partial(_kappa, lambda gaps: gaps**2),
    "ac1": partial(_ac, lambda gaps: 1 - _differ(gaps)),
    "ac2": partial(_ac, lambda gaps: 1 - (gaps / gaps.max()) ** 2),
    "percent": partial(_percent, 0),
    "percent_within_one": partial(_percent, 1),
}


def _gaps(grades: Sequence[int]) -> Array:
    scale = np.asarray(grades, dtype=np.float64)
    return np.abs(scale[:, None] - scale[None, :])


def _twos(times: Array) -> Array:
    return times * (times - 1) / 2


def _average_ranks(margin: Array) -> Array:
    """Average rank of each grade, less the mean of all ranks."""
    return np.asarray(margin.cumsum(axis=-1) - margin / 2 - margin.sum(axis=-1, keepdims=True) / 2)


def ratio(numerator: Array, denominator: Array, *, where: Mask, otherwise: float = np.nan) -> Array:
    """Divide numerator by denominator; the result is `otherwise` where the denominator is 0 or `where` is false."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape, where.shape), otherwise)
    np.divide(numerator, denominator, out=result, where=where & (denominator != 0))
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Agreement coefficients by name, with the reason in words if one has no value.
#
# Values come from counts (`Counts`); what is degenerate is recognised here. Ratings are an array of shape (M,
# N), M assessors, N pairs, nan where not judged; `grades` is the scale, consecutive integers in ascending order, used
# or not.
#
# More than two assessors: alpha, AC1, AC2 and the percentages are defined for any number of them, and kappa is
# Conger's (1980, Psychological Bulletin 88, 322-328), which for two is Cohen's. A rank correlation is the mean over
# every two assessors who share at least `LEAST_OVERLAP` pairs, weighted by how many they share. Such a mean has a
# value where more than half of what two assessors share has one.
#
# How each is checked, and against what, is listed in the package's docstring (`annot.measuring.agreement`).
# ----------------------------------------------------------------------------------------------------------------------


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
    return _reason_undefined(name, counts, grades) or float(OF_COUNTS[name](counts, grades))


def mean_of_tables(name: str, tables: Array, grades: Sequence[int]) -> Value:
    """Mean of the coefficient `name` over tables of two, weighted by their pairs, or why there is none."""
    sizes = tables.sum(axis=(-1, -2))
    if not sizes.any():
        return Undefined(NOT_JUDGED_TWICE)
    tables, sizes = tables[sizes > 0], sizes[sizes > 0]
    values, sizes_used = of_tables(name, tables, grades, many=len(tables) > 2)
    if rests_on_most(sizes_used.sum(), sizes.sum()):
        return float((values * sizes_used).sum() / sizes_used.sum())
    without = np.flatnonzero(sizes_used == 0)
    why = _reason_undefined(name, Counts.of_tables(tables[without[0]]), grades)
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


def _reason_undefined(name: str, counts: Counts, grades: Sequence[int]) -> Undefined | None:
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


# ----------------------------------------------------------------------------------------------------------------------
# Coefficients of all pairs of many queries together, with an interval: the jackknife over whole topics.
#
# The jackknife leaves out one sampling unit after another: a query, or a paper of which several facets are queries.
# Counts add up, so what is left is the whole without that unit's.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PooledPairs:
    """Pairs of many queries put together: tables of every two, who have one of each query in which they met.

    clusters: the sampling units of the queries. query: shape (T,), the position of the query of each table. two: shape
    (T,), which two; every number from 0 occurs. tables: shape (T, K, K).
    """

    clusters: Clusters
    query: Integers
    two: Integers
    tables: Array
    counts: Counts | None = None
    """Counts between all assessors, first axis Q; None if figures are means over every two."""

    def value(self, name: str, grades: Sequence[int]) -> Value:
        """Coefficient of all pairs together, or why there is none."""
        if self.counts is None:
            return mean_of_tables(name, self.summed(), grades)
        return value_between(name, self.counts.whole(), self.summed(), grades)

    def estimate(self, name: str, grades: Sequence[int], *, level: float) -> Estimate:
        """Coefficient of all pairs together, with its interval."""
        value = self.value(name, grades)
        return Estimate(value, interval_of(self, value, name, grades, level=level))

    def left_out(self, name: str, grades: Sequence[int]) -> Array:
        """Coefficient without each sampling unit, shape (C,), nan if there is none.

        Only two who met in a unit have another table without it.
        """
        if self.counts is not None and name not in OF_TABLES:
            return OF_COUNTS[name](self.counts.left_out(self.clusters), grades)
        tables = self.summed()
        many = len(tables) > 2
        met, position = np.unique(self.clusters.of[self.query] * len(tables) + self.two, return_inverse=True)
        unit, two = np.divmod(met, max(1, len(tables)))
        table_in_unit = np.zeros((len(met), *self.tables.shape[1:]))
        np.add.at(table_in_unit, position, self.tables)
        values, sizes = of_tables(name, tables, grades, many=many)
        values_left, sizes_left = of_tables(name, np.round(tables[two] - table_in_unit, NO_DUST), grades, many=many)

        def without(values_of_two: Array, left: Array) -> Array:
            """Sum over every two without each unit. left: of two who met in it."""
            return np.asarray(values_of_two.sum() + np.bincount(unit, left - values_of_two[two], self.clusters.n))

        sums, used = without(values * sizes, values_left * sizes_left), np.round(without(sizes, sizes_left), NO_DUST)
        shared = np.round(tables.sum() - np.bincount(unit, table_in_unit.sum(axis=(-1, -2)), self.clusters.n), NO_DUST)
        result = np.full(self.clusters.n, np.nan)
        np.divide(sums, used, out=result, where=2 * used > shared)
        return result

    def summed(self) -> Array:
        """Table of each two over all queries, shape (P, K, K)."""
        tables = np.zeros((int(self.two.max(initial=-1)) + 1, *self.tables.shape[1:]))
        np.add.at(tables, self.two, self.tables)
        return tables


def pooled_between(
    counts: Sequence[Counts], met: Sequence[Integers], tables: Sequence[Array], *, topics: Sequence[str] | None
) -> PooledPairs:
    """Join queries, all with the same M assessors.

    met: of each query the rows of every two who met, shape (P, 2). tables: theirs, shape (P, K, K). topics: the topic
    of each query; None takes the queries as independent.
    """
    together = Counts.stack(counts)
    n_assessors = together.margins.shape[1]
    rows = np.concatenate(met)
    _, two = np.unique(rows[:, 0] * n_assessors + rows[:, 1], return_inverse=True)
    query = np.repeat(np.arange(len(met)), [len(rows_of_query) for rows_of_query in met])
    clusters = clusters_of(range(len(met)), topics)
    return PooledPairs(clusters, query, two, np.concatenate(tables), together)


def interval_of(
    pooled: PooledPairs, value: Value, name: str, grades: Sequence[int], *, level: float
) -> Interval | Undefined:
    """Interval of `value`, the coefficient `name` of all pairs together."""
    if isinstance(value, Undefined):
        return value
    least, most = ends_of(name)
    without, unit = pooled.left_out(name, grades), pooled.clusters.unit
    return jackknife_interval(value, without, level=level, least=least, most=most, unit=unit)


def ends_of(name: str) -> tuple[float, float]:
    """Smallest and largest possible value of a coefficient."""
    return (0.0, 100.0) if name in PERCENTAGES else (-1.0, 1.0)
