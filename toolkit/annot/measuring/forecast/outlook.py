"""What a forecast is made of: figures with their intervals, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from annot.base.stats.values import Estimate, Undefined, Value


@dataclass(frozen=True, slots=True)
class Finish:
    """The date, ISO 8601, of the last judgement, with the interval's two dates; in the time zone of the clock given."""

    date: str | Undefined
    interval: tuple[str, str] | Undefined
    level: float


@dataclass(frozen=True, slots=True)
class Rules:
    """What a forecast depends on besides the judgements."""

    fence: float
    """Widths of the log times from their median beyond which a time is idling or a slip. At 3, log-normal times with
    0 to 3% of breaks of 10 minutes to an hour have their mean within 1% on average."""
    window_days: int
    """The pace is that of so many days before now."""
    hourly_rate: float | None
    """What an hour of judging costs, in the study's currency; None when it is not known."""
    level: float
    draws: int
    seed: int


@dataclass(frozen=True, slots=True)
class PairTime:
    """An assessor's seconds per pair."""

    n: int
    """Judgements with a time."""
    n_without: int
    median: float
    mean: float
    """Of the times within the fences: what the forecast is made from."""
    winsorised: float
    """The mean with the others pulled in to the fences."""
    n_slow: int
    n_fast: int
    """Times beyond the upper and the lower fence."""


@dataclass(frozen=True, slots=True)
class AssessorForecast:
    """One assessor's share."""

    assessor: str
    judged: int
    remaining: int
    time: PairTime | Undefined
    pairs_per_day: Value
    hours_left: Estimate
    finish: Finish


@dataclass(frozen=True, slots=True)
class Forecast:
    """The study's remainder."""

    assessors: tuple[AssessorForecast, ...]
    judged: int
    remaining: int
    unit: Literal["queries", "query papers", "judgements"] | Undefined
    """What the intervals of hours and cost take as the unit of chance."""
    hours_spent: Value
    hours_left: Estimate
    cost_spent: Value
    cost_left: Estimate
    finish: Finish
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """A study to be: each of `queries` x `pool_size` pairs judged by `per_pair` people, `assessors` in all."""

    queries: int
    pool_size: int
    per_pair: int
    assessors: int
    repeats: float
    """The share of an assessor's pairs that are asked again."""


@dataclass(frozen=True, slots=True)
class DesignForecast:
    """What a design will take and how sure its agreement will be."""

    design: Design
    pairs: int
    judgements: int
    hours_judging: Estimate
    hours_adjudicating: Estimate
    hours: Estimate
    """Of judging and adjudication; of judging alone where the other is not known, as `priced` says."""
    priced: str
    """What `hours` and `cost` are of, in words."""
    hours_per_assessor: Value
    """Of judging."""
    cost: Estimate
    disputed: Estimate
    """The share of pairs that will need adjudication, 0..1."""
    coefficient: Estimate
    """Of all pairs together, if each of the pilot's queries had the same number of pairs."""
    width: Estimate
    """Of the coefficient's own interval: the median of the simulated studies."""
    queries_judged: int
    queries_timed: int
    """Queries of the pilot that agreement and disputes were learnt from, and times."""
    level: float
    """The intervals hold the study with this probability if its queries and people are like the pilot's."""
    simulated: int
    undefined: int
    """Simulated studies in which the coefficient or its interval had no value."""
