"""How good a ranking is: two conventions of the same measures, side by side, under honest names.

`trec`: trec_eval's definitions, through ir_measures. `csfcube`: what CSFCube's published script computes, whose names
mean something else in places:

- `RP@last` is that release's "R-Precision": the precision at the rank of the last relevant document.
- `R@20` divides by the relevant documents of the submitted list, not of the qrels.
- `NDCG%100` and `NDCG%20` have linear gain, leave ranks 1 and 2 undiscounted (Jarvelin and Kekalainen 2002, b = 2),
  and normalise by the submitted list re-sorted; they are cut at floor(share of the list's length).
- Ties keep the order of the submitted list.

In both conventions an unjudged document counts as not relevant; how many there are stands beside the figures
(`unjudged`, `judged_at_20`). A query without a relevant document scores 0 in all measures but NDCG, which needs a grade
above 0 only; a query of which the run has no document scores 0. Both stay in the mean and are named, as trec_eval -c
does; the release's script never met either. Values are fractions, 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annot.errors import InputError
from annot.evaluation.gradings import CUTOFF, MEASURED, Graded
from annot.judged import counted
from annot.ordering import ranked
from annot.records import Judgement, Qrel, ScoredDoc

Run = Mapping[str, Sequence[ScoredDoc]]
"""The submitted documents of each query, best first; higher scores are better."""

MEASURES = {convention: tuple(measures) for convention, measures in MEASURED.items()}
"""The names of each convention's measures, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class QueryMeasures:
    """The measures of one query, and what they rest on."""

    query_id: str
    values: dict[str, float]
    submitted: int
    relevant: int
    """Documents of the qrels with a relevant grade."""
    unjudged: int
    """Submitted documents without a grade."""
    judged_at_20: float
    """The judged share of the first 20 submitted documents (of all where there are fewer; 0 where there are none)."""
    missing: tuple[str, ...]
    """Judged documents that were not submitted."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run, or one order of the pool, in one convention."""

    convention: str
    relevant_from: int
    queries: tuple[QueryMeasures, ...]
    """All queries of the qrels, by id."""
    mean: dict[str, float]
    """Over the queries."""
    not_submitted: tuple[str, ...]
    """Queries of the qrels of which the run has no document: 0 in the mean."""
    without_relevant: tuple[str, ...]
    """Queries of the qrels without a relevant document."""
    not_in_qrels: tuple[str, ...]
    """Queries of the run without qrels: left out."""


def evaluate(run: Run, qrels: Iterable[Qrel], *, convention: str, relevant_from: int) -> Evaluation:
    """Measure `run` in `convention` (a name in CONVENTIONS).

    relevant_from: the smallest grade that counts as relevant in the binary measures.
    Raises InputError for an unknown convention, no qrels, a document submitted twice, or scores that rise down a list
    (as distances do: smaller is better there).
    """
    _check_convention(convention)
    graded = _by_query(qrels)
    _check(run)
    values = CONVENTIONS[convention]({query_id: run.get(query_id, ()) for query_id in graded}, graded, relevant_from)
    queries = tuple(
        _beside(query_id, values[query_id], run.get(query_id, ()), grades, relevant_from)
        for query_id, grades in graded.items()
    )
    return Evaluation(
        convention=convention,
        relevant_from=relevant_from,
        queries=queries,
        mean=_mean([query.values for query in queries]),
        not_submitted=tuple(query.query_id for query in queries if not query.submitted),
        without_relevant=tuple(query.query_id for query in queries if not query.relevant),
        not_in_qrels=tuple(sorted(set(run) - set(graded))),
    )


def chance_floor(qrels: Iterable[Qrel], *, convention: str, relevant_from: int) -> dict[str, dict[str, float]]:
    """The expected value of each measure, by `query_id`, when the judged pool is put in random order. Exact."""
    _check_convention(convention)
    return {
        query_id: _floor(list(grades.values()), relevant_from, convention)
        for query_id, grades in _by_query(qrels).items()
    }


def single_assessor_ceiling(
    judgements: Iterable[Judgement], qrels: Iterable[Qrel], *, convention: str, relevant_from: int
) -> dict[str, dict[str, float]]:
    """What the grades of one assessor reach when they are used as a ranking: the mean over a query's assessors.

    By `query_id`, for the queries that at least one assessor judged completely. Equal grades are ordered by id, and a
    pair that came back without a grade ranks last. Judgements that carry flags do not count.
    """
    graded = _by_query(qrels)
    answers: dict[tuple[str, str], dict[str, int]] = {}
    for one in counted(judgements):
        if one.doc_id in graded.get(one.query_id, ()):
            answered = answers.setdefault((one.query_id, one.assessor), {})
            answered[one.doc_id] = -1 if one.grade is None else one.grade
    reached: dict[str, list[Values]] = {}
    for (query_id, _), given in sorted(answers.items()):
        if len(given) == len(graded[query_id]):
            run = {query_id: ranked([ScoredDoc(*answer) for answer in given.items()])}
            measured = CONVENTIONS[convention](run, {query_id: graded[query_id]}, relevant_from)
            reached.setdefault(query_id, []).append(measured[query_id])
    return {query_id: _mean(of_assessors) for query_id, of_assessors in reached.items()}


def mean_over_folds(values: Mapping[str, Mapping[str, float]], folds: Sequence[Collection[str]]) -> dict[str, float]:
    """The mean of the folds' means, whatever their sizes: CSFCube's. values: by `query_id`, then measure."""
    return _mean([_mean([values[query_id] for query_id in fold]) for fold in folds])


