"""Randomisation tests of a change in a series: over its positions, and between days.

The plan shuffles an assessor's queries, and the candidates of each query. So, without change, every order of whole
queries, and of candidates within a query, was as likely as the one that was drawn; the tests permute just these
(Edgington and Onghena 2007, Randomization Tests) and assume nothing on how hard the queries are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.stats.values import Undefined

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
AT_ONCE = 2_000_000
"""Numbers permuted at a time: what bounds the memory."""
ALIKE = 9
"""Decimals at which two places of a series changed as much; the first is taken."""
TRIED = (1.0, 1.4, 2.0, 3.0)
"""Times the change that would be found were there many queries."""


@dataclass(frozen=True, slots=True)
class SeriesTested:
    """The p-values of one series: (hits + 1) / (drawn + 1)."""

    position: float
    split: int
    """After so many values the series changes most."""
    peaks: Array
    """The statistic of positions in every permuted order."""
    middle: float
    """The standard deviation, over permuted orders, of the cumulative sum half-way."""
    day: float | None


def tests_of(
    series: Sequence[Array], stretch: Index, day: Index | None, *, permutations: int, rng: np.random.Generator
) -> list[SeriesTested]:
    """Test several series of the same n judgements, each of shape (n,).

    stretch: shape (n,), the unbroken run of one query that each judgement belongs to. day: shape (n,), by number from 0
    up; None where days are not to be tested. Over positions the statistic is the largest absolute cumulative sum of
    deviations from the mean (Page 1955, Biometrika 42, 523-527), over days the variance between the days' means.
    """
    n = len(stretch)
    deviations = np.stack([values - values.mean() for values in series])  # (series, n)
    member = None if day is None else (day[:, None] == np.arange(int(day.max()) + 1)).astype(np.float64)
    drawn: list[tuple[Array, Array, Array]] = []
    for size in _batches(n, permutations):
        permuted = deviations[:, orders_of(stretch, size, rng)]
        sums = np.cumsum(permuted, axis=-1)[..., :-1]
        between = np.zeros(sums.shape[:2]) if member is None else _between(permuted, member)
        drawn.append((np.abs(sums).max(axis=-1), sums[..., (n - 1) // 2], between))
    peaks, middles, between = (np.concatenate(batches, axis=1) for batches in zip(*drawn, strict=True))
    found = []
    for at, values in enumerate(deviations):
        sums = np.abs(np.cumsum(values)[:-1])
        found.append(
            SeriesTested(
                position=_p(float(sums.max()), peaks[at]),
                split=int(np.round(sums, ALIKE).argmax()) + 1,
                peaks=peaks[at],
                middle=float(middles[at].std()),
                day=None if member is None else _p(float(_between(values[None, :], member)[0]), between[at]),
            )
        )
    return found


def detectable(
    values: Array, stretch: Index, tested: SeriesTested, *, p_value: float, power: float, rng: np.random.Generator
) -> float | Undefined:
    """About the least change half-way that the test of positions would find at `p_value` with the given `power`.

    A change of delta lifts the cumulative sum half-way by n / 4 times delta: where there are many queries, that against
    its spread is all. But permuted orders carry the change with them, the more of it the fewer the queries; so the
    power is counted, over permuted orders as so many studies, and larger changes are tried until it is reached.
    """
    from scipy.special import ndtri

    n, permutations = len(values), len(tested.peaks)
    naive = 4 / n * (float(np.quantile(tested.peaks, 1 - p_value)) + float(ndtri(power)) * tested.middle)
    step = np.where(np.arange(n) < n / 2, 0.0, 1.0)
    step -= step.mean()
    centred = values - values.mean()
    in_place = np.cumsum(step)[:-1]
    for times in TRIED:
        found, chance = [], []
        for size in _batches(n, permutations):
            orders = orders_of(stretch, size, rng)
            noise = np.cumsum(centred[orders], axis=1)[:, :-1]
            found.append(np.abs(noise + times * naive * in_place).max(axis=1))
            chance.append(np.abs(noise + times * naive * np.cumsum(step[orders], axis=1)[:, :-1]).max(axis=1))
        bound = float(np.quantile(np.concatenate(chance), 1 - p_value))
        if float((np.concatenate(found) > bound).mean()) >= power:
            return times * naive
    return Undefined("too few queries: their orders differ too little for any change to stand out from chance")


def _batches(n: int, permutations: int) -> list[int]:
    most = max(1, AT_ONCE // n)
    return [min(most, permutations - start) for start in range(0, permutations, most)]


def orders_of(stretch: Index, permutations: int, rng: np.random.Generator) -> Index:
    """Orders of n judgements, shape (permutations, n): stretches of one query shuffled, and judgements within each."""
    _, stretch = np.unique(stretch, return_inverse=True)
    place = rng.random((permutations, int(stretch.max()) + 1))
    # Two keys in one number: the stretch's rank before the point, chance behind it.
    rank = place.argsort(axis=1).argsort(axis=1)[:, stretch]
    return np.asarray((rank + rng.random((permutations, len(stretch)))).argsort(axis=1), dtype=np.int64)


def _between(values: Array, member: Array) -> Array:
    size = member.sum(axis=0)
    return np.asarray((((values @ member) / size) ** 2 * size).sum(axis=-1))


def _p(observed: float, drawn: Array) -> float:
    # Sums in another order differ by rounding: what is equal up to it counts as equal.
    return float((1 + (drawn >= observed * (1 - 1e-9)).sum()) / (1 + len(drawn)))
