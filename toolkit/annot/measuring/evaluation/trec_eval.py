"""trec_eval's measures, and all others that ir_measures knows, through ir_measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from annot.base.ordering import as_trec_eval
from annot.base.records import ScoredDoc


def known_to_ir_measures(name: str) -> bool:
    """Whether ir_measures has a measure of this name, and what computes it."""
    import ir_measures

    try:
        measure = _parsed(name)
        return measure.params.get("cutoff", 1) > 0 and bool(ir_measures.DefaultPipeline.supports(measure))
    except (NameError, ValueError, TypeError, AssertionError):
        return False


def through_ir_measures(
    run: Mapping[str, Sequence[ScoredDoc]],
    graded: Mapping[str, Mapping[str, int]],
    *,
    names: Sequence[str],
    relevant_from: int,
) -> dict[str, dict[str, float]]:
    """The measures of each query of `graded`, by name; 0 for those of which the run has no document.

    The order is trec_eval's: by score, ties by id, the larger first. Scores are whole numbers in that order, so that
    every provider takes the same.
    """
    import ir_measures

    asked = {_of(name, relevant_from): name for name in names}
    scores = {
        query_id: {doc.doc_id: float(len(docs) - at) for at, doc in enumerate(as_trec_eval(docs))}
        for query_id, docs in run.items()
        if docs
    }
    values = {query_id: dict.fromkeys(names, 0.0) for query_id in graded}
    if scores and asked:
        for metric in ir_measures.iter_calc(list(asked), {key: dict(of) for key, of in graded.items()}, scores):
            values[metric.query_id][asked[metric.measure]] = float(metric.value)
    return values


def _of(name: str, relevant_from: int) -> Any:
    """The measure, which counts grades from `relevant_from` on as relevant unless its name says otherwise."""
    measure = _parsed(name)
    if "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:
        measure = measure(rel=relevant_from)
    return measure


@cache
def _parsed(name: str) -> Any:
    import ir_measures

    return ir_measures.parse_measure(name)
