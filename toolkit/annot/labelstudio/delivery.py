"""Tasks onto the server, each exactly once, whatever happens on the way.

The server has no key of its own for a task: a repeated import doubles it. So every write is sent once, and where its
answer is lost, what is there is read back by our own key before anything is sent again. An import that was killed may
still be finished by the server afterwards; the second copies are found at the end and deleted, unless somebody has
already annotated them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from annot.base.errors import StudioError
from annot.base.records import grouped
from annot.labelstudio.columns import is_whole
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.refusals import UncertainWrite
from annot.labelstudio.studio_records import KEY, TEXT_FIELD, Delivery, Payload, StudioTask

BATCH_SIZE = 1000
MOST_UPDATES = 50
"""The server takes a thousand new tasks in the time of so many updates."""

_WAITS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between looks for an import whose answer got lost. One import is one transaction of about a second."""

_ATTEMPTS = 3
_CLEANING_ROUNDS = 3


def deliver(
    server: Gateway,
    project_id: int,
    tasks: Sequence[Payload],
    *,
    listed: Sequence[StudioTask] | None = None,
    answered: Mapping[str, str] | None = None,
    stale: Sequence[StudioTask] = (),
    batch_size: int = BATCH_SIZE,
    advance: Callable[[int], None] = lambda done: None,
) -> Delivery:
    """Bring `tasks` (of `annot.labelstudio.tasks`, each with a key of its own) into the project, in their order.

    Safe to repeat after anything. Proves that each is there once: by the server's answers and its count, and where the
    two differ by reading everything back. `advance` is told how many more tasks are there, for a progress bar.

    listed: what the project holds, where that was just looked at.
    answered: of tasks whose answer is known already, by key, when it was last changed. One that the server lost is not
    sent again, and one that stands there unanswered because the server fell back behind the answer (it was restored
    from a backup) is deleted: nobody is asked twice. Where somebody deleted the answer itself, the task stays.

    stale: unanswered tasks that are deleted, and sent again where they are among `tasks`. One of them stays until the
    others are sent: a server on SQLite gives the number of its last task again, and whoever has a deleted task open
    would answer another pair with what they see.

    Raises StudioError if the server refuses or loses tasks, and if people have annotated two copies of one:
    nothing is deleted then, a person has to look.
    """
    keys = [task["data"][KEY] for task in tasks]
    known = answered or {}
    present = server.tasks_of(project_id) if listed is None else tuple(listed)
    last = max(stale, key=lambda task: task.task_id, default=None)
    if last is not None:
        server.delete_unanswered(project_id, [task.task_id for task in stale if task.task_id != last.task_id])
        present = tuple(task for task in server.tasks_of(project_id) if task.task_id != last.task_id)
    again = {task.key for task in stale} - {task.key for task in present}
    forgotten = [
        task for task in present if not task.annotations and (task.updated_at or "~") < known.get(task.key or "", "")
    ]
    if forgotten:
        server.delete_unanswered(project_id, [task.task_id for task in forgotten])
        left = {task.task_id for task in server.tasks_of(project_id)}
        forgotten = [task for task in forgotten if task.task_id not in left]
    there = {task.key for task in present} - {task.key for task in forgotten}
    spared = {key for key in keys if key in known and key not in there}
    keys = [key for key in keys if key not in spared]
    missing = [task for task in tasks if task["data"][KEY] not in there | spared]
    staying = [task for task in present if task not in forgotten]
    updated = _bring_up_to_date(server, staying, tasks, advance)
    advance(len(tasks) - len(missing) - updated)
    made: list[StudioTask] = []
    for start in range(0, len(missing), batch_size):
        batch = missing[start : start + batch_size]
        made += _send(server, project_id, batch)
        advance(len(batch))
    if last is not None:
        server.delete_unanswered(project_id, [last.task_id])
    now = [*staying, *made]
    changed = missing or forgotten or stale
    if len(made) < len(missing) or (changed and server.count_tasks(project_id) != len(now)):
        now = list(server.tasks_of(project_id))
    copies = _copies_that_stay(server, project_id, set(keys), now)
    lost = [key for key in keys if key not in copies]
    if lost:
        raise StudioError(
            f"{len(lost)} of {len(keys)} tasks did not arrive, such as {lost[0]}", hint="run the command again"
        )
    doubled = [key for key in keys if len(copies[key]) > 1]
    if doubled:
        raise StudioError(
            f"project {project_id}: some tasks exist twice, both with an answer",
            hint=f"delete one of each in Label Studio: {', '.join(doubled[:3])}",
        )
    task_ids = {key: copies[key][0].task_id for key in keys}
    renewed = len(again.intersection(task["data"][KEY] for task in missing))
    return Delivery(task_ids, len(missing) - renewed, len(spared), len(forgotten), updated, renewed)


