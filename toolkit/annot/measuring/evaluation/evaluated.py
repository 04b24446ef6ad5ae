"""Runs measured by facet and together, in both conventions, and compared: with each other, chance, and one assessor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.records import Judgement, Qrel, Ranking
from annot.base.stats.arrays import Array
from annot.base.stats.clustered import ratio_interval
from annot.base.stats.values import Interval, Undefined, rounding
from annot.base.templating import counted
from annot.measuring.evaluation.comparisons import FEWEST_PAPERS, Restated, RunComparison, Verdict, compare_runs
from annot.measuring.evaluation.measures import (
    Evaluation,
    chance_floor,
    columns,
    mean_over_folds,
    single_assessor_ceiling,
)
from annot.measuring.evaluation.measures import evaluate as measure_run
from annot.measuring.folds import test_folds

Values = Mapping[str, Mapping[str, float]]
"""By query, then measure."""

TOGETHER = "together"
CHANCE = "chance"
ONE_ASSESSOR = "one assessor"
TEST = "mean of fold means"
TEST_FOLD = "mean over the test fold"
DEV = "mean over the development fold"
PLAIN = "mean over queries"
AVERAGES = ("test", "dev", "plain")
"""Over the test folds where there are some; over the first development fold, as CSFCube's release; over all queries."""
DEV_FOLD = "fold1_dev"
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
    values: dict[str, float]
    intervals: dict[str, Interval | Undefined]
    """Of each measure, over whole query papers: two facets of one paper share its pool."""
    runs: int = 1
    """How many runs of the system there are; the values of a query are their means."""
    spread: dict[str, float] = field(default_factory=dict)
    """The standard deviation of each measure over the runs; empty for one run."""
    demonstration: bool = False
    """Trained on what it is tested on: measured, and compared with nothing."""
    over_chance: Interval | Undefined | None = None
    """Of the difference from a random order of the same queries, on the measure by which the convention compares."""
    above_chance: bool = False
    """Whether this difference is shown to be positive: by its interval, or, where it has none, as it is positive
    on every one of enough papers."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """All lines, the evaluations behind them, how the runs compare, and what a reader must know."""

    relevant_from: int
    level: float
    """Of the intervals."""
    lines: tuple[RunMeasures, ...]
    """Of the runs, and of a random order of the pool."""
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
    restated: Restated | None = None
    """Where the pools were topped up: the scores before each time, beside these."""

    @property
    def several(self) -> bool:
        """Whether a system has several runs."""
        return any(line.spread for line in self.lines)


class _Average(NamedTuple):
    """How the queries of one facet are averaged, and in which papers they come."""

    facet: str
    folds: tuple[tuple[str, ...], ...]
    kind: str
    papers: Mapping[str, str] | None
    """None where queries are independent."""

    @property
    def unit(self) -> str:
        """What the units of chance are."""
        return "query" if self.papers is None else "query paper"

    def unit_of(self, query_id: str) -> str:
        return query_id if self.papers is None else self.papers[query_id]

    def sizes(self) -> Array:
        return self.sums(dict.fromkeys((query_id for fold in self.folds for query_id in fold), 1.0))

    def sums(self, values: Mapping[str, float]) -> Array:
        """The sum over the queries of each paper in each fold: shape (P, S)."""
        rows = sorted({self.unit_of(query_id) for fold in self.folds for query_id in fold})
        sums = np.zeros((len(rows), len(self.folds)))
        for place, fold in enumerate(self.folds):
            for query_id in fold:
                sums[rows.index(self.unit_of(query_id)), place] += values[query_id]
        return sums


@rounding
def of_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    qrels: tuple[Qrel, ...],
    judgements: tuple[Judgement, ...],
    *,
    facets: Mapping[str, str],
    papers: Mapping[str, str] | None,
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    systems: Mapping[str, str],
    demonstrations: Collection[str],
    conventions: tuple[str, ...],
    measures: tuple[str, ...],
    ties: str,
    average: str,
    relevant_from: int,
    level: float,
    seed: int,
) -> Evaluated:
    """Evaluate runs by facet and together. A run that covers only some facets is measured and compared on those.

    facets, papers: the facet and the paper of each query; papers None takes the queries as independent. judgements:
    those behind the qrels. systems: which system each run is of; one that is not named is its own, and several runs of
    one are one line and one side of a comparison.
    demonstrations: runs that were trained on what they are tested on; they are measured, and compared with nothing.
    measures: shown beside the conventions' own; on the first of them runs are compared, in the first of `conventions`
    (without one, on that of `PRIMARY`). ties: one of `annot.measuring.evaluation.measures.TIES`. average: one of
    AVERAGES. seed: of the tests between runs.
    """
    notes: list[str] = []
    evaluations: dict[str, dict[str, Evaluation]] = {}
    facet_names = sorted({facets[qrel.query_id] for qrel in qrels})
    for tag, rankings in runs.items():
        covered = [name for name in facet_names if any(facets.get(query_id) == name for query_id in rankings)]
        mine = tuple(qrel for qrel in qrels if facets[qrel.query_id] in covered)
        if not mine:
            raise InputError(
                f"run {tag}: none of its queries is in the qrels",
                faults=[f"found {', '.join(sorted(rankings)[:3])}", f"expected {', '.join(sorted(facets)[:3])}"],
            )
        known = {query_id: ranking for query_id, ranking in rankings.items() if query_id in facets}
        evaluations[tag] = {
            convention: measure_run(
                known, mine, convention=convention, relevant_from=relevant_from, ties=ties, measures=measures
            )
            for convention in conventions
        }
        notes += _notes(tag, evaluations[tag][conventions[0]], set(rankings) - set(facets))
    primary = measures[0] if measures else PRIMARY[conventions[0]]
    tags_of: dict[str, list[str]] = {}
    for tag in runs:
        tags_of.setdefault(systems.get(tag, tag), []).append(tag)
    shown_only = {system for system, tags in tags_of.items() if not set(tags).isdisjoint(demonstrations)}
    notes += [
        f"{system}: trained on what it is tested on, so it is compared with nothing" for system in sorted(shown_only)
    ]
    lines: list[RunMeasures] = []
    ceiling: list[RunMeasures] = []
    comparisons: list[RunComparison] = []
    verdicts: list[Verdict] = []
    for convention in conventions:
        values: dict[str, Values] = {
            tag: {query.query_id: query.values for query in evaluations[tag][convention].queries} for tag in runs
        }
        how: Any = {"convention": convention, "relevant_from": relevant_from, "measures": measures}
        floor = chance_floor(qrels, **how)
        one_assessor = single_assessor_ceiling(judgements, qrels, **how)
        for facet in [*facet_names, *([TOGETHER] if len(facet_names) > 1 else [])]:
            members = {query_id for query_id in floor if facet in (facets[query_id], TOGETHER)}
            folds = splits.get("all" if facet == TOGETHER else facet, {})
            if average == "dev":
                members &= set(folds.get(DEV_FOLD, ()))
                if not members:
                    hint = "--average plain takes all queries" if splits else "draw folds: `annot query folds`"
                    raise InputError(f"{facet}: no query in a development fold on record", hint=hint)
            if average == "test" and (tested := _tested(members, folds)) != members:
                notes += _left_out(facet, members - tested) if convention == conventions[0] else []
                members = tested
            whole = _average_of(members, facet, folds, papers, average)
            there = {
                system: covering
                for system, tags in tags_of.items()
                if (covering := [values[tag] for tag in tags if members <= values[tag].keys()])
            }
            names = columns(convention, measures)
            for system, of in there.items():
                line = replace(_line(convention, system, of, whole, names, level), demonstration=system in shown_only)
                by = measures[0] if measures else PRIMARY[convention]
                lines.append(_beside_chance(line, of, floor, whole, measure=by, level=level))
            lines.append(_line(convention, CHANCE, [floor], whole, names, level))
            judged = members & one_assessor.keys()
            if judged:
                of_judged = _average_of(judged, facet, folds, papers, average)
                ceiling.append(_line(convention, ONE_ASSESSOR, [one_assessor], of_judged, names, level))
            there = {system: of for system, of in there.items() if system not in shown_only}
            if convention == conventions[0] and len(there) > 1:
                compared = {
                    system: {
                        query_id: float(np.mean([of_run[query_id][primary] for of_run in of])) for query_id in members
                    }
                    for system, of in there.items()
                }
                of_facet, verdict = compare_runs(
                    facet,
                    {system: whole.sums(of_system) for system, of_system in compared.items()},
                    whole.sizes(),
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
    )


def _tested(members: set[str], folds: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The queries of the test folds, where the others are for development; all, where one is in no fold."""
    tested = {query_id for fold in test_folds(folds) for query_id in fold}
    return tested if tested and members == {query_id for fold in folds.values() for query_id in fold} else members


