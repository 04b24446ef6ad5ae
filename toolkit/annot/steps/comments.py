"""What assessors wrote with their answers, while the study runs."""

from __future__ import annotations

from annot.base.names import moment_given, moment_of
from annot.publishing.report.study_tables import Comment, comments_of
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def listing(ws: Workspace, *, since: str | None) -> tuple[Comment, ...]:
    """The comments of the latest answers, newest first; those without a moment last.

    since: a day or a moment in ISO 8601; comments without a moment are left out then.
    """
    first = None if since is None else moment_given(since, option="--since")
    written = comments_of(read_snapshot(ws))
    return tuple(one for one in written if first is None or ((at := moment_of(one.judged_at)) and at >= first))
