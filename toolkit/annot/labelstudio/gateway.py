"""Gateway to a Label Studio server: a handful of verbs, and tasks delivered exactly once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from annot.base.errors import StudioError
from annot.base.records import grouped
from annot.labelstudio.http_client import PAGE_SIZE, READ, Door, UncertainWrite, integer, moment
from annot.labelstudio.studio_records import (
    KEY,
    TEXT_FIELD,
    Delivery,
    Payload,
    Prediction,
    ProjectSpec,
    PulledTask,
    StudioProject,
    StudioTask,
    labelling_url,
)
from annot.labelstudio.tasks import is_whole, without_words

# ----------------------------------------------------------------------------------------------------------------------
# The gateway: a handful of verbs that return our records. Every request of the client library is made here.
# ----------------------------------------------------------------------------------------------------------------------


WHOLE_EXPORT = 5000
"""Tasks up to which a project is exported in one request: the server sends nothing until it has put all together, and
proxies give up on it after a minute."""
EXPORT_SIZE = 200
"""Tasks of a larger one in one request: their ids are in its address, which may be about 8,000 characters long."""
PROJECT_SETTINGS = {
    "sampling": "Sequential sampling",
    "maximum_annotations": 1,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    # The task's own prediction fills the sentence labels; without this setting it would not be used.
    "show_collab_predictions": True,
}
"""Settings of every project of ours."""
WRITTEN = ("label_config", "title", "expert_instruction")
"""Other settings of a project that people see: its screen, its name, and its instructions."""


class Gateway(Door):
    """One server through one account's token: projects, tasks out, answers in, and all that `Door` does."""

    # -- projects ------------------------------------------------------------------------------------------------------

    def project(self, project_id: int) -> StudioProject | None:
        """The project of this id; None if the server has none, and lists none of that id either.

        A server that is just starting, or a proxy, may answer 404 for a project that is there. Raises StudioError if
        that happens twice.
        """
        for _ in range(2):
            project = self._project_or_none(project_id)
            if project is not None or project_id not in self._descriptions():
                return project
        raise StudioError(
            f"{self.url} lists project {project_id}, but answers 404 when asked for it",
            hint="nothing was changed; run the command again when the server works",
        )

    def marked_projects(self, marker: str, *, but: int | None = None) -> tuple[StudioProject, ...]:
        """Every project that carries `marker`, the oldest first, without the one whose id is `but`.

        A creation that was killed may still be finished by a slow server, or repeated by one that found its database
        locked, in addition to the one that was made.
        """
        sign = _sign(marker)
        numbers = [number for number, text in self._descriptions().items() if sign in text and number != but]
        return tuple(project for project in map(self.project, numbers) if project is not None)

    def markers(self) -> set[str]:
        """Markers of all projects of this program."""
        return {match[1] for text in self._descriptions().values() if (match := _MARKER.search(text))}

    def find_project(self, marker: str) -> StudioProject | None:
        """The project that carries `marker`, or None.

        Of several, the one that holds tasks is meant, or else the oldest. Raises StudioError if several hold tasks.
        """
        marked = self.marked_projects(marker)
        holding = [project for project in marked if project.tasks]
        if len(holding) > 1:
            raise StudioError(
                f"{self.url}: projects {', '.join(str(project.project_id) for project in holding)} have the same "
                f"marker {marker} and contain tasks, expected one",
                hint="in Label Studio, delete all but one of them, and run the command again",
            )
        return next(iter((*holding, *marked)), None)

    def delete_project(self, project_id: int) -> None:
        """Delete the project with all that is in it; one that is gone already is fine."""
        with self._deleting(f"project {project_id}"):
            self._client.projects.delete(project_id)

    def create_project(self, spec: ProjectSpec) -> int:
        """Make the project, even if there is one already; returns its id."""
        with self._asking(f"creating the project {spec.title!r}"):
            return integer(self._client.projects.create(**_fields(spec)).id)

    def update_project(self, project_id: int, spec: ProjectSpec, *, opens: bool) -> None:
        """Bring the project's screen, instructions and settings to `spec`. opens: as of `open_instructions`."""
        with self._asking(f"updating the project {spec.title!r}"):
            fields = _fields(spec)
            fields["show_instruction"] = fields["show_instruction"] and opens
            self._client.projects.update(project_id, **fields)

    def open_instructions(self, project_id: int, opens: bool) -> None:
        """Set if the instructions open by themselves whenever the page is loaded; their button stays in any case."""
        with self._asking(f"updating project {project_id}"):
            self._client.projects.update(project_id, show_instruction=opens)

    def labelling_url(self, project_id: int) -> str:
        """Address of the project, to give to its person."""
        return labelling_url(self.address, project_id)

    def snapshot(self, project_id: int) -> dict[str, Any]:
        """The project as the server has it: its settings, and every task with annotations and predictions.

        Raises StudioError if the server sends fewer tasks than it counts.
        """
        doing = f"taking a copy of project {project_id}"
        with self._asking(doing):
            project = self._client.projects.get(project_id, request_options=READ)
            tasks = self._export(project_id, {})
            self._refuse_incomplete(len(tasks), integer(project.task_number), doing=doing, noun="tasks")
            return {"project": json.loads(project.model_dump_json()), "tasks": tasks}

    # -- tasks ---------------------------------------------------------------------------------------------------------

    def tasks_of(self, project_id: int, *, since: str | None = None) -> tuple[StudioTask, ...]:
        """Every task of the project, by id, counted.

        since: a moment as the server writes it; only the tasks that were made or changed then or later, or an
        annotation on them.

        Raises StudioError if the server gives fewer than it counts.
        """
        doing = f"listing the tasks of project {project_id}"
        with self._asking(doing):
            pager = self._client.tasks.list(
                project=project_id,
                include="id,data,total_annotations,cancelled_annotations,updated_at",
                fields="task_only",
                page_size=PAGE_SIZE,
                query=None if since is None else _changed_since(since),
                request_options=READ,
            )
            listed = self._listed(pager, pager.response.total, doing=doing, noun="tasks")
            return tuple(self._task(project_id, task) for task in listed.values())

    def count_tasks(self, project_id: int) -> int:
        """Number of tasks of the project."""
        with self._asking(f"counting the tasks of project {project_id}"):
            pager = self._client.tasks.list(project=project_id, include="id", page_size=1, request_options=READ)
            return integer(pager.response.total)

    def send_tasks(self, project_id: int, tasks: Sequence[Payload]) -> tuple[int, ...]:
        """Send one batch, once; returns the ids of its tasks in its order, as far as the answer has them.

        Raises UncertainWrite if the answer does not settle whether it arrived.
        """
        sent = list(tasks) if self._keys is None else [self._keys().sealed(project_id, task) for task in tasks]
        with self._asking(f"sending {len(tasks)} tasks to project {project_id}"):
            # The library's own call looks at every value of every task, which takes a third of the server's time.
            answer = self._client._client_wrapper.httpx_client.request(
                f"api/projects/{project_id}/import",
                method="POST",
                params={"return_task_ids": "true"},
                content=json.dumps(sent).encode("ascii"),
                headers={"content-type": "application/json"},
            )
            answer.raise_for_status()
            with suppress(ValueError, KeyError, TypeError):
                return tuple(integer(task_id) for task_id in answer.json()["task_ids"])
            return ()

    def update_task(self, task_id: int, data: Payload) -> None:
        """Make the task show `data`; its answers, drafts and predictions stay. Safe to repeat."""
        with self._asking(f"updating task {task_id}"):
            self._client.tasks.update(str(task_id), data=dict(data), request_options=READ)

    def delete_task(self, task_id: int) -> None:
        """Delete the task; one that is gone already is fine."""
        with self._deleting(f"task {task_id}"):
            self._client.tasks.delete(str(task_id))

    def delete_unanswered(self, project_id: int, task_ids: Sequence[int]) -> None:
        """Delete those of these tasks that have no answer by the time the server does it; the others stay.

        The server looks and deletes in one step, so an answer given since the tasks were listed is never lost. Nor is
        an answer that it has without counting it, because it was stopped in between. Safe to repeat.
        """
        # The counts leave out drafts, which only their author sees.
        unanswered = [
            {"filter": f"filter:tasks:{count}", "operator": "equal", "type": "Number", "value": 0}
            for count in ("total_annotations", "cancelled_annotations")
        ]
        for start in range(0, len(task_ids), EXPORT_SIZE):
            chunk = list(task_ids[start : start + EXPORT_SIZE])
            with self._asking(f"looking for answers before {len(chunk)} tasks of project {project_id} are deleted"):
                exported = self._export(project_id, {"ids[]": [str(task_id) for task_id in chunk]})
                answered = {integer(task["id"]) for task in exported if task["annotations"]}
            chunk = [task_id for task_id in chunk if task_id not in answered]
            if not chunk:
                continue
            with self._asking(f"deleting {len(chunk)} tasks of project {project_id}"):
                self._client.actions.create(
                    id="delete_tasks",
                    project=project_id,
                    selected_items={"all": False, "included": chunk},
                    filters={"conjunction": "and", "items": unanswered},
                )

    # -- annotations ---------------------------------------------------------------------------------------------------

    def pull(
        self,
        project_id: int,
        *,
        task_ids: Sequence[int] | None = None,
        advance: Callable[[int], None] = lambda done: None,
    ) -> tuple[PulledTask, ...]:
        """All tasks, or these, with every annotation on them, cancelled ones included.

        Raises StudioError if there are fewer tasks, or fewer annotations on one, than the server counts. It may count
        too few: a server that was stopped between an answer and its count has the answer all the same.
        The server keeps a copy of every export.
        """
        pulled: tuple[PulledTask, ...] = ()
        if task_ids is None:
            total = self.count_tasks(project_id)
            if total <= WHOLE_EXPORT:
                pulled = self._exported(project_id, (), expected=total)
                advance(len(pulled))
                return pulled
            task_ids = [task.task_id for task in self.tasks_of(project_id)]
        for start in range(0, len(task_ids), EXPORT_SIZE):
            group = task_ids[start : start + EXPORT_SIZE]
            pulled += self._exported(project_id, group, expected=len(group))
            advance(len(group))
        return pulled

    def annotate(self, task_id: int, result: Sequence[Payload], *, lead_time: float | None = None) -> int:
        """Annotate the task as this token's account, once, and return the annotation's id.

        Raises UncertainWrite if the answer does not settle whether it arrived: look before doing it again.
        """
        with self._asking(f"annotating task {task_id}"):
            annotation = self._client.annotations.create(task_id, result=list(result), lead_time=lead_time)
            return integer(annotation.id)

    def predictions(self, project_id: int) -> tuple[Prediction, ...]:
        """All predictions on the tasks of the project, from any source, by one request."""
        with self._asking(f"reading what is filled in on the tasks of project {project_id}"):
            listed = self._client.predictions.list(project=project_id, request_options=READ)
            return tuple(Prediction(row.task, row.model_version, row.score, tuple(row.result)) for row in listed)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _exported(self, project_id: int, task_ids: Sequence[int], *, expected: int) -> tuple[PulledTask, ...]:
        """These tasks, or all of the project, with their annotations verbatim."""
        doing = f"exporting project {project_id}"
        with self._asking(doing):
            # The library sends the ids under a name that the server does not read, and would get every task.
            parameters = {"ids[]": [str(task_id) for task_id in task_ids]}
            tasks = {integer(task["id"]): task for task in self._export(project_id, parameters)}
            self._refuse_incomplete(len(tasks), expected, doing=doing, noun="tasks")
            for task in tasks.values():
                # More than counted is fine: the next pull brings the task again.
                counted = integer(task["total_annotations"]) + integer(task["cancelled_annotations"])
                number = len({integer(annotation["id"]) for annotation in task["annotations"]})
                self._refuse_incomplete(number, counted, doing=doing, noun="annotations")
            return tuple(
                PulledTask(
                    self._key(project_id, task["data"]),
                    tuple(task["annotations"]),
                    task["updated_at"],
                    task["data"],
                    task_id,
                )
                for task_id, task in sorted(tasks.items())
            )

    def _key(self, project_id: int, data: Payload) -> str | None:
        key = data.get(KEY)
        if key is None or self._keys is None:
            return None if key is None else str(key)
        return self._keys().opened(project_id, str(key))

    def _task(self, project_id: int, task: Any) -> StudioTask:
        annotations = integer(task.total_annotations) + integer(task.cancelled_annotations)
        return StudioTask(
            integer(task.id), self._key(project_id, task.data), annotations, task.data, moment(task.updated_at)
        )

    def _project_or_none(self, project_id: int) -> StudioProject | None:
        with self._asking(f"looking at project {project_id}"):
            try:
                project = self._client.projects.get(project_id, request_options=READ)
            except Exception as error:
                if getattr(error, "status_code", None) == 404:
                    return None
                raise
            tasks, annotations = integer(project.task_number), integer(project.total_annotations_number)
            settings = {name: getattr(project, name) for name in (*PROJECT_SETTINGS, *WRITTEN)}
            opens = bool(project.show_instruction)
            return StudioProject(integer(project.id), moment(project.created_at), tasks, annotations, settings, opens)

    def _descriptions(self) -> dict[int, str]:
        doing = "listing the projects"
        with self._asking(doing):
            # Without their screens and instructions: those are long, and the server is slow at them.
            pager = self._client.projects.list(include="id,description", page_size=PAGE_SIZE, request_options=READ)
            listed = self._listed(pager, pager.response.count, doing=doing, noun="projects")
            return {project_id: project.description or "" for project_id, project in listed.items()}

    def _export(self, project_id: int, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """The tasks as the server exports them, with or without an answer. It keeps a copy of every export."""
        options = {**READ, "additional_query_parameters": {"download_all_tasks": "true", **parameters}}
        chunks = self._client.projects.exports.download_sync(id=project_id, export_type="JSON", request_options=options)
        tasks: list[dict[str, Any]] = json.loads(b"".join(chunks))
        return tasks


def _fields(spec: ProjectSpec) -> dict[str, Any]:
    return {
        "title": spec.title,
        "description": f"{spec.description} {_sign(spec.marker)}",
        "label_config": spec.label_config,
        "expert_instruction": spec.instructions,
        "show_instruction": bool(spec.instructions),
        "color": spec.color,
        **PROJECT_SETTINGS,
        "enable_empty_annotation": spec.may_be_empty,
    }


_MARKER = re.compile(re.escape("[annot:") + "(.*?)]")


def _sign(marker: str) -> str:
    return f"[annot:{marker}]"


def _changed_since(moment: str) -> str:
    """The server's filter for changed tasks: a new, changed or deleted annotation changes its task's moment."""
    late = {"filter": "filter:tasks:updated_at", "operator": "greater_or_equal", "type": "Datetime", "value": moment}
    return json.dumps({"filters": {"conjunction": "and", "items": [late]}})


# ----------------------------------------------------------------------------------------------------------------------
# Tasks onto the server, each exactly once, whatever happens on the way.
#
# The server has no key of its own for a task: a repeated import doubles it. So every write is sent once, and if its
# answer is lost, the tasks are read back by our own key before anything is sent again. An import that was killed may
# still be finished by the server afterwards; second copies are deleted at the end, unless they are annotated.
# ----------------------------------------------------------------------------------------------------------------------


BATCH_SIZE = 1000
MOST_UPDATES = 50
"""Number of updates that take the server as long as a thousand new tasks."""

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
    answered: Mapping[str, str] = {},
    stale: Sequence[StudioTask] = (),
    batch_size: int = BATCH_SIZE,
    advance: Callable[[int], None] = lambda done: None,
) -> Delivery:
    """Bring `tasks` (of `annot.labelstudio.tasks`, each with a key of its own) into the project, in their order.

    Safe to repeat after anything. Proves that each task is there once: by the server's answers and its count, and if
    the two differ by reading everything back.

    listed: tasks of the project, if they were just read.
    answered: moment of the last change of answers on record, by the key of their task. If the server lost such a task,
    it is not sent again. If it has the task without the answer, because it was restored from an earlier backup, the
    task is deleted: no person is asked twice. If a person deleted the answer itself, the task stays.
    stale: unanswered tasks that are deleted, and sent again if they are among `tasks`. One of them stays until the
    others are sent: a server on SQLite gives the number of its last task again, and a person who has a deleted task
    open would answer another pair by the texts of this one.
    advance: called with the number of further tasks that are there, for a progress bar.

    Raises StudioError if the server refuses or loses tasks, and if people have annotated two copies of one:
    nothing is deleted then, because a person has to look.
    """
    present = server.tasks_of(project_id) if listed is None else tuple(listed)
    last = max(stale, key=lambda task: task.task_id, default=None)
    if last is not None:
        present = _delete_all_but(last, server, project_id, stale)
    forgotten = _delete_forgotten(server, project_id, present, answered)
    existing_keys = {task.key for task in present} - {task.key for task in forgotten}
    by_key = {task["data"][KEY]: task for task in tasks}
    spared = (by_key.keys() & answered.keys()) - existing_keys
    missing = {key: task for key, task in by_key.items() if key not in existing_keys | spared}
    staying = [task for task in present if task not in forgotten]
    updated = _bring_up_to_date(server, staying, tasks, advance)
    advance(len(tasks) - len(missing) - updated)
    sent = _send_all(server, project_id, list(missing.values()), batch_size, advance)
    if last is not None:
        server.delete_unanswered(project_id, [last.task_id])
    current = [*staying, *sent]
    changed = missing or forgotten or stale
    if len(sent) < len(missing) or (changed and server.count_tasks(project_id) != len(current)):
        current = list(server.tasks_of(project_id))
    task_ids = _single_tasks(server, project_id, [key for key in by_key if key not in spared], current)
    withdrawn = {task.key for task in stale} - {task.key for task in present}
    renewed = len(withdrawn & missing.keys())
    return Delivery(task_ids, len(missing) - renewed, len(spared), len(forgotten), updated, renewed)


