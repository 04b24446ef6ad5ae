"""What a design will take and show, from the times and the agreement of a pilot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.errors import InputError, UndefinedStatistic
from annot.forecast.held import held, interval_of, too_few
from annot.forecast.hours import cost_of
from annot.forecast.labour import Labour, labour_of
from annot.forecast.redrawing import own_share, redrawn
from annot.forecast.results import Design, DesignForecast, Estimate, Rules, Unknown
from annot.forecast.settling import settling_draws, settling_of, settling_value
from annot.forecast.times import latest_counting
from annot.records import Judgement
from annot.stats.rounding import rounding
from annot.stats.seeding import generator

Array = npt.NDArray[np.float64]
Tables = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ALL, JUDGING_ALONE = "judging and settling", "judging only, disputes not priced"
ONCE = Unknown("each pair is judged once: nobody agrees or disagrees")


@dataclass(frozen=True, slots=True)
class Together:
    """What the assessors of a pair said together in a pilot of P queries."""

    query_ids: tuple[str, ...]
    tables: Tables
    """Shape (P, C): how often each query's pairs had each of C patterns of grades."""
    disputed: Mask
    """Shape (C,): the patterns that must be settled."""
    coefficient: Callable[[Array | Tables], float]
    interval: Callable[[Tables, int], tuple[float, float]]
    """Of such tables; `interval` also takes a seed and gives both ends. Both raise UndefinedStatistic."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Of each simulated study; nan where it has no value."""

    hours: Array
    disputed: Array
    """Pairs."""
    values: Array
    widths: Array


@rounding
def simulate_design(
    design: Design,
    *,
    pilot: Iterable[Judgement],
    together: Together | Unknown,
    settled: Iterable[Judgement],
    dispute_seconds: float | None,
    simulations: int,
    rules: Rules,
) -> DesignForecast:
    """Hours, cost and the width of the agreement's interval, of a design, from a pilot.

    pilot: its judgements, for their times; the design's assessors are taken to be the pilot's, or like them. together:
    of pairs with as many assessors as the design has, or why there are none. settled: the pilot's adjudications, for
    their times. dispute_seconds: of one dispute; None learns them from `settled`.

    Each simulated study redraws the pilot (see `redrawing`), draws its queries from it, and each query's pairs from its
    distribution of grades. Tables of the pilot differ by their queries and by chance; the part that is chance is taken
    out first, since drawing puts it in again. Intervals are those of a study to come: of S simulated ones, the k-th
    lies above it with probability k / (S + 1).
    Raises InputError for a design or tables that cannot be.
    """
    _check_design(design, together)
    pairs = design.queries * design.pool_size
    asked = round(pairs * design.per_pair * (1 + design.repeats))
    by_assessor: dict[str, list[Judgement]] = {}
    for one in latest_counting(pilot):
        by_assessor.setdefault(one.assessor, []).append(one)
    labour = labour_of(by_assessor, fence=rules.fence)
    drawn = _simulated(design, asked, labour, together, simulations, rules)

    few_timed = None if isinstance(labour, Unknown) else too_few(len(labour.query_ids), "with times")
    few_judged = None if isinstance(together, Unknown) else too_few(len(together.tables), "")
    if isinstance(labour, Unknown):
        judging = Estimate(labour, labour)
    else:
        judging = Estimate(labour.expected(asked), few_timed or held(drawn.hours, rules.level))
    disputed = settling = Estimate(together, together) if isinstance(together, Unknown) else Estimate(0.0, ONCE)
    hours, priced = judging, JUDGING_ALONE
    if isinstance(together, Together):
        p = together.tables / together.tables.sum(axis=1, keepdims=True)
        share = float(p[:, together.disputed].sum(axis=1).mean())
        disputed = Estimate(share, few_judged or held(drawn.disputed / pairs, rules.level))
        rate = settling_of(settled, seconds=dispute_seconds, fence=rules.fence)
        # Where the pilot has no dispute none is expected, and no time is needed.
        value = settling_value(rate, share * pairs)
        draws = settling_draws(rate, drawn.disputed, rules)
        settling = Estimate(value, interval_of(value, few_judged, draws, rules.level))
        if not isinstance(value, Unknown):
            priced = ALL
            if not isinstance(judging.value, Unknown):
                total = draws if isinstance(draws, Unknown) else drawn.hours + draws
                value = judging.value + value
                hours = Estimate(value, interval_of(value, few_timed or few_judged, total, rules.level))
    return DesignForecast(
        design=design,
        pairs=pairs,
        judgements=asked,
        hours_judging=judging,
        hours_adjudicating=settling,
        hours=hours,
        priced=priced,
        hours_per_assessor=judging.value if isinstance(judging.value, Unknown) else judging.value / design.assessors,
        cost=cost_of(hours, rules),
        disputed=disputed,
        coefficient=_coefficient(design, together, few_judged, drawn.values, rules.level),
        width=_width(design, together, few_judged, drawn.widths, rules.level),
        covers=_covers(labour, together, rules.level),
        simulated=len(drawn.values),
        undefined=int(np.isnan(drawn.values).sum()),
    )


