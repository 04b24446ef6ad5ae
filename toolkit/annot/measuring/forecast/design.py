"""Forecast of a whole study from its design, and the number of topics that a difference needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np
import numpy.typing as npt

from annot.base.errors import InputError
from annot.base.libraries import special
from annot.base.names import counted, percent, plural_of
from annot.base.records import Judgement, grouped
from annot.base.records import counted as counting
from annot.base.stats import inference
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.values import Estimate, Interval, Undefined, Value, rounding
from annot.measuring.agreement import coefficients
from annot.measuring.agreement.coefficients import PooledPairs
from annot.measuring.agreement.estimates import POLICIES, QueryRatings
from annot.measuring.evaluation.comparisons import ALPHA, FEWEST_PAPERS, RunComparison, Verdict
from annot.measuring.forecast import hours

# ----------------------------------------------------------------------------------------------------------------------
# Joint grades of the assessors of a pair, counted by query: for studies that are simulated.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JointGrades:
    """Patterns of grades that the `k` assessors of a pair gave together, and their counts."""

    query_ids: tuple[str, ...]
    patterns: Array
    """Shape (C, k): in each row the grades that one pair got, by the order of pseudonyms; nan is no grade."""
    tables: Integers
    """Shape (Q, C): number of each query's pairs with each pattern; each query has at least one pair."""
    chosen: int
    """Pairs with more than k answers, of which k were drawn."""
    most: int
    """Answers of the pair that has most, in the whole study."""
    grades: Sequence[int]
    missing: str
    """Policy for missing grades."""

    @property
    def disputed(self) -> Mask:
        """Shape (C,): patterns that an adjudicator must settle: grades differ, or one is missing."""
        return np.asarray(~(self.patterns == self.patterns[:, :1]).all(axis=1))

    @cached_property
    def _counts(self) -> coefficients.Counts:
        """Counts of one pair of each pattern, first axis C."""
        return coefficients.Counts.stack([coefficients.count(rating[:, None], self.grades) for rating in self._ratings])

    @cached_property
    def _ratings(self) -> Array:
        """Shape (C, k): grades after the policy."""
        expected = np.ones(self.patterns.shape, dtype=np.bool_)
        return POLICIES[self.missing](self.patterns, expected)

    @cached_property
    def _tables_of_two(self) -> Array:
        """Shape (C, P, K, K): tables of every two on one pair of each pattern."""
        at_grade = coefficients.one_hot(self._ratings, self.grades)
        first, second = np.triu_indices(self.patterns.shape[1], k=1)
        return np.asarray(at_grade[:, first, :, None] * at_grade[:, second, None, :])

    def estimate(
        self, tables: Array | Integers, *, name: str, level: float, topics: npt.ArrayLike | None = None
    ) -> Estimate:
        """Coefficient of all pairs together, with its interval over whole queries. tables: shape (Q, C).

        topics: shape (Q,), the topic of each, the unit if several queries are of one; None takes them as independent.
        """
        times, n_queries, n_twos = tables.astype(np.float64), len(tables), self._tables_of_two.shape[1]
        pooled = PooledPairs(
            inference.clusters_of(np.arange(n_queries), topics),
            np.repeat(np.arange(n_queries), n_twos),
            np.tile(np.arange(n_twos), n_queries),
            np.asarray(np.tensordot(times, self._tables_of_two, axes=1)).reshape(-1, *self._tables_of_two.shape[2:]),
            self._counts.weighted(times),
        )
        return pooled.estimate(name, self.grades, level=level)


def joint_grades(
    queries: Iterable[QueryRatings], *, per_pair: int, seed: int, grades: Sequence[int], missing: str
) -> JointGrades:
    """Count the pairs that `per_pair` assessors or more have answered; of more answers, as many are drawn for each
    pair. missing: the policy for missing grades.
    """
    query_ids: list[str] = []
    rows: list[Array] = []
    chosen = most = 0
    for query in queries:
        rng = inference.generator(seed, "joint", query.query_id)
        for expected, grades_of_pair in zip(query.asked.T, query.ratings.T, strict=True):
            answered = np.flatnonzero(expected)
            most = max(most, len(answered))
            if len(answered) > per_pair:
                chosen += 1
                answered = np.sort(rng.choice(answered, size=per_pair, replace=False))
            if len(answered) == per_pair:
                query_ids.append(query.query_id)
                # -1, as nan is not equal to itself and would be a pattern of its own each time.
                rows.append(np.nan_to_num(grades_of_pair[answered], nan=-1.0))
    patterns, pattern = np.unique(np.reshape(rows, (len(rows), per_pair)), axis=0, return_inverse=True)
    names = tuple(dict.fromkeys(query_ids))
    tables = np.zeros((len(names), len(patterns)), dtype=np.int64)
    np.add.at(tables, (np.array([*map(names.index, query_ids)], dtype=np.int64), pattern.reshape(-1)), 1)
    return JointGrades(names, np.where(patterns < 0, np.nan, patterns), tables, chosen, most, grades, missing)


