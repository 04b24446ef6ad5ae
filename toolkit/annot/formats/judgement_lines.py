"""Pools, judgements and final grades as JSON Lines for publication: pseudonyms, no times, no server ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from operator import attrgetter, itemgetter
from typing import Any

from annot.base.records import Adjudication, Decision, Judgement, Pool
from annot.formats.cleaning import without_direction
from annot.formats.json_lines import json_lines


def write_judgements(
    judgements: Iterable[Judgement], *, again: Collection[Judgement], comments: Collection[Judgement]
) -> str:
    """One judgement a line, by query, document, assessor and occasion, which is 2 for a hidden repeat.

    again: those that were given because the pair was put before its assessor again; they are marked with `returned`.
    comments: those whose comments are told.
    `grade` is null where an assessor could not judge; then `cannot_judge` is the reason. Judgements that do not count
    (flagged) and those that are missing have no line.
    """
    counted = (judgement for judgement in judgements if judgement.counts)
    names = ("query_id", "doc_id", "assessor", "occasion", "grade", "cannot_judge")
    return _lines(
        {name: getattr(judgement, name) for name in names}
        | {"comment": judgement.comment if judgement in comments else None}
        | ({"returned": True} if judgement in again else {})
        for judgement in sorted(counted, key=attrgetter("query_id", "doc_id", "assessor", "occasion"))
    )


NOBODY = "nobody can judge"
"""The origin of what has no grade: no adjudicator could judge the pair."""


def decided(decisions: Iterable[Decision], unjudgeable: Iterable[Adjudication]) -> list[dict[str, Any]]:
    """A record for each pair that has ended, by query and document.

    unjudgeable: of each pair that nobody can judge, what the last adjudicator said; its `grade` is None, and the reason
    is why.
    """
    names = ("query_id", "doc_id", "grade", "origin", "adjudicator", "reason")
    records = [{name: getattr(decision, name) for name in names} for decision in decisions]
    records += [
        dict(zip(names, (said.query_id, said.doc_id, None, NOBODY, said.adjudicator, said.cannot_judge), strict=True))
        for said in unjudgeable
    ]
    return sorted(records, key=itemgetter("query_id", "doc_id"))


def write_decisions(
    decisions: Iterable[Decision], unjudgeable: Iterable[Adjudication], *, comments: Mapping[tuple[str, str], str]
) -> str:
    """What became of each pair, a line each, as `decided` has it.

    comments: what the adjudicator wrote of a pair besides the reason, by (query_id, doc_id).
    """
    return _lines(
        record | {"comment": comments.get((record["query_id"], record["doc_id"]))}
        for record in decided(decisions, unjudgeable)
    )


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    # What a person wrote must not make the rest of its line read as something else.
    return without_direction(json_lines(records))


def pool_lines(pool: Pool) -> str:
    """A pool as JSON lines: how it was drawn and what was added to it, then an entry a line in the order drawn.

    Who added something, and when, is not told.
    """
    told = asdict(pool)
    entries, additions = told.pop("entries"), told.pop("additions")
    if additions:
        names = ("version", "method", "depth", "reason", "documents")
        told["additions"] = [{name: addition[name] for name in names} for addition in additions]
    return json_lines([told, *entries])
