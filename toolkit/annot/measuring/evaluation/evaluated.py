"""Runs measured by facet and together, in both conventions, and compared: with each other, chance, and one assessor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Ranking, grouped
from annot.base.stats.arrays import Array
from annot.base.stats.pseudo_topics import Reach, interval_of_mean
from annot.base.stats.values import Interval, Undefined, rounding
from annot.measuring.evaluation.averages import Average, average_of, averages_of_facets, folds_of
from annot.measuring.evaluation.caveats import caveats, nothing_relevant
from annot.measuring.evaluation.chance import ranked_by_any
from annot.measuring.evaluation.comparisons import (
    ALPHA,
    Restated,
    RunComparison,
    Verdict,
    compare_runs,
    interval_beside_test,
    p_over_chance,
    shares_of,
)
from annot.measuring.evaluation.computed import MeasuresAsked
from annot.measuring.evaluation.graded_pools import GradedPools, SampleCost
from annot.measuring.evaluation.measures import Evaluation, QueryMeasures, mean_over_folds

Values = Mapping[str, Mapping[str, float]]
"""Value by query, then measure."""

CHANCE = "chance"
ONE_ASSESSOR = "one assessor"
PRIMARY = {"csfcube": "NDCG%20", "trec": "nDCG"}
"""Measure on which runs are compared, by convention. It is one, named beforehand: each further one is another chance to
find a difference that is not real. CSFCube's leaderboard is ordered by NDCG%20.
"""


@dataclass(frozen=True, slots=True)
class RunMeasures:
    """Measures of one run on one facet in one convention; fractions, 0..1."""

    convention: str
    facet: str
    run: str
    """Tag of the run, or name of its system if that has several runs."""
    average: str
    """Kind of average over the queries: plain, or the mean of the folds' means."""
    queries: int
    topics: int
    """Topics of these queries: the units of chance."""
    values: dict[str, float]
    intervals: dict[str, Interval | Undefined]
    """Interval of each measure, over whole topics: two facets of a topic share its pool."""
    runs: int = 1
    """Number of runs of the system; the values of a query are their means."""
    spread: dict[str, float] = field(default_factory=dict)
    """Standard deviation of each measure over the runs; empty for one run."""
    over_chance: Interval | Undefined | None = None
    """Interval of the difference from a random order on the same queries, on the measure by which the convention
    compares; of this difference alone, not corrected for the other runs.
    """
    p_over_chance: float | None = None
    """p of this difference, by the step-down maximum of t over all runs of the facet. It decides."""
    above_chance: bool = False
    """True if the difference is positive and its p at most `ALPHA`."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Lines of all runs, the evaluations behind them, how the runs compare, and caveats for the reader."""

    relevant_from: int
    level: float
    """Level of the intervals."""
    lines: tuple[RunMeasures, ...]
    """Lines of the runs, and of a random order that is as long as the longest of them."""
    ceiling: tuple[RunMeasures, ...]
    """Measures of a ranking by one assessor's grades. The final grades rest on them, so they are on the generous side.
    """
    convention: str
    """Convention in which runs are compared."""
    measure: str
    """Measure on which they are compared."""
    comparisons: tuple[RunComparison, ...]
    """Comparisons of all pairs of runs on each facet, then together; the better runs first."""
    verdicts: tuple[Verdict, ...]
    """Verdict on each facet with at least two runs, then together."""
    evaluations: dict[str, dict[str, Evaluation]]
    """Evaluation by run, then convention."""
    notes: tuple[str, ...]
    warning: str = ""
    """Warning that comes before any figure: no grade counts as relevant."""
    sampled: SampleCost | None = None
    """Cost of judging a sample of the pools, if that was done. All figures are then estimates for the whole pools."""
    restated: Restated | None = None
    """Scores before each time that the pools were topped up, and now."""

    @property
    def several(self) -> bool:
        """True if a system has several runs."""
        return any(line.spread for line in self.lines)


