"""Runs measured under many gradings of the same drawn pairs. Each measure is an estimate for the whole pool.

Predictions and their weights are those of the final grades. They do not follow from the draw of their own topic, under
other grades either, and two gradings differ only in their grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.base.records import ScoredDoc
from annot.base.stats.arrays import Array
from annot.measuring.evaluation.gradings import family_of
from annot.measuring.sampled.estimates import WITHOUT_ESTIMATOR, columns, groups_of
from annot.measuring.sampled.grades import Predicted, Weights, pool_grades
from annot.measuring.sampled.lists import Lists


@dataclass(frozen=True, slots=True)
class SampledGradings:
    """Pools whose drawn pairs several people graded. The arguments are those of `pools_of`."""

    pi: Mapping[str, Mapping[str, float]]
    judged: Mapping[str, Mapping[str, int]]
    """Final grades. They fill in the pairs that a grading does not have."""
    predicted: Mapping[str, Predicted] | None
    highest: int
    weights: Mapping[str, Weights] | None = None
    """Weights of the predictions with the final grades."""

    def measured(
        self,
        rankings: Sequence[Sequence[ScoredDoc]],
        query_id: str,
        doc_ids: Sequence[str],
        grades: npt.NDArray[np.int8],
        *,
        convention: str,
        measure: str,
        relevant_from: int,
    ) -> Array:
        """Measure each list under each row of `grades`, shape (gradings, N): shape (lists, gradings).

        doc_ids: the N documents. Raises InputError for a measure without an estimator.
        """
        columns(convention, (measure,))
        member = family_of(convention, measure)
        assert member is not None, (measure, WITHOUT_ESTIMATOR)
        groups = [groups_of(ranking, convention, "order") for ranking in rankings]
        lists: Lists | None = None
        pi, final = self.pi[query_id], self.judged[query_id]
        predicted = None if self.predicted is None else self.predicted[query_id]
        weights = None if self.weights is None else self.weights[query_id]
        values = np.zeros((len(rankings), len(grades)))
        for column, row in enumerate(grades.tolist()):
            judged = {**final, **{doc_id: grade for doc_id, grade in zip(doc_ids, row, strict=True) if doc_id in final}}
            pool = pool_grades(pi, judged, predicted, highest=self.highest, query_id=query_id, weights=weights)
            lists = Lists.of(groups, pool) if lists is None else lists.under(pool)
            values[:, column] = lists.measured(*member, relevant_from=relevant_from).values
        return values
