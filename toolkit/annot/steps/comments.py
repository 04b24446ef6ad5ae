"""What assessors wrote with their answers, while the study runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from annot.base.names import moment_given, moment_of
from annot.base.records import Judgement
from annot.publishing.report.tables import Column, Columns
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Comment:
    """What one assessor wrote of one pair."""

    judged_at: str | None
    """ISO 8601, UTC; None where an imported judgement has no moment."""
    assessor: str
    query_id: str
    doc_id: str
    facet: str
    occasion: int
    """2 where it answers a hidden repeat, or a later one that the pair was returned for."""
    grade: int | None
    cannot_judge: str | None
    comment: str
    counts: bool
    """Whether the answer that it belongs to does."""


COMMENTS = Columns[Comment](
    [
        Column("judged at", lambda one: (one.judged_at or "-")[:16].replace("T", " "), ""),
        Column("", lambda one: one.judged_at, "judged_at"),
        Column("assessor", lambda one: one.assessor),
        Column("query", lambda one: one.query_id, "query_id"),
        Column("document", lambda one: one.doc_id, "doc_id"),
        Column("", lambda one: one.occasion, "occasion"),
        Column("grade", lambda one: one.cannot_judge or ("none" if one.grade is None else one.grade), ""),
        Column("", lambda one: one.grade, "grade"),
        Column("", lambda one: one.cannot_judge, "cannot_judge"),
        Column("comment", lambda one: one.comment),
        Column("", lambda one: one.counts, "counts"),
    ]
)


def listing(ws: Workspace, *, since: str | None) -> tuple[Comment, ...]:
    """The comments of the latest answers, newest first; those without a moment last.

    since: a day or a moment in ISO 8601; comments without a moment are left out then.
    """
    first = None if since is None else moment_given(since, option="--since")
    snapshot = read_snapshot(ws)
    earliest = datetime.min.replace(tzinfo=UTC)

    def moment(answer: Judgement) -> datetime:
        return moment_of(answer.judged_at) or earliest

    answers = sorted(snapshot.outcome.everything, key=lambda one: (one.query_id, one.doc_id, one.assessor))
    return tuple(
        Comment(
            answer.judged_at,
            answer.assessor,
            answer.query_id,
            answer.doc_id,
            snapshot.facets[answer.query_id],
            answer.occasion,
            answer.grade,
            answer.cannot_judge,
            answer.comment,
            answer.counts,
        )
        for answer in sorted(answers, key=moment, reverse=True)
        if answer.comment and (first is None or (answer.judged_at and moment(answer) >= first))
    )
