"""Measures of a ranking in two conventions, side by side and under honest names.

`trec`: trec_eval's definitions, through ir_measures. `csfcube`: what CSFCube's published script computes, whose names
mean something else in places:

- `RP@last` is that release's "R-Precision": the precision at the rank of the last relevant document. `Rprec` is the
  true one.
- `R@k`, `Rprec` and `AP` divide by the relevant documents of the submitted list, not of the qrels.
- `NDCG%20`, `NDCG%100` and `NDCG@k` have linear gain, leave ranks 1 and 2 undiscounted (Jarvelin and Kekalainen 2002,
  b = 2), and normalise by the submitted list re-sorted; with % they are cut at floor(share of the list's length).
- Ties keep the order of the submitted list; in `trec` they go by id as trec_eval has it. On request both take the mean
  over all orders of what ties (`annot.measuring.evaluation.computed`).

Beside `MEASURES`, which are always shown, any k may be asked for, `Judged@k`, and in `trec` every measure that
ir_measures knows by its name there; what is relevant then follows `relevant_from`, unless the name says `rel=`.

In both conventions an unjudged document counts as not relevant; the figures come with their number
(`unjudged`, `judged_at_20`). A query without a relevant document scores 0 in all measures but NDCG, which needs a grade
above 0 only; a query of which the run has no document scores 0. Both stay in the mean and are named, as trec_eval -c
does; the release's script never met either. Values are fractions, 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from annot.base.errors import InputError
from annot.base.judged import counted as counting
from annot.base.names import check_name, counted
from annot.base.records import Judgement, Qrel, ScoredDoc, nested, ranked
from annot.base.settings.sections import Convention, Ties
from annot.measuring.evaluation.computed import MeasuresAsked, Run, Values, knows, measured_by_query
from annot.measuring.evaluation.gradings import MEASURES

CONVENTIONS = get_args(Convention)
TIES = get_args(Ties)
"""Treatment of documents that tie: in the convention's order, or the mean over all orders."""


@dataclass(frozen=True, slots=True)
class QueryMeasures:
    """Measures of one query, and the numbers behind them."""

    query_id: str
    values: dict[str, float]
    submitted: int
    relevant: int
    """Documents of the qrels with a relevant grade."""
    unjudged: int
    """Submitted documents without a grade."""
    judged_at_20: float
    """Judged share of the first 20 submitted documents (of all if there are fewer; 0 if there are none)."""
    missing: tuple[str, ...]
    """Judged documents that were not submitted."""

    def shown(self, name: str) -> float | None:
        """Value of the measure; None if it is not to be shown."""
        return self.values[name]


@dataclass(frozen=True, slots=True)
class EstimatedMeasures(QueryMeasures):
    """Measures of one query, estimated from a sample of the pool."""

    impossible: tuple[str, ...]
    """Measures whose estimate cannot be true on this query: it counts in the mean, and is not shown."""

    def shown(self, name: str) -> float | None:
        return None if name in self.impossible else self.values[name]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run, or one order of the pool, in one convention."""

    queries: tuple[QueryMeasures, ...]
    """Queries of the qrels, by id."""
    mean: dict[str, float]
    """Means over the queries."""
    not_submitted: tuple[str, ...]
    """Queries of the qrels for which the run has no documents: 0 in the mean."""
    without_relevant: tuple[str, ...]
    """Queries of the qrels without a relevant document."""


def columns(convention: str, wishes: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the measures to show: those of the convention, and those of `wishes` that it knows."""
    return tuple(dict.fromkeys((*MEASURES[convention], *(name for name in wishes if knows(convention, name)))))


def conventions_for(names: Sequence[str], conventions: Sequence[str]) -> tuple[str, ...]:
    """Conventions that know the first of the measures, then those that alone know another of them.

    Raises InputError with every name that none of them knows. NDCG@10 is of csfcube, nDCG@10 of trec, P@10 of both.
    """
    unknown = [name for name in names if not any(knows(convention, name) for convention in conventions)]
    if unknown:
        raise InputError(
            f"measure {', '.join(map(repr, unknown))}: not known in convention {' or '.join(conventions)}",
            hint="csfcube: RP@last, Rprec, P@k, R@k, NDCG@k, NDCG%20, AP, Judged@k; trec: as ir_measures names them "
            "(nDCG@10, RR, P@5, ...; https://ir-measur.es)",
        )
    first = tuple(convention for convention in conventions if not names or knows(convention, names[0]))
    left = [name for name in names if not any(knows(convention, name) for convention in first)]
    return first + tuple(other for other in conventions if any(knows(other, name) for name in left))


