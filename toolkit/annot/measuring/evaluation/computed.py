"""Measures of every query of one run: of the list as ordered, or expected over all orders of documents that tie.

The expected value is the mean over all orders of those that tie, and exact. What is linear in the gains at each rank
takes the mean gain of the tie there; average precision is by McSherry and Najork 2008, Computing Information Retrieval
Performance Measures Efficiently in the Presence of Tied Scores, ECIR, section 2. A list without ties has its plain
value. trec_eval's measures, and all others that ir_measures knows, come from ir_measures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.records import ScoredDoc, grouped
from annot.base.scored import as_trec_eval, single_precision
from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator
from annot.measuring.evaluation.gradings import COMPUTED, Graded, family_of, measured, relevant_of

Run = Mapping[str, Sequence[ScoredDoc]]
"""Submitted documents of each query, best first; higher scores are better."""
Grades = Mapping[str, Mapping[str, int]]
"""Grade by query, then document."""
Values = dict[str, float]

JUDGED_AT = re.compile(r"Judged@([1-9]\d{0,5})", re.ASCII)
ORDERS = 100
"""Number of orders drawn for measures whose expected value has no closed form."""
Ties = tuple[tuple[ScoredDoc, ...], ...]
"""Documents best first, in groups of equal score."""


class MeasuresAsked(NamedTuple):
    """Measures to compute, in one convention."""

    convention: str
    names: Sequence[str]
    relevant_from: int
    """Smallest grade that counts as relevant in the binary measures."""

    def of(self, values_by_query: Mapping[str, Values]) -> dict[str, Values]:
        """Reorder the values of each query by `names`."""
        return {query_id: {name: values[name] for name in self.names} for query_id, values in values_by_query.items()}


def measured_by_query(run: Run, graded: Grades, selection: MeasuresAsked, *, expect: bool) -> dict[str, Values]:
    """Measure each query of `graded`. expect: take the mean over all orders of documents that tie."""
    if expect:
        return expected_by_query(
            {query_id: ties_of(run.get(query_id, ()), selection.convention) for query_id in graded}, graded, selection
        )
    others = [name for name in selection.names if selection.convention == "trec" and not JUDGED_AT.fullmatch(name)]
    values = through_ir_measures(run, graded, names=others, relevant_from=selection.relevant_from)
    for query_id, grades in graded.items():
        docs = as_trec_eval(run.get(query_id, ())) if selection.convention == "trec" else run.get(query_id, ())
        submitted = np.array([[grades.get(doc.doc_id, 0) for doc in docs]], dtype=np.int64)
        grading = Graded(submitted, submitted, selection.relevant_from)
        for name in selection.names:
            if match := JUDGED_AT.fullmatch(name):
                values[query_id][name] = _judged(tuple((doc,) for doc in docs), grades, int(match[1]))
            elif name not in values[query_id]:
                values[query_id][name] = float(measured(selection.convention, name, grading)[0])
    return selection.of(values)


def expected_by_query(ties: Mapping[str, Ties], graded: Grades, selection: MeasuresAsked) -> dict[str, Values]:
    """Mean of the measures of each query of `graded` over all orders of its documents that tie."""
    values: dict[str, Values] = {}
    others: dict[str, None] = {}
    for query_id, grades in graded.items():
        docs = ties[query_id]
        groups = tuple(tuple(grades.get(doc.doc_id, 0) for doc in group) for group in docs)
        tie = tied(groups, grades.values(), selection.relevant_from)
        values[query_id] = {}
        for name in selection.names:
            match = JUDGED_AT.fullmatch(name)
            value = _judged(docs, grades, int(match[1])) if match else expected(selection.convention, name, tie)
            if value is None:
                others[name] = None
            else:
                values[query_id][name] = value
    if others:
        for query_id, tied_docs in ties.items():
            orders = _orders_of(query_id, tied_docs)
            values[query_id] |= over_orders(orders, graded[query_id], [*others], selection.relevant_from)
    return selection.of(values)


def _orders_of(query_id: str, ties: Ties) -> list[list[str]]:
    """Draw orders of the documents, seeded by the query's id alone; a list without ties has one order."""
    draw = generator(0, "orders", query_id)
    number = ORDERS if any(len(group) > 1 for group in ties) else 1
    return [[group[place].doc_id for group in ties for place in draw.permutation(len(group))] for _ in range(number)]


def over_orders(
    orders: Sequence[Sequence[str]], grades: Mapping[str, int], names: Sequence[str], relevant_from: int
) -> Values:
    """Means of measures that ir_measures computes over these orders of documents."""
    runs = {
        str(number): [ScoredDoc(doc_id, float(-rank)) for rank, doc_id in enumerate(order)]
        for number, order in enumerate(orders)
    }
    values = through_ir_measures(runs, dict.fromkeys(runs, grades), names=names, relevant_from=relevant_from)
    return {name: sum(of_order[name] for of_order in values.values()) / len(runs) for name in names}


def _judged(ties: Ties, grades: Mapping[str, int], k: int) -> float:
    """Judged share of the first k documents (of all if there are fewer; 0 if there are none)."""
    flags = tuple(tuple(int(doc.doc_id in grades) for doc in group) for group in ties)
    n = min(k, sum(map(len, flags)))
    return float(tied(flags, (), 1).hits[0, :n].mean()) if n else 0.0


def ties_of(docs: Sequence[ScoredDoc], convention: str) -> Ties:
    """Group the documents by their score in the convention, best group first."""
    scores: Iterable[float] = (doc.score for doc in docs)
    groups = grouped(zip(single_precision(scores) if convention == "trec" else scores, docs, strict=True))
    return tuple(tuple(groups[score]) for score in sorted(groups, reverse=True))


