"""Measures of a ranking under one grading or many, of a random order, and the pools whose grades they use."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from operator import gt, itemgetter
from typing import Any, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from annot.base import records
from annot.base.errors import InputError
from annot.base.names import check_name, counted
from annot.base.plugins import loaded
from annot.base.records import Judgement, Qrel, Ranking, ScoredDoc
from annot.base.settings import Convention
from annot.base.settings import Ties as TieRule
from annot.base.stats.arrays import Array
from annot.base.stats.inference import generator
from annot.base.stats.values import Estimate
from annot.measuring.agreement.coefficients import ratio

# ----------------------------------------------------------------------------------------------------------------------
# The measures of one ranked list under many gradings at once.
#
# Grades are a matrix, one row for each grading, and every operation works on all rows.
# `annot.measuring.evaluation.measures` explains the conventions. It computes CSFCube's measures here, with one row,
# and leaves trec_eval's to ir_measures; a test compares the two.
# ----------------------------------------------------------------------------------------------------------------------


Grades = npt.NDArray[np.integer[Any]]

Discount = Callable[[int], Array]
"""Function from n to the discounts of the first n ranks."""


@dataclass(frozen=True)
class GradedList:
    """One ranked list under B gradings; documents that tie take the means over all of their orders.

    submitted: shape (B, n), the grades of the submitted documents, best rank first; 0 where there is none.
    judged: shape (B, N), the grades of all judged documents, in any order.
    relevant_from: the smallest grade that counts as relevant in the binary measures.
    """

    submitted: Grades
    judged: Grades
    relevant_from: int
    ties: tuple[int, ...] | None = None
    """Size of each tie, best first, if B is 1; None if each document has a rank of its own."""
    length: int | None = None
    """Number of ranks that count if documents tie; None counts all. What an order puts below is not submitted in it."""

    @cached_property
    def gains(self) -> Array:
        """The gain at each rank, shape (B, n)."""
        return self._mean_by_rank(self.submitted)

    @cached_property
    def hits(self) -> Array:
        """1 at the rank of a relevant document, shape (B, n)."""
        return self._mean_by_rank(self.submitted >= self.relevant_from)

    @cached_property
    def ideal(self) -> Grades:
        """The submitted grades in their best order, shape (B, n)."""
        return _falling(self.submitted)

    def groups(self) -> Iterator[tuple[int, int]]:
        """Size of each tie and number of relevant documents in it."""
        sizes = self.ties or ()
        for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True):
            yield size, int((self.submitted[0, end - size : end] >= self.relevant_from).sum())

    def _mean_by_rank(self, values: npt.NDArray[Any]) -> Array:
        if self.ties is None:
            return values.astype(np.float64)
        tie = np.repeat(np.arange(len(self.ties)), self.ties)
        return np.asarray((np.bincount(tie, values[0], len(self.ties)) / self.ties)[tie][None, : self.length])


def tied(
    grades: Sequence[int], sizes: Sequence[int], judged: Iterable[int], relevant_from: int, length: int | None = None
) -> GradedList:
    """Build a list with ties. grades: of the documents, best first. sizes: number of documents of each tie.

    judged: the grades of all judged documents. length: only this many ranks count; None counts all.
    """
    ties = None if length is None and len(sizes) == len(grades) else tuple(sizes)
    submitted, judged_grades = (np.array([*values], dtype=np.int64)[None] for values in (grades, judged))
    return GradedList(submitted, judged_grades, relevant_from, ties, length)


def relevant_of(graded: GradedList, family: Family) -> Array:
    """Relevant documents of the submitted list or among the judged, shape (B,)."""
    grades = graded.submitted if family.of_submitted else graded.judged
    return np.asarray((grades >= graded.relevant_from).sum(axis=1), dtype=np.float64)


def _share(part: Array, whole: Array) -> Array:
    return ratio(part, whole, where=whole > 0, otherwise=0.0)


def _precisions_at_last(graded: GradedList, family: Family, k: int) -> Array:
    hits, relevant = graded.hits, relevant_of(graded, family)
    n = hits.shape[1]
    last = n - np.argmax(hits[:, ::-1], axis=1) if n else np.zeros(len(hits), dtype=np.int64)
    return ratio(relevant, last.astype(np.float64), where=relevant > 0, otherwise=0.0)


def _r_precision(graded: GradedList, family: Family, k: int) -> Array:
    hits, relevant = graded.hits, relevant_of(graded, family)
    within = np.arange(1, hits.shape[1] + 1) <= relevant[:, None]
    return _share((hits * within).sum(axis=1), relevant)


def _precision(graded: GradedList, family: Family, k: int) -> Array:
    return np.asarray(graded.hits[:, :k].sum(axis=1) / k)


def _judged_share(graded: GradedList, family: Family, k: int) -> Array:
    """Share of the first k documents, or of all if there are fewer, that are graded 1: those that are judged."""
    hits = graded.hits[:, :k]
    return np.asarray(hits.sum(axis=1) / max(1, hits.shape[1]))


def _recall(graded: GradedList, family: Family, k: int) -> Array:
    return _share(graded.hits[:, :k].sum(axis=1), relevant_of(graded, family))


def _average_precisions(graded: GradedList, family: Family, k: int) -> Array:
    hits, relevant = graded.hits, relevant_of(graded, family)
    # In one array: of many orders, making another for each step takes longer than the step.
    precision = hits.cumsum(axis=1)
    precision /= np.arange(1, hits.shape[1] + 1)
    precision *= hits
    return _share(precision.sum(axis=1), relevant)


def _expected_average_precision(ties: GradedList, relevant: float) -> float:
    """Expected AP. If place i of a tie is relevant, each other place is with chance (r - 1) / (m - 1)."""
    total, ranks_above, relevant_above = 0.0, 0, 0
    length = ties.submitted.shape[1] if ties.length is None else ties.length
    for m, r in ties.groups():
        others = (r - 1) / (m - 1) if m > 1 else 0.0
        ranks = range(1, 1 + min(m, length - ranks_above) if r else 1)
        total += r / m * math.fsum((1 + relevant_above + (i - 1) * others) / (ranks_above + i) for i in ranks)
        ranks_above, relevant_above = ranks_above + m, relevant_above + r
    return float(total / relevant) if relevant else 0.0


def _expected_precision_at_last(ties: GradedList, relevant: float) -> float:
    """Expected precision at the last relevant document.

    It is in the last tie that has one, at place j in C(j - 1, r - 1) of C(m, r) orders. At the last place m that is a
    share of r / m, and of any other place, (j - r + 1) / j of the share of the place after it.
    """
    ranks_above = ties.submitted.shape[1]
    for m, r in reversed(list(ties.groups())):
        ranks_above -= m
        if r:
            places = np.arange(m, r - 1, -1)
            chances = np.cumprod(np.concatenate([[r / m], (places[1:] - r + 1) / places[1:]]))
            return math.fsum((chances * relevant / (ranks_above + places)).tolist())
    return 0.0


def _ndcg(graded: GradedList, family: Family, k: int) -> Array:
    ideal = graded.ideal if family.of_submitted else _falling(graded.judged)
    return _share(_dcg(graded.gains, family, k), _dcg(ideal, family, k))


def _falling(grades: Grades) -> Grades:
    # The stable sort of 16 bits counts values: ten times as fast for the few that a scale has.
    small = grades.astype(np.int16)
    return np.sort(small if (small == grades).all() else grades, axis=1, kind="stable")[:, ::-1]


def _dcg(gains: npt.NDArray[Any], family: Family, k: int) -> Array:
    cut = family.cut(gains.shape[1], k)
    return np.asarray(gains[:, :cut] @ family.discount(cut), dtype=np.float64)


@cache
def _csfcube_discount(n: int) -> Array:
    """Discounts that leave ranks 1 and 2 undiscounted (Jarvelin and Kekalainen 2002, b = 2)."""
    return np.asarray(1 / np.maximum(1.0, np.log2(np.arange(1, n + 1))))


@cache
def _trec_discount(n: int) -> Array:
    return np.asarray(1 / np.log2(np.arange(2, n + 2)))


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that differ only in k: `NDCG%20` is the member with k = 20 of a family with `percent`."""

    pattern: str
    kind: str
    formula: Callable[[GradedList, Family, int], Array]
    of_submitted: bool
    """True if recall and the ideal order come from the submitted list; else they come from all judged documents."""
    discount: Discount = _trec_discount
    percent: bool = False
    """True if k is a share of the list, in percent."""
    expected: Callable[[GradedList, float], float] | None = None
    """Expected value if documents tie, from the number of relevant ones; None if the measure is linear in the gains and
    hits at each rank, so that the formula has it.
    """
    not_estimated: str = ""
    """Reason why a sample of the pools does not estimate the measure; empty if it does."""

    def cut(self, n: int, k: int) -> int:
        """Number of the first n ranks that count; k = 0 counts all of them."""
        return (n * k // 100) if self.percent else min(n, k or n)


def _families_in_both(*, of_submitted: bool) -> tuple[Family, ...]:
    at_relevant = "its cut is at the number of relevant documents, which a sample does not tell"
    return (
        Family("Rprec", "Rprec", _r_precision, of_submitted, not_estimated=at_relevant),
        Family(r"P@(\d+)", "P", _precision, of_submitted),
        Family(r"R@(\d+)", "R", _recall, of_submitted),
        Family("AP", "AP", _average_precisions, of_submitted, expected=_expected_average_precision),
        Family(r"Judged@(\d+)", JUDGED, _judged_share, of_submitted=False),
    )


JUDGED = "Judged"
"""Kind of the measure that takes a document for relevant if it is judged."""
FAMILIES: dict[str, tuple[Family, ...]] = {
    "csfcube": (
        *_families_in_both(of_submitted=True),
        Family(
            *("RP@last", "RP@last", _precisions_at_last, True),
            expected=_expected_precision_at_last,
            not_estimated="the rank of the last relevant document is not known from a sample",
        ),
        Family(r"NDCG%(\d+)", "NDCG", _ndcg, of_submitted=True, discount=_csfcube_discount, percent=True),
        Family(r"NDCG@(\d+)", "NDCG", _ndcg, of_submitted=True, discount=_csfcube_discount),
    ),
    "trec": (*_families_in_both(of_submitted=False), Family(r"nDCG(?:@(\d+))?", "NDCG", _ndcg, of_submitted=False)),
}
"""Measures that are computed here, by convention."""


def family_of(convention: str, name: str) -> tuple[Family, int] | None:
    """Family of the measure and its k (0 if it has none); None if the convention has no measure of this name.

    A measure of a plug-in is called `PLUGIN:MEASURE`, and is the same in every convention. Raises InputError for a
    plug-in that is not installed.
    """
    plugin, separator, rest = name.rpartition(":")
    return _member(loaded("measures", (plugin,)).values(), rest) if separator else _own_member(convention, name)


@cache
def _own_member(convention: str, name: str) -> tuple[Family, int] | None:
    return _member(FAMILIES[convention], name)


def _member(families: Iterable[Family], rest: str) -> tuple[Family, int] | None:
    """The family that has the measure, and its k."""
    for family in families:
        if match := re.fullmatch(family.pattern, rest, re.ASCII):
            k = int(match[1]) if match.lastindex else 0
            if match.lastindex and not (0 < k <= (100 if family.percent else 10**6)):
                return None
            return family, k
    return None


def measured(convention: str, name: str, graded: GradedList) -> Array:
    """Measure under every grading, shape (B,). Raises KeyError if the convention has no measure of this name."""
    member = family_of(convention, name)
    if member is None:
        raise KeyError(name)
    family, k = member
    if family.expected is not None and max(graded.ties or (), default=0) > 1:
        return np.array([family.expected(graded, relevant_of(graded, family)[0])])
    return family.formula(graded, family, k)


MEASURES: dict[str, tuple[str, ...]] = {
    "csfcube": ("RP@last", "P@20", "R@20", "NDCG%100", "NDCG%20", "AP"),
    "trec": ("Rprec", "P@20", "R@20", "nDCG", "AP"),
}
"""Measures that are always shown, by convention and in this order."""


# ----------------------------------------------------------------------------------------------------------------------
# Measures of every query of one run: of the list as ordered, or expected over all orders of documents that tie.
#
# The expected value is the mean over all orders of those that tie, and exact. What is linear in the gains at each
# rank takes the mean gain of the tie there; average precision is by McSherry and Najork 2008, Computing Information
# Retrieval Performance Measures Efficiently in the Presence of Tied Scores, ECIR, section 2. A list without ties has
# its plain value. trec_eval's measures, and all others that ir_measures knows, come from ir_measures.
# ----------------------------------------------------------------------------------------------------------------------


Run = Mapping[str, Sequence[ScoredDoc]]
"""Submitted documents of each query, best first; higher scores are better."""
QueryGrades = Mapping[str, Mapping[str, int]]
"""Grade by query, then document."""
Values = dict[str, float]
Orders = Mapping[str, Sequence[Sequence[str]]]
"""Orders of the documents of each query, best first, of which the mean is taken."""
Groups = Sequence[Sequence[str]]
"""Documents best first, those that tie together."""

ORDERS = 100
"""Number of orders drawn for measures whose expected value has no closed form."""


class MeasureSelection(NamedTuple):
    """Measures to compute, in one convention."""

    convention: str
    names: Sequence[str]
    relevant_from: int
    """Smallest grade that counts as relevant in the binary measures."""


def measured_by_query(run: Run, graded: QueryGrades, selection: MeasureSelection, *, ties: str) -> dict[str, Values]:
    """Measure each query of `graded`. ties: one of TIES."""
    convention, names, relevant_from = selection
    groups = {query_id: groups_of(run.get(query_id, ()), convention, ties) for query_id in graded}
    others = []
    for name in names:
        member = family_of(convention, name)
        is_our_own = member is not None and (member[0].kind == JUDGED or ":" in name)
        if member is None or (convention == "trec" and ties != "expected" and not is_our_own):
            others.append(name)
    computed_here = [name for name in names if name not in others]
    values = {
        query_id: _measured_documents(convention, computed_here, groups[query_id], grades, relevant_from)
        for query_id, grades in graded.items()
    }
    if others:
        orders = {query_id: _orders_of(query_id, groups_of_query) for query_id, groups_of_query in groups.items()}
        for query_id, means in through_ir_measures(orders, graded, others, relevant_from=relevant_from).items():
            values[query_id] |= means
    return {query_id: {name: of_query[name] for name in names} for query_id, of_query in values.items()}


def _measured_documents(
    convention: str,
    names: Sequence[str],
    groups: Groups,
    grades: Mapping[str, int],
    relevant_from: int,
    cut: int | None = None,
) -> Values:
    """Measures of one list that `family_of` knows. cut: only this many ranks count; None counts all."""
    values: Values = {}
    lists: dict[bool, GradedList] = {}
    doc_ids, sizes = list(chain.from_iterable(groups)), list(map(len, groups))
    for name in names:
        family, _ = family_of(convention, name) or (None, 0)
        only_judged = family is not None and family.kind == JUDGED
        if only_judged not in lists:
            grade_of, lowest = (dict.fromkeys(grades, 1), 1) if only_judged else (grades, relevant_from)
            submitted = [grade_of.get(doc_id, 0) for doc_id in doc_ids]
            lists[only_judged] = tied(submitted, sizes, grade_of.values(), lowest, cut)
        values[name] = float(measured(convention, name, lists[only_judged])[0])
    return values


def groups_of(docs: Sequence[ScoredDoc], convention: str, ties: str) -> list[tuple[str, ...]]:
    """Documents of a list, best first. ties: with `expected`, those of equal score in the convention are together."""
    if ties != "expected":
        # `zip` makes the tuples of one document faster.
        return list(zip(map(itemgetter(0), records.as_trec_eval(docs) if convention == "trec" else docs)))
    scores: Iterable[float] = (doc.score for doc in docs)
    scores = records.single_precision(scores) if convention == "trec" else scores
    by_score = records.grouped((score, doc.doc_id) for score, doc in zip(scores, docs, strict=True))
    return [tuple(by_score[score]) for score in sorted(by_score, reverse=True)]


def _orders_of(query_id: str, groups: Groups) -> list[list[str]]:
    """Draw orders of the documents, seeded by the query's id alone; a list without ties has one order."""
    if sum(map(len, groups)) == len(groups):
        return [list(chain.from_iterable(groups))]
    draw = generator(0, "orders", query_id)
    return [[group[place] for group in groups for place in draw.permutation(len(group))] for _ in range(ORDERS)]


def knows(convention: str, name: str) -> bool:
    """True if the convention has a measure of this name."""
    if family_of(convention, name) is not None:
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


def through_ir_measures(
    orders: Orders, graded: QueryGrades, names: Sequence[str], *, relevant_from: int
) -> dict[str, Values]:
    """Means of the measures over the orders of each query; 0 for a query without documents.

    Scores are whole numbers in the order, so that every provider takes the same.
    """
    import ir_measures

    by_name = {name: _measure_named(name, relevant_from) for name in names}
    lists = {f"{place} {query_id}": order for query_id in orders for place, order in enumerate(orders[query_id])}
    falling = [float(score) for score in range(max(map(len, lists.values()), default=0), 0, -1)]
    scores = {
        key: dict(zip(order, falling[len(falling) - len(order) :], strict=True))
        for key, order in lists.items()
        if order
    }
    judged = {key: dict(graded[key.split(" ", 1)[1]]) for key in scores}
    metrics = ir_measures.iter_calc(list(by_name.values()), judged, scores) if scores else ()
    values = {(metric.query_id, metric.measure): float(metric.value) for metric in metrics}
    return {
        query_id: {
            name: sum(values.get((f"{place} {query_id}", measure), 0.0) for place in range(len(of_query)))
            / len(of_query)
            for name, measure in by_name.items()
        }
        for query_id, of_query in orders.items()
    }


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


# ----------------------------------------------------------------------------------------------------------------------
# Measures of a ranking in two conventions, side by side and under honest names.
#
# `trec`: trec_eval's definitions, through ir_measures. `csfcube`: what CSFCube's published script computes, whose
# names mean something else in places:
#
# - `RP@last` is that release's "R-Precision": the precision at the rank of the last relevant document. `Rprec` is the
#   true one.
# - `R@k`, `Rprec` and `AP` divide by the relevant documents of the submitted list, not of the qrels.
# - `NDCG%20`, `NDCG%100` and `NDCG@k` have linear gain, leave ranks 1 and 2 undiscounted (Jarvelin and Kekalainen 2002,
#   b = 2), and normalise by the submitted list re-sorted; with % they are cut at floor(share of the list's length).
# - Ties keep the order of the submitted list; in `trec` they go by id as trec_eval has it. On request both take the
#   mean over all orders of what ties.
#
# Besides `MEASURES`, which are always shown, any k may be asked for, `Judged@k`, and in `trec` every measure that
# ir_measures knows by its name there; what is relevant then follows `relevant_from`, unless the name says `rel=`.
#
# In both conventions an unjudged document counts as not relevant; the figures come with their number (`unjudged`,
# `judged_at_20`). A query without a relevant document scores 0 in all measures but NDCG, which needs a grade above 0
# only; a query of which the run has no document scores 0. Both stay in the mean and are named, as trec_eval -c does;
# the release's script never met either. Values are fractions, 0..1.
# ----------------------------------------------------------------------------------------------------------------------


CONVENTIONS = get_args(Convention)
TIES = get_args(TieRule)
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

    @classmethod
    def of(
        cls, query_id: str, values: Values, docs: Sequence[ScoredDoc], pooled: set[str], relevant: int, **more: Any
    ) -> Self:
        """Measures of a list that has no document twice, with numbers of its documents.

        pooled: the documents that count as judged.
        """
        missing, top = pooled.difference(map(itemgetter(0), docs)), [doc.doc_id in pooled for doc in docs[:20]]
        return cls(
            query_id=query_id,
            values=values,
            submitted=len(docs),
            relevant=relevant,
            unjudged=len(docs) - len(pooled) + len(missing),
            judged_at_20=sum(top) / len(top) if top else 0.0,
            missing=tuple(sorted(missing)),
            **more,
        )

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
    """Queries of the qrels without a relevant document; in a sample, without a relevant drawn one."""
    floored: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Queries, by measure, whose ideal or number of relevant documents a sample estimates below the least it can be."""


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


def mean_over_folds(values: Mapping[str, Mapping[str, float]], folds: Sequence[Collection[str]]) -> dict[str, float]:
    """Mean of the folds' means, whatever their sizes, as in CSFCube. values: by `query_id`, then measure."""
    return _mean([_mean([values[query_id] for query_id in fold]) for fold in folds])


def check_run(run: Run) -> None:
    """Raise InputError for a document that is ranked twice, or a score that rises down a list."""
    faults: list[str] = []
    for query_id, docs in run.items():
        ids, scores = zip(*docs, strict=True) if docs else ((), ())
        if len({*ids}) < len(docs):
            faults.append(f"{query_id}: {counted(len(docs) - len({*ids}), 'document')} ranked twice, expected once")
        if any(map(gt, scores[1:], scores)):
            rising = 1 + list(map(gt, scores[1:], scores)).index(True)
            faults.append(f"{query_id}: the score rises at rank {rising + 1}, expected best first, higher is better")
    if faults:
        raise InputError(
            f"{counted(len(faults), 'fault')} in the run",
            faults=faults,
            hint="multiply distances by -1, so that the best score is the highest",
        )


def _mean(values: Sequence[Mapping[str, float]]) -> Values:
    return {name: math.fsum(value[name] for value in values) / len(values) for name in values[0]}


# ----------------------------------------------------------------------------------------------------------------------
# Figures of a random order of all documents that the runs rank for a query, cut at the length of a run.
#
# A random order of the judged documents is no yardstick: if only relevant documents are judged, each of its figures
# is 100%. Documents without a grade count here as the convention counts them in a run. Values are means over all
# orders, and exact, with two exceptions that take the mean of `ORDERS` drawn orders: measures that ir_measures alone
# knows, and those of the convention csfcube where a run leaves out documents, since its ideal and its recall follow
# from the documents that happen to be in.
# ----------------------------------------------------------------------------------------------------------------------


Documents = Mapping[str, Collection[str]]
"""Documents that the runs rank, by query."""
Cut = tuple[str, int]
"""A query, and the number of documents that a run ranks for it."""


def ranked_by_any(runs: Iterable[Run]) -> dict[str, frozenset[str]]:
    """Documents that at least one of the runs ranks, by query."""
    documents: dict[str, set[str]] = {}
    for run in runs:
        for query_id, ranking in run.items():
            documents.setdefault(query_id, set()).update([doc.doc_id for doc in ranking])
    return {query_id: frozenset(doc_ids) for query_id, doc_ids in documents.items()}


def random_orders(
    documents: Documents, cuts: Iterable[Cut], graded: QueryGrades, selection: MeasureSelection
) -> dict[Cut, Values]:
    """Mean of each measure over all orders of a query's documents, of which only the first are ranked, as many as the
    cut says.
    """
    return {cut: _values_at(cut, sorted(documents.get(cut[0], ())), graded[cut[0]], selection) for cut in {*cuts}}


def drawn_orders(query_id: str, doc_ids: Sequence[str], length: int) -> list[list[str]]:
    """First `length` documents of each of `ORDERS` random orders."""
    drawn = _drawn(query_id, np.arange(len(doc_ids)), length)
    return [[doc_ids[place] for place in order] for order in drawn.tolist()]


def _drawn(query_id: str, values: Grades, length: int) -> Grades:
    """First values in random orders of them, shape (`ORDERS`, length); the orders depend on the query's id alone."""
    orders = np.tile(values, (ORDERS, 1))
    orders = generator(0, "chance", query_id).permuted(orders, axis=1, out=orders)
    # Every measure goes through all of them, which takes a fifth longer with gaps between the rows.
    return np.ascontiguousarray(orders[:, :length])


def _values_at(cut: Cut, doc_ids: Sequence[str], grades: Mapping[str, int], selection: MeasureSelection) -> Values:
    query_id, length = cut
    convention, names, relevant_from = selection
    if not length:
        return dict.fromkeys(names, 0.0)
    values: Values = {}
    others, of_any_order = [], []
    drawn: GradedList | None = None
    for name in names:
        family, _ = family_of(convention, name) or (None, 0)
        if family is None:
            others.append(name)
        elif length < len(doc_ids) and family.of_submitted and family.kind != "P":
            if drawn is None:
                grades_of_documents = np.array([grades.get(doc_id, 0) for doc_id in doc_ids], dtype=np.int64)
                submitted = _drawn(query_id, grades_of_documents, length)
                drawn = GradedList(submitted, submitted, relevant_from)
            values[name] = float(measured(convention, name, drawn).mean())
        else:
            of_any_order.append(name)
    values |= _measured_documents(convention, of_any_order, [doc_ids], grades, relevant_from, cut=length)
    if others:
        orders = {query_id: drawn_orders(query_id, doc_ids, length)}
        values |= through_ir_measures(orders, {query_id: grades}, others, relevant_from=relevant_from)[query_id]
    return {name: values[name] for name in names}


# ----------------------------------------------------------------------------------------------------------------------
# Pools whose grades measure runs: judged completely, or a sample of them.
# ----------------------------------------------------------------------------------------------------------------------


MOST_EMPTY = 0.2
"""Largest share of queries in which nothing relevant may be drawn. Above it, intervals may hold less often than they
say (`benchmarks/sampled_predictions.py`).
"""


@dataclass(frozen=True)
class JudgedWhole:
    """Pools in which every document was to be judged."""

    qrels: tuple[Qrel, ...]
    judgements: tuple[Judgement, ...]
    """Judgements behind the qrels."""

    @cached_property
    def graded(self) -> dict[str, dict[str, int]]:
        """Grades by query, then document, in the order of the ids. Raises InputError if there are none."""
        if not self.qrels:
            raise InputError("the qrels are empty", hint="write them with `annot qrels`")
        return records.nested(sorted(self.qrels))

    @cached_property
    def _best_first(self) -> dict[str, Ranking]:
        return {query_id: records.in_order(grades.items()) for query_id, grades in self.graded.items()}

    @cached_property
    def _counting(self) -> tuple[Judgement, ...]:
        return records.counted(self.judgements)

    @property
    def whole(self) -> bool:
        """True if every document of the pools was to be judged."""
        return True

    @property
    def query_ids(self) -> Set[str]:
        """Queries that are graded."""
        return self.graded.keys() if self.qrels else frozenset()

    @property
    def highest(self) -> int:
        """Highest grade of a judged document."""
        return max((qrel.relevance for qrel in self.qrels), default=0)

    def columns(self, convention: str, wishes: tuple[str, ...]) -> tuple[str, ...]:
        """Measures to show: those of the convention, and those of `wishes` that it knows."""
        return columns(convention, wishes)

    def measured(self, run: Run, query_ids: Collection[str], selection: MeasureSelection, *, ties: str) -> Evaluation:
        """Measure `run` on these queries by the convention's own measures and those selected besides (`columns`).

        ties: one of TIES. Raises InputError for an unknown convention, no qrels, a document submitted twice, or scores
        that rise down a list (as distances do: smaller is better there).
        """
        check_name(selection.convention, CONVENTIONS, what="convention")
        check_run(run)
        graded = {query_id: grades for query_id, grades in self.graded.items() if query_id in query_ids}
        lists = {query_id: run.get(query_id, ()) for query_id in graded}
        selection = selection._replace(names=columns(selection.convention, selection.names))
        values = measured_by_query(lists, graded, selection, ties=ties)
        queries = []
        for query_id, grades in graded.items():
            relevant = sum(grade >= selection.relevant_from for grade in grades.values())
            queries.append(QueryMeasures.of(query_id, values[query_id], lists[query_id], {*grades}, relevant))
        return Evaluation(
            queries=tuple(queries),
            mean=_mean([query.values for query in queries]),
            not_submitted=tuple(query.query_id for query in queries if not query.submitted),
            without_relevant=tuple(query.query_id for query in queries if not query.relevant),
        )

    def chance(self, documents: Documents, cuts: Collection[Cut], selection: MeasureSelection) -> dict[Cut, Values]:
        """Figures of a random order of the documents of each query, cut at the given lengths."""
        return random_orders(documents, cuts, self.graded, selection)

    def one_assessor(self, selection: MeasureSelection) -> dict[str, Values]:
        """Measures of a ranking by one assessor's grades: the mean over a query's assessors, by `query_id`.

        Only queries that at least one assessor judged completely have a value. Equal grades are ordered by id, and a
        pair that came back without a grade ranks last. Judgements that carry flags do not count.
        """
        answers = records.nested(
            ((answer.query_id, answer.assessor), answer.doc_id, -1 if answer.grade is None else answer.grade)
            for answer in self._counting
            if answer.doc_id in self.graded.get(answer.query_id, ())
        )
        reached: dict[str, list[Values]] = {}
        for (query_id, _), grades in sorted(answers.items()):
            if len(grades) == len(self.graded[query_id]):
                # In this order in every convention.
                best_first = records.ranked([ScoredDoc(*answer) for answer in grades.items()])
                docs = [ScoredDoc(doc.doc_id, float(-rank)) for rank, doc in enumerate(best_first)]
                values = measured_by_query({query_id: docs}, {query_id: self.graded[query_id]}, selection, ties="order")
                reached.setdefault(query_id, []).append(values[query_id])
        return {query_id: _mean(of_assessors) for query_id, of_assessors in reached.items()}

    def best_order(self, selection: MeasureSelection) -> Evaluation:
        """Measures of the best order of the documents of each query."""
        return self.measured(self._best_first, self.query_ids, selection, ties="order")


@dataclass(frozen=True, slots=True)
class OpinionEffect:
    """Effect of a model's opinion as a further prediction of grades, on the measure that compares runs."""

    name: str
    model: str
    """Name of the model; empty if no model was asked under this name."""
    pairs: int
    """Pairs of the pools that the opinion helps to predict; 0 if the rankings alone predict."""
    difference: float | None
    """Change of the width of an interval of a difference between two runs against the rankings alone, as a share, below
    0 if it is narrower; the median over all pairs of runs. None if it is unknown.
    """
    level: float | None
    """Change of the width of an interval of a run's mean, in the same way."""
    means: Mapping[str, tuple[float, float]]
    """Mean of each run with the opinion and with the rankings alone."""
    other_texts: int = 0
    """Pairs on which the model read another version of a text than they are judged on."""


@dataclass(frozen=True, slots=True)
class SampleCost:
    """Cost of a sample on the measure that compares runs, over all queries."""

    drawn: int
    pairs: int
    """Pairs of the pools."""
    share: float
    """Share that was requested. By chance, a little more or less was drawn."""
    level: Estimate
    """Widening of an interval of a run's mean, as a fraction; the median over runs, with a range."""
    difference: Estimate
    """Widening of an interval of a difference between two runs; the median over all pairs of runs."""
    outside: int
    """Estimates of runs on queries that cannot be the true value; they count in the means and are not shown."""
    floored: int
    """Queries whose ideal was raised to the documents found, or to one document of the lowest relevant grade."""
    queries: int = 0
    """Queries that are measured."""
    empty: int = 0
    """Queries in which no drawn document is relevant: their values are predictions, or 0 without predictions."""
    bias: float | None = None
    """Expected error of a run's mean, found by drawing the sample again; None if it is not known."""
    biased: bool = False
    """True if it is too large for the interval of a run's mean, which then misses the true mean too often."""
    so_far: float | None = None
    """Share of the drawn pairs that have a grade; None if all have one."""
    opinion: OpinionEffect | None = None
    """Effect of the opinion that predicts grades, if there is one."""

    @property
    def too_empty(self) -> bool:
        """True if so many queries are empty that intervals hold less often than they say."""
        return self.empty > MOST_EMPTY * self.queries