def _delete_all_but(
    last: StudioTask, server: Gateway, project_id: int, stale: Sequence[StudioTask]
) -> tuple[StudioTask, ...]:
    """Delete the unanswered of these tasks but the last; returns the tasks that the project then has besides it."""
    server.delete_unanswered(project_id, [task.task_id for task in stale if task.task_id != last.task_id])
    return tuple(task for task in server.tasks_of(project_id) if task.task_id != last.task_id)


def _delete_forgotten(
    server: Gateway, project_id: int, present: Sequence[StudioTask], answered: Mapping[str, str]
) -> list[StudioTask]:
    """Delete the unanswered tasks that are older than their answer on record; returns the deleted ones."""
    older = [
        task for task in present if not task.annotations and (task.updated_at or "~") < answered.get(task.key or "", "")
    ]
    if not older:
        return []
    server.delete_unanswered(project_id, [task.task_id for task in older])
    left = {task.task_id for task in server.tasks_of(project_id)}
    return [task for task in older if task.task_id not in left]


def _single_tasks(
    server: Gateway, project_id: int, keys: Sequence[str], listed: Sequence[StudioTask]
) -> dict[str, int]:
    """The server's number of the one task of each key, after surplus copies were deleted.

    Raises StudioError if a task is missing, or two of its copies have an answer.
    """
    copies = _copies_that_stay(server, project_id, set(keys), listed)
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
    return {key: copies[key][0].task_id for key in keys}


