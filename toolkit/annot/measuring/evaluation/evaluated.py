"""Runs measured by facet and together, in both conventions, and compared: with each other, chance, and one assessor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from annot.base.errors import InputError
from annot.base.names import called, counted
from annot.base.records import Ranking, grouped
from annot.base.stats.arrays import Array
from annot.base.stats.pseudo_topics import Reach, interval_of_mean
from annot.base.stats.values import Interval, Undefined, rounding
from annot.measuring.evaluation.averages import DEV_FOLD, TOGETHER, Average, average_of, in_test_folds
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
"""By query, then measure."""

CHANCE = "chance"
ONE_ASSESSOR = "one assessor"
PRIMARY = {"csfcube": "NDCG%20", "trec": "nDCG"}
"""The measure on which runs are compared, by convention. One, named beforehand: each further one is another chance to
find a difference that is none. CSFCube's leaderboard is ordered by NDCG%20."""


@dataclass(frozen=True, slots=True)
class RunMeasures:
    """The measures of one run on one facet in one convention; fractions, 0..1."""

    convention: str
    facet: str
    run: str
    """A system, where it has several runs."""
    average: str
    """How the queries were averaged: plainly, or as the mean of the folds' means."""
    queries: int
    topics: int
    """Of these queries: the units of chance."""
    values: dict[str, float]
    intervals: dict[str, Interval | Undefined]
    """Of each measure, over whole topics: two facets of one share its pool."""
    runs: int = 1
    """How many runs of the system there are; the values of a query are their means."""
    spread: dict[str, float] = field(default_factory=dict)
    """The standard deviation of each measure over the runs; empty for one run."""
    over_chance: Interval | Undefined | None = None
    """Of the difference from a random order on the same queries, on the measure by which the convention compares; of
    this difference alone, not corrected for the other runs."""
    p_over_chance: float | None = None
    """Of this difference, by the step-down maximum of t over all runs of the facet. It decides."""
    above_chance: bool = False
    """Whether the difference is positive and its p at most `ALPHA`."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """All lines, the evaluations behind them, how the runs compare, and what a reader must know."""

    relevant_from: int
    level: float
    """Of the intervals."""
    lines: tuple[RunMeasures, ...]
    """Of the runs, and of a random order that is as long as the longest of them."""
    ceiling: tuple[RunMeasures, ...]
    """What one assessor's grades reach as a ranking. The final grades rest on them: it is on the generous side."""
    convention: str
    """The convention in which runs are compared."""
    measure: str
    """The measure on which they are compared."""
    comparisons: tuple[RunComparison, ...]
    """All pairs of runs of each facet, then together; the better runs first."""
    verdicts: tuple[Verdict, ...]
    """One for each facet with at least two runs, then together."""
    evaluations: dict[str, dict[str, Evaluation]]
    """By run, then convention."""
    notes: tuple[str, ...]
    warning: str = ""
    """What a reader must know before any figure: that no grade counts as relevant."""
    sampled: SampleCost | None = None
    """Where a sample of the pools was judged: what that costs. All figures are estimates of the whole pools then."""
    restated: Restated | None = None
    """Where the pools were topped up: the scores before each time, beside these."""

    @property
    def several(self) -> bool:
        """Whether a system has several runs."""
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

    graded: by what they are measured. facets, topics: the facet and the topic of each query; topics None takes the
    queries as independent. systems: which system each run is of; one that is not named is its own, and several runs of
    one are one line and one side of a comparison. left_out: by run, the queries that its system cannot rank for; it is
    not measured on their facets, nor together.
    measures: shown beside the conventions' own; on the first of them runs are compared, in the first of `conventions`
    (without one, on that of `PRIMARY`). ties: one of `annot.measuring.evaluation.measures.TIES`. average: one of
    AVERAGES. seed: of the tests between runs.
    """
    evaluations: dict[str, dict[str, Evaluation]] = {}
    facet_names = sorted({facets[query_id] for query_id in graded.query_ids})
    for tag, rankings in runs.items():
        covered = [name for name in facet_names if any(facets.get(query_id) == name for query_id in rankings)]
        unable = left_out.get(tag, ())
        mine = {one for one in graded.query_ids if facets[one] in covered and one not in unable}
        if not mine:
            raise InputError(
                f"run {tag}: the qrels have none of its queries",
                faults=[f"found {', '.join(sorted(rankings)[:3])}", f"expected {', '.join(sorted(facets)[:3])}"],
            )
        known = {query_id: ranking for query_id, ranking in rankings.items() if query_id in facets}
        evaluations[tag] = {
            convention: graded.measured(known, mine, MeasuresAsked(convention, measures, relevant_from), ties=ties)
            for convention in conventions
        }
    notes = [
        *caveats(
            {tag: by_convention[conventions[0]] for tag, by_convention in evaluations.items()},
            unknown={tag: len(run.keys() - facets.keys()) for tag, run in runs.items()},
            unable={tag: sorted({*graded.query_ids}.intersection(left_out.get(tag, ()))) for tag in runs},
            whole=graded.whole,
            some_relevant=graded.highest >= relevant_from,
        )
    ]
    if any(len({len(run[one]) for run in runs.values() if run.get(one)}) > 1 for one in graded.query_ids):
        notes.append(f"{CHANCE}: as long as the longest run; each run is compared with one of its own length")
    primary = measures[0] if measures else PRIMARY[conventions[0]]
    tags_of = grouped((systems.get(tag, tag), tag) for tag in runs)
    lines: list[RunMeasures] = []
    ceiling: list[RunMeasures] = []
    comparisons: list[RunComparison] = []
    verdicts: list[Verdict] = []
    for convention in conventions:
        values: dict[str, Values] = {
            tag: {query.query_id: query.values for query in evaluations[tag][convention].queries} for tag in runs
        }
        names = graded.columns(convention, measures)
        by = next((name for name in measures if name in names), PRIMARY[convention])
        asked = MeasuresAsked(convention, names, relevant_from)
        floors, longest = _floors(runs, graded, asked)
        one_assessor = graded.one_assessor(asked)
        best = _by_query(graded.best_order(asked))
        for facet in [*facet_names, *([TOGETHER] if len(facet_names) > 1 else [])]:
            members = {query_id for query_id in graded.query_ids if facet in (facets[query_id], TOGETHER)}
            folds = splits.get("all" if facet == TOGETHER else facet, {})
            if average == "dev":
                members &= set(folds.get(DEV_FOLD, ()))
                if not members:
                    hint = "use `--average plain`" if splits else "draw folds with `annot query folds`"
                    raise InputError(f"{_on(facet)}no query is in a development fold on record", hint=hint)
            if average == "test" and (untested := members - in_test_folds(members, folds)):
                members -= untested
                if convention == conventions[0]:
                    left = counted(len(untested), "query")
                    notes.append(f"{_on(facet)}leaves out {left} outside the test folds; `--average plain` takes all")
            whole = average_of(members, facet, folds, topics, average)
            covering = {
                system: own
                for system, tags in tags_of.items()
                if (own := [tag for tag in tags if members <= values[tag].keys()])
            }
            there = {system: [values[tag] for tag in own] for system, own in covering.items()}
            measured = [_line(convention, system, of, whole, names, best, level) for system, of in there.items()]
            beside = {
                system: (
                    whole.sums(_means(there[system], whole, by)),
                    whole.sums(_means([floors[tag] for tag in own], whole, by)),
                )
                for system, own in covering.items()
            }
            lines += _beside_chance(measured, beside, whole, whole.reach(best, by), level=level, seed=seed)
            lines.append(_line(convention, CHANCE, [longest], whole, names, best, level))
            judged = members & one_assessor.keys()
            if judged:
                of_judged = average_of(judged, facet, folds, topics, average)
                ceiling.append(_line(convention, ONE_ASSESSOR, [one_assessor], of_judged, names, best, level))
            if convention == conventions[0] and len(there) > 1:
                of_facet, verdict = compare_runs(
                    facet,
                    {system: whole.sums(_means(of, whole, primary)) for system, of in there.items()},
                    whole.sizes(),
                    reach=whole.reach(best, primary),
                    unit=whole.unit,
                    convention=convention,
                    measure=primary,
                    level=level,
                    seed=seed,
                )
                comparisons += of_facet
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


def _by_query(best: Evaluation | None) -> dict[str, QueryMeasures] | None:
    return None if best is None else {query.query_id: query for query in best.queries}


def _line(
    convention: str,
    run: str,
    runs: Sequence[Values],
    average: Average,
    names: tuple[str, ...],
    best: Mapping[str, QueryMeasures] | None,
    level: float,
) -> RunMeasures:
    """runs: the values of each run of the system. best: the best order of each query; None if it is not known."""
    mean = {name: _means(runs, average, name) for name in names}
    by_query = {query_id: {name: of[query_id] for name, of in mean.items()} for query_id in average.members}
    of_each = [mean_over_folds(values, average.folds) for values in runs]
    sizes = average.sizes()
    return RunMeasures(
        convention=convention,
        facet=average.facet,
        run=run,
        average=average.kind,
        queries=len(average.members),
        topics=len(sizes),
        values=mean_over_folds(by_query, average.folds),
        intervals={
            name: interval_of_mean(average.sums(of), sizes, average.reach(best, name), level=level, unit=average.unit)
            for name, of in mean.items()
        },
        runs=len(runs),
        spread={name: float(np.std([one[name] for one in of_each], ddof=1)) for name in names if len(runs) > 1},
    )


def _means(runs: Sequence[Values], average: Average, name: str) -> dict[str, float]:
    """The measure of each query, the mean over the runs of a system."""
    return {query_id: float(np.mean([values[query_id][name] for values in runs])) for query_id in average.members}


def _floors(
    runs: Mapping[str, Mapping[str, Ranking]], graded: GradedPools, asked: MeasuresAsked
) -> tuple[dict[str, Values], Values]:
    """The measures of a random order of all that the runs rank: by run, cut at its length, and at the longest one."""
    lengths = {tag: {one: len(run.get(one, ())) for one in graded.query_ids} for tag, run in runs.items()}
    longest = {one: max((of_run[one] for of_run in lengths.values()), default=0) for one in graded.query_ids}
    cuts = {cut for of_run in (longest, *lengths.values()) for cut in of_run.items()}
    found = graded.chance(ranked_by_any(runs.values()), cuts, asked)
    of_each: dict[str, Values] = {
        tag: {query_id: found[query_id, length] for query_id, length in of_run.items()}
        for tag, of_run in lengths.items()
    }
    return of_each, {query_id: found[query_id, length] for query_id, length in longest.items()}


def _beside_chance(
    lines: Sequence[RunMeasures],
    beside: Mapping[str, tuple[Array, Array]],
    average: Average,
    reach: Reach | None,
    *,
    level: float,
    seed: int,
) -> list[RunMeasures]:
    """The lines with their differences from a random order.

    beside: by run, its sums and those of a random order, as `Average.sums` has them.
    """
    sizes = average.sizes()
    ahead = {run: of_run - chance for run, (of_run, chance) in beside.items()}
    p_values = p_over_chance(ahead, sizes, seed=seed)
    alone = {run: p_over_chance({run: of_run}, sizes, seed=seed)[run] for run, of_run in ahead.items()}
    return [
        replace(
            line,
            over_chance=interval_beside_test(
                *beside[line.run],
                sizes,
                reach=reach,
                p_value=alone[line.run],
                holds=p_values[line.run] <= ALPHA,
                unit=average.unit,
                level=level,
                seed=seed,
            ),
            p_over_chance=p_values[line.run],
            above_chance=p_values[line.run] <= ALPHA and float(shares_of(ahead[line.run], sizes).sum()) > 0,
        )
        for line in lines
    ]


def _on(facet: str) -> str:
    return f"{facet}: " if called().faceted else ""