def _left_out(facet: str, others: Collection[str]) -> list[str]:
    return [f"{facet}: left out: {counted(len(others), 'query')} outside the test fold; `--average plain` takes all"]


def _average_of(
    members: set[str], facet: str, splits: Mapping[str, tuple[str, ...]], papers: Mapping[str, str] | None, average: str
) -> _Average:
    """By the test folds (`fold1_test`, `fold2_test`, ...) where they hold just these queries, else plainly."""
    if average == "dev":
        return _Average(facet, (tuple(sorted(members)),), DEV, papers)
    folds = test_folds(splits)
    if average == "test" and folds and sorted(query_id for fold in folds for query_id in fold) == sorted(members):
        return _Average(facet, folds, TEST if len(folds) > 1 else TEST_FOLD, papers)
    return _Average(facet, (tuple(sorted(members)),), PLAIN, papers)


def _line(
    convention: str, run: str, runs: Sequence[Values], average: _Average, names: tuple[str, ...], level: float
) -> RunMeasures:
    """runs: the values of each run of the system."""
    members = {query_id for fold in average.folds for query_id in fold}
    sizes = average.sizes()
    mean = {
        query_id: {name: float(np.mean([values[query_id][name] for values in runs])) for name in names}
        for query_id in members
    }
    intervals = {}
    for name in names:
        sums = average.sums({query_id: mean[query_id][name] for query_id in members})
        intervals[name] = ratio_interval(sums, sizes, level=level, unit=average.unit)
    of_each = [mean_over_folds(values, average.folds) for values in runs]
    spread = {name: float(np.std([one[name] for one in of_each], ddof=1)) for name in names if len(runs) > 1}
    means = mean_over_folds(mean, average.folds)
    return RunMeasures(convention, average.facet, run, average.kind, len(members), means, intervals, len(runs), spread)