@rounding
def of_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    graded: GradedPools,
    *,
    facets: Mapping[str, str],
    topics: Mapping[str, str] | None,
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    systems: Mapping[str, str],
    left_out: Mapping[str, Collection[str]],
    conventions: tuple[str, ...],
    measures: tuple[str, ...],
    ties: str,
    average: str,
    relevant_from: int,
    level: float,
    seed: int,
) -> Evaluated:
    """Evaluate runs by facet and together. A run that covers only some facets is measured and compared on those.

    graded: the pools by whose grades runs are measured. facets, topics: the facet and the topic of each query; topics
    None takes the queries as independent. systems: the system of each run; a run without one is its own system, and
    several runs of a system are one line and one side of a comparison. left_out: by run, the queries that its system
    cannot rank for; it is not measured on their facets, nor together.
    measures: shown besides the conventions' own; runs are compared on the first of them, in the first of `conventions`
    (without one, on that of `PRIMARY`). ties: one of `annot.measuring.evaluation.measures.TIES`. average: one of
    AVERAGES. seed: of the tests between runs.
    """
    evaluations: dict[str, dict[str, Evaluation]] = {}
    for tag, rankings in runs.items():
        queries = _queries_of(tag, rankings, graded, facets, left_out.get(tag, ()))
        lists = {query_id: ranking for query_id, ranking in rankings.items() if query_id in facets}
        evaluations[tag] = {
            convention: graded.measured(lists, queries, MeasuresAsked(convention, measures, relevant_from), ties=ties)
            for convention in conventions
        }
    notes = [
        *caveats(
            {tag: by_convention[conventions[0]] for tag, by_convention in evaluations.items()},
            unknown={tag: len(run.keys() - facets.keys()) for tag, run in runs.items()},
            unable={tag: sorted({*graded.query_ids}.intersection(left_out.get(tag, ()))) for tag in runs},
            complete=graded.whole,
            some_relevant=graded.highest >= relevant_from,
        )
    ]
    if any(len({len(run[name]) for run in runs.values() if run.get(name)}) > 1 for name in graded.query_ids):
        notes.append(f"{CHANCE}: as long as the longest run; each run is compared with one of its own length")
    averages, left_out_of_folds = averages_of_facets(
        {name: facets[name] for name in graded.query_ids}, topics, splits, average
    )
    notes += left_out_of_folds
    primary = measures[0] if measures else PRIMARY[conventions[0]]
    tags_of = grouped((systems.get(tag, tag), tag) for tag in runs)
    lines: list[RunMeasures] = []
    ceiling: list[RunMeasures] = []
    comparisons: list[RunComparison] = []
    verdicts: list[Verdict] = []
    for convention in conventions:
        selection = MeasuresAsked(convention, graded.columns(convention, measures), relevant_from)
        one_assessor, best = graded.one_assessor(selection), graded.best_order(selection)
        chance, longest = _random_orders(runs, graded, selection)
        figures = _Figures(
            convention=convention,
            names=selection.names,
            values={tag: _values(evaluations[tag][convention]) for tag in runs},
            chance=chance,
            longest=longest,
            best=None if best is None else {query.query_id: query for query in best.queries},
            tags_of=tags_of,
            level=level,
            seed=seed,
        )
        beyond_chance = next((name for name in measures if name in selection.names), PRIMARY[convention])
        for averaged in averages:
            lines += figures.lines(averaged, beyond_chance)
            judged = one_assessor.keys() & set(averaged.members)
            if judged:
                of_judged = average_of(judged, averaged.facet, folds_of(splits, averaged.facet), topics, average)
                ceiling.append(figures.line(ONE_ASSESSOR, [one_assessor], of_judged))
            if convention == conventions[0] and len(figures.tags_on(averaged)) > 1:
                pairs, verdict = figures.comparisons(averaged, primary)
                comparisons += pairs
                verdicts.append(verdict)
    return Evaluated(
        relevant_from=relevant_from,
        level=level,
        lines=tuple(lines),
        ceiling=tuple(ceiling),
        convention=conventions[0],
        measure=primary,
        comparisons=tuple(comparisons),
        verdicts=tuple(verdicts),
        evaluations=evaluations,
        notes=tuple(notes),
        warning=nothing_relevant(graded.highest, relevant_from),
    )


def _queries_of(
    tag: str,
    rankings: Mapping[str, Ranking],
    graded: GradedPools,
    facets: Mapping[str, str],
    unable: Collection[str],
) -> set[str]:
    """Graded queries of the facets that the run covers. Raises InputError if it covers none."""
    covered = {facets[query_id] for query_id in rankings if query_id in facets}
    queries = {name for name in graded.query_ids if facets[name] in covered and name not in unable}
    if not queries:
        raise InputError(
            f"run {tag}: the qrels have none of its queries",
            faults=[f"found {', '.join(sorted(rankings)[:3])}", f"expected {', '.join(sorted(facets)[:3])}"],
        )
    return queries


def _values(evaluation: Evaluation) -> Values:
    return {query.query_id: query.values for query in evaluation.queries}