def pool_size(*, methods: int, per_method: int, cited: int) -> int:
    """The documents of a pool: each method draws its whole quota of new ones; cited papers have no quota."""
    return methods * per_method + cited


def _simulated(
    design: Design, asked: int, labour: Labour | Unknown, together: Together | Unknown, simulations: int, rules: Rules
) -> _Drawn:
    """Hours and disputes of `rules.draws` studies or more, and agreement in `simulations` of them, which takes long."""
    n = max(rules.draws, simulations)
    agreeing = simulations if isinstance(together, Together) and design.per_pair > 1 else 0
    hours, disputed = np.full(n, np.nan), np.zeros(n)
    values, widths = np.full(agreeing, np.nan), np.full(agreeing, np.nan)
    distributions, share = np.zeros((0, 0)), 1.0
    if isinstance(together, Together):
        distributions = together.tables / together.tables.sum(axis=1, keepdims=True)
        share = own_share(together.tables)
    for at in range(n):
        rng = generator(rules.seed, "design", str(at))
        again = like = None
        if isinstance(together, Together):
            again = redrawn(len(distributions), rng)
            like = again.picked(design.queries, rng)
            chances = np.maximum(again.future(distributions, share), 0.0)
            chances /= chances.sum(axis=1, keepdims=True)
            study = rng.multinomial(design.pool_size, chances[like])
            disputed[at] = study[:, together.disputed].sum()
            if at < agreeing:
                values[at], widths[at] = _agreement(together, study, int(rng.integers(2**31)))
        if isinstance(labour, Labour):
            # Queries that are hard to agree on may also take long: they are redrawn as one where they are the same.
            if again is None or like is None or isinstance(together, Unknown) or labour.query_ids != together.query_ids:
                again = redrawn(len(labour.query_ids), rng)
                like = again.picked(design.queries, rng)
            hours[at] = labour.simulated(asked, again, like, design.assessors, rng)
    return _Drawn(hours, disputed, values, widths)


def _agreement(together: Together, study: Tables, seed: int) -> tuple[float, float]:
    try:
        value = together.coefficient(study)
        low, high = together.interval(study, seed)
    except UndefinedStatistic:
        return math.nan, math.nan
    return value, high - low


def _coefficient(
    design: Design, together: Together | Unknown, few: Unknown | None, values: Array, level: float
) -> Estimate:
    none = _why_none(design, together, values)
    if isinstance(together, Unknown) or none:
        return Estimate(none or ONCE, none or ONCE)
    p = together.tables / together.tables.sum(axis=1, keepdims=True)
    try:
        value: float | Unknown = together.coefficient(p * design.pool_size * design.queries / len(p))
    except UndefinedStatistic as reason:
        value = Unknown(str(reason))
    return Estimate(value, few or held(values, level))


def _width(design: Design, together: Together | Unknown, few: Unknown | None, widths: Array, level: float) -> Estimate:
    none = _why_none(design, together, widths)
    if none:
        return Estimate(none, none)
    if isinstance(together, Together) and len(together.tables) == 1:
        assert few is not None
        return Estimate(few, few)
    return Estimate(float(np.nanmedian(widths)), few or held(widths, level))


def _why_none(design: Design, together: Together | Unknown, values: Array) -> Unknown | None:
    if design.per_pair == 1:
        return ONCE
    if isinstance(together, Unknown):
        return together
    if np.isnan(values).all():
        return Unknown(f"in none of {len(values)} simulated studies had the coefficient a value")
    return None


def _covers(labour: Labour | Unknown, together: Together | Unknown, level: float) -> str:
    sizes = []
    if isinstance(together, Together):
        sizes.append(f"{len(together.tables)} queries for agreement and disputes")
    if isinstance(labour, Labour):
        sizes.append(f"{len(labour.query_ids)} queries for times")
    return (
        f"{100 * level:g}% prediction intervals: where the study falls if its queries and people are like the pilot's; "
        f"they carry the chance in the study and in a pilot of {' and '.join(sizes) or 'no query'}"
    )


def _check_design(design: Design, together: Together | Unknown) -> None:
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
    if isinstance(together, Together):
        tables = together.tables
        if tables.ndim != 2 or not len(tables) or tables.shape[1:] != together.disputed.shape:
            faults.append(f"tables of shape {tables.shape}, expected (queries, {len(together.disputed)} patterns)")
        elif (tables.sum(axis=1) < 1).any():
            faults.append("a query of the pilot has no pair that was judged")
    if faults:
        raise InputError("the design cannot be simulated", faults=faults)
