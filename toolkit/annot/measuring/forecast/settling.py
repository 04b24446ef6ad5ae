"""How long it takes to settle disputes: a time that is given, or learnt from those that were settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from annot.base.records import Judgement
from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator
from annot.base.stats.values import Estimate, Undefined, Value
from annot.measuring.forecast.hours import HOUR, MIN_FREEDOM, NO_TIMES, Speed, predicted, scale_of, speed_of
from annot.measuring.forecast.outlook import Rules

NOT_KNOWN = Undefined("how long a dispute takes is not known yet: none was settled with a time")
WHO = "adjudicators"
"""All of them together: disputes of one study are settled by one or two people."""

Settling = Speed | float | Undefined
"""Seconds a dispute: learnt, given, or not known."""


def settling_of(
    settled: Iterable[Judgement], *, seconds: float | None, fence: float, papers: Mapping[str, str] | None = None
) -> Settling:
    """settled: the grades that adjudicators gave, with their times. seconds: of one dispute; None learns them. papers:
    as of `speed_of`."""
    if seconds is not None:
        return seconds
    learnt = speed_of({WHO: list(settled)}, fence=fence, papers=papers)
    return NOT_KNOWN if learnt is NO_TIMES else learnt


def settling_hours(settling: Settling, n: int, rules: Rules) -> Estimate:
    """Hours for n disputes."""
    if n == 0:
        return Estimate(0.0, predicted(np.zeros(1), rules.level))
    value = settling_value(settling, n)
    draws = settling_draws(settling, np.full(rules.draws, float(n)), rules)
    if isinstance(settling, float):
        return Estimate(value, Undefined("the seconds per dispute were given, not learnt"))
    return Estimate(value, draws if isinstance(draws, Undefined) else predicted(draws, rules.level))


def settling_value(settling: Settling, n: float) -> Value:
    if n == 0:
        return 0.0
    if isinstance(settling, Undefined):
        return settling
    return n * (settling if isinstance(settling, float) else settling.means[WHO]) / HOUR


def settling_draws(settling: Settling, n: Array, rules: Rules) -> Array | Undefined:
    """Hours for so many disputes, shape (draws,), each with its own chance and that of a rate learnt from a few."""
    if not n.any():
        return np.zeros(len(n))
    if isinstance(settling, Undefined):
        return settling
    if isinstance(settling, float):
        return n * settling / HOUR
    if settling.freedom < MIN_FREEDOM:
        return Undefined(f"only {settling.n_times} dispute(s) were settled with a time")
    scale = scale_of(settling.freedom, len(n), rules.seed)
    deviation = np.sqrt(settling.known[WHO] + settling.per_pair / np.maximum(n, 1.0))
    normal = generator(rules.seed, "settling").standard_normal(len(n))
    return np.asarray(n * settling.means[WHO] * np.exp(deviation * scale * normal) / HOUR)
