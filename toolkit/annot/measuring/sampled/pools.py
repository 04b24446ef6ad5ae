"""Sampled pools that measure runs (`annot.measuring.evaluation.graded_pools`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean

from annot.base.records import ScoredDoc
from annot.measuring.evaluation.chance import Cut, Documents, drawn_orders
from annot.measuring.evaluation.computed import MeasuresAsked, Run, Values
from annot.measuring.evaluation.measures import Evaluation
from annot.measuring.sampled.estimates import columns, estimates
from annot.measuring.sampled.grades import PoolGrades


@dataclass(frozen=True, slots=True)
class SampledPools:
    """Measures runs by estimates for the whole pools."""

    pools: Mapping[str, PoolGrades]

    @property
    def whole(self) -> bool:
        return False

    @property
    def query_ids(self) -> Collection[str]:
        return self.pools.keys()

    @property
    def highest(self) -> int:
        # A column for each grade from 1: whether it, or a higher one, was given.
        return max((int(pool.found.any(axis=0).sum()) for pool in self.pools.values()), default=0)

    def columns(self, convention: str, asked: tuple[str, ...]) -> tuple[str, ...]:
        return columns(convention, asked)

    def measured(self, run: Run, query_ids: Collection[str], asked: MeasuresAsked, *, ties: str) -> Evaluation:
        return _estimated({"": run}, self.of(query_ids), asked, ties=ties)[""]

    def chance(self, documents: Documents, cuts: Collection[Cut], asked: MeasuresAsked) -> dict[Cut, Values]:
        """In a random order of all documents they tie; of orders that are cut, some are drawn."""
        found: dict[Cut, Values] = {}
        for query_id, length in {*cuts}:
            doc_ids = sorted(documents.get(query_id, ()))
            lists = [[ScoredDoc(doc_id, 0.0) for doc_id in doc_ids]]
            if length < len(doc_ids):
                orders = drawn_orders(query_id, doc_ids, length)
                lists = [[ScoredDoc(doc_id, float(-rank)) for rank, doc_id in enumerate(order)] for order in orders]
            runs = {str(at): {query_id: docs} for at, docs in enumerate(lists)}
            evaluations = _estimated(runs, self.of([query_id]), asked, ties="expected").values()
            found[query_id, length] = {name: fmean(one.mean[name] for one in evaluations) for name in asked.names}
        return found

    def one_assessor(self, asked: MeasuresAsked) -> dict[str, Values]:
        """Empty, because no assessor graded the whole pool."""
        return {}

    def best_order(self, asked: MeasuresAsked) -> None:
        """None, because not all of the relevant documents are known."""

    def of(self, query_ids: Collection[str]) -> dict[str, PoolGrades]:
        """The pools of these queries."""
        return {query_id: pool for query_id, pool in self.pools.items() if query_id in query_ids}


def _estimated(
    runs: Mapping[str, Run], pools: Mapping[str, PoolGrades], asked: MeasuresAsked, *, ties: str
) -> dict[str, Evaluation]:
    found = estimates(
        runs,
        pools,
        convention=asked.convention,
        relevant_from=asked.relevant_from,
        ties=ties,
        measures=asked.names,
    )
    return {tag: one.evaluation for tag, one in found.items()}
