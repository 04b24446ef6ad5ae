"""Many questions asked of the same data: their p-values corrected for how many they are."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """p-values, in the order given, corrected so that the chance of any false finding stays below the level.

    Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6,
    65-70.

    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for place, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[at]))
        corrected[at] = highest
    return tuple(corrected)
