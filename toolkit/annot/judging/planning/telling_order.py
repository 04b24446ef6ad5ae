"""Whether the order of a person's tasks tells what they must not know, such as which paper a method ranked first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

MOST = 6.0
"""Standard deviations; an order that was drawn is further out once in five hundred million draws."""
LEAST_PROBABLE = 1e-5
"""Values that are sorted throughout are no sign where they would be by chance more often than this."""


def follows(groups: Iterable[Sequence[float]]) -> bool:
    """Whether the values rise, or fall, along the sequences more than in any order that was drawn.

    groups: what must not be known of each task, in the order of the tasks; one sequence a query. Kendall's S, summed
    over the groups, against its variance under random order, ties allowed for (M. Kendall, Rank Correlation Methods,
    4th edition 1970, section 4.9); or, where tasks are too few for that, values that are sorted in every group.
    """
    score = most = 0
    variance = arrangements = 0.0
    for values in groups:
        count = len(values)
        ties = np.unique(np.asarray(values, dtype=float), return_counts=True)[1].tolist()
        score += kendalls_s(values)
        most += (count * (count - 1) - sum(tie * (tie - 1) for tie in ties)) // 2
        variance += variance_of_s(count, ties)
        arrangements += math.lgamma(count + 1) - sum(math.lgamma(tie + 1) for tie in ties)
    is_sorted = most > 0 and abs(score) == most and math.log(2) - arrangements < math.log(LEAST_PROBABLE)
    return is_sorted or abs(score) > MOST * math.sqrt(variance)


def kendalls_s(values: Sequence[float]) -> int:
    """Pairs that rise less pairs that fall."""
    found = np.asarray(values, dtype=float)
    return int(np.triu(np.sign(found[np.newaxis, :] - found[:, np.newaxis])).sum())


def variance_of_s(count: int, ties: Iterable[int]) -> float:
    """The variance of S over all orders of `count` values. ties: how often each value comes."""
    return (count * (count - 1) * (2 * count + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
