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
    """Pools that measure runs by estimates for the whole pools."""

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

    def columns(self, convention: str, wishes: tuple[str, ...]) -> tuple[str, ...]:
        return columns(convention, wishes)

    def measured(self, run: Run, query_ids: Collection[str], selection: MeasuresAsked, *, ties: str) -> Evaluation:
        return _estimated({"": run}, self.of(query_ids), selection, ties=ties)[""]

    def chance(self, documents: Documents, cuts: Collection[Cut], selection: MeasuresAsked) -> dict[Cut, Values]:
        """Figures of a random order: all documents tie; if it is cut, some orders are drawn."""
        values: dict[Cut, Values] = {}
        for query_id, length in {*cuts}:
            doc_ids = sorted(documents.get(query_id, ()))
            lists = [[ScoredDoc(doc_id, 0.0) for doc_id in doc_ids]]
            if length < len(doc_ids):
                orders = drawn_orders(query_id, doc_ids, length)
                lists = [[ScoredDoc(doc_id, float(-rank)) for rank, doc_id in enumerate(order)] for order in orders]
            runs = {str(number): {query_id: docs} for number, docs in enumerate(lists)}
            evaluations = _estimated(runs, self.of([query_id]), selection, ties="expected").values()
            means = [evaluation.mean for evaluation in evaluations]
            values[query_id, length] = {name: fmean(mean[name] for mean in means) for name in selection.names}
        return values

    def one_assessor(self, selection: MeasuresAsked) -> dict[str, Values]:
        """Values of one assessor: none, because no assessor graded the whole pool."""
        return {}

    def best_order(self, selection: MeasuresAsked) -> None:
        """Best order: None, because not all of the relevant documents are known."""

    def of(self, query_ids: Collection[str]) -> dict[str, PoolGrades]:
        """Pools of these queries."""
        return {query_id: pool for query_id, pool in self.pools.items() if query_id in query_ids}


def _estimated(
    runs: Mapping[str, Run], pools: Mapping[str, PoolGrades], selection: MeasuresAsked, *, ties: str
) -> dict[str, Evaluation]:
    evaluations = estimates(
        runs,
        pools,
        convention=selection.convention,
        relevant_from=selection.relevant_from,
        ties=ties,
        measures=selection.names,
    )
    return {tag: sampled.evaluation for tag, sampled in evaluations.items()}
