"""Pools, judgements and final grades as JSON Lines for publication: pseudonyms, no times, no server ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from annot.formats.cleaning import without_direction
from annot.formats.json_lines import json_lines
from annot.records import Decision, Judgement, Pool


def write_judgements(judgements: Iterable[Judgement], *, again: Collection[Judgement]) -> str:
    """One judgement a line, by query, document, assessor and occasion, which is 2 for a hidden repeat.

    again: those that were given because the pair was put before its assessor again; they are marked with `returned`.
    `grade` is null where an assessor could not judge; then `cannot_judge` is the reason. Judgements that do not count
    (flagged) and those that are missing have no line.
    """
    counted = (judgement for judgement in judgements if judgement.counts)
    names = ("query_id", "doc_id", "assessor", "occasion", "grade", "cannot_judge", "comment")
    return _lines(
        {name: getattr(judgement, name) for name in names} | ({"returned": True} if judgement in again else {})
        for judgement in sorted(counted, key=attrgetter("query_id", "doc_id", "assessor", "occasion"))
    )


def write_decisions(decisions: Iterable[Decision], *, comments: Mapping[tuple[str, str], str]) -> str:
    """One final grade a line, by query and document.

    comments: what the adjudicator wrote of a pair besides the reason, by (query_id, doc_id).
    """
    names = ("query_id", "doc_id", "grade", "origin", "adjudicator", "reason")
    return _lines(
        {name: getattr(decision, name) for name in names}
        | {"comment": comments.get((decision.query_id, decision.doc_id))}
        for decision in sorted(decisions, key=attrgetter("query_id", "doc_id"))
    )


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    # What a person wrote must not make the rest of its line read as something else.
    return without_direction(json_lines(records))


def pool_lines(pool: Pool) -> str:
    """A pool as JSON lines: how it was drawn, then an entry a line in the order drawn."""
    told = asdict(pool)
    entries = told.pop("entries")
    return json_lines([told, *entries])
