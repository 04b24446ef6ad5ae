"""How long judging will take and what it will cost: of the study that is on its way, and of a design from its pilot.

A forgotten browser tab is not work: the logarithms of an assessor's times have a middle (median) and a width (1.4826
MAD), and a time further than `fence` widths from the middle is left out of the mean. (Pulled in to the fence, as in the
winsorised mean beside it, each idle time would still count as a long one, and all the hours to come with it.)
Intervals say where the future falls, not only its mean: they carry what is uncertain in the rate so far and the chance
in what is still to come. Times of one query go together (its difficulty is theirs), so queries are the units of chance;
while fewer than `MIN_FREEDOM` degrees of freedom stand behind that, single judgements are, and the result says so.
The clock is an argument. What has no value is `Unknown`, with the reason in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
import numpy.typing as npt

from annot.errors import InputError, UndefinedStatistic
from annot.records import Judgement
from annot.seeding import generator

Array = npt.NDArray[np.float64]
Tables = npt.NDArray[np.int64]

NARROWEST = 0.1
"""The least width of the logarithms of times: where most times are equal, none would be allowed to differ."""
MIN_FREEDOM = 3
MIN_DAYS = 3
LONGEST = 36_500.0
"""Days; a finish further away than a century is not a date."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Unknown:
    """A figure that cannot be had; `undefined` is the reason, in words."""

    undefined: str


@dataclass(frozen=True, slots=True)
class Range:
    """Where the figure falls, with probability `level`."""

    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval."""

    value: float | Unknown
    interval: Range | Unknown


@dataclass(frozen=True, slots=True)
class Finish:
    """The date, ISO 8601, in UTC, of the last judgement, with the interval's two dates."""

    date: str | Unknown
    interval: tuple[str, str] | Unknown
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
    time: PairTime | Unknown
    pairs_per_day: float | Unknown
    hours_left: Estimate
    finish: Finish


@dataclass(frozen=True, slots=True)
class Forecast:
    """The study's remainder."""

    assessors: tuple[AssessorForecast, ...]
    judged: int
    remaining: int
    unit: Literal["queries", "judgements"] | Unknown
    """What the intervals of hours and cost take as the unit of chance."""
    hours_spent: float | Unknown
    hours_left: Estimate
    cost_spent: float | Unknown
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


@dataclass(frozen=True, slots=True)
class DesignForecast:
    """What a design will take and how sure its agreement will be."""

    design: Design
    pairs: int
    judgements: int
    hours_judging: Estimate
    hours_adjudicating: float | Unknown
    hours: Estimate
    hours_per_assessor: float | Unknown
    cost: Estimate
    disputed: float | Unknown
    """The share of pairs that will need adjudication, 0..1."""
    coefficient: Estimate
    """Its mean over the simulated studies, and the middle `level` share of them."""
    width: Estimate
    """Of the coefficient's own interval, likewise. The pilot is taken at its word: how far a small pilot may mislead
    is not in it."""
    simulated: int
    undefined: int
    """Simulated studies in which the coefficient or its interval had no value."""


def forecast(judgements: Iterable[Judgement], remaining: Mapping[str, int], *, now: datetime, rules: Rules) -> Forecast:
    """Pace, hours left, finish date and cost.

    judgements: of several revisions the latest counts, and none that carries flags. remaining: pairs still to judge by
    assessor; who has judged and is not named there has none left. now: with a time zone.
    An assessor who has not begun is taken to be as fast as the others are on average, and has no date.
    Raises InputError for a negative count, a clock without a time zone, or times that cannot be read.
    """
    latest = _latest(judgements)
    _check(latest, remaining, now)
    by_assessor: dict[str, list[Judgement]] = {name: [] for name in remaining}
    for one in latest:
        by_assessor.setdefault(one.assessor, []).append(one)
    names = sorted(by_assessor)
    left = {name: remaining.get(name, 0) for name in names}
    speed = _speed(by_assessor, fence=rules.fence)
    hours = {name: _hours(speed, {name: left[name]}, rules) for name in names}
    ends = {name: _days(by_assessor[name], left[name], now, rules, key=name) for name in names}
    together = _hours(speed, left, rules)
    spent: float | Unknown = NO_TIMES
    if isinstance(speed, _Speed):
        spent = sum(len(by_assessor[name]) * speed.mean_of(name) for name in names) / HOUR
    return Forecast(
        assessors=tuple(
            AssessorForecast(
                assessor=name,
                judged=len(by_assessor[name]),
                remaining=left[name],
                time=_pair_time(by_assessor[name], rules.fence),
                pairs_per_day=ends[name].pace,
                hours_left=hours[name],
                finish=_finish([ends[name]], now, rules),
            )
            for name in names
        ),
        judged=len(latest),
        remaining=sum(left.values()),
        unit=speed.unit if isinstance(speed, _Speed) else speed,
        hours_spent=spent,
        hours_left=together,
        cost_spent=_cost(Estimate(spent, NO_TIMES), rules).value,
        cost_left=_cost(together, rules),
        finish=_finish([ends[name] for name in names if left[name]], now, rules),
        notes=_notes(by_assessor, left, now, rules),
    )


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
    asked = pairs * design.per_pair
    by_assessor: dict[str, list[Judgement]] = {}
    for one in _latest(pilot):
        by_assessor.setdefault(one.assessor, []).append(one)
    speed = _speed(by_assessor, fence=rules.fence)
    people = list(by_assessor) or ["nobody"]
    judging = _hours(speed, dict.fromkeys(people, asked / len(people)), rules)
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
        cost=_cost(hours, rules),
        disputed=disputed,
        coefficient=_of_simulated(values, rules, none),
        width=_of_simulated(widths, rules, none),
        simulated=len(values),
        undefined=len(values) - int(np.count_nonzero(~np.isnan(values))),
    )


