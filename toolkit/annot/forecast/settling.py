"""How long it takes to settle disputes: a time that is given, or learnt from those that were settled."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from annot.forecast.hours import HOUR, MIN_FREEDOM, Speed, middle_share, scale_of, speed_of
from annot.forecast.results import Estimate, Range, Rules, Unknown
from annot.forecast.times import NO_TIMES
from annot.records import Judgement
from annot.stats.seeding import generator

Array = npt.NDArray[np.float64]

NOT_KNOWN = Unknown("how long a dispute takes is not known: none was settled with a time yet")
WHO = "adjudicators"
"""All of them together: disputes of one study are settled by one or two people."""

Settling = Speed | float | Unknown
"""Seconds a dispute: learnt, given, or not known."""


def settling_of(settled: Iterable[Judgement], *, seconds: float | None, fence: float) -> Settling:
    """settled: the grades that adjudicators gave, with their times. seconds: of one dispute; None learns them."""
    if seconds is not None:
        return seconds
    learnt = speed_of({WHO: list(settled)}, fence=fence)
    return NOT_KNOWN if learnt is NO_TIMES else learnt


def settling_hours(settling: Settling, n: int, rules: Rules) -> Estimate:
    """Hours for n disputes."""
    if n == 0:
        return Estimate(0.0, Range(0.0, 0.0, rules.level))
    value = settling_value(settling, n)
    draws = settling_draws(settling, np.full(rules.draws, float(n)), rules)
    if isinstance(settling, float):
        return Estimate(value, Unknown("the seconds of a dispute are given, not learnt"))
    return Estimate(value, draws if isinstance(draws, Unknown) else middle_share(draws, rules.level))


def settling_value(settling: Settling, n: float) -> float | Unknown:
    if n == 0:
        return 0.0
    if isinstance(settling, Unknown):
        return settling
    return n * (settling if isinstance(settling, float) else settling.means[WHO]) / HOUR


def settling_draws(settling: Settling, n: Array, rules: Rules) -> Array | Unknown:
    """Hours for so many disputes, shape (draws,), each with its own chance and that of a rate learnt from a few."""
    if not n.any():
        return np.zeros(len(n))
    if isinstance(settling, Unknown):
        return settling
    if isinstance(settling, float):
        return n * settling / HOUR
    if settling.freedom < MIN_FREEDOM:
        return Unknown(f"{settling.n_times} dispute(s) settled with a time: too few")
    scale = scale_of(settling.freedom, len(n), rules.seed)
    deviation = np.sqrt(settling.known[WHO] + settling.per_pair / np.maximum(n, 1.0))
    normal = generator(rules.seed, "settling").standard_normal(len(n))
    return np.asarray(n * settling.means[WHO] * np.exp(deviation * scale * normal) / HOUR)
