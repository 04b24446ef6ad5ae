"""What a design will take and show, from the times and the agreement of a pilot: its labour, and the pilot redrawn.

A pilot is redrawn as one that might as well have been. A pilot of P queries knows the mean over all queries up to its
own chance, and how queries differ from that mean still less. Each redrawing holds one answer to both that fits the
pilot, as Student's t does: one draw of the chi-square distribution with P - 1 degrees of freedom says by how much
queries differ more or less than the pilot's do, and the mean is off by a normal deviate on that scale. Which of the
pilot's queries those to come are like has weights of its own (Rubin 1981, The Bayesian bootstrap, Annals of Statistics
9, 130-134).
`benchmarks/forecast_coverage.py` measures how often such intervals hold what then comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.errors import InputError, UndefinedStatistic
from annot.forecast.hours import HOUR, Speed, cost_of, kept_times, predicted, speed_of
from annot.forecast.outlook import Design, DesignForecast, Rules
from annot.forecast.settling import settling_draws, settling_of, settling_value
from annot.judged import counted
from annot.records import Judgement
from annot.stats.arrays import Array, Integers, Mask
from annot.stats.rounding import rounding
from annot.stats.seeding import generator
from annot.stats.values import Estimate, Interval, Undefined, Value

ALL, JUDGING_ALONE = "judging and adjudication", "judging only, adjudication not included"
ONCE = Undefined("each pair is judged once, so there is no agreement to measure")
MIN_QUERIES = 4
"""Of intervals at 95%, pilots of three CSFCube queries gave 70 to 90 of 100 that held, of four 82 to 98."""


@dataclass(frozen=True, slots=True)
class Together:
    """What the assessors of a pair said together in a pilot of P queries."""

    query_ids: tuple[str, ...]
    tables: Integers
    """Shape (P, C): how often each query's pairs had each of C patterns of grades."""
    disputed: Mask
    """Shape (C,): the patterns that must be settled."""
    coefficient: Callable[[Array | Integers], float]
    interval: Callable[[Integers], tuple[float, float]]
    """Of such tables; `interval` gives both ends. Both raise UndefinedStatistic."""


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
    together: Together | Undefined,
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
    pairs, level = design.queries * design.pool_size, rules.level
    asked = round(pairs * design.per_pair * (1 + design.repeats))
    by_assessor: dict[str, list[Judgement]] = {}
    for judgement in counted(pilot):
        by_assessor.setdefault(judgement.assessor, []).append(judgement)
    labour = labour_of(by_assessor, fence=rules.fence)
    drawn = _simulated(design, asked, labour, together, simulations, rules)
    timed = None if isinstance(labour, Undefined) else len(labour.query_ids)
    judged = None if isinstance(together, Undefined) else len(together.tables)
    few_timed, few_judged = _too_few(timed, " with times"), _too_few(judged, "")

    expected = labour if isinstance(labour, Undefined) else labour.expected(asked)
    judging = _estimate(expected, few_timed, drawn.hours, level)
    if isinstance(together, Undefined):
        disputed = settling = Estimate(together, together)
        hours, priced = judging, JUDGING_ALONE
    else:
        share = float(_shares(together.tables)[:, together.disputed].sum(axis=1).mean())
        disputed = _estimate(share, few_judged, drawn.disputed / pairs, level)
        rate = settling_of(settled, seconds=dispute_seconds, fence=rules.fence)
        # Where the pilot has no dispute none is expected, and no time is needed.
        settled_hours = settling_value(rate, share * pairs)
        draws = settling_draws(rate, drawn.disputed, rules)
        settling = _estimate(settled_hours, few_judged, draws, level)
        hours, priced = judging, JUDGING_ALONE
        if not isinstance(settled_hours, Undefined):
            priced = ALL
            if not isinstance(expected, Undefined):
                total = draws if isinstance(draws, Undefined) else drawn.hours + draws
                hours = _estimate(expected + settled_hours, few_timed or few_judged, total, level)
    coefficient, width = _agreement_expected(design, together, few_judged, drawn, level)
    return DesignForecast(
        design=design,
        pairs=pairs,
        judgements=asked,
        hours_judging=judging,
        hours_adjudicating=settling,
        hours=hours,
        priced=priced,
        hours_per_assessor=expected if isinstance(expected, Undefined) else expected / design.assessors,
        cost=cost_of(hours, rules),
        disputed=disputed,
        coefficient=coefficient,
        width=width,
        queries_judged=judged or 0,
        queries_timed=timed or 0,
        level=level,
        simulated=len(drawn.values),
        undefined=int(np.isnan(drawn.values).sum()),
    )