def pool_size(*, methods: int, per_method: int, cited: int) -> int:
    """The documents of a pool: each method draws its whole quota of new ones; cited papers have no quota."""
    return methods * per_method + cited


def winsorised(seconds: Array, *, fence: float) -> Array:
    """Times, shape (n,), all above 0, with those beyond the fences pulled in to them."""
    low, high = _fences(seconds, fence)
    return np.clip(seconds, low, high)


NO_TIMES = Unknown("no judgement has a time yet")


@dataclass(frozen=True, slots=True)
class _Speed:
    """How fast each assessor is, and how far that may be off: variances are those of the logarithm."""

    means: dict[str, float]
    """Seconds per pair, within the fences."""
    known: dict[str, float]
    """The variance of each mean."""
    per_pair: float
    """The variance of the mean of n future pairs is this over n."""
    freedom: int
    n_times: int
    unit: Literal["queries", "judgements"]

    def mean_of(self, assessor: str) -> float:
        """The assessor's mean, or for one without times the geometric mean of the others'."""
        return self.means.get(assessor, math.exp(float(np.mean(np.log(list(self.means.values()))))))

    def variance_of(self, assessor: str) -> float:
        """The relative variance of `mean_of`; for one without times that of people among each other."""
        if assessor in self.known:
            return self.known[assessor]
        logs = np.log(list(self.means.values()))
        spread = float(np.var(logs, ddof=1)) * (1 + 1 / len(logs)) if len(logs) > 1 else 0.0
        return spread + float(np.mean(list(self.known.values())))


def _speed(by_assessor: Mapping[str, Sequence[Judgement]], *, fence: float) -> _Speed | Unknown:
    """Means and their variances from units of chance: queries, or single judgements while there are too few."""
    kept: dict[str, list[tuple[str, float]]] = {}
    for name in sorted(by_assessor):
        timed = [one for one in by_assessor[name] if _seconds(one)]
        if timed:
            low, high = _fences(_times(timed), fence)
            told = zip(timed, _times(timed).tolist(), strict=True)
            kept[name] = [(one.query_id, time) for one, time in told if low <= time <= high]
    if not kept:
        return NO_TIMES
    unit: Literal["queries", "judgements"] = "queries"
    if sum(len({query_id for query_id, _ in times}) - 1 for times in kept.values()) < MIN_FREEDOM:
        unit = "judgements"
    means: dict[str, float] = {}
    sizes: dict[str, npt.NDArray[np.int64]] = {}
    squares = 0.0
    for name, times in kept.items():
        seconds = np.array([one for _, one in times])
        labels = [query_id for query_id, _ in times] if unit == "queries" else list(range(len(times)))
        _, at = np.unique(labels, return_inverse=True)
        n = np.bincount(at)
        # How far each unit is from the others, in pairs: units of many pairs say more.
        logs = np.log(np.bincount(at, weights=seconds) / n)
        squares += float(((n * (logs - np.average(logs, weights=n))) ** 2).sum())
        means[name], sizes[name] = float(seconds.mean()), n
    freedom = sum(len(n) - 1 for n in sizes.values())
    usual = sum(map(np.sum, sizes.values())) / sum(map(len, sizes.values()))
    # From the variance of a log-normal unit's logarithm to the squared coefficient of variation of the unit itself.
    variance = usual**2 * math.expm1(squares / freedom / usual**2) if freedom else 0.0
    return _Speed(
        means=means,
        known={name: variance * len(n) / float(n.sum()) ** 2 for name, n in sizes.items()},
        per_pair=variance / float(usual),
        freedom=freedom,
        n_times=sum(map(len, kept.values())),
        unit=unit,
    )


