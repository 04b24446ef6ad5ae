"""Runs evaluated against qrels made for a test; a query's id is its paper's and its facet's: p1-method."""

from collections.abc import Mapping, Sequence
from typing import Any

from annot.base.records import Judgement, Qrel
from annot.measuring.evaluation.evaluated import EvaluatedRuns, evaluate_runs
from annot.measuring.evaluation.measures import JudgedWhole, Run


def evaluated_runs(
    runs: Mapping[str, Run], qrels: Sequence[Qrel], judgements: Sequence[Judgement] = (), **others: Any
) -> EvaluatedRuns:
    """`others`: what is not as usual, among it `systems`, `left_out`, `splits` and `conventions`."""
    parts = {one.query_id: one.query_id.split("-") for one in qrels}
    usual: dict[str, Any] = {
        **{
            "splits": {},
            "systems": {},
            "left_out": {},
            "conventions": ("trec",),
            "measures": (),
            "ties": "order",
            "average": "test",
        },
        **{"relevant_from": 2, "level": 0.95, "seed": 1},
    }
    return evaluate_runs(
        runs,
        JudgedWhole(tuple(qrels), tuple(judgements)),
        facets={query_id: facet for query_id, (_, facet) in parts.items()},
        topics={query_id: paper for query_id, (paper, _) in parts.items()},
        **{**usual, **others},
    )