def tasks_to_resend(
    listed: Sequence[StudioTask], tasks: Sequence[Payload], *, new: Collection[str]
) -> list[StudioTask]:
    """The unanswered tasks that have to be sent again, so that all come in their order and with their text.

    People meet tasks in the order in which they were sent, so these are all that come after a new one; and, if more
    than `MOST_UPDATES` show an earlier text, all that come after the first of those. listed: tasks of the project.
    new: keys of tasks that were never sent.
    """
    positions = {task["data"][KEY]: number for number, task in enumerate(tasks)}
    existing_keys = {task.key for task in listed}
    waiting = {positions[task.key]: task for task in listed if task.key in positions and not task.annotations}
    outdated = [position for position, task in waiting.items() if _differing_fields(task, tasks[position]["data"])]
    first = [positions[key] for key in new if key not in existing_keys]
    first += outdated if len(outdated) > MOST_UPDATES else []
    return [task for position, task in waiting.items() if position >= min(first, default=len(tasks))]


def _bring_up_to_date(
    server: Gateway, listed: Sequence[StudioTask], tasks: Sequence[Payload], advance: Callable[[int], None]
) -> int:
    """Update unanswered tasks that show a wrong text about the pair; returns the number of updates.

    Labelled abstracts stay, but for the words around them: the regions drawn on them are the task's predictions, which
    an update leaves as they are.
    """
    data_of = {task["data"][KEY]: task["data"] for task in tasks}
    updated = 0
    for task in listed:
        if task.annotations or task.key is None or task.key not in data_of:
            continue
        if other := _differing_fields(task, data_of[task.key]):
            server.update_task(task.task_id, {**task.data, **other})
            updated += 1
            advance(1)
    return updated


