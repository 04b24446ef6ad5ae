"""Figures of a random order of all documents that the runs rank for a query, cut at the length of a run.

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
"""Documents that the runs rank, by query."""
Cut = tuple[str, int]
"""A query, and the number of documents that a run ranks for it."""


def ranked_by_any(runs: Iterable[Run]) -> dict[str, frozenset[str]]:
    """Documents that at least one of the runs ranks, by query."""
    documents: dict[str, set[str]] = {}
    for run in runs:
        for query_id, ranking in run.items():
            documents.setdefault(query_id, set()).update(doc.doc_id for doc in ranking)
    return {query_id: frozenset(doc_ids) for query_id, doc_ids in documents.items()}


def random_orders(
    documents: Documents, cuts: Iterable[Cut], graded: Grades, selection: MeasuresAsked
) -> dict[Cut, Values]:
    """Mean of each measure over all orders of a query's documents, of which only the first are ranked, as many as the
    cut says.
    """
    return {cut: _values_at(cut, sorted(documents.get(cut[0], ())), graded[cut[0]], selection) for cut in {*cuts}}


def drawn_orders(query_id: str, doc_ids: Sequence[str], length: int) -> list[list[str]]:
    """First `length` documents of each of `ORDERS` random orders."""
    return [[doc_ids[place] for place in order] for order in _drawn(query_id, len(doc_ids), length).tolist()]


def _drawn(query_id: str, n: int, length: int) -> Integers:
    """First places of random orders of n documents, shape (`ORDERS`, length); they depend on the query's id alone."""
    places = np.tile(np.arange(n), (ORDERS, 1))
    return generator(0, "chance", query_id).permuted(places, axis=1)[:, :length]


def _values_at(cut: Cut, doc_ids: Sequence[str], grades: Mapping[str, int], selection: MeasuresAsked) -> Values:
    query_id, length = cut
    if not length:
        return dict.fromkeys(selection.names, 0.0)
    grades_of_documents = [grades.get(doc_id, 0) for doc_id in doc_ids]
    tie = tied([grades_of_documents], grades.values(), selection.relevant_from).cut(length)
    lists: Graded | None = None
    values: Values = {}
    others = []
    for name in selection.names:
        family = family_of(selection.convention, name)
        if JUDGED_AT.fullmatch(name):
            values[name] = sum(doc_id in grades for doc_id in doc_ids) / len(doc_ids)
        elif family is None:
            others.append(name)
        elif length < len(doc_ids) and family[0].of_submitted and family[0].kind != "P":
            if lists is None:
                submitted = np.array(grades_of_documents, dtype=np.int64)[_drawn(query_id, len(doc_ids), length)]
                lists = Graded(submitted, submitted, selection.relevant_from)
            values[name] = float(measured(selection.convention, name, lists).mean())
        else:
            values[name] = expected(selection.convention, name, tie) or 0.0
    if others:
        values |= over_orders(drawn_orders(query_id, doc_ids, length), grades, others, selection.relevant_from)
    return {name: values[name] for name in selection.names}
