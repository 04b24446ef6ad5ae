"""What a design will take and show, from the times and the agreement of a pilot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from annot.errors import InputError, UndefinedStatistic
from annot.forecast.hours import HOUR, cost_of, hours_for, middle_share, speed_of
from annot.forecast.results import Design, DesignForecast, Estimate, Range, Rules, Unknown
from annot.forecast.times import latest_counting
from annot.records import Judgement
from annot.seeding import generator

Array = npt.NDArray[np.float64]
Tables = npt.NDArray[np.int64]


def simulate_design(
    design: Design,
    *,
    pilot: Iterable[Judgement],
    tables: Tables,
    coefficient: Callable[[Tables], float],
    interval: Callable[[Tables, int], tuple[float, float]],
    adjudication_seconds: float | None,
    simulations: int,
    rules: Rules,
) -> DesignForecast:
    """Hours, cost and the width of the agreement's interval, of a design, from a pilot.

    pilot: its judgements, for their times; the design's assessors are taken to be the pilot's, or like them. tables:
    shape (queries, K, K), for each query of the pilot how often the first assessor gave grade i and the second j.
    coefficient, interval: of such tables; interval also takes a seed and returns both ends; both raise
    UndefinedStatistic where there is no value. adjudication_seconds: of one dispute, None when it is not known.

    Each simulated study draws its queries from the pilot's, and each query's pairs from its joint distribution of
    grades. The pilot's tables differ by their queries and by chance; the part that is chance is taken out first, since
    drawing puts it in again. Raises InputError for a design or tables that cannot be.
    """
    _check_design(design, tables)
    pairs = design.queries * design.pool_size
    asked = round(pairs * design.per_pair * (1 + design.repeats))
    by_assessor: dict[str, list[Judgement]] = {}
    for one in latest_counting(pilot):
        by_assessor.setdefault(one.assessor, []).append(one)
    speed = speed_of(by_assessor, fence=rules.fence)
    people = list(by_assessor) or ["nobody"]
    judging = hours_for(speed, dict.fromkeys(people, asked / len(people)), rules)
    disputed = _disputed(design, tables)
    adjudicating: float | Unknown = Unknown("how long a dispute takes is not known")
    if isinstance(disputed, Unknown):
        adjudicating = disputed
    elif disputed == 0:
        adjudicating = 0.0
    elif adjudication_seconds is not None:
        adjudicating = disputed * pairs * adjudication_seconds / HOUR
    hours = _plus(judging, adjudicating)
    values, widths = _simulated(design, tables, coefficient, interval, simulations, rules)
    none = _why_no_width(design, simulations)
    return DesignForecast(
        design=design,
        pairs=pairs,
        judgements=asked,
        hours_judging=judging,
        hours_adjudicating=adjudicating,
        hours=hours,
        hours_per_assessor=judging.value if isinstance(judging.value, Unknown) else judging.value / design.assessors,
        cost=cost_of(hours, rules),
        disputed=disputed,
        coefficient=_of_simulated(values, rules, none),
        width=_of_simulated(widths, rules, none),
        simulated=len(values),
        undefined=len(values) - int(np.count_nonzero(~np.isnan(values))),
    )


def pool_size(*, methods: int, per_method: int, cited: int) -> int:
    """The documents of a pool: each method draws its whole quota of new ones; cited papers have no quota."""
    return methods * per_method + cited


def _simulated(
    design: Design,
    tables: Tables,
    coefficient: Callable[[Tables], float],
    interval: Callable[[Tables, int], tuple[float, float]],
    simulations: int,
    rules: Rules,
) -> tuple[Array, Array]:
    """The coefficient and the width of its interval in each simulated study, nan where there is none."""
    if design.per_pair != 2:
        return np.zeros(0), np.zeros(0)
    grades = tables.shape[1]
    chances = _joint_distributions(tables)
    values, widths = np.full(simulations, np.nan), np.full(simulations, np.nan)
    for at in range(simulations):
        rng = generator(rules.seed, "design", str(at))
        drawn = rng.multinomial(design.pool_size, chances[rng.integers(0, len(chances), design.queries)])
        study = drawn.reshape(design.queries, grades, grades)
        try:
            value = coefficient(study)
            low, high = interval(study, int(rng.integers(2**31)))
        except UndefinedStatistic:
            continue
        values[at], widths[at] = value, high - low
    return values, widths


def _joint_distributions(tables: Tables) -> Array:
    """Each pilot query's distribution over grade pairs, shape (Q, K * K), without what is chance in its distance.

    The variance between queries is what is observed less what drawing n pairs alone makes; distributions are moved
    towards (or, as a resample has less variance than its source by (Q - 1) / Q, from) their mean to have it.
    """
    flat = tables.reshape(len(tables), -1).astype(np.float64)
    n = flat.sum(axis=1, keepdims=True)
    p = np.asarray(flat / n)
    if len(p) < 2 or (n < 2).any():
        return p
    observed = float(p.var(axis=0, ddof=1).sum())
    by_chance = float((p * (1 - p) / (n - 1)).sum(axis=1).mean())
    if observed == 0:
        return p
    between = max(0.0, observed - by_chance) * len(p) / (len(p) - 1)
    moved = np.maximum(p.mean(axis=0) + math.sqrt(between / observed) * (p - p.mean(axis=0)), 0.0)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def _of_simulated(values: Array, rules: Rules, none: Unknown) -> Estimate:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Estimate(none, none)
    return Estimate(float(defined.mean()), middle_share(defined, rules.level))


def _why_no_width(design: Design, simulations: int) -> Unknown:
    if design.per_pair == 1:
        return Unknown("each pair is judged once: nobody agrees or disagrees")
    if design.per_pair > 2:
        return Unknown(f"a pilot of two assessors per pair does not tell how {design.per_pair} agree")
    return Unknown(f"in none of {simulations} simulated studies had the coefficient a value")


def _disputed(design: Design, tables: Tables) -> float | Unknown:
    if design.per_pair == 1:
        return 0.0
    if design.per_pair > 2:
        return _why_no_width(design, 0)
    return 1 - float(np.trace(tables.sum(axis=0))) / float(tables.sum())


def _plus(judging: Estimate, more: float | Unknown) -> Estimate:
    if isinstance(more, Unknown):
        return Estimate(more, more)
    if isinstance(judging.value, Unknown):
        return judging
    spread = judging.interval
    if isinstance(spread, Range):
        spread = Range(spread.low + more, spread.high + more, spread.level)
    return Estimate(judging.value + more, spread)


def _check_design(design: Design, tables: Tables) -> None:
    named = {
        "queries": design.queries,
        "pool size": design.pool_size,
        "assessors per pair": design.per_pair,
        "assessors": design.assessors,
    }
    faults = [f"{n} {name}, expected 1 or more" for name, n in named.items() if n < 1]
    if not 0 <= design.repeats <= 1:
        faults.append(f"a share of repeats of {design.repeats}, expected 0 to 1")
    if design.assessors < design.per_pair:
        faults.append(f"{design.assessors} assessor(s), expected at least the {design.per_pair} of one pair")
    if tables.ndim != 3 or tables.shape[1] != tables.shape[2] or not len(tables):
        faults.append(f"tables of shape {tables.shape}, expected (queries, grades, grades)")
    elif (tables.sum(axis=(1, 2)) < 1).any():
        faults.append("a query of the pilot has no pair that was judged twice")
    if faults:
        raise InputError("the design cannot be simulated", faults=faults)
