"""Sampled pools that measure runs (`annot.measuring.evaluation.graded_pools`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from annot.base.records import ScoredDoc
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

    def columns(self, convention: str, asked: tuple[str, ...]) -> tuple[str, ...]:
        return columns(convention, asked)

    def measured(self, run: Run, query_ids: Collection[str], asked: MeasuresAsked, *, ties: str) -> Evaluation:
        return self._estimated(run, self.of(query_ids), asked, ties=ties)

    def chance(self, asked: MeasuresAsked) -> dict[str, Values]:
        """A random order is a run in which all documents of the pool tie."""
        run = {query_id: [ScoredDoc(doc_id, 0.0) for doc_id in pool.doc_ids] for query_id, pool in self.pools.items()}
        found = self._estimated(run, self.pools, asked, ties="expected")
        return asked.of({query.query_id: query.values for query in found.queries})

    def one_assessor(self, asked: MeasuresAsked) -> dict[str, Values]:
        """Empty, because no assessor graded the whole pool."""
        return {}

    def of(self, query_ids: Collection[str]) -> dict[str, PoolGrades]:
        """The pools of these queries."""
        return {query_id: pool for query_id, pool in self.pools.items() if query_id in query_ids}

    @staticmethod
    def _estimated(run: Run, pools: Mapping[str, PoolGrades], asked: MeasuresAsked, *, ties: str) -> Evaluation:
        found = estimates(
            {"": run},
            pools,
            convention=asked.convention,
            relevant_from=asked.relevant_from,
            ties=ties,
            measures=asked.names,
        )
        return found[""].evaluation