@dataclass(frozen=True, slots=True)
class _Figures:
    """Values of all runs in one convention, by query, and the yardsticks for them."""

    convention: str
    names: Sequence[str]
    values: Mapping[str, Values]
    """Values by run, then query."""
    chance: Mapping[str, Values]
    """Values of a random order by run, cut at its length."""
    longest: Values
    """Values of a random order that is cut at the length of the longest run."""
    best: Mapping[str, QueryMeasures] | None
    """Best order of each query; None if it is not known."""
    tags_of: Mapping[str, Sequence[str]]
    """Runs of each system."""
    level: float
    seed: int

    def tags_on(self, average: Average) -> dict[str, list[str]]:
        """Systems with runs that cover all of these queries, and those runs."""
        tags = {
            system: [tag for tag in tags if self.values[tag].keys() >= {*average.members}]
            for system, tags in self.tags_of.items()
        }
        return {system: covering for system, covering in tags.items() if covering}

    def line(self, run: str, runs: Sequence[Values], average: Average) -> RunMeasures:
        """Line of a system with these runs."""
        mean = {name: _means(runs, average, name) for name in self.names}
        by_query = {query_id: {name: mean[name][query_id] for name in mean} for query_id in average.members}
        means_of_runs = [mean_over_folds(values, average.folds) for values in runs]
        sizes = average.sizes()
        return RunMeasures(
            convention=self.convention,
            facet=average.facet,
            run=run,
            average=average.kind,
            queries=len(average.members),
            topics=len(sizes),
            values=mean_over_folds(by_query, average.folds),
            intervals={
                name: interval_of_mean(
                    average.sums(values), sizes, average.reach(self.best, name), level=self.level, unit=average.unit
                )
                for name, values in mean.items()
            },
            runs=len(runs),
            spread={
                name: float(np.std([means[name] for means in means_of_runs], ddof=1))
                for name in self.names
                if len(runs) > 1
            },
        )

    def lines(self, average: Average, measure: str) -> list[RunMeasures]:
        """Lines of all systems, with their differences from a random order on `measure`, and that of a random order."""
        tags_on = self.tags_on(average)
        lines = [self.line(system, [self.values[tag] for tag in tags], average) for system, tags in tags_on.items()]
        sums_and_chance = {
            system: (self._sums(self.values, tags, average, measure), self._sums(self.chance, tags, average, measure))
            for system, tags in tags_on.items()
        }
        reach = average.reach(self.best, measure)
        lines = _beside_chance(lines, sums_and_chance, average, reach, level=self.level, seed=self.seed)
        return [*lines, self.line(CHANCE, [self.longest], average)]

    def comparisons(self, average: Average, measure: str) -> tuple[tuple[RunComparison, ...], Verdict]:
        """Comparison of all systems on `measure`."""
        return compare_runs(
            average.facet,
            {system: self._sums(self.values, tags, average, measure) for system, tags in self.tags_on(average).items()},
            average.sizes(),
            reach=average.reach(self.best, measure),
            unit=average.unit,
            convention=self.convention,
            measure=measure,
            level=self.level,
            seed=self.seed,
        )

    def _sums(self, values: Mapping[str, Values], tags: Sequence[str], average: Average, measure: str) -> Array:
        return average.sums(_means([values[tag] for tag in tags], average, measure))


def _means(runs: Sequence[Values], average: Average, name: str) -> dict[str, float]:
    """Value of each query, the mean over the runs of a system."""
    return {query_id: float(np.mean([values[query_id][name] for values in runs])) for query_id in average.members}


def _random_orders(
    runs: Mapping[str, Mapping[str, Ranking]], graded: GradedPools, selection: MeasuresAsked
) -> tuple[dict[str, Values], Values]:
    """Measures of a random order of all that the runs rank: by run, cut at its length, and at that of the longest."""
    cuts_of = {tag: [(name, len(run.get(name, ()))) for name in graded.query_ids] for tag, run in runs.items()}
    longest = [(name, max((len(run.get(name, ())) for run in runs.values()), default=0)) for name in graded.query_ids]
    all_cuts = {cut for cuts in (longest, *cuts_of.values()) for cut in cuts}
    values = graded.chance(ranked_by_any(runs.values()), all_cuts, selection)
    return (
        {tag: {cut[0]: values[cut] for cut in cuts} for tag, cuts in cuts_of.items()},
        {cut[0]: values[cut] for cut in longest},
    )


def _beside_chance(
    lines: Sequence[RunMeasures],
    sums_and_chance: Mapping[str, tuple[Array, Array]],
    average: Average,
    reach: Reach | None,
    *,
    level: float,
    seed: int,
) -> list[RunMeasures]:
    """Add to each line its difference from a random order.

    sums_and_chance: by run, its sums and those of a random order, as `Average.sums` returns them.
    """
    sizes = average.sizes()
    differences = {run: sums - chance for run, (sums, chance) in sums_and_chance.items()}
    p_values = p_over_chance(differences, sizes, seed=seed)
    alone = {run: p_over_chance({run: sums}, sizes, seed=seed)[run] for run, sums in differences.items()}
    return [
        replace(
            line,
            over_chance=interval_beside_test(
                *sums_and_chance[line.run],
                sizes,
                reach=reach,
                p_value=alone[line.run],
                holds=p_values[line.run] <= ALPHA,
                unit=average.unit,
                level=level,
                seed=seed,
            ),
            p_over_chance=p_values[line.run],
            above_chance=p_values[line.run] <= ALPHA and float(shares_of(differences[line.run], sizes).sum()) > 0,
        )
        for line in lines
    ]
