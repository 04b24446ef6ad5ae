"""A measure: whether one of the first k documents is relevant."""

from __future__ import annotations

from annot.base.stats.arrays import Array
from annot.measuring.evaluation.measures import Family, GradedList


def success(graded: GradedList, family: Family, k: int) -> Array:
    """1 if one of the first k documents is relevant, 0 if none is: shape (gradings,)."""
    return graded.hits[:, :k].max(axis=1, initial=0.0)


SUCCESS = Family(r"Success@(\d+)", "Success", success, of_submitted=False, not_estimated="it is not a mean of grades")
