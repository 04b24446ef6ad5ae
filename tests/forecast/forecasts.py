"""Judgements at a steady pace, simulated pilots, and the forecast of a design: what the tests of forecasts share."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from annot.base.records import Judgement
from annot.base.stats.inference import clusters_of, jackknife_interval
from annot.base.stats.values import Interval, Undefined, Value
from annot.measuring.agreement.coefficients import OF_COUNTS, Counts
from annot.measuring.forecast.design import Design, DesignForecast, JointGrades, simulate_design
from annot.measuring.forecast.hours import Rules

NOW = datetime(2031, 3, 14, 18, 0, tzinfo=UTC)


RULES = Rules(fence=3.0, window_days=28, hourly_rate=30.0, level=0.95, draws=1000, seed=13)


GRADES = (0, 1, 2, 3)


def judgement(
    at: int, assessor: str = "a1", *, query_id: str = "q1", seconds: float | None = 60.0, days_ago: float | None = 1.0
) -> Judgement:
    when = None if days_ago is None else (NOW - timedelta(days=days_ago)).isoformat()
    return Judgement(query_id, f"d{at:03}", assessor, 1, judged_at=when, lead_time=seconds)


def steady(assessor: str, *, per_day: int, days: int, seconds: float = 60.0) -> list[Judgement]:
    """So many judgements in each of the last days, each day a query."""
    return [
        judgement(day * per_day + at, assessor, query_id=f"q{day}", seconds=seconds, days_ago=day + 0.5)
        for day in range(days)
        for at in range(per_day)
    ]


def alpha(tables: np.ndarray) -> Value:
    """Of tables of two assessors, shape (Q, K, K)."""
    value = float(OF_COUNTS["alpha_ordinal"](Counts.of_tables(tables.sum(axis=0).astype(float)), GRADES))
    return Undefined("one grade only") if np.isnan(value) else value


def alpha_interval(tables: np.ndarray) -> Interval | Undefined:
    value = alpha(tables)
    if isinstance(value, Undefined):
        return value
    left_out = OF_COUNTS["alpha_ordinal"](
        Counts.of_tables(tables.astype(float)).left_out(clusters_of(range(len(tables)), None)), GRADES
    )
    return jackknife_interval(value, left_out, level=0.95)


def drawn_tables(rng: np.random.Generator, *, queries: int, pairs: int) -> np.ndarray:
    """Two assessors who take the grade of a latent normal, with queries that differ in how relevant and how clear."""
    tables = np.zeros((queries, 4, 4), dtype=np.int64)
    for table, level, noise in zip(tables, rng.normal(0, 0.5, queries), rng.uniform(0.3, 1.0, queries), strict=True):
        true = rng.normal(level, 1, pairs)
        first, second = (np.digitize(true + rng.normal(0, noise, pairs), [0.3, 1.0, 1.8]) for _ in range(2))
        np.add.at(table, (first, second), 1)
    return tables


def pilot_judgements(seconds: Sequence[float] = (30.0, 60.0)) -> list[Judgement]:
    rng = np.random.default_rng(0)
    return [
        judgement(at, f"a{person}", query_id=f"q{query}", seconds=float(rng.lognormal(np.log(middle), 0.4)))
        for person, middle in enumerate(seconds)
        for query in range(5)
        for at in range(20)
    ]


def joint(tables: np.ndarray) -> JointGrades:
    """Of tables of two assessors, shape (Q, K, K)."""
    patterns = np.array(list(itertools.product(range(tables.shape[1]), repeat=2)), dtype=float)
    names = tuple(f"q{at}" for at in range(len(tables)))
    return JointGrades(names, patterns, tables.reshape(len(tables), -1), 0, 2, GRADES, "drop")


def dispute_times(seconds: Sequence[float]) -> list[Judgement]:
    return [judgement(at, "j1", query_id=f"q{at % 5}", seconds=one) for at, one in enumerate(seconds)]


def designed(design: Design, tables: np.ndarray, **changes: object) -> DesignForecast:
    settings: dict[str, object] = {
        "pilot": pilot_judgements(),
        "joint": joint(tables),
        "coefficient": "alpha_ordinal",
        "settled": [],
        "dispute_seconds": 40.0,
        "simulations": 40,
        "rules": RULES,
    }
    return simulate_design(design, **{**settings, **changes})  # type: ignore[arg-type]
