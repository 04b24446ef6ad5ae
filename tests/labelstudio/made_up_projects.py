"""A person's project as an audit meets it, made up: tasks with answers, and what is on record of them."""

from collections.abc import Mapping
from typing import Any

from annot.base.records import PairKey
from annot.judging.exchange.audit import AuditedProject, AuditFinding, of_project
from annot.labelstudio.studio_records import PulledTask

A1, A2, LEAD = 7, 8, 1
KEYS = [f"q/d{at}" for at in range(1, 7)]


def answer(
    number: int,
    *,
    by: int | None = A1,
    changed_by: int | None = None,
    seconds: float = 9.0,
    at: str | None = "2031-01-02T00:00:00Z",
) -> dict[str, Any]:
    return {
        "id": number,
        "completed_by": by,
        "updated_by": changed_by or by,
        "updated_at": at,
        "lead_time": seconds,
    }


def met(*tasks: PulledTask, **more: Any) -> AuditedProject:
    own = {key: PairKey("q", key.partition("/")[2]) for key in KEYS}
    return AuditedProject(
        person="a1",
        push="annot push",
        accounts=[A1],
        kept=frozenset(),
        tasks=tasks,
        questions=own,
        planned=frozenset(task.key for task in tasks if task.key),
        changed=(),
        people={A1: "a1", A2: "a2", LEAD: "the lead's account"},
        **{"counted": {}, **more},
    )


def task(number: int, key: str | None, *answers: dict[str, Any]) -> PulledTask:
    return PulledTask(key, answers, task_id=number)


def found(project: AuditedProject, adjudicated: Mapping[tuple[str, str], str] | None = None) -> dict[str, AuditFinding]:
    """What is found, by its kind."""
    return {finding.kind: finding for finding in of_project(project, adjudicated or {})}