# ----------------------------------------------------------------------------------------------------------------------
# Redrawing of a pilot as one that might as well have been.
#
# Its units are the papers of its queries: several facets of a paper are drawn together. A pilot of U papers knows the
# mean over all queries up to its own chance, and how queries differ from that mean still less. Each redrawing holds
# one answer to both that fits the pilot, as Student's t does: one draw of the chi-square distribution with U - 1
# degrees of freedom says by how much queries differ more or less than the pilot's do, and the mean is off by a normal
# deviate on that scale. How often each of the pilot's papers stands for a later one is drawn as a weight (Rubin 1981,
# The Bayesian bootstrap, Annals of Statistics 9, 130-134). `benchmarks/forecast_coverage.py` measures how often such
# intervals hold what then comes.
# ----------------------------------------------------------------------------------------------------------------------


MIN_UNITS = 4
"""Least number of papers for an interval. Of intervals at 95%, pilots of three CSFCube queries gave 70 to 90 of 100
that were right, of four 82 to 98.
"""


@dataclass(frozen=True, slots=True)
class PilotRedraw:
    """One redrawing of a pilot of P queries of U papers."""

    paper: Integers
    """Shape (P,): the paper of each query by number."""
    mean: Array
    """Shape (P,), sum 1: weights of the queries in the mean of all queries. Some may be negative, as that mean may be
    outside the range of the pilot's queries.
    """
    papers: Array
    """Shape (U,), sum 1: probabilities that a paper to come is like each of the pilot's."""
    scale: float
    """Factor by which queries differ more from each other than the pilot's do."""

    def picked(self, n: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw, for each of n queries to come, the pilot's query that it is like, and its paper by number.

        Queries of one paper come together.
        """
        drawn = rng.choice(len(self.papers), size=n, p=self.papers)
        if len(self.papers) == len(self.paper):
            return drawn, np.arange(n)
        together = [np.flatnonzero(self.paper == number) for number in drawn]
        return np.concatenate(together)[:n], np.repeat(np.arange(n), [len(queries) for queries in together])[:n]

    def future(self, values: Array, share: float) -> Array:
        """Values of queries to come that are like each of the pilot's.

        values: shape (P, ...), those of the pilot's queries. share: the part of their variance that is not chance; the
        mean's error keeps both, as both are in the pilot's mean.
        """
        mix = self.papers[self.paper]
        around = values - np.tensordot(mix / mix.sum(), values, axes=1)
        return np.asarray(np.tensordot(self.mean, values, axes=1) + math.sqrt(share) * self.scale * around)


def redrawn(paper: Integers, rng: np.random.Generator) -> PilotRedraw:
    """Redraw a pilot whose queries are of these papers, by number; one that is too small is taken as it is.

    Deviates g, less their mean, weigh the U papers so that the weighted mean has variance s^2 / U, s^2 the variance of
    the papers. Differences in a mix of Dirichlet's distribution with concentration 1 have variance s^2 (U - 1) /
    (U + 1) on average, which is made good.
    """
    n = int(paper.max()) + 1
    even = np.full(len(paper), 1 / len(paper))
    if n < MIN_UNITS:
        return PilotRedraw(paper, even, np.full(n, 1 / n), math.sqrt(n / max(1, n - 1)))
    chi = rng.chisquare(n - 1) / (n - 1)
    deviates = rng.standard_normal(n)
    shift = (deviates - deviates[paper].mean()) / math.sqrt((n - 1) / n * chi)
    return PilotRedraw(paper, even * (1 + shift[paper]), rng.dirichlet(np.ones(n)), math.sqrt((n + 1) / (n - 1) / chi))


def papers_by_number(query_ids: Sequence[str], topics: Mapping[str, str] | None) -> Integers:
    """Paper of each query by number, in the order of the queries; None takes each query for a paper of its own."""
    number: dict[str, int] = {}
    return np.array(
        [number.setdefault(topics[query_id] if topics else query_id, len(number)) for query_id in query_ids],
        dtype=np.int64,
    )


def own_share(tables: Integers) -> float:
    """Share of the variance of the queries' distributions that is not from drawing their pairs, 0..1.

    tables: shape (P, C), number of each query's pairs with each pattern. Drawing n pairs makes a variance of p (1 - p)
    / (n - 1), as estimated from the same n; a query of one pair shows nothing of it.
    """
    n = tables.sum(axis=1, keepdims=True).astype(np.float64)
    p = tables / n
    enough = n[:, 0] >= 2
    observed = float(p.var(axis=0, ddof=1).sum()) if len(p) > 1 else 0.0
    if observed == 0 or not enough.any():
        return 1.0
    by_chance = float((p * (1 - p) / np.maximum(n - 1, 1)).sum(axis=1)[enough].mean())
    return max(0.0, 1 - by_chance / observed)


# ----------------------------------------------------------------------------------------------------------------------
# Topic set size design: the difference between two runs that this many topics show, and the topics needed for one.
#
# Sakai 2016, Topic Set Size Design, Information Retrieval Journal 19(3), 256-283, for the paired t test. The spread
# of the topics' differences is that of a typical pair of runs in a pilot (the median), and the test is corrected for
# the number of runs as in `annot evaluate`.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TopicSetSize:
    """Difference between the runs of a pilot that a number of topics shows."""

    convention: str
    measure: str
    pairs: int
    """Pairs of runs that the test is corrected for."""
    pilot_topics: int
    topics: int
    """Topics of the design."""
    power: float
    spread: Estimate
    """Standard deviation of the topics' differences, a fraction of the measure."""
    shown: Estimate
    """Least difference that `topics` show with this power, as a fraction of the measure."""
    difference: float
    """Difference that the lead wants to show."""
    needed: Estimate
    """Topics that show it."""


def topic_set_size(
    comparisons: Sequence[RunComparison], verdict: Verdict, *, topics: int, difference: float, level: float
) -> TopicSetSize | Undefined:
    """Least difference that `topics` show, and topics needed for `difference`; intervals reflect how well the pilot
    knows the spread.

    comparisons: among them those of the verdict's facet. The interval of the spread is that of chi-square, with one
    degree of freedom less than the pilot has topics; the other intervals follow from its ends.
    """
    spreads = [
        comparison.difference / comparison.effect
        for comparison in comparisons
        if comparison.facet == verdict.facet and not isinstance(comparison.effect, Undefined) and comparison.effect
    ]
    if verdict.papers < 2 or not spreads:
        return Undefined("the pilot shows no spread of the differences between runs")
    spread, freedom = median(spreads), verdict.papers - 1
    low, high = (
        spread * math.sqrt(freedom / float(special.chdtri(freedom, tail)))
        for tail in ((1 - level) / 2, (1 + level) / 2)
    )
    alpha = ALPHA / verdict.pairs
    if verdict.critical is not None:
        alpha = 2 * float(special.stdtr(freedom, -verdict.critical))
    method = f"chi-square, with {freedom} degrees of freedom"

    def shown(by: float) -> float:
        return by * inference.least_effect(topics, critical=inference.critical_t(topics, alpha=alpha))

    numbers = [inference.units_needed(difference / by, alpha=alpha, fewest=FEWEST_PAPERS) for by in (spread, low, high)]
    if None in numbers:
        most = Undefined(f"more than {inference.MOST_UNITS:,} may be needed")
        needed = Estimate(most, most)
    else:
        typical, fewest, most_needed = (float(number or 0) for number in numbers)
        needed = Estimate(typical, Interval(fewest, most_needed, level, method))
    least: Estimate = Estimate(shown(spread), Interval(shown(low), shown(high), level, method))
    if topics < FEWEST_PAPERS:
        nothing = Undefined(f"{topics} topics show no difference of any size; {FEWEST_PAPERS} are needed")
        least = Estimate(nothing, nothing)
    return TopicSetSize(
        convention=comparisons[0].convention,
        measure=comparisons[0].measure,
        pairs=verdict.pairs,
        pilot_topics=verdict.papers,
        topics=topics,
        power=inference.POWER,
        spread=Estimate(spread, Interval(low, high, level, method)),
        shown=least,
        difference=difference,
        needed=needed,
    )


# ----------------------------------------------------------------------------------------------------------------------
# Forecast of a design from the times and the agreement of a pilot: its labour, and the pilot redrawn.
# ----------------------------------------------------------------------------------------------------------------------


ALL, JUDGING_ALONE = "judging and adjudication", "judging only, adjudication not included"
ONCE = Undefined("each pair is judged once, so there is no agreement to measure")


@dataclass(frozen=True, slots=True)
class Design:
    """Study to be: each of `queries` x `pool_size` pairs judged by `per_pair` people, `assessors` in all."""

    queries: int
    pool_size: int
    per_pair: int
    assessors: int
    repeats: float
    """Share of an assessor's pairs that are asked again."""


@dataclass(frozen=True, slots=True)
class DesignForecast:
    """Labour of a design, and precision of its agreement."""

    design: Design
    pairs: int
    judgements: int
    hours_judging: Estimate
    hours_adjudicating: Estimate
    hours: Estimate
    """Hours of judging and adjudication; of judging alone if the other is not known, as `priced` says."""
    priced: str
    """Work that `hours` and `cost` include, in words."""
    hours_per_assessor: Value
    """Hours of judging."""
    cost: Estimate
    disputed: Estimate
    """Share of pairs that will need adjudication, 0..1."""
    coefficient: Estimate
    """Coefficient of all pairs together, if each of the pilot's queries had the same number of pairs."""
    width: Estimate
    """Width of the coefficient's own interval: the median of the simulated studies."""
    queries_judged: int
    queries_timed: int
    """Queries of the pilot with times; `queries_judged` are those behind agreement and disputes."""
    level: float
    """Probability with which the intervals contain the study's figures if its queries and people are like the pilot's.
    """
    simulated: int
    undefined: int
    """Simulated studies in which the coefficient or its interval had no value."""


@rounding
def simulate_design(
    design: Design,
    *,
    pilot: Iterable[Judgement],
    joint: JointGrades | Undefined,
    coefficient: str,
    settled: Iterable[Judgement],
    dispute_seconds: float | None,
    simulations: int,
    rules: hours.Rules,
    topics: Mapping[str, str] | None = None,
) -> DesignForecast:
    """Forecast hours, cost and the width of the agreement's interval of a design, from a pilot.

    pilot: its judgements, for their times; the design's assessors are taken to be the pilot's, or like them. joint: of
    pairs with as many assessors as the design has, or why there are none. coefficient: its name. settled: the pilot's
    adjudications, for their times. dispute_seconds: of one dispute; None learns them from `settled`. topics: the topic
    of each query, the sampling unit if several are of one; None takes queries as independent.

    Each simulated study redraws the pilot (see `redrawing`), draws its queries from it, and each query's pairs from its
    distribution of grades. Tables of the pilot differ by their queries and by chance; the part that is chance is taken
    out first, since drawing puts it in again. Intervals are those of a study to come: of S simulated ones, the k-th
    is above it with probability k / (S + 1).
    Raises InputError for fewer assessors than a pair needs.
    """
    if design.assessors < design.per_pair:
        raise InputError(
            f"{counted(design.assessors, 'assessor')} in the design, and {design.per_pair} are needed for each pair",
            hint="add people with `annot assessor add`, or set --assessors or --per-pair",
        )
    pairs, level = design.queries * design.pool_size, rules.level
    judgements = round(pairs * design.per_pair * (1 + design.repeats))
    by_assessor = grouped((judgement.assessor, judgement) for judgement in counting(pilot))
    labour = labour_of(by_assessor, fence=rules.fence)
    drawn = _SimulatedStudies(design, judgements, labour, joint, coefficient, topics, simulations, rules)
    timed = () if isinstance(labour, Undefined) else labour.query_ids
    judged = () if isinstance(joint, Undefined) else joint.query_ids
    few_timed, few_judged = _too_few(timed, topics, " with times"), _too_few(judged, topics, "")

    expected = labour if isinstance(labour, Undefined) else labour.expected(judgements)
    judging = _estimate(expected, few_timed, drawn.hours, level)
    if isinstance(joint, Undefined):
        disputed = settling = Estimate(joint, joint)
        total_hours, priced = judging, JUDGING_ALONE
    else:
        share = float(_shares(joint.tables)[:, joint.disputed].sum(axis=1).mean())
        disputed = _estimate(share, few_judged, drawn.disputed / pairs, level)
        rate = hours.settling_of(settled, seconds=dispute_seconds, fence=rules.fence, topics=topics)
        settled_hours: Value = 0.0
        draws: Array | Undefined = np.zeros(len(drawn.disputed))
        # Where the pilot has no dispute none is expected, and no time is needed.
        if drawn.disputed.any() and isinstance(rate, Undefined):
            settled_hours = draws = rate
        elif drawn.disputed.any() and isinstance(rate, hours.Speed):
            settled_hours = rate.hours({hours.DECIDERS: share * pairs})
            draws = hours.drawn_hours(rate, {hours.DECIDERS: drawn.disputed}, rules, noun="settled dispute")
        settling = _estimate(settled_hours, few_judged, draws, level)
        total_hours, priced = judging, JUDGING_ALONE
        if not isinstance(settled_hours, Undefined):
            priced = ALL
            if not isinstance(expected, Undefined):
                total = draws if isinstance(draws, Undefined) else drawn.hours + draws
                total_hours = _estimate(expected + settled_hours, few_timed or few_judged, total, level)
    agreement, width = _agreement_expected(design, joint, coefficient, few_judged, drawn, level)
    return DesignForecast(
        design=design,
        pairs=pairs,
        judgements=judgements,
        hours_judging=judging,
        hours_adjudicating=settling,
        hours=total_hours,
        priced=priced,
        hours_per_assessor=expected if isinstance(expected, Undefined) else expected / design.assessors,
        cost=hours.cost_of(total_hours, rules),
        disputed=disputed,
        coefficient=agreement,
        width=width,
        queries_judged=len(judged),
        queries_timed=len(timed),
        level=level,
        simulated=len(drawn.values),
        undefined=int(np.isnan(drawn.values).sum()),
    )


def pool_size(*, methods: int, per_method: int, cited: int) -> int:
    """Number of documents in a pool: each method draws its whole quota of new ones; cited papers have no quota."""
    return methods * per_method + cited


class _SimulatedStudies:
    """Figures of each simulated study; nan if it has none."""

    def __init__(
        self,
        design: Design,
        judgements: int,
        labour: Labour | Undefined,
        joint: JointGrades | Undefined,
        coefficient: str,
        topics: Mapping[str, str] | None,
        simulations: int,
        rules: hours.Rules,
    ) -> None:
        """Simulate hours and disputes of `rules.draws` studies or more, and agreement in `simulations` of them, which
        is slow.
        """
        n = max(rules.draws, simulations)
        agreeing = simulations if isinstance(joint, JointGrades) and design.per_pair > 1 else 0
        self.hours, self.disputed = np.full(n, np.nan), np.zeros(n)
        self.values, self.widths = np.full((2, agreeing), np.nan)
        of_judged, of_timed = (
            papers_by_number(() if isinstance(source, Undefined) else source.query_ids, topics)
            for source in (joint, labour)
        )
        learnt = (_shares(joint.tables), own_share(joint.tables)) if isinstance(joint, JointGrades) else None
        same_queries = (
            isinstance(joint, JointGrades) and isinstance(labour, Labour) and joint.query_ids == labour.query_ids
        )
        for number in range(n):
            rng = inference.generator(rules.seed, "design", str(number))
            redrawing = like = None
            if isinstance(joint, JointGrades) and learnt is not None:
                redrawing = redrawn(of_judged, rng)
                like, papers = redrawing.picked(design.queries, rng)
                chances = np.maximum(redrawing.future(*learnt), 0.0)
                chances /= chances.sum(axis=1, keepdims=True)
                study = rng.multinomial(design.pool_size, chances[like])
                self.disputed[number] = study[:, joint.disputed].sum()
                if number < agreeing:
                    agreement = joint.estimate(study, name=coefficient, level=rules.level, topics=papers)
                    if isinstance(agreement.value, float) and isinstance(agreement.interval, Interval):
                        self.values[number] = agreement.value
                        self.widths[number] = agreement.interval.high - agreement.interval.low
            if isinstance(labour, Labour):
                # Queries that are hard to agree on may also take long: they are redrawn as one where they are the same.
                if redrawing is None or like is None or not same_queries:
                    redrawing = redrawn(of_timed, rng)
                    like, _ = redrawing.picked(design.queries, rng)
                self.hours[number] = labour.simulated(judgements, redrawing, like, design.assessors, rng)


def _agreement_expected(
    design: Design,
    joint: JointGrades | Undefined,
    coefficient: str,
    few: Undefined | None,
    drawn: _SimulatedStudies,
    level: float,
) -> tuple[Estimate, Estimate]:
    """Coefficient, and width of its interval."""
    if design.per_pair == 1:
        joint = ONCE
    elif isinstance(joint, JointGrades) and np.isnan(drawn.values).all():
        joint = Undefined(f"the coefficient has no value in any of {len(drawn.values)} simulated studies")
    if isinstance(joint, Undefined):
        return Estimate(joint, joint), Estimate(joint, joint)
    tables = _shares(joint.tables) * design.pool_size * design.queries / len(joint.tables)
    value = joint.estimate(tables, name=coefficient, level=level).value
    agreement = Estimate(value, few or _future_interval(drawn.values, level))
    if len(joint.tables) == 1:
        assert few is not None
        return agreement, Estimate(few, few)
    return agreement, _estimate(float(np.nanmedian(drawn.widths)), few, drawn.widths, level)


def _shares(tables: Integers) -> Array:
    """Share of each query's pairs with each pattern."""
    return np.asarray(tables / tables.sum(axis=1, keepdims=True))


def _too_few(query_ids: Sequence[str], topics: Mapping[str, str] | None, suffix: str) -> Undefined | None:
    units = inference.clusters_of(query_ids, [topics[query_id] for query_id in query_ids] if topics else None)
    if not units.n or units.n >= MIN_UNITS:
        return None
    pilot = f"{counted(units.n, units.unit)}{suffix}"
    return Undefined(f"a pilot of {pilot} does not show how {plural_of(units.unit)} differ; {MIN_UNITS} are needed")


def _estimate(value: Value, few: Undefined | None, draws: Array | Undefined, level: float) -> Estimate:
    if isinstance(value, Undefined):
        return Estimate(value, value)
    return Estimate(value, few or (draws if isinstance(draws, Undefined) else _future_interval(draws, level)))


def _future_interval(draws: Array, level: float) -> Interval | Undefined:
    """Interval that contains one more draw with probability `level`, by ranks, as few draws do not reach the tails."""
    defined = draws[~np.isnan(draws)]
    fewest = math.ceil(2 / (1 - level) - 1 - 1e-9)
    if len(defined) < fewest:
        return Undefined(
            f"{len(defined)} simulated studies are too few for a {percent(level)} interval; {fewest} are needed"
        )
    return hours.predicted(defined, level, method="weibull")


@dataclass(frozen=True, slots=True)
class Labour:
    """Times in a pilot: of T queries, by n people."""

    query_ids: tuple[str, ...]
    by_query: Array
    """Shape (T,): time of a query's pairs divided by that of its assessors on the average query."""
    by_person: Array
    """Shape (n,): seconds per pair."""

    def expected(self, judgements: int) -> float:
        """Hours for this many judgements, shared evenly."""
        return judgements * float(self.by_person.mean() * self.by_query.mean()) / hours.HOUR

    def simulated(
        self, judgements: int, redrawn: PilotRedraw, like: Integers, people: int, rng: np.random.Generator
    ) -> float:
        """Hours of one study with queries like those of the pilot (`like`) as it is `redrawn`."""
        queries = np.exp(redrawn.future(np.log(self.by_query), 1.0))[like]
        return judgements * float(queries.mean() * self._team(people, rng).mean()) / hours.HOUR

    def _team(self, people: int, rng: np.random.Generator) -> Array:
        """Speeds of a team: some of the pilot's people, or all and others who differ from them as they do from each
        other.
        """
        n = len(self.by_person)
        if people <= n:
            return rng.choice(self.by_person, size=people, replace=False)
        spread = np.var(np.log(self.by_person), ddof=1) * (1 + 1 / n) if n > 1 else 0.0
        others = np.exp(np.sqrt(spread) * rng.standard_normal(people - n) - spread / 2)
        return np.concatenate([self.by_person, self.by_person.mean() * others])


def labour_of(by_assessor: Mapping[str, Sequence[Judgement]], *, fence: float) -> Labour | Undefined:
    """Learn labour from times within the fences.

    A query's time is relative to its own assessors', so that a query that slow people judged is no slow query.
    """
    speed = hours.speed_of(by_assessor, fence=fence)
    if not isinstance(speed, hours.Speed):
        return speed
    relative = grouped(
        (query_id, seconds / speed.means[name])
        for name, times in hours.kept_times(by_assessor, fence=fence).items()
        for query_id, seconds in times
    )
    query_ids = tuple(sorted(relative))
    by_query = np.array([np.mean(relative[query_id]) for query_id in query_ids])
    return Labour(query_ids, by_query, np.array([speed.means[name] for name in sorted(speed.means)]))
