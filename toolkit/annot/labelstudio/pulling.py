"""Annotations off the server, complete or not at all.

The tasks are listed first, with the server's count of annotations on each; then they are exported in small groups, and
every group is held against those counts. An export leaves out tasks without annotations and includes the
cancelled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from annot.labelstudio import refusals
from annot.labelstudio.studio_records import Pull, PulledTask, StudioTask

GROUP = 200


class AnnotationServer(Protocol):
    """The verbs of the gateway that a pull needs."""

    def tasks_of(self, project_id: int) -> tuple[StudioTask, ...]: ...

    def export(self, project_id: int, task_ids: Sequence[int]) -> list[dict[str, Any]]: ...


def pull(server: AnnotationServer, project_id: int, *, url: str, advance: Callable[[int], None]) -> Pull:
    """See `Gateway.pull`."""
    tasks = server.tasks_of(project_id)
    annotated = [task for task in tasks if task.annotations]
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
    return Pull(tuple(PulledTask(task.task_id, task.key, found.get(task.task_id, ())) for task in tasks))