@dataclass(frozen=True, slots=True)
class Tied(Graded):
    """One ranked list, B is 1, of documents that tie; gains and hits are their means over all orders."""

    sizes: tuple[int, ...]
    """Size of each tie, best first; `submitted` has the ties one after the other."""
    length: int
    """Number of ranks that count. Documents that an order puts below them are not submitted in it."""

    def cut(self, length: int) -> Tied:
        """Copy in which only the first `length` ranks count."""
        return replace(self, length=length)

    @property
    def gains(self) -> Array:
        return self._by_rank(self.submitted)

    @property
    def hits(self) -> Array:
        return self._by_rank(self.submitted >= self.relevant_from)

    def groups(self) -> Iterator[tuple[int, int]]:
        """Size of each tie and number of relevant documents in it."""
        ends = np.cumsum(self.sizes)
        for size, end in zip(self.sizes, ends.tolist(), strict=True):
            yield size, int((self.submitted[0, end - size : end] >= self.relevant_from).sum())

    def _by_rank(self, values: npt.NDArray[Any]) -> Array:
        tie = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return np.asarray((np.bincount(tie, values[0], len(self.sizes)) / self.sizes)[tie][None, : self.length])


def tied(groups: Sequence[Sequence[int]], judged: Iterable[int], relevant_from: int) -> Tied:
    """Build a `Tied` list. groups: the grades of the documents of each tie, best tie first. judged: those of all judged
    documents.
    """
    submitted = np.array([[grade for group in groups for grade in group]], dtype=np.int64)
    sizes = tuple(map(len, groups))
    return Tied(submitted, np.array([list(judged)], dtype=np.int64), relevant_from, sizes, sum(sizes))


def expected(convention: str, name: str, ties: Tied) -> float | None:
    """Expected value of a measure of `annot.measuring.evaluation.gradings`; None for any other name."""
    member = family_of(convention, name)
    if member is None:
        return None
    family, k = member
    if closed_form := NOT_LINEAR.get(family.kind):
        return closed_form(ties, relevant_of(ties, family)[0])
    return float(COMPUTED[family.kind](ties, family, k)[0])


def _average_precision(ties: Tied, relevant: float) -> float:
    """Expected AP. If place i of a tie is relevant, each other place is with chance (r - 1) / (m - 1)."""
    total, ranks_above, relevant_above = 0.0, 0, 0
    for m, r in ties.groups():
        others = (r - 1) / (m - 1) if m > 1 else 0.0
        ranks = range(1, 1 + min(m, ties.length - ranks_above) if r else 1)
        total += r / m * math.fsum((1 + relevant_above + (i - 1) * others) / (ranks_above + i) for i in ranks)
        ranks_above, relevant_above = ranks_above + m, relevant_above + r
    return float(total / relevant) if relevant else 0.0


def _precision_at_last(ties: Tied, relevant: float) -> float:
    """Expected precision at the last relevant document.

    It is in the last tie that has one, at place j in C(j - 1, r - 1) of C(m, r) orders.
    """
    ranks_above = sum(ties.sizes)
    for m, r in reversed(list(ties.groups())):
        ranks_above -= m
        if r:
            orders = math.comb(m, r)
            chances = ((math.comb(j - 1, r - 1) / orders, ranks_above + j) for j in range(r, m + 1))
            return math.fsum(chance * relevant / last for chance, last in chances)
    return 0.0


NOT_LINEAR: dict[str, Callable[[Tied, float], float]] = {"RP@last": _precision_at_last, "AP": _average_precision}
"""Expected values of measures that are not linear in the gains and hits at each rank."""


def knows(convention: str, name: str) -> bool:
    """True if the convention has a measure of this name."""
    if family_of(convention, name) is not None or JUDGED_AT.fullmatch(name):
        return True
    return convention == "trec" and not name.startswith("NDCG") and known_to_ir_measures(name)


def known_to_ir_measures(name: str) -> bool:
    """True if ir_measures has a measure of this name and a provider that computes it."""
    import ir_measures

    try:
        measure = _parsed(name)
        return measure.params.get("cutoff", 1) > 0 and bool(ir_measures.DefaultPipeline.supports(measure))
    except (NameError, ValueError, TypeError, AssertionError):
        return False


def through_ir_measures(run: Run, graded: Grades, *, names: Sequence[str], relevant_from: int) -> dict[str, Values]:
    """Measures of each query of `graded`, by name; 0 for queries for which the run has no documents.

    The order is trec_eval's: by score, ties by id, the larger first. Scores are whole numbers in that order, so that
    every provider takes the same.
    """
    import ir_measures

    name_of = {_measure_named(name, relevant_from): name for name in names}
    scores = {
        query_id: {doc.doc_id: float(len(docs) - rank) for rank, doc in enumerate(as_trec_eval(docs))}
        for query_id, docs in run.items()
        if docs
    }
    values = {query_id: dict.fromkeys(names, 0.0) for query_id in graded}
    if scores and name_of:
        judged = {query_id: dict(grades) for query_id, grades in graded.items()}
        for metric in ir_measures.iter_calc(list(name_of), judged, scores):
            values[metric.query_id][name_of[metric.measure]] = float(metric.value)
    return values


def _measure_named(name: str, relevant_from: int) -> Any:
    """Measure that counts grades from `relevant_from` on as relevant unless its name says otherwise."""
    measure = _parsed(name)
    if "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:
        measure = measure(rel=relevant_from)
    return measure


@cache
def _parsed(name: str) -> Any:
    import ir_measures

    return ir_measures.parse_measure(name)