def _hours(speed: _Speed | Unknown, left: Mapping[str, float], rules: Rules) -> Estimate:
    """Hours for so many pairs by assessor."""
    if not any(left.values()):
        return Estimate(0.0, Range(0.0, 0.0, rules.level))
    if isinstance(speed, Unknown):
        return Estimate(speed, speed)
    value = sum(n * speed.mean_of(name) for name, n in left.items()) / HOUR
    if speed.freedom < MIN_FREEDOM:
        return Estimate(value, Unknown(f"{speed.n_times} judgement(s) with a time: too few"))
    total = np.zeros(rules.draws)
    # The variance itself is estimated: one scale for all, as it is pooled over all.
    scale = np.sqrt(speed.freedom / generator(rules.seed, "scale").chisquare(speed.freedom, rules.draws))
    for name, n in left.items():
        if n:
            deviation = math.sqrt(speed.variance_of(name) + speed.per_pair / n)
            normal = generator(rules.seed, "hours", name).standard_normal(rules.draws)
            total += n * speed.mean_of(name) * np.exp(deviation * scale * normal)
    return Estimate(value, _range(total / HOUR, rules.level))


@dataclass(frozen=True, slots=True)
class _End:
    """In how many days one assessor will be done."""

    pace: float | Unknown
    days: float | Unknown
    draws: Array | Unknown


def _days(given: Sequence[Judgement], left: int, now: datetime, rules: Rules, *, key: str) -> _End:
    """Days until `left` pairs are done at the pace of the days before now.

    Days are counted back from now, 24 hours each, to the first judgement or the window's end, idle ones included.
    """
    ages = _ages(given, now)
    if not len(ages):
        none = Unknown(f"{key}: no judgement has a date" if given else f"{key} has not begun")
        return _End(none, none if left else 0.0, none)
    n_days = min(rules.window_days, int(ages.max()) + 1)
    counts = np.bincount(ages.astype(np.int64)[ages < n_days], minlength=n_days)
    pace = float(counts.mean())
    if left and pace == 0:
        idle = Unknown(f"{key} has judged nothing in the last {n_days} day(s)")
        return _End(pace, idle, idle)
    days = left / pace if left else 0.0
    if n_days < MIN_DAYS or not left:
        return _End(pace, days, Unknown(f"{key} began {n_days} day(s) ago: too few to tell how days differ"))
    # The pace so far is uncertain, and so is each day to come.
    deviation = float(counts.std(ddof=1)) / pace * math.sqrt(1 / n_days + 1 / max(days, 1.0))
    t = generator(rules.seed, "days", key).standard_t(n_days - 1, rules.draws)
    return _End(pace, days, days * np.exp(np.minimum(deviation * t, 50.0)))


def _finish(ends: Sequence[_End], now: datetime, rules: Rules) -> Finish:
    """When the last of them is done."""
    ends = [end for end in ends if end.days != 0.0]
    if not ends:
        done = Unknown("everything is judged")
        return Finish(done, done, rules.level)
    reasons = [end.days.undefined for end in ends if isinstance(end.days, Unknown)]
    if reasons:
        none = Unknown("; ".join(reasons))
        return Finish(none, none, rules.level)
    slowest = max(end.days for end in ends if not isinstance(end.days, Unknown))
    if slowest > LONGEST:
        never = Unknown("at this pace it would take more than a century")
        return Finish(never, never, rules.level)
    vague = [end.draws.undefined for end in ends if isinstance(end.draws, Unknown)]
    if vague:
        return Finish(_date(now, slowest), Unknown("; ".join(vague)), rules.level)
    last = np.max([end.draws for end in ends if not isinstance(end.draws, Unknown)], axis=0)
    low, high = np.quantile(np.minimum(last, LONGEST), _tails(rules.level))
    # With several people the last one is later than each one's own middle.
    middle = slowest if len(ends) == 1 else min(float(np.median(last)), LONGEST)
    return Finish(_date(now, middle), (_date(now, float(low)), _date(now, float(high))), rules.level)


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
    return Estimate(float(defined.mean()), _range(defined, rules.level))


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


def _cost(hours: Estimate, rules: Rules) -> Estimate:
    if rules.hourly_rate is None:
        no_rate = Unknown("no hourly rate is given")
        return Estimate(no_rate, no_rate)
    value = hours.value if isinstance(hours.value, Unknown) else hours.value * rules.hourly_rate
    spread = hours.interval
    if isinstance(spread, Range):
        spread = Range(spread.low * rules.hourly_rate, spread.high * rules.hourly_rate, spread.level)
    return Estimate(value, spread)