def evaluate(
    run: Run, qrels: Iterable[Qrel], *, convention: str, relevant_from: int, ties: str, measures: Sequence[str] = ()
) -> Evaluation:
    """Measure `run` in `convention` (a name in CONVENTIONS).

    relevant_from: the smallest grade that counts as relevant in the binary measures. ties: one of TIES. measures: those
    to compute besides the convention's own (`columns`).
    Raises InputError for an unknown convention, no qrels, a document submitted twice, or scores that rise down a list
    (as distances do: smaller is better there).
    """
    check_name(convention, CONVENTIONS, what="convention")
    graded = _by_query(qrels)
    check_run(run)
    lists = {query_id: run.get(query_id, ()) for query_id in graded}
    selection = MeasuresAsked(convention, columns(convention, measures), relevant_from)
    values = measured_by_query(lists, graded, selection, expect=ties == "expected")
    queries = tuple(
        _query_measures(query_id, values[query_id], lists[query_id], grades, relevant_from)
        for query_id, grades in graded.items()
    )
    return Evaluation(
        queries=queries,
        mean=_mean([query.values for query in queries]),
        not_submitted=tuple(query.query_id for query in queries if not query.submitted),
        without_relevant=tuple(query.query_id for query in queries if not query.relevant),
    )


def single_assessor_ceiling(
    judgements: Iterable[Judgement], qrels: Iterable[Qrel], selection: MeasuresAsked
) -> dict[str, Values]:
    """Measures of a ranking by one assessor's grades: the mean over a query's assessors, by `query_id`.

    Only queries that at least one assessor judged completely have a value. Equal grades are ordered by id, and a pair
    that came back without a grade ranks last. Judgements that carry flags do not count.
    """
    graded = _by_query(qrels)
    answers = nested(
        ((judgement.query_id, judgement.assessor), judgement.doc_id, -1 if judgement.grade is None else judgement.grade)
        for judgement in counting(judgements)
        if judgement.doc_id in graded.get(judgement.query_id, ())
    )
    reached: dict[str, list[Values]] = {}
    for (query_id, _), grades in sorted(answers.items()):
        if len(grades) == len(graded[query_id]):
            # In this order in every convention.
            best_first = ranked([ScoredDoc(*answer) for answer in grades.items()])
            docs = [ScoredDoc(doc.doc_id, float(-rank)) for rank, doc in enumerate(best_first)]
            values = measured_by_query({query_id: docs}, {query_id: graded[query_id]}, selection, expect=False)
            reached.setdefault(query_id, []).append(values[query_id])
    return {query_id: _mean(of_assessors) for query_id, of_assessors in reached.items()}


def mean_over_folds(values: Mapping[str, Mapping[str, float]], folds: Sequence[Collection[str]]) -> dict[str, float]:
    """Mean of the folds' means, whatever their sizes, as in CSFCube. values: by `query_id`, then measure."""
    return _mean([_mean([values[query_id] for query_id in fold]) for fold in folds])


def _by_query(qrels: Iterable[Qrel]) -> dict[str, dict[str, int]]:
    graded = nested(sorted(qrels))
    if not graded:
        raise InputError("the qrels are empty", hint="write them with `annot qrels`")
    return graded


def check_run(run: Run) -> None:
    """Raise InputError for a document that is ranked twice, or a score that rises down a list."""
    faults: list[str] = []
    for query_id, docs in run.items():
        ids = [doc.doc_id for doc in docs]
        if len(set(ids)) < len(ids):
            faults.append(f"{query_id}: {counted(len(ids) - len(set(ids)), 'document')} ranked twice, expected once")
        rising = next((rank for rank in range(1, len(docs)) if docs[rank].score > docs[rank - 1].score), None)
        if rising is not None:
            faults.append(f"{query_id}: the score rises at rank {rising + 1}, expected best first, higher is better")
    if faults:
        raise InputError(
            f"{counted(len(faults), 'fault')} in the run",
            faults=faults,
            hint="multiply distances by -1, so that the best score is the highest",
        )


def _query_measures(
    query_id: str, values: Values, docs: Sequence[ScoredDoc], grades: Mapping[str, int], relevant_from: int
) -> QueryMeasures:
    top = [doc.doc_id in grades for doc in docs[:20]]
    submitted = {doc.doc_id for doc in docs}
    return QueryMeasures(
        query_id=query_id,
        values=values,
        submitted=len(docs),
        relevant=sum(grade >= relevant_from for grade in grades.values()),
        unjudged=len(submitted - set(grades)),
        judged_at_20=sum(top) / len(top) if top else 0.0,
        missing=tuple(sorted(set(grades) - submitted)),
    )


def _mean(values: Sequence[Mapping[str, float]]) -> Values:
    return {name: math.fsum(value[name] for value in values) / len(values) for name in values[0]}
