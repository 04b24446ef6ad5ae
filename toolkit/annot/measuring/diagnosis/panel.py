"""Judgements of a study side by side, and each next to the others of the same pair."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from annot.base.judged import FIRST, first_judgements
from annot.base.records import Assignment, Decision, Judgement
from annot.base.stats.arrays import Array, Integers, Mask

NO_GRADE = -1
Pair = tuple[str, str]


@dataclass(frozen=True)
class Panel:
    """Panel of J judgements with a grade, of N pairs by (query, document), by M assessors by pseudonym."""

    assessors: tuple[str, ...]
    query_ids: tuple[str, ...]
    """Query of each pair; equal ones are adjacent."""
    doc_ids: tuple[str, ...]
    papers: tuple[str, ...]
    """Paper of each pair's query."""
    facets: tuple[str, ...]
    """Facet of each pair's query."""
    scale: tuple[int, ...]
    """Grades, ascending."""
    pair: Integers
    """Shape (J,), the pair of each judgement, ascending."""
    who: Integers
    """Shape (J,), the assessor of each judgement, ascending within a pair."""
    grade: Integers
    """Shape (J,), the place of its grade in the scale."""
    seconds: Array
    """Shape (J,), nan where no time was taken."""
    in_order: tuple[Integers, ...]
    """Places of each assessor's judgements, first to last."""
    by_clock: Mask
    """Shape (M,), true for those whose order is that of `judged_at`, false where it is that of the plan."""
    final: Integers
    """Shape (N,), the place of the final grade in the scale, -1 where there is none yet."""
    adjudicated: Mask
    """Shape (N,), true where a person settled the pair."""
    open: Mask
    """Shape (N,), true if the pair is disputed and not settled yet."""

    @property
    def widest(self) -> float:
        """Largest difference between two grades."""
        return float(self.scale[-1] - self.scale[0])

    @cached_property
    def query(self) -> Integers:
        """Shape (N,), the query of each pair by number, in the order of the pairs."""
        changes = [query_id != following for query_id, following in itertools.pairwise(self.query_ids)]
        return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)[: len(self.query_ids)]

    @cached_property
    def paper(self) -> Integers:
        """Shape (N,), the paper of each pair's query by number: the unit of chance."""
        return np.unique(self.papers, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def n_judged(self) -> Integers:
        """Shape (N,): number of judgements of each pair."""
        return np.bincount(self.pair, minlength=len(self.query_ids))

    @property
    def independent(self) -> Mask:
        """Shape (N,), true where the final grade is not simply the only one given."""
        return np.asarray((self.final != NO_GRADE) & (self.adjudicated | (self.n_judged > 1)))


def panel_of(
    judgements: Iterable[Judgement],
    decisions: Iterable[Decision],
    facets: Mapping[str, str],
    *,
    topics: Mapping[str, str] | None = None,
    scale: Sequence[int],
    open_pairs: Iterable[tuple[str, str]],
    assignments: Iterable[Assignment],
    by_clock: bool,
) -> Panel:
    """Build the panel of the judgements that count and have a grade, without hidden repeats.

    facets: the facet of each `query_id`. topics: the topic of each; None takes the queries as independent. open_pairs:
    (query, document) that are disputed and not settled, also because one of two could not judge. by_clock: the order of
    judging is that of `judged_at` if all of an assessor's judgements have one; else it is that of the plan, and
    judgements that were not planned come last, by query and document. Raises InputError for a double judgement, a query
    without facet, or a grade outside the scale.
    """
    decided = {decision.pair: decision for decision in decisions}
    counting = first_judgements(judgements, decided.values(), facets, grades=scale)
    graded = [judgement for judgement in counting if judgement.grade is not None]
    graded.sort(key=lambda judgement: (judgement.pair, judgement.assessor))
    place = {grade: position for position, grade in enumerate(scale)}
    number = {name: position for position, name in enumerate(sorted({judgement.assessor for judgement in graded}))}
    row = {pair: position for position, pair in enumerate(dict.fromkeys(judgement.pair for judgement in graded))}
    who = np.array([number[judgement.assessor] for judgement in graded], dtype=np.int64)
    timed = _timed(graded, number) & by_clock
    final, adjudicated = _final(decided, row, scale)
    unsettled = set(open_pairs)
    return Panel(
        assessors=tuple(number),
        query_ids=tuple(query_id for query_id, _ in row),
        doc_ids=tuple(doc_id for _, doc_id in row),
        papers=tuple(topics[query_id] if topics else query_id for query_id, _ in row),
        facets=tuple(facets[query_id] for query_id, _ in row),
        scale=tuple(scale),
        pair=np.array([row[judgement.pair] for judgement in graded], dtype=np.int64),
        who=who,
        grade=np.array([place[judgement.grade] for judgement in graded if judgement.grade is not None], dtype=np.int64),
        seconds=np.array([judgement.lead_time or np.nan for judgement in graded], dtype=np.float64),
        in_order=_in_order(graded, assignments, who, timed),
        by_clock=timed,
        final=final,
        adjudicated=adjudicated,
        open=np.array([pair in unsettled for pair in row], dtype=np.bool_),
    )


def _timed(graded: Sequence[Judgement], names: Iterable[str]) -> Mask:
    """Assessors whose judgements all have a time, shape (M,)."""
    undated = {judgement.assessor for judgement in graded if judgement.judged_at is None}
    return np.array([name not in undated for name in names], dtype=np.bool_)


def _final(decided: Mapping[Pair, Decision], pairs: Iterable[Pair], scale: Sequence[int]) -> tuple[Integers, Mask]:
    """Place of the final grade of each pair in the scale, -1 without one, and the pairs that a person settled."""
    place = {grade: position for position, grade in enumerate(scale)}
    decisions = [decided.get(pair) for pair in pairs]
    final = np.array([place[decision.grade] if decision else NO_GRADE for decision in decisions], dtype=np.int64)
    return final, np.array(
        [decision is not None and decision.origin == "adjudicated" for decision in decisions], np.bool_
    )


def _in_order(
    graded: Sequence[Judgement], assignments: Iterable[Assignment], who: Integers, timed: Mask
) -> tuple[Integers, ...]:
    position = {
        (planned.pair, planned.assessor): planned.position for planned in assignments if planned.occasion == FIRST
    }

    def turn(index: int) -> tuple[int, str, int, int]:
        judgement = graded[index]
        moment = judgement.judged_at or "" if timed[who[index]] else ""
        planned = position.get((judgement.pair, judgement.assessor), sys.maxsize)
        return int(who[index]), moment, planned, index

    order = np.array(sorted(range(len(graded)), key=turn), dtype=np.int64)
    return tuple(np.split(order, np.cumsum(np.bincount(who, minlength=len(timed)))[:-1]))


class SharedPairs:
    """Judgements of some assessors on the pairs that another of these judged too: K of them.

    They fall into C cells, one for each assessor and query. Chance moves whole topics: all cells of an assessor and a
    paper together.
    """

    def __init__(self, panel: Panel, *, without: Iterable[str]) -> None:
        """Compare all but the assessors in `without`."""
        compared = ~np.isin(panel.who, [panel.assessors.index(name) for name in without])
        count = np.bincount(panel.pair[compared], minlength=len(panel.query_ids))
        self.panel = panel
        self.at: Integers = np.flatnonzero(compared & (count[panel.pair] > 1))
        """Shape (K,): place of each in the panel."""
        self.pair, self.who, self.grade = panel.pair[self.at], panel.who[self.at], panel.grade[self.at]
        self.others = count[self.pair] - 1
        """Shape (K,): number of others who judged its pair."""
        self.n_queries = len(np.unique(panel.query))
        cells, self.cell = np.unique(self.who * self.n_queries + panel.query[self.pair], return_inverse=True)
        self.cell_who, self.cell_query = np.divmod(cells, self.n_queries)
        self.paper_of = np.zeros(self.n_queries, dtype=np.int64)
        """Shape (Q,): paper of each query by number."""
        self.paper_of[panel.query] = panel.paper

    def by_pair(self, values: npt.ArrayLike) -> Array:
        """Sums over the judgements of each pair, shape (N,). values: shape (K,)."""
        return sums(self.pair, values, len(self.panel.query_ids))

    def differences(self, values: npt.ArrayLike) -> Array:
        """Difference of each value from the mean of the others' on the same pair, shape (K,). values: shape (K,)."""
        values = np.asarray(values, dtype=np.float64)
        return np.asarray(values - (self.by_pair(values)[self.pair] - values) / self.others)

    def agreement(self) -> Array:
        """Share of the others on the same pair who gave the same grade, shape (K,)."""
        code = self.pair * len(self.panel.scale) + self.grade
        return np.asarray((np.bincount(code)[code] - 1) / self.others, dtype=np.float64)

    def by_cell(self, values: npt.ArrayLike) -> Array:
        """Means over the judgements of each cell, shape (C,). values: shape (K,)."""
        return np.asarray(sums(self.cell, values, len(self.cell_who)) / np.bincount(self.cell))

    @cached_property
    def partners(self) -> tuple[tuple[str, ...], ...]:
        """Assessors by name who judged a pair in common, for each assessor."""
        from scipy.sparse import csr_array

        names = self.panel.assessors
        judged = csr_array(
            (np.ones(len(self.at)), (self.pair, self.who)), shape=(len(self.panel.query_ids), len(names))
        )
        met = csr_array(judged.T @ judged)
        met.sort_indices()
        return tuple(
            tuple(
                names[other]
                for other in met.indices[met.indptr[assessor] : met.indptr[assessor + 1]]
                if other != assessor
            )
            for assessor in range(len(names))
        )


def sums(group: Integers, values: npt.ArrayLike, size: int) -> Array:
    """Sum of the values of each group, shape (size,)."""
    return np.bincount(group, weights=np.asarray(values, dtype=np.float64), minlength=size).astype(np.float64)