def behind(listed: Sequence[StudioTask], tasks: Sequence[Payload], *, new: Collection[str]) -> list[StudioTask]:
    """The unanswered tasks that have to be sent again for all to stand in their order, with the text they should.

    People meet tasks in the order in which they were sent; so all that come after a new one. The same where more than
    `MOST_UPDATES` show an earlier text. listed: what is there. new: the keys of tasks that never were.
    """
    place = {task["data"][KEY]: number for number, task in enumerate(tasks)}
    there = {task.key for task in listed}
    waiting = {place[task.key]: task for task in listed if task.key in place and not task.annotations}
    outdated = [at for at, task in waiting.items() if _other_text(task, tasks[at]["data"])]
    first = [place[key] for key in new if key not in there]
    first += outdated if len(outdated) > MOST_UPDATES else []
    return [task for at, task in waiting.items() if at >= min(first, default=len(tasks))]


def _bring_up_to_date(
    server: Gateway, listed: Sequence[StudioTask], tasks: Sequence[Payload], advance: Callable[[int], None]
) -> int:
    """Update unanswered tasks that show another text about the pair than they should; how many.

    Labelled abstracts stay: the regions drawn on them are the task's predictions, which an update leaves as they are.
    """
    wanted = {task["data"][KEY]: task["data"] for task in tasks}
    updated = 0
    for task in listed:
        if task.annotations or task.key is None or task.key not in wanted:
            continue
        if other := _other_text(task, wanted[task.key]):
            server.update_task(task.task_id, {**task.data, **other})
            updated += 1
            advance(1)
    return updated


def _other_text(task: StudioTask, wanted: Payload) -> Payload:
    """What the task should show about the pair and does not."""
    kept = (KEY,) if is_whole(wanted.get(TEXT_FIELD, "")) else (KEY, TEXT_FIELD)
    return {name: value for name, value in wanted.items() if name not in kept and task.data.get(name) != value}


def _send(server: Gateway, project_id: int, batch: list[Payload]) -> list[StudioTask]:
    """Send one batch and return what the server said that it made of it.

    Where the answer is lost, look for the tasks before sending again those that are not there.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            task_ids = server.send_tasks(project_id, batch)
            return [
                StudioTask(made, task["data"][KEY], 0, task["data"])
                for made, task in zip(task_ids, batch, strict=False)
            ]
        except UncertainWrite:
            batch = _not_arrived(server, project_id, batch)
            if not batch:
                break
            if attempt == _ATTEMPTS:
                raise
    return []


def _not_arrived(server: Gateway, project_id: int, batch: list[Payload]) -> list[Payload]:
    """The tasks of `batch` that do not appear on the server, looked for until the waits are over."""
    for wait in _WAITS:
        there = {task.key for task in server.tasks_of(project_id)}
        batch = [task for task in batch if task["data"][KEY] not in there]
        if not batch:
            break
        time.sleep(wait)
    return batch


def _copies_that_stay(
    server: Gateway, project_id: int, keys: Collection[str], listed: Sequence[StudioTask]
) -> dict[str, list[StudioTask]]:
    """The tasks of these keys, oldest first, after surplus copies have been deleted; `listed`: what there is now."""
    for _ in range(_CLEANING_ROUNDS):
        copies = grouped((task.key, task) for task in listed if task.key is not None and task.key in keys)
        surplus = [task for found in copies.values() for task in _surplus(found)]
        if not surplus:
            return copies
        for task in surplus:
            server.delete_task(task.task_id)
        listed = server.tasks_of(project_id)
    raise StudioError(
        f"project {project_id}: second copies of tasks keep appearing", hint="wait until the other push has ended"
    )


def _surplus(copies: list[StudioTask]) -> list[StudioTask]:
    """All copies without annotations; the oldest stays where none has any."""
    bare = [task for task in copies if task.annotations == 0]
    return bare[1:] if len(bare) == len(copies) else bare