Grades = Mapping[str, Mapping[str, int]]
Values = dict[str, float]


def _csfcube(run: Run, graded: Grades, relevant_from: int) -> dict[str, Values]:
    return {
        query_id: _csfcube_query([graded[query_id].get(doc.doc_id, 0) for doc in docs], relevant_from)
        for query_id, docs in run.items()
    }


def _csfcube_query(grades: Sequence[int], relevant_from: int) -> Values:
    """The measures of one list of grades in submitted order; of the judged documents they need no others."""
    submitted = np.array([grades], dtype=np.int64)
    one = Graded(submitted, submitted, relevant_from)
    return {name: float(measured(one)[0]) for name, measured in MEASURED["csfcube"].items()}


def _dcg(grades: Sequence[int], *, shift: int) -> float:
    """Linear gain over log2(rank + shift), never under 1: shift 0 is CSFCube's discount, 1 is trec_eval's."""
    return sum(grade / max(1.0, math.log2(rank + shift)) for rank, grade in enumerate(grades, start=1))


def _trec(run: Run, graded: Grades, relevant_from: int) -> dict[str, Values]:
    import ir_measures
    from ir_measures import AP, P, R, Rprec, nDCG

    names = {
        Rprec(rel=relevant_from): "Rprec",
        P(rel=relevant_from) @ CUTOFF: "P@20",
        R(rel=relevant_from) @ CUTOFF: "R@20",
        nDCG: "nDCG",
        AP(rel=relevant_from): "AP",
    }
    # Strictly falling whole numbers in the order of our own tie rule: the provider's can never come to bear.
    scores = {
        query_id: {doc.doc_id: float(len(docs) - at) for at, doc in enumerate(ranked(docs))}
        for query_id, docs in run.items()
        if docs
    }
    values = {query_id: dict.fromkeys(MEASURES["trec"], 0.0) for query_id in graded}
    if scores:
        for metric in ir_measures.iter_calc(list(names), {key: dict(of) for key, of in graded.items()}, scores):
            values[metric.query_id][names[metric.measure]] = float(metric.value)
    return values


CONVENTIONS: dict[str, Callable[[Run, Grades, int], dict[str, Values]]] = {"csfcube": _csfcube, "trec": _trec}


def _floor(grades: Sequence[int], relevant_from: int, convention: str) -> Values:
    n, relevant = len(grades), sum(grade >= relevant_from for grade in grades)
    reached = min(CUTOFF, n) / n
    values = {
        "RP@last": _expected_rp(n, relevant),
        "Rprec": relevant / n,
        "P@20": relevant * reached / CUTOFF,
        "R@20": reached if relevant else 0.0,
        "NDCG%100": _expected_ndcg(grades, n, shift=0),
        "NDCG%20": _expected_ndcg(grades, n // 5, shift=0),
        "nDCG": _expected_ndcg(grades, n, shift=1),
        "AP": _expected_ap(n, relevant),
    }
    return {name: values[name] for name in MEASURES[convention]}


def _expected_ndcg(grades: Sequence[int], k: int, *, shift: int) -> float:
    ideal = _dcg(sorted(grades, reverse=True)[:k], shift=shift)
    return sum(grades) / len(grades) * _dcg([1] * k, shift=shift) / ideal if ideal else 0.0


def _expected_rp(n: int, relevant: int) -> float:
    """The last of R relevant documents is at rank l in C(l-1, R-1) of C(n, R) orders; the precision there is R / l."""
    if not relevant:
        return 0.0
    orders = math.comb(n, relevant)
    return sum(math.comb(last - 1, relevant - 1) / orders * relevant / last for last in range(relevant, n + 1))


def _expected_ap(n: int, relevant: int) -> float:
    """Given a relevant document at rank i, each of the i - 1 before it is relevant with chance (R - 1) / (n - 1)."""
    if not relevant:
        return 0.0
    others = (relevant - 1) / (n - 1) if n > 1 else 0.0
    return sum((1 + (rank - 1) * others) / rank for rank in range(1, n + 1)) / n


def _by_query(qrels: Iterable[Qrel]) -> dict[str, dict[str, int]]:
    graded: dict[str, dict[str, int]] = {}
    for query_id, doc_id, relevance in sorted(qrels):
        graded.setdefault(query_id, {})[doc_id] = relevance
    if not graded:
        raise InputError("no qrels: there is nothing to measure against", hint="write them with `annot qrels`")
    return graded


def _check_convention(convention: str) -> None:
    if convention not in CONVENTIONS:
        raise InputError(f"convention {convention!r}: no such convention", hint=f"one of {', '.join(CONVENTIONS)}")


def _check(run: Run) -> None:
    faults: list[str] = []
    for query_id, docs in run.items():
        ids = [doc.doc_id for doc in docs]
        if len(set(ids)) < len(ids):
            faults.append(f"{query_id}: {len(ids) - len(set(ids))} document(s) submitted twice, expected once")
        rising = next((at for at in range(1, len(docs)) if docs[at].score > docs[at - 1].score), None)
        if rising is not None:
            faults.append(f"{query_id}: the score rises at rank {rising + 1}, expected best first, higher is better")
    if faults:
        raise InputError(f"{len(faults)} fault(s) in the run", faults=faults, hint="distances must be negated")


def _beside(
    query_id: str, values: Values, docs: Sequence[ScoredDoc], grades: Mapping[str, int], relevant_from: int
) -> QueryMeasures:
    top = [doc.doc_id in grades for doc in docs[:CUTOFF]]
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