def pool_size(*, methods: int, per_method: int, cited: int) -> int:
    """The documents of a pool: each method draws its whole quota of new ones; cited papers have no quota."""
    return methods * per_method + cited


def _simulated(
    design: Design,
    asked: int,
    labour: Labour | Undefined,
    together: Together | Undefined,
    simulations: int,
    rules: Rules,
) -> _Drawn:
    """Hours and disputes of `rules.draws` studies or more, and agreement in `simulations` of them, which takes long."""
    n = max(rules.draws, simulations)
    agreeing = simulations if isinstance(together, Together) and design.per_pair > 1 else 0
    hours, disputed = np.full(n, np.nan), np.zeros(n)
    values, widths = np.full(agreeing, np.nan), np.full(agreeing, np.nan)
    distributions: Array = np.zeros((0, 0))
    share = 1.0
    if isinstance(together, Together):
        distributions = _shares(together.tables)
        share = own_share(together.tables)
    same_queries = (
        isinstance(together, Together) and isinstance(labour, Labour) and together.query_ids == labour.query_ids
    )
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
                values[at], widths[at] = _agreement(together, study)
        if isinstance(labour, Labour):
            # Queries that are hard to agree on may also take long: they are redrawn as one where they are the same.
            if again is None or like is None or not same_queries:
                again = redrawn(len(labour.query_ids), rng)
                like = again.picked(design.queries, rng)
            hours[at] = labour.simulated(asked, again, like, design.assessors, rng)
    return _Drawn(hours, disputed, values, widths)


def _agreement(together: Together, study: Integers) -> tuple[float, float]:
    try:
        value = together.coefficient(study)
        low, high = together.interval(study)
    except UndefinedStatistic:
        return math.nan, math.nan
    return value, high - low


def _agreement_expected(
    design: Design, together: Together | Undefined, few: Undefined | None, drawn: _Drawn, level: float
) -> tuple[Estimate, Estimate]:
    """The coefficient, and the width of its interval."""
    if design.per_pair == 1:
        together = ONCE
    elif isinstance(together, Together) and np.isnan(drawn.values).all():
        together = Undefined(f"in none of {len(drawn.values)} simulated studies had the coefficient a value")
    if isinstance(together, Undefined):
        return Estimate(together, together), Estimate(together, together)
    tables = _shares(together.tables) * design.pool_size * design.queries / len(together.tables)
    try:
        value: Value = together.coefficient(tables)
    except UndefinedStatistic as reason:
        value = Undefined(str(reason))
    coefficient = Estimate(value, few or _held(drawn.values, level))
    if len(together.tables) == 1:
        assert few is not None
        return coefficient, Estimate(few, few)
    return coefficient, _estimate(float(np.nanmedian(drawn.widths)), few, drawn.widths, level)


def _shares(tables: Integers) -> Array:
    """How often each query's pairs showed each pattern, as a share of the query's pairs."""
    return np.asarray(tables / tables.sum(axis=1, keepdims=True))


def _too_few(n: int | None, what: str) -> Undefined | None:
    if n is None or n >= MIN_QUERIES:
        return None
    queries = f"{n} {'query' if n == 1 else 'queries'}{what}"
    return Undefined(f"a pilot of {queries} does not show how queries differ; {MIN_QUERIES} would")


def _estimate(value: Value, few: Undefined | None, draws: Array | Undefined, level: float) -> Estimate:
    if isinstance(value, Undefined):
        return Estimate(value, value)
    return Estimate(value, few or (draws if isinstance(draws, Undefined) else _held(draws, level)))


def _held(draws: Array, level: float) -> Interval | Undefined:
    """Where one more draw falls with probability `level`: by ranks, as few draws do not reach the tails."""
    defined = draws[~np.isnan(draws)]
    fewest = math.ceil(2 / (1 - level) - 1 - 1e-9)
    if len(defined) < fewest:
        return Undefined(
            f"{len(defined)} simulated studies are too few for a {100 * level:g}% interval; {fewest} are needed"
        )
    return predicted(defined, level, method="weibull")


def _check_design(design: Design, together: Together | Undefined) -> None:
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


