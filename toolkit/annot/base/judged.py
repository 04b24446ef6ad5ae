"""Judgements that count: the latest of several revisions, and none that carries flags."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from annot.base.errors import InputError
from annot.base.records import Decision, Judgement

FIRST = 1
"""Occasion of everything but the hidden repeats."""


def counted(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Latest revision of each judgement that carries no flag, in the order in which pairs first come.

    The answer to a hidden repeat is a judgement of its own. Raises InputError if one assessor has two judgements of a
    pair in one revision.
    """
    counting, doubles = _latest(judgements)
    _refuse(doubles)
    return counting


def first_judgements(
    judgements: Iterable[Judgement],
    decisions: Collection[Decision],
    facets: Mapping[str, str],
    *,
    grades: Collection[int] | None,
) -> tuple[Judgement, ...]:
    """Judgements that count and are no repeats, all checked.

    facets: the facet of each `query_id`. grades: the scale; None takes any grade. Raises InputError for a double
    judgement, a query without facet, or a grade outside the scale.
    """
    counting, faults = _latest(judgement for judgement in judgements if judgement.occasion == FIRST)
    unknown = sorted({judgement.query_id for judgement in counting} - set(facets))
    faults += [f"{query_id}: judged, but not a known query" for query_id in unknown]
    if grades is not None:
        graded = [
            (judgement.query_id, judgement.doc_id, judgement.assessor, judgement.grade)
            for judgement in counting
            if judgement.grade is not None
        ]
        graded += [(decision.query_id, decision.doc_id, "the final decision", decision.grade) for decision in decisions]
        faults += [
            f"{query_id} {doc_id}: {who} has grade {grade}, expected one of {', '.join(map(str, grades))}"
            for query_id, doc_id, who, grade in graded
            if grade not in grades
        ]
    _refuse(faults)
    return counting


def _latest(judgements: Iterable[Judgement]) -> tuple[tuple[Judgement, ...], list[str]]:
    """Judgements that count, and a fault for each that is listed twice."""
    latest: dict[tuple[str, str, str, int], Judgement] = {}
    faults: dict[str, None] = {}
    for judgement in judgements:
        key = (judgement.query_id, judgement.doc_id, judgement.assessor, judgement.occasion)
        other = latest.get(key)
        if other is not None and other.revision == judgement.revision:
            faults[f"{' '.join(key[:3])}: two judgements with revision {judgement.revision}, expected one"] = None
        if other is None or other.revision < judgement.revision:
            latest[key] = judgement
    return tuple(judgement for judgement in latest.values() if not judgement.flags), list(faults)


def _refuse(faults: Collection[str]) -> None:
    if faults:
        raise InputError("these judgements cannot be used", faults=faults)
