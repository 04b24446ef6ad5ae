"""Runs measured by facet and together, in both dialects, with what chance reaches beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.agreement import Bootstrap, Intervals
from annot.errors import InputError
from annot.evaluation.measures import DIALECTS, MEASURES, Evaluation, by_folds, chance_floor
from annot.evaluation.measures import evaluate as measure
from annot.records import Qrel, Ranking
from annot.stats.clusters import of_clusters
from annot.stats.rounding import rounding

TOGETHER = "together"
CHANCE = "chance"
TEST = "mean of fold means"
PLAIN = "mean over queries"


@dataclass(frozen=True, slots=True)
class Line:
    """The measures of one run on one facet in one dialect; fractions, 0..1."""

    dialect: str
    facet: str
    run: str
    average: str
    """How the queries were averaged: plainly, or as the mean of the folds' means."""
    queries: int
    values: dict[str, float]
    intervals: dict[str, Intervals]
    """Of each measure, by resampling whole query papers: two facets of one paper share its pool."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """All lines, the evaluations behind them, and what a reader must know."""

    relevant_from: int
    bootstrap: Bootstrap
    """How the intervals were drawn."""
    lines: tuple[Line, ...]
    evaluations: dict[str, dict[str, Evaluation]]
    """By run, then dialect."""
    notes: tuple[str, ...]


@rounding
def of_runs(
    runs: Mapping[str, Mapping[str, Ranking]],
    qrels: tuple[Qrel, ...],
    *,
    facets: Mapping[str, str],
    papers: Mapping[str, str],
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    dialects: tuple[str, ...],
    relevant_from: int,
    bootstrap: Bootstrap,
) -> Evaluated:
    """Evaluate runs by facet and together. A run that covers only some facets is measured on those.

    facets, papers: the facet and the paper of each query. All lines of a facet see the same resamples of its papers.
    """
    lines: list[Line] = []
    notes: list[str] = []
    evaluations: dict[str, dict[str, Evaluation]] = {}
    names = sorted({facets[one.query_id] for one in qrels})
    for tag, rankings in runs.items():
        covered = [name for name in names if any(facets.get(query_id) == name for query_id in rankings)]
        mine = tuple(one for one in qrels if facets[one.query_id] in covered)
        if not mine:
            raise InputError(
                f"run {tag}: none of its queries is in the qrels",
                faults=[f"found {', '.join(sorted(rankings)[:3])}", f"expected {', '.join(sorted(facets)[:3])}"],
            )
        evaluations[tag] = {}
        for dialect in dialects:
            evaluation = measure(
                {query_id: ranking for query_id, ranking in rankings.items() if query_id in facets},
                mine,
                dialect=dialect,
                relevant_from=relevant_from,
            )
            evaluations[tag][dialect] = evaluation
            for facet in [*covered, *([TOGETHER] if len(names) > 1 and covered == names else [])]:
                lines.append(_line(evaluation, facet, tag, facets, papers, splits, bootstrap))
        notes += _notes(tag, evaluations[tag][dialects[0]], set(rankings) - set(facets))
    for dialect in dialects:
        floor = chance_floor(qrels, dialect=dialect, relevant_from=relevant_from)
        for facet in [*names, *([TOGETHER] if len(names) > 1 else [])]:
            members = {query_id: of for query_id, of in floor.items() if facet in (facets[query_id], TOGETHER)}
            values = {name: sum(one[name] for one in members.values()) / len(members) for name in MEASURES[dialect]}
            intervals = _intervals(members, [tuple(members)], papers, facet, bootstrap)
            lines.append(Line(dialect, facet, CHANCE, PLAIN, len(members), values, intervals))
    lines.sort(key=lambda one: (tuple(DIALECTS).index(one.dialect), one.facet == TOGETHER, one.facet))
    return Evaluated(relevant_from, bootstrap, tuple(lines), evaluations, tuple(notes))


def _line(
    evaluation: Evaluation,
    facet: str,
    tag: str,
    facets: Mapping[str, str],
    papers: Mapping[str, str],
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    bootstrap: Bootstrap,
) -> Line:
    members = [one for one in evaluation.queries if facet in (facets[one.query_id], TOGETHER)]
    names = MEASURES[evaluation.dialect]
    by_query = {one.query_id: one.values for one in members}
    folds = _test_folds(splits.get("all" if facet == TOGETHER else facet, {}))
    if folds and {query_id for fold in folds for query_id in fold} == {one.query_id for one in members}:
        means = by_folds(evaluation, test=folds, dev=folds[0])
        intervals = _intervals(by_query, folds, papers, facet, bootstrap)
        return Line(evaluation.dialect, facet, tag, TEST, len(members), means.test, intervals)
    values = {name: sum(one.values[name] for one in members) / len(members) for name in names}
    intervals = _intervals(by_query, [tuple(by_query)], papers, facet, bootstrap)
    return Line(evaluation.dialect, facet, tag, PLAIN, len(members), values, intervals)


def _intervals(
    values: Mapping[str, Mapping[str, float]],
    folds: Sequence[Sequence[str]],
    papers: Mapping[str, str],
    facet: str,
    bootstrap: Bootstrap,
) -> dict[str, Intervals]:
    """Of the mean over `folds` of each fold's mean, by measure; `values` by query, then measure."""
    rows = {paper_id: at for at, paper_id in enumerate(sorted({papers[query_id] for query_id in values}))}
    sizes = np.zeros((len(rows), len(folds)))
    names = tuple(next(iter(values.values())))
    sums = np.zeros((len(names), *sizes.shape))
    for place, fold in enumerate(folds):
        for query_id in fold:
            sizes[rows[papers[query_id]], place] += 1
            sums[:, rows[papers[query_id]], place] += [values[query_id][name] for name in names]
    return {
        name: of_clusters(of_name, sizes, cluster="query paper", plan=bootstrap, key=f"evaluation {facet}")
        for name, of_name in zip(names, sums, strict=True)
    }


def _test_folds(folds: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The test folds (`fold1_test`, `fold2_test`, ...) in their order."""
    return [folds[name] for name in sorted(folds) if re.fullmatch(r"fold\d+_test", name)]


def _notes(tag: str, evaluation: Evaluation, unknown: set[str]) -> list[str]:
    notes = []
    missing = sum(len(one.missing) for one in evaluation.queries)
    unjudged = sum(one.unjudged for one in evaluation.queries)
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
