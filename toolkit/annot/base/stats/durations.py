"""Which times of one person are work: fences on the logarithms, and the mean of what is pulled in to them."""

from __future__ import annotations

import math

import numpy as np

from annot.base.stats.arrays import Array

NARROWEST = 0.1
"""The least width of the logarithms of times: where most times are equal, none would be allowed to differ."""


def fences(seconds: Array, fence: float) -> tuple[float, float]:
    """The shortest and the longest time that counts as work: `fence` widths (1.4826 MAD) of the logarithms from their
    median. seconds: shape (n,), n >= 1, all above 0.

    Of times that are log-normal, one in 740 lies beyond an upper fence of 3 widths.
    """
    logs = np.log(seconds)
    middle = float(np.median(logs))
    width = max(NARROWEST, 1.4826 * float(np.median(np.abs(logs - middle))))
    return math.exp(middle - fence * width), math.exp(middle + fence * width)


def winsorised(seconds: Array, *, fence: float) -> Array:
    """Times, shape (n,), n >= 1, all above 0, with those beyond the fences pulled in to them."""
    low, high = fences(seconds, fence)
    return np.clip(seconds, low, high)