def _beside_chance(
    line: RunMeasures, runs: Sequence[Values], floor: Values, average: _Average, *, measure: str, level: float
) -> RunMeasures:
    """The line with its difference from a random order; runs: as in `_line`."""
    sums = average.sums(
        {
            query_id: float(np.mean([values[query_id][measure] for values in runs])) - floor[query_id][measure]
            for fold in average.folds
            for query_id in fold
        }
    )
    interval = ratio_interval(sums, average.sizes(), level=level, unit=average.unit, least=-1.0)
    if isinstance(interval, Interval):
        above = interval.low > 0
    else:
        above = bool((sums > 0).all()) and len(sums) >= FEWEST_PAPERS
    return replace(line, over_chance=interval, above_chance=above)


def _notes(tag: str, evaluation: Evaluation, unknown: set[str]) -> list[str]:
    notes = []
    missing = sum(len(query.missing) for query in evaluation.queries)
    unjudged = sum(query.unjudged for query in evaluation.queries)
    if missing:
        notes.append(f"{tag}: leaves out {missing} judged document(s)")
    if unjudged:
        notes.append(f"{tag}: {unjudged} submitted document(s) are unjudged, and count as not relevant")
    if evaluation.not_submitted:
        notes.append(f"{tag}: no documents for {', '.join(evaluation.not_submitted)}; they score 0")
    if evaluation.without_relevant:
        notes.append(f"{tag}: no relevant document for {', '.join(evaluation.without_relevant)}")
    if unknown:
        notes.append(f"{tag}: {len(unknown)} of its queries are not in this study")
    return notes
