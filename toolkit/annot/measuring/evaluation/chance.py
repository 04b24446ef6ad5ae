"""The figures of a random order of all documents that the runs rank for a query, cut at the length of a run.

A random order of the judged documents is no yardstick: if only relevant documents are judged, each of its figures is
100%. Documents without a grade count here as the convention counts them in a run. Values are means over all orders,
and exact, with two exceptions that take the mean of `ORDERS` drawn orders: measures that ir_measures alone knows, and
those of the convention csfcube where a run leaves out documents, since its ideal and its recall follow from the
documents that happen to be in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from annot.base.stats.arrays import Integers
from annot.base.stats.seeding import generator
from annot.measuring.evaluation.computed import (
    JUDGED_AT,
    ORDERS,
    Grades,
    MeasuresAsked,
    Run,
    Values,
    expected,
    over_orders,
    tied,
)
from annot.measuring.evaluation.gradings import Graded, family_of, measured

Documents = Mapping[str, Collection[str]]
"""All that the runs rank, by query."""
Cut = tuple[str, int]
"""A query, and the number of documents that a run ranks for it."""


def ranked_by_any(runs: Iterable[Run]) -> dict[str, frozenset[str]]:
    """The documents that at least one of the runs ranks, by query."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for query_id, ranking in run.items():
            found.setdefault(query_id, set()).update(doc.doc_id for doc in ranking)
    return {query_id: frozenset(doc_ids) for query_id, doc_ids in found.items()}


def random_orders(documents: Documents, cuts: Iterable[Cut], graded: Grades, asked: MeasuresAsked) -> dict[Cut, Values]:
    """The mean of each measure over all orders of the documents of a query, of which the first so many are ranked."""
    return {cut: _of_cut(cut, sorted(documents.get(cut[0], ())), graded[cut[0]], asked) for cut in {*cuts}}


def drawn_orders(query_id: str, doc_ids: Sequence[str], length: int) -> list[list[str]]:
    """The first `length` documents of each of `ORDERS` random orders."""
    return [[doc_ids[at] for at in order] for order in _drawn(query_id, len(doc_ids), length).tolist()]


def _drawn(query_id: str, n: int, length: int) -> Integers:
    """The first places of random orders of n documents, shape (`ORDERS`, length); they follow from the id alone."""
    every = np.tile(np.arange(n), (ORDERS, 1))
    return generator(0, "chance", query_id).permuted(every, axis=1)[:, :length]


def _of_cut(cut: Cut, doc_ids: Sequence[str], grades: Mapping[str, int], asked: MeasuresAsked) -> Values:
    query_id, length = cut
    if not length:
        return dict.fromkeys(asked.names, 0.0)
    of_documents = [grades.get(doc_id, 0) for doc_id in doc_ids]
    tie = tied([of_documents], grades.values(), asked.relevant_from).cut(length)
    lists: Graded | None = None
    values: Values = {}
    others = []
    for name in asked.names:
        family = family_of(asked.convention, name)
        if JUDGED_AT.fullmatch(name):
            values[name] = sum(doc_id in grades for doc_id in doc_ids) / len(doc_ids)
        elif family is None:
            others.append(name)
        elif length < len(doc_ids) and family[0].of_submitted and family[0].kind != "P":
            if lists is None:
                submitted = np.array(of_documents, dtype=np.int64)[_drawn(query_id, len(doc_ids), length)]
                lists = Graded(submitted, submitted, asked.relevant_from)
            values[name] = float(measured(asked.convention, name, lists).mean())
        else:
            values[name] = expected(asked.convention, name, tie) or 0.0
    if others:
        values |= over_orders(drawn_orders(query_id, doc_ids, length), grades, others, asked.relevant_from)
    return {name: values[name] for name in asked.names}
