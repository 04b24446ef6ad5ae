"""Averages over the queries of runs: by the test folds, over a development fold, or over all queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from annot.base.errors import InputError
from annot.base.names import called, counted
from annot.base.stats.arrays import Array
from annot.base.stats.pseudo_topics import Reach
from annot.measuring.evaluation.measures import QueryMeasures, mean_over_folds
from annot.measuring.folds import test_folds

TOGETHER = "together"
TEST = "mean of fold means"
TEST_FOLD = "mean over the test fold"
DEV = "mean over the development fold"
PLAIN = "mean over queries"
AVERAGES = ("test", "dev", "plain")
"""Averages over the test folds if there are any; over the first development fold, as in CSFCube's release; over all
queries.
"""
DEV_FOLD = "fold1_dev"


class Average(NamedTuple):
    """Queries of one facet, and how they are averaged."""

    facet: str
    folds: tuple[tuple[str, ...], ...]
    kind: str
    topics: Mapping[str, str] | None
    """Topic of each query; None if queries are independent."""

    @property
    def unit(self) -> str:
        """Name of the units of chance."""
        return "query" if self.topics is None else "query paper"

    @property
    def members(self) -> list[str]:
        """Queries of all folds."""
        return [query_id for fold in self.folds for query_id in fold]

    def sizes(self) -> Array:
        """Number of queries that each topic has in each fold: shape (P, S)."""
        return self.sums(dict.fromkeys(self.members, 1.0))

    def sums(self, values: Mapping[str, float]) -> Array:
        """Sum over the queries of each topic in each fold: shape (P, S)."""
        topics, row = np.unique([(self.topics or {}).get(name, name) for name in self.members], return_inverse=True)
        sums = np.zeros((len(topics), len(self.folds)))
        fold = np.repeat(np.arange(len(self.folds)), [len(members) for members in self.folds])
        np.add.at(sums, (row, fold), [values[name] for name in self.members])
        return sums

    def reach(self, best: Mapping[str, QueryMeasures] | None, name: str) -> Reach | None:
        """Limits of the measure on these queries. best: the best order of each query; None if it is not known."""
        if best is None:
            return None
        best_orders = [best[query_id] for query_id in self.members]
        highest = max(query.values[name] for query in best_orders)
        return Reach(highest, float(np.mean([1 / max(1, query.relevant) for query in best_orders])))


def mean_of_all(values: Mapping[str, float], splits: Mapping[str, Mapping[str, tuple[str, ...]]]) -> float:
    """Mean over all queries as `of_runs` takes it with `test`. values: by `query_id`."""
    folds = splits.get("all", {})
    average = average_of(in_test_folds({*values}, folds), TOGETHER, folds, None, "test")
    return mean_over_folds({query_id: {TOGETHER: value} for query_id, value in values.items()}, average.folds)[TOGETHER]


def in_test_folds(members: set[str], folds: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Queries of the test folds if all others are for development; all queries if one is in no fold."""
    tested = {query_id for fold in test_folds(folds) for query_id in fold}
    return tested if tested and members == {query_id for fold in folds.values() for query_id in fold} else members


def average_of(
    members: set[str], facet: str, splits: Mapping[str, tuple[str, ...]], topics: Mapping[str, str] | None, average: str
) -> Average:
    """Average over the test folds (`fold1_test`, `fold2_test`, ...) if they contain exactly these queries, else
    plainly.
    """
    folds, query_ids = test_folds(splits), tuple(sorted(members))
    if average == "test" and folds and sorted(query_id for fold in folds for query_id in fold) == list(query_ids):
        return Average(facet, folds, TEST if len(folds) > 1 else TEST_FOLD, topics)
    return Average(facet, (query_ids,), DEV if average == "dev" else PLAIN, topics)


def folds_of(splits: Mapping[str, Mapping[str, tuple[str, ...]]], facet: str) -> Mapping[str, tuple[str, ...]]:
    """Folds of the facet, or of all queries."""
    return splits.get("all" if facet == TOGETHER else facet, {})


def averages_of_facets(
    facets: Mapping[str, str],
    topics: Mapping[str, str] | None,
    splits: Mapping[str, Mapping[str, tuple[str, ...]]],
    average: str,
) -> tuple[list[Average], list[str]]:
    """Averages over each facet, then together, and a note for each that leaves queries out.

    Raises InputError if one has no queries in a development fold.
    """
    averages, notes = [], []
    names = sorted({*facets.values()})
    for facet in [*names, *([TOGETHER] if len(names) > 1 else [])]:
        folds = folds_of(splits, facet)
        members = {query_id for query_id in facets if facet in (facets[query_id], TOGETHER)}
        if average == "dev":
            members &= set(folds.get(DEV_FOLD, ()))
            if not members:
                hint = "use `--average plain`" if splits else "draw folds with `annot query folds`"
                raise InputError(f"{_on(facet)}no query is in a development fold on record", hint=hint)
        if average == "test" and (untested := members - in_test_folds(members, folds)):
            members -= untested
            left = counted(len(untested), "query")
            notes.append(f"{_on(facet)}leaves out {left} outside the test folds; `--average plain` takes all")
        averages.append(average_of(members, facet, folds, topics, average))
    return averages, notes


def _on(facet: str) -> str:
    return f"{facet}: " if called().faceted else ""