def _pair_time(given: Sequence[Judgement], fence: float) -> PairTime | Unknown:
    timed = [one for one in given if _seconds(one)]
    if not timed:
        return NO_TIMES
    times = _times(timed)
    low, high = _fences(times, fence)
    return PairTime(
        n=len(times),
        n_without=len(given) - len(times),
        median=float(np.median(times)),
        mean=float(times[(times >= low) & (times <= high)].mean()),
        winsorised=float(np.clip(times, low, high).mean()),
        n_slow=int((times > high).sum()),
        n_fast=int((times < low).sum()),
    )


def _fences(seconds: Array, fence: float) -> tuple[float, float]:
    logs = np.log(seconds)
    middle = float(np.median(logs))
    width = max(NARROWEST, 1.4826 * float(np.median(np.abs(logs - middle))))
    return math.exp(middle - fence * width), math.exp(middle + fence * width)


def _notes(
    by_assessor: Mapping[str, Sequence[Judgement]], left: Mapping[str, int], now: datetime, rules: Rules
) -> tuple[str, ...]:
    notes = []
    timed = [name for name, given in by_assessor.items() if any(map(_seconds, given))]
    borrowing = sorted(name for name in by_assessor if left[name] and name not in timed)
    if borrowing and timed:
        notes.append(f"{', '.join(borrowing)}: no times yet; taken to be as fast as the others on average")
    oldest = max(
        (float(_ages(given, now).max()) for given in by_assessor.values() if len(_ages(given, now))), default=7
    )
    if min(oldest + 1, rules.window_days) < 7:
        notes.append("the pace is that of less than a week: it may not know the weekend")
    return tuple(notes)


def _latest(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The latest revision of each judgement, where it carries no flag."""
    latest: dict[tuple[str, str, str], Judgement] = {}
    for one in sorted(judgements, key=lambda one: one.revision):
        latest[one.query_id, one.doc_id, one.assessor] = one
    return [latest[key] for key in sorted(latest) if not latest[key].flags]


def _check(latest: Sequence[Judgement], remaining: Mapping[str, int], now: datetime) -> None:
    faults = [f"{name}: {n} pair(s) remaining, expected 0 or more" for name, n in sorted(remaining.items()) if n < 0]
    if now.tzinfo is None:
        faults.append(f"now = {now.isoformat()}: no time zone")
    for one in latest:
        try:
            _moment(one)
        except ValueError:
            where = f"{one.query_id} {one.doc_id} {one.assessor}"
            faults.append(f"{where}: judged at {one.judged_at!r}, expected an ISO 8601 date and time")
    if faults:
        raise InputError(f"{len(faults)} fault(s) in what the forecast is made from", faults=faults)


def _check_design(design: Design, tables: Tables) -> None:
    named = {
        "queries": design.queries,
        "pool size": design.pool_size,
        "assessors per pair": design.per_pair,
        "assessors": design.assessors,
    }
    faults = [f"{n} {name}, expected 1 or more" for name, n in named.items() if n < 1]
    if design.assessors < design.per_pair:
        faults.append(f"{design.assessors} assessor(s), expected at least the {design.per_pair} of one pair")
    if tables.ndim != 3 or tables.shape[1] != tables.shape[2] or not len(tables):
        faults.append(f"tables of shape {tables.shape}, expected (queries, grades, grades)")
    elif (tables.sum(axis=(1, 2)) < 1).any():
        faults.append("a query of the pilot has no pair that was judged twice")
    if faults:
        raise InputError("the design cannot be simulated", faults=faults)


def _seconds(one: Judgement) -> float | None:
    return one.lead_time if one.lead_time is not None and one.lead_time > 0 else None


def _times(given: Sequence[Judgement]) -> Array:
    return np.asarray([_seconds(one) for one in given], dtype=np.float64)


def _moment(one: Judgement) -> datetime | None:
    if one.judged_at is None:
        return None
    moment = datetime.fromisoformat(one.judged_at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ages(given: Sequence[Judgement], now: datetime) -> Array:
    """Days since each dated judgement; a clock that is ahead of ours makes none negative."""
    moments = [moment for moment in map(_moment, given) if moment is not None]
    return np.array([max(0.0, (now - moment) / timedelta(days=1)) for moment in moments])


def _date(now: datetime, days: float) -> str:
    return (now.astimezone(UTC) + timedelta(days=days)).date().isoformat()


def _range(draws: Array, level: float) -> Range:
    low, high = np.quantile(draws, _tails(level))
    return Range(float(low), float(high), level)


def _tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2
