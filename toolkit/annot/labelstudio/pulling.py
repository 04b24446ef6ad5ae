"""Annotations off the server, complete or not at all.

The tasks that changed are listed first, with the server's count of annotations on each; then they are exported in small
groups, and every group is held against those counts. An export leaves out tasks without annotations and includes the
cancelled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from annot.labelstudio import refusals
from annot.labelstudio.records import Pull, PulledTask, StudioTask

GROUP = 200
OVERLAP = timedelta(seconds=5)
"""How far before the last time seen a pull looks again: a transaction may commit after a later-stamped one."""


class AnnotationServer(Protocol):
    """The verbs of the gateway that a pull needs."""

    def tasks_of(self, project_id: int, *, changed_since: str | None = None) -> tuple[StudioTask, ...]: ...

    def export(self, project_id: int, task_ids: Sequence[int]) -> list[dict[str, Any]]: ...

    def counts(self, project_id: int) -> Any: ...


def pull(
    server: AnnotationServer, project_id: int, *, since: str | None, url: str, advance: Callable[[int], None]
) -> Pull:
    """See `Gateway.pull`."""
    changed = server.tasks_of(project_id, changed_since=None if since is None else _earlier(since))
    in_project = len(changed) if since is None else server.counts(project_id).tasks
    annotated = [task for task in changed if task.annotations]
    found: dict[int, tuple[dict[str, Any], ...]] = {}
    for start in range(0, len(annotated), GROUP):
        group = annotated[start : start + GROUP]
        for task in server.export(project_id, [task.task_id for task in group]):
            found[task["id"]] = tuple(task["annotations"])
        expected = sum(task.annotations for task in group)
        # More than counted is fine: somebody submitted in between, and the next pull brings the task again.
        got = sum(min(len(found.get(task.task_id, ())), task.annotations) for task in group)
        if got < expected:
            doing = f"exporting project {project_id}"
            raise refusals.short(url=url, doing=doing, expected=expected, found=got, what="annotations")
        advance(len(group))
    tasks = tuple(PulledTask(t.task_id, t.key, t.updated_at, found.get(t.task_id, ())) for t in changed)
    moments = [task.updated_at for task in changed] + ([since] if since else [])
    return Pull(tasks, max(moments, key=_moment, default=None), in_project)


def _earlier(moment: str) -> str:
    return (_moment(moment) - OVERLAP).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
