"""What the assessors said and what became of it, as JSON Lines for publication: pseudonyms, no times, no server ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from annot.formats.cleaning import without_direction
from annot.records import Decision, Judgement


def write_judgements(judgements: Iterable[Judgement]) -> str:
    """One judgement a line, by query, document, assessor and occasion, which is 2 for a hidden repeat.

    `grade` is null where an assessor could not judge; then `cannot_judge` is the reason. Judgements that do not count
    (flagged) and those that are missing have no line.
    """
    counted = (one for one in judgements if not one.flags and (one.grade is not None or one.cannot_judge is not None))
    return _lines(
        {
            "query_id": one.query_id,
            "doc_id": one.doc_id,
            "assessor": one.assessor,
            "occasion": one.occasion,
            "grade": one.grade,
            "cannot_judge": one.cannot_judge,
            "comment": one.comment,
        }
        for one in sorted(counted, key=lambda one: (one.query_id, one.doc_id, one.assessor, one.occasion))
    )


def write_decisions(decisions: Iterable[Decision], *, comments: Mapping[tuple[str, str], str]) -> str:
    """One final grade a line, by query and document.

    comments: what the adjudicator wrote of a pair besides the reason, by (query_id, doc_id).
    """
    return _lines(
        {
            "query_id": one.query_id,
            "doc_id": one.doc_id,
            "grade": one.grade,
            "origin": one.origin,
            "adjudicator": one.adjudicator,
            "reason": one.reason,
            "comment": comments.get((one.query_id, one.doc_id)),
        }
        for one in sorted(decisions, key=lambda one: (one.query_id, one.doc_id))
    )


def _lines(records: Iterable[Mapping[str, Any]]) -> str:
    # What a person wrote must not make the rest of its line read as something else.
    return without_direction("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
