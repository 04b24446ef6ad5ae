"""Every measure that is asked for, of every query of one run: as ordered, or expected where documents tie."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from annot.base.ordering import as_trec_eval, round_score
from annot.base.records import ScoredDoc
from annot.base.stats.seeding import generator
from annot.measuring.evaluation.expected import Tied, expected
from annot.measuring.evaluation.gradings import Graded, measured
from annot.measuring.evaluation.trec_eval import through_ir_measures

Run = Mapping[str, Sequence[ScoredDoc]]
"""The submitted documents of each query, best first; higher scores are better."""
Grades = Mapping[str, Mapping[str, int]]
"""By query, then document."""
Values = dict[str, float]

JUDGED_AT = re.compile(r"Judged@([1-9]\d{0,5})", re.ASCII)
ORDERS = 100
"""Orders of what ties, for measures whose expected value nobody has in closed form."""
Ties = tuple[tuple[ScoredDoc, ...], ...]
"""Documents best first, those of one score together."""


def measured_by_query(
    run: Run, graded: Grades, *, convention: str, names: Sequence[str], relevant_from: int, expect: bool
) -> dict[str, Values]:
    """The measures `names` of each query of `graded`. expect: the mean over all orders of documents that tie."""
    if expect:
        ties = {query_id: _ties(run.get(query_id, ())) for query_id in graded}
        return _expected(ties, graded, convention=convention, names=names, relevant_from=relevant_from)
    others = [name for name in names if convention == "trec" and not JUDGED_AT.fullmatch(name)]
    found = through_ir_measures(run, graded, names=others, relevant_from=relevant_from)
    for query_id, grades in graded.items():
        docs = as_trec_eval(run.get(query_id, ())) if convention == "trec" else run.get(query_id, ())
        submitted = np.array([[grades.get(doc.doc_id, 0) for doc in docs]], dtype=np.int64)
        one = Graded(submitted, submitted, relevant_from)
        for name in names:
            if at := JUDGED_AT.fullmatch(name):
                found[query_id][name] = _judged(tuple((doc,) for doc in docs), grades, int(at[1]))
            elif name not in found[query_id]:
                found[query_id][name] = float(measured(convention, name, one)[0])
    return {query_id: {name: values[name] for name in names} for query_id, values in found.items()}


def of_random_order(graded: Grades, *, convention: str, names: Sequence[str], relevant_from: int) -> dict[str, Values]:
    """The expected measures of each query when all of its judged documents tie."""
    ties = {query_id: (tuple(ScoredDoc(doc_id, 0.0) for doc_id in grades),) for query_id, grades in graded.items()}
    return _expected(ties, graded, convention=convention, names=names, relevant_from=relevant_from)


def _expected(
    ties: Mapping[str, Ties], graded: Grades, *, convention: str, names: Sequence[str], relevant_from: int
) -> dict[str, Values]:
    found: dict[str, Values] = {}
    others: list[str] = []
    for query_id, grades in graded.items():
        groups = tuple(tuple(grades.get(doc.doc_id, 0) for doc in group) for group in ties[query_id])
        tied = Tied(groups, tuple(grades.values()), relevant_from)
        values: Values = {}
        for name in names:
            at = JUDGED_AT.fullmatch(name)
            value = _judged(ties[query_id], grades, int(at[1])) if at else expected(convention, name, tied)
            if value is None:
                others += [name] * (name not in others)
            else:
                values[name] = value
        found[query_id] = values
    if others:
        for query_id, values in _over_orders(ties, graded, names=others, relevant_from=relevant_from).items():
            found[query_id] |= values
    return {query_id: {name: values[name] for name in names} for query_id, values in found.items()}


def _over_orders(
    ties: Mapping[str, Ties], graded: Grades, *, names: Sequence[str], relevant_from: int
) -> dict[str, Values]:
    """The mean over drawn orders, those of a query from its id alone; a list without ties has one order."""
    means: dict[str, Values] = {}
    for query_id, groups in ties.items():
        draw = generator(0, "orders", query_id)
        several = ORDERS if any(len(group) > 1 for group in groups) else 1
        orders = {}
        for at in range(several):
            docs = [group[place] for group in groups for place in draw.permutation(len(group))]
            orders[str(at)] = [ScoredDoc(doc.doc_id, float(-rank)) for rank, doc in enumerate(docs)]
        same = dict.fromkeys(orders, graded[query_id])
        values = through_ir_measures(orders, same, names=names, relevant_from=relevant_from)
        means[query_id] = {name: sum(one[name] for one in values.values()) / several for name in names}
    return means


def _judged(ties: Ties, grades: Mapping[str, int], k: int) -> float:
    """The judged share of the first k documents (of all where there are fewer; 0 where there are none)."""
    flags = tuple(tuple(int(doc.doc_id in grades) for doc in group) for group in ties)
    n = min(k, sum(map(len, flags)))
    return float(Tied(flags, (), 1).hits()[:n].mean()) if n else 0.0


def _ties(docs: Sequence[ScoredDoc]) -> Ties:
    groups: dict[float, list[ScoredDoc]] = {}
    for doc in docs:
        groups.setdefault(round_score(doc.score), []).append(doc)
    return tuple(tuple(groups[score]) for score in sorted(groups, reverse=True))