@dataclass(frozen=True, slots=True)
class Labour:
    """What the times of a pilot show: of T queries, by n people."""

    query_ids: tuple[str, ...]
    by_query: Array
    """Shape (T,): the time of a query's pairs over that of its assessors on the average query."""
    by_person: Array
    """Shape (n,): seconds a pair."""

    def expected(self, asked: int) -> float:
        """Hours for so many judgements, shared evenly."""
        return asked * float(self.by_person.mean() * self.by_query.mean()) / HOUR

    def simulated(self, asked: int, redrawn: Redrawn, like: Integers, people: int, rng: np.random.Generator) -> float:
        """Hours of one study, whose queries are `like` those of the pilot as it is `redrawn`."""
        queries = np.exp(redrawn.future(np.log(self.by_query), 1.0))[like]
        return asked * float(queries.mean() * self._team(people, rng).mean()) / HOUR

    def _team(self, people: int, rng: np.random.Generator) -> Array:
        """The pilot's people: some of them, or all and others who differ from them as they do from each other."""
        n = len(self.by_person)
        if people <= n:
            return rng.choice(self.by_person, size=people, replace=False)
        spread = np.var(np.log(self.by_person), ddof=1) * (1 + 1 / n) if n > 1 else 0.0
        others = np.exp(np.sqrt(spread) * rng.standard_normal(people - n) - spread / 2)
        return np.concatenate([self.by_person, self.by_person.mean() * others])


def labour_of(by_assessor: Mapping[str, Sequence[Judgement]], *, fence: float) -> Labour | Undefined:
    """Learn from times within the fences.

    A query's time is relative to its own assessors', so that a query that slow people judged is no slow query.
    """
    speed = speed_of(by_assessor, fence=fence)
    if not isinstance(speed, Speed):
        return speed
    relative: dict[str, list[float]] = {}
    for name, times in kept_times(by_assessor, fence=fence).items():
        for query_id, seconds in times:
            relative.setdefault(query_id, []).append(seconds / speed.means[name])
    query_ids = tuple(sorted(relative))
    by_query = np.array([np.mean(relative[query_id]) for query_id in query_ids])
    return Labour(query_ids, by_query, np.array([speed.means[name] for name in sorted(speed.means)]))


@dataclass(frozen=True, slots=True)
class Redrawn:
    """One redrawing of a pilot of P queries."""

    mean: Array
    """Shape (P,), sum 1: the weights of the queries in the mean of all queries. Some may be negative, as that mean may
    lie outside of the pilot's queries."""
    mix: Array
    """Shape (P,), sum 1: how often a query to come is like each of the pilot's."""
    scale: float
    """By how much queries differ more from each other than the pilot's do."""

    def picked(self, n: int, rng: np.random.Generator) -> Integers:
        """Which of the pilot's queries each of n queries to come is like."""
        return rng.choice(len(self.mix), size=n, p=self.mix)

    def future(self, values: Array, share: float) -> Array:
        """What queries like each of the pilot's show.

        values: shape (P, ...), what the pilot's queries show. share: how much of their variance is theirs and not
        chance; the mean's error keeps both, as both are in the pilot's mean.
        """
        around = values - np.tensordot(self.mix, values, axes=1)
        return np.asarray(np.tensordot(self.mean, values, axes=1) + math.sqrt(share) * self.scale * around)


def redrawn(n: int, rng: np.random.Generator) -> Redrawn:
    """Redraw a pilot of n queries; one that is too small is taken at its word.

    Deviates g, less their mean, weigh the queries so that their weighted mean has variance s^2 / n, s^2 the variance of
    the queries. Differences in a mix of Dirichlet's distribution with concentration 1 have variance s^2 (n - 1) /
    (n + 1) on average, which is made good.
    """
    if n < MIN_QUERIES:
        even = np.full(n, 1 / n)
        return Redrawn(even, even, math.sqrt(n / max(1, n - 1)))
    chi = rng.chisquare(n - 1) / (n - 1)
    deviates = rng.standard_normal(n)
    off = (deviates - deviates.mean()) / math.sqrt(n * (n - 1) * chi)
    return Redrawn(1 / n + off, rng.dirichlet(np.ones(n)), math.sqrt((n + 1) / (n - 1) / chi))


def own_share(tables: Integers) -> float:
    """How much of the variance of the queries' distributions is theirs; the rest is drawing their pairs. 0..1.

    tables: shape (P, C), how often each query's pairs showed each pattern. Drawing n pairs makes a variance of
    p (1 - p) / (n - 1), as estimated from the same n; a query of one pair cannot tell.
    """
    n = tables.sum(axis=1, keepdims=True).astype(np.float64)
    p = tables / n
    enough = n[:, 0] >= 2
    observed = float(p.var(axis=0, ddof=1).sum()) if len(p) > 1 else 0.0
    if observed == 0 or not enough.any():
        return 1.0
    by_chance = float((p * (1 - p) / np.maximum(n - 1, 1)).sum(axis=1)[enough].mean())
    return max(0.0, 1 - by_chance / observed)