def _differing_fields(task: StudioTask, data: Payload) -> Payload:
    """Fields about the pair that the task should show and does not."""
    text, shown = data.get(TEXT_FIELD, ""), task.data.get(TEXT_FIELD, "")
    changes = is_whole(text) or without_words(text) == without_words(str(shown))
    unchanged = (KEY,) if changes else (KEY, TEXT_FIELD)
    return {name: value for name, value in data.items() if name not in unchanged and task.data.get(name) != value}


def _send_all(
    server: Gateway, project_id: int, tasks: list[Payload], batch_size: int, advance: Callable[[int], None]
) -> list[StudioTask]:
    """Send these tasks, batch by batch; those that the server answers with."""
    sent: list[StudioTask] = []
    for start in range(0, len(tasks), batch_size):
        batch = tasks[start : start + batch_size]
        sent += _send(server, project_id, batch)
        advance(len(batch))
    return sent


def _send(server: Gateway, project_id: int, batch: list[Payload]) -> list[StudioTask]:
    """Send one batch; returns the tasks in the server's answer.

    If the answer is lost, look for the tasks before sending again those that are not there.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            task_ids = server.send_tasks(project_id, batch)
            return [
                StudioTask(task_id, task["data"][KEY], 0, task["data"])
                for task_id, task in zip(task_ids, batch, strict=False)
            ]
        except UncertainWrite:
            batch = _missing_tasks(server, project_id, batch)
            if not batch:
                break
            if attempt == _ATTEMPTS:
                raise
    return []


def _missing_tasks(server: Gateway, project_id: int, batch: list[Payload]) -> list[Payload]:
    """The tasks of `batch` that have not appeared on the server when the waits are over."""
    for wait in _WAITS:
        arrived = {task.key for task in server.tasks_of(project_id)}
        batch = [task for task in batch if task["data"][KEY] not in arrived]
        if not batch:
            break
        time.sleep(wait)
    return batch


def _copies_that_stay(
    server: Gateway, project_id: int, keys: Collection[str], listed: Sequence[StudioTask]
) -> dict[str, list[StudioTask]]:
    """The tasks of these keys, oldest first, after surplus copies were deleted. listed: the tasks before that."""
    for _ in range(_CLEANING_ROUNDS):
        copies = grouped((task.key, task) for task in listed if task.key is not None and task.key in keys)
        surplus = [task for of_key in copies.values() for task in _surplus(of_key)]
        if not surplus:
            return copies
        for task in surplus:
            server.delete_task(task.task_id)
        listed = server.tasks_of(project_id)
    raise StudioError(
        f"project {project_id}: second copies of tasks keep appearing", hint="wait until the other push has ended"
    )


def _surplus(copies: list[StudioTask]) -> list[StudioTask]:
    """All copies without annotations, but for the oldest if none has any."""
    bare = [task for task in copies if task.annotations == 0]
    return bare[1:] if len(bare) == len(copies) else bare
