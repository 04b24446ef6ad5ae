"""The runs from the sides that CSFCube looks from: two facets of a paper, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from annot.base.names import called
from annot.base.records import WHOLE
from annot.base.stats.clustered import share_of_counts
from annot.base.stats.values import Share, Undefined
from annot.measuring.evaluation.analyses import (
    FAR_DOWN,
    NEAR_TOP,
    ONE_IN,
    Error,
    error_cases,
    on_facets,
)
from annot.measuring.evaluation.evaluated import Evaluated
from annot.publishing.report import figures
from annot.publishing.report.cells import MEASURE, POINTS, SHARE, Number, measured
from annot.publishing.report.document import Chapter, Figure, Table
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, each, of_facet, table
from annot.publishing.report.verdict import best
from annot.publishing.report.words import sentence
from annot.study.exports import read_kinds


def appendix(study: Study) -> Iterator[Chapter]:
    """One section, where there are runs."""
    evaluated = study.evaluated
    if not isinstance(evaluated, Undefined):
        blocks = (*_facets(study, evaluated), _errors(study), *_kinds(study))
        title = "Runs: facets and errors" if called().faceted else "Runs: errors"
        yield Chapter("analyses", title, (), blocks)


def _facets(study: Study, evaluated: Evaluated) -> Iterator[Table | Figure]:
    """The best run on each paper that has several facets."""
    leader = best(evaluated)
    assert leader is not None
    measured = evaluated.evaluations[leader.verdict.best][evaluated.convention].queries
    papers = on_facets(
        {one.query_id: one.values[leader.measure] for one in measured},
        facets=study.snapshot.facets,
        topics=study.snapshot.topics,
    )
    if not papers:
        return
    named: dict[str, Any] = {"measure": leader.measure, "run": leader.verdict.best, "n": len(papers), "papers": papers}
    facets = [name for name in study.settings.facets if any(name in one.values for one in papers)]
    yield Figure(
        sentence("analyses.facets_figure", **named),
        figures.ranges(
            {name: {one.paper_id: one.values[name] for one in papers if name in one.values} for name in facets},
            {one.paper_id: (min(one.values.values()), max(one.values.values())) for one in papers},
            spanned=None,
            unit=f"{leader.measure}, %",
        ),
        sentence("analyses.facets_drawn", **named),
    )
    yield table(
        "runs-by-facet",
        papers,
        [Column("Paper", lambda one: one.paper_id)],
        [
            *each(facets, lambda one, facet: Number(one.values.get(facet), MEASURE)),
            Column("Difference", lambda one: Number(one.spread, POINTS)),
        ],
        caption="analyses.facets",
        **named,
    )


def _errors(study: Study) -> Table:
    """How often each run goes wrong on each facet."""
    facets, relevant_from = study.snapshot.facets, study.settings.evaluation.relevant_from
    cases = Counter(
        (case.run, case.query_id, case.error)
        for case in error_cases(study.runs, study.outcome.qrels, relevant_from=relevant_from)
    )
    relevant = Counter(qrel.query_id for qrel in study.outcome.qrels if qrel.relevance >= relevant_from)
    judged = sorted({qrel.query_id for qrel in study.outcome.qrels}, key=lambda one: (facets[one], one))
    sampled = study.snapshot.sample is not None
    rows: list[tuple[str, str, Share, Share]] = []
    for facet in dict.fromkeys(facets[query_id] for query_id in judged):
        for run, rankings in study.runs.items():
            ranked = [query_id for query_id in judged if facets[query_id] == facet and rankings.get(query_id)]
            if ranked:
                first_fifth = {query_id: len(rankings[query_id]) // ONE_IN for query_id in ranked}
                possible: dict[Error, Mapping[str, int]] = {NEAR_TOP: first_fifth, FAR_DOWN: relevant}
                shares = [
                    share_of_counts(
                        [cases[run, query_id, error] for query_id in ranked],
                        [of[query_id] for query_id in ranked],
                        level=study.settings.agreement.level,
                        topics=[study.snapshot.topics[query_id] for query_id in ranked],
                    )
                    for error, of in possible.items()
                ]
                near_top, far_down = shares
                rows.append((facet, run, near_top, far_down))
    return table(
        "errors",
        rows,
        [of_facet(lambda one: one[0]), Column("Run", lambda one: one[1])],
        [
            Column("Irrelevant near the top", lambda one: one[2].count),
            *([] if sampled else [Column("Share of the first fifth", lambda one: measured(one[2], SHARE))]),
            Column("Relevant far down", lambda one: one[3].count),
            *([] if sampled else [Column("Share of the relevant", lambda one: measured(one[3], SHARE))]),
        ],
        caption="analyses.errors",
        relevant_from=relevant_from,
        sampled=sampled,
    )


def _pairs(_facet: str) -> str:
    """The one column where nothing is judged by facets."""
    return "Pairs"


def _kinds(study: Study) -> Iterator[Table]:
    """What kinds of error the lead found."""
    given = Counter(
        (kind, study.snapshot.facets.get(query_id)) for (query_id, _), kind in read_kinds(study.snapshot.ws).items()
    )
    if given:
        facets = [name for name in (*study.settings.facets, WHOLE) if any(facet == name for _, facet in given)]
        kinds = [kind for kind in study.settings.evaluation.error_kinds if any(kind == one for one, _ in given)]
        yield table(
            "error-kinds",
            kinds,
            [Column[str]("Kind", str)],
            each(dict.fromkeys(facets), lambda kind, facet: given[kind, facet], str if called().faceted else _pairs),
            caption="analyses.kinds",
        )
