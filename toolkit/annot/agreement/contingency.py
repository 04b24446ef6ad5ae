"""The same coefficients from tables of counts, for many tables at once: what the bootstrap resamples.

A table of counts can be added up: the counts of two sets of pairs are the counts of both together. So a coefficient
pooled over all pairs of a resample of queries needs the queries' tables only, not their judgements. Where a coefficient
has no value the result is nan here, and only here; `coefficients.py` gives the reason in words.

Shapes: `...` are leading axes (resamples, assessors), P pairs of assessors, K grades, N pairs of query and document.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
OfCounts = Callable[["Counts", Sequence[int]], Array]


@dataclass(frozen=True, slots=True)
class Counts:
    """What every coefficient needs to know of a set of pairs.

    between: shape (..., P, K, K), how often the first of two assessors gave grade c and the second grade k.
    coincidences: shape (..., K, K), Krippendorff's o_ck: each pair adds its ordered twos / (m - 1), m its judgements.
    agreement: shape (..., K, K), Gwet's: each pair judged twice or more adds its ordered twos / (m (m - 1)), that is 1.
    shares: shape (..., K), Gwet's: each pair judged at all adds the share of its judgements at each grade, that is 1.
    """

    between: Array
    coincidences: Array
    agreement: Array
    shares: Array

    def weighted(self, weights: Array) -> Counts:
        """Sums over the first axis. weights: shape (B, first axis); the result has B as its first axis."""
        return Counts(*[np.asarray(np.tensordot(weights, table, axes=1)) for table in self._tables()])

    def _tables(self) -> tuple[Array, ...]:
        return self.between, self.coincidences, self.agreement, self.shares

    @staticmethod
    def stack(counts: Sequence[Counts]) -> Counts:
        """One Counts with a new first axis."""
        return Counts(*[np.stack(tables) for tables in zip(*[of_query._tables() for of_query in counts], strict=True)])


def count(ratings: Array, grades: Sequence[int], *, assessor_pairs: Sequence[tuple[int, int]] | None = None) -> Counts:
    """The counts of `ratings`, shape (M, N), nan where not judged.

    assessor_pairs: rows of the P pairs of assessors in `between`; None means all M (M - 1) / 2.
    """
    given = np.stack([ratings == grade for grade in grades], axis=-1).astype(np.float64)  # (M, N, K)
    if assessor_pairs is None:
        assessor_pairs = list(itertools.combinations(range(len(ratings)), 2))
    between = [given[first].T @ given[second] for first, second in assessor_pairs]
    by_pair = given.sum(axis=0)  # (N, K)
    m = by_pair.sum(axis=1)
    twice, once = by_pair[m >= 2], by_pair[m >= 1]
    m_twice, m_once = m[m >= 2], m[m >= 1]
    twos = twice[:, :, None] * twice[:, None, :] - twice[:, :, None] * np.eye(len(grades))
    return Counts(
        between=np.stack(between) if between else np.zeros((0, len(grades), len(grades))),
        coincidences=(twos / (m_twice - 1)[:, None, None]).sum(axis=0),
        agreement=(twos / (m_twice * (m_twice - 1))[:, None, None]).sum(axis=0),
        shares=(once / m_once[:, None]).sum(axis=0),
    )


def n_judged_twice(counts: Counts) -> Array:
    """How many pairs have two or more judgements, shape (...)."""
    return np.asarray(np.rint(counts.agreement.sum(axis=(-1, -2))))


def spearman_rho(counts: Counts, grades: Sequence[int]) -> Array:
    def of_table(table: Array) -> Array:
        n = table.sum(axis=(-1, -2))
        rows, columns = _average_ranks(table.sum(axis=-1)), _average_ranks(table.sum(axis=-2))
        covariance = (table * rows[..., :, None] * columns[..., None, :]).sum(axis=(-1, -2))
        variances = (table.sum(axis=-1) * rows**2).sum(axis=-1) * (table.sum(axis=-2) * columns**2).sum(axis=-1)
        return _ratio(covariance, np.sqrt(variances), where=n >= 3)

    return _mean_over_assessor_pairs(counts, of_table)


def kendall_tau_b(counts: Counts, grades: Sequence[int]) -> Array:
    def of_table(table: Array) -> Array:
        n = table.sum(axis=(-1, -2))
        later_rows = table[..., ::-1, :].cumsum(axis=-2)[..., ::-1, :] - table
        right = later_rows[..., ::-1].cumsum(axis=-1)[..., ::-1] - later_rows
        left = later_rows.cumsum(axis=-1) - later_rows
        score = (table * (right - left)).sum(axis=(-1, -2))
        untied = [_twos(n) - _twos(table.sum(axis=axis)).sum(axis=-1) for axis in (-1, -2)]
        return _ratio(score, np.sqrt(untied[0] * untied[1]), where=n >= 3)

    return _mean_over_assessor_pairs(counts, of_table)


def _kappa(distance: Callable[[Array], Array]) -> OfCounts:
    def kappa(counts: Counts, grades: Sequence[int]) -> Array:
        weights = distance(_gaps(grades))

        def of_table(table: Array) -> Array:
            n = table.sum(axis=(-1, -2))
            expected = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
            observed = n * (weights * table).sum(axis=(-1, -2))
            return 1 - _ratio(observed, (weights * expected).sum(axis=(-1, -2)), where=n >= 2)

        return _mean_over_assessor_pairs(counts, of_table)

    return kappa


def _alpha(distance: Callable[[Array, Array], Array]) -> OfCounts:
    def alpha(counts: Counts, grades: Sequence[int]) -> Array:
        o = counts.coincidences
        n_c = o.sum(axis=-1)
        delta2 = distance(n_c, _gaps(grades))
        observed = (n_c.sum(axis=-1) - 1) * (delta2 * o).sum(axis=(-1, -2))
        expected = (delta2 * n_c[..., :, None] * n_c[..., None, :]).sum(axis=(-1, -2))
        return 1 - _ratio(observed, expected, where=n_judged_twice(counts) >= 2)

    return alpha


def _ordinal(n_c: Array, gaps: Array) -> Array:
    """Krippendorff 2011, page 6: (sum of n_g for g from c to k - (n_c + n_k) / 2)^2."""
    middle = n_c.cumsum(axis=-1) - n_c / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


def _ac(similarity: Callable[[Array], Array]) -> OfCounts:
    def ac(counts: Counts, grades: Sequence[int]) -> Array:
        weights, q = similarity(_gaps(grades)), len(grades)
        n = n_judged_twice(counts)
        p_a = _ratio((weights * counts.agreement).sum(axis=(-1, -2)), n, where=n >= 2)
        pi = _ratio(counts.shares, counts.shares.sum(axis=-1, keepdims=True), where=n[..., None] >= 2)
        p_e = weights.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=-1)
        return np.asarray((p_a - p_e) / (1 - p_e))

    return ac


def _percent(within: int) -> OfCounts:
    def percent(counts: Counts, grades: Sequence[int]) -> Array:
        n = n_judged_twice(counts)
        enough = (n >= 1) & (len(grades) > within + 1)
        near = _gaps(grades) <= within
        return 100 * _ratio((near * counts.agreement).sum(axis=(-1, -2)), n, where=enough)

    return percent


COEFFICIENTS_OF_COUNTS: dict[str, OfCounts] = {
    "spearman_rho": spearman_rho,
    "kendall_tau_b": kendall_tau_b,
    "alpha_ordinal": _alpha(_ordinal),
    "alpha_nominal": _alpha(lambda n_c, gaps: (gaps > 0).astype(np.float64)),
    "alpha_interval": _alpha(lambda n_c, gaps: gaps**2),
    "kappa": _kappa(lambda gaps: (gaps > 0).astype(np.float64)),
    "kappa_linear": _kappa(lambda gaps: gaps),
    "kappa_quadratic": _kappa(lambda gaps: gaps**2),
    "ac1": _ac(lambda gaps: (gaps == 0).astype(np.float64)),
    "ac2": _ac(lambda gaps: 1 - (gaps / gaps.max()) ** 2),
    "percent": _percent(0),
    "percent_within_one": _percent(1),
}


def _gaps(grades: Sequence[int]) -> Array:
    scale = np.asarray(grades, dtype=np.float64)
    return np.abs(scale[:, None] - scale[None, :])


def _twos(times: Array) -> Array:
    return times * (times - 1) / 2


def _average_ranks(margin: Array) -> Array:
    """The average rank of each grade, less the mean of all ranks."""
    return np.asarray(margin.cumsum(axis=-1) - margin / 2 - margin.sum(axis=-1, keepdims=True) / 2)


def _ratio(numerator: Array, denominator: Array, *, where: Mask) -> Array:
    """numerator / denominator, nan where the denominator is 0 or `where` is false."""
    result = np.full(np.broadcast_shapes(numerator.shape, denominator.shape, where.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=where & (denominator != 0))
    return result


def _mean_over_assessor_pairs(counts: Counts, of_table: Callable[[Array], Array]) -> Array:
    together = counts.between.sum(axis=(-1, -2)) > 0
    values = np.where(together, of_table(counts.between), 0.0)
    return _ratio(values.sum(axis=-1), together.sum(axis=-1).astype(np.float64), where=np.array(True))
