"""Tasks onto the server, each exactly once, whatever happens on the way.

The server has no key of its own for a task: a repeated import doubles it. So every write is sent once, and whatever
its answer, what is there is read back by our own key before anything is sent again. An import that was killed may
still be finished by the server afterwards; the second copies are found at the end and deleted, unless somebody has
already annotated them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from annot.errors import InputError, StudioError
from annot.labelstudio.refusals import UncertainWrite

if TYPE_CHECKING:
    from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import Delivery, Payload, StudioTask

KEY = "pair_id"
"""The field of a task's data that holds our key."""

_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between looks for an import whose answer got lost. One import is one transaction of about a second."""

_ATTEMPTS = 3
_CLEANING_ROUNDS = 3


def deliver(
    server: Gateway,
    project_id: int,
    tasks: Sequence[Payload],
    *,
    batch_size: int,
    sleep: Callable[[float], None],
    advance: Callable[[int], None],
) -> Delivery:
    """Bring `tasks` into the project, in their order, and prove by reading back that each is there once.

    `advance` is told after each batch how many tasks are there. Raises InputError where a task has no key or two have
    the same, StudioError where the server refuses or loses tasks.
    """
    keys = _keys(tasks)
    there = {task.key for task in server.tasks_of(project_id)}
    missing = [task for task, key in zip(tasks, keys, strict=True) if key not in there]
    already_there = len(tasks) - len(missing)
    advance(already_there)
    for start in range(0, len(missing), batch_size):
        batch = missing[start : start + batch_size]
        _send(server, project_id, batch, sleep=sleep)
        advance(len(batch))
    arrived, surplus_deleted, doubled = _clean(server, project_id, set(keys))
    ours: dict[str, int] = {}
    for task in arrived:
        if task.key is not None:
            ours.setdefault(task.key, task.task_id)
    lost = [key for key in keys if key not in ours]
    if lost:
        raise StudioError(
            f"{len(lost)} of {len(keys)} tasks are not on the server after the import, among them {lost[0]}",
            hint="run the command again: it sends only what is missing",
        )
    return Delivery({key: ours[key] for key in keys}, len(missing), already_there, surplus_deleted, doubled)


def _send(server: Gateway, project_id: int, batch: list[Payload], *, sleep: Callable[[float], None]) -> None:
    """Send one batch; where the answer is lost, look for the tasks before sending again those that are not there."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            server.send_tasks(project_id, batch)
        except UncertainWrite:
            batch = _not_arrived(server, project_id, batch, sleep=sleep)
            if not batch:
                return
            if attempt == _ATTEMPTS:
                raise
        else:
            return


def _not_arrived(
    server: Gateway, project_id: int, batch: list[Payload], *, sleep: Callable[[float], None]
) -> list[Payload]:
    """The tasks of `batch` that do not appear on the server, looked for until the waits are over."""
    for wait in _WAITS:
        there = {task.key for task in server.tasks_of(project_id)}
        batch = [task for task in batch if task["data"][KEY] not in there]
        if not batch:
            return []
        sleep(wait)
    return batch


def _clean(server: Gateway, project_id: int, keys: set[str]) -> tuple[tuple[StudioTask, ...], int, tuple[str, ...]]:
    """Delete the surplus copies without annotations.

    Returns the tasks that stay, how many were deleted, and the keys of which several annotated copies stay.
    """
    deleted = 0
    for _ in range(_CLEANING_ROUNDS):
        tasks = server.tasks_of(project_id)
        copies: defaultdict[str, list[StudioTask]] = defaultdict(list)
        for task in tasks:
            if task.key in keys and task.key is not None:
                copies[task.key].append(task)
        doubled = {key: found for key, found in copies.items() if len(found) > 1}
        surplus = [task for found in doubled.values() for task in _surplus(found)]
        if not surplus:
            return tasks, deleted, tuple(sorted(doubled))
        for task in surplus:
            server.delete_task(task.task_id)
        deleted += len(surplus)
    raise StudioError(
        f"project {project_id}: second copies of tasks keep appearing", hint="is another push running? Let it end first"
    )


def _surplus(copies: list[StudioTask]) -> list[StudioTask]:
    """All copies without annotations; the oldest stays where none has any."""
    bare = sorted(task for task in copies if task.annotations == 0)
    return bare[1:] if len(bare) == len(copies) else bare


def _keys(tasks: Sequence[Payload]) -> list[str]:
    keys: list[str] = []
    faults = []
    for number, task in enumerate(tasks, start=1):
        data: Any = task.get("data")
        key = data.get(KEY) if isinstance(data, dict) else None
        if not isinstance(key, str) or not key:
            faults.append(f"task {number}: found {KEY} {key!r}, expected a non-empty string")
        else:
            keys.append(key)
    faults += [f"{key}: {count} tasks, expected 1" for key, count in Counter(keys).items() if count > 1]
    if faults:
        raise InputError(f"{len(faults)} fault(s) in the tasks to send", faults=faults)
    return keys
