"""The gateway to a Label Studio server: a handful of verbs, our records out. All that the client library sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from annot.base.errors import StudioError
from annot.labelstudio import refusals
from annot.labelstudio.door import PAGE_SIZE, READ, Door, integer, moment
from annot.labelstudio.studio_records import (
    KEY,
    Payload,
    Prediction,
    ProjectSpec,
    PulledTask,
    StudioProject,
    StudioTask,
    labelling_url,
)

WHOLE_EXPORT = 5000
"""Tasks up to which a project is exported in one request: the server sends nothing until it has put all together, and
proxies give up on it after a minute."""
EXPORT_SIZE = 200
"""Tasks of a larger one in one request: their ids stand in its address, which may be about 8,000 characters long."""
PROJECT_SETTINGS = {
    "sampling": "Sequential sampling",
    "maximum_annotations": 1,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    # What fills the sentence labels is the task's own prediction; without this it would stay unused.
    "show_collab_predictions": True,
}
"""What every project of ours is set to, whoever it is for."""
WRITTEN = ("label_config", "title", "expert_instruction")
"""What else of a project people see: its screen, its name, and its instructions."""


class Gateway(Door):
    """One server through one account's token: projects, tasks out, answers in, and all that `Door` does."""

    # -- projects ------------------------------------------------------------------------------------------------------

    def project(self, project_id: int) -> StudioProject | None:
        """The project of this id; None if the server has none, and lists none of that id either.

        A server that is just starting, or a proxy, may answer 404 for what is there. Raises StudioError if that
        happens twice.
        """
        for _ in range(2):
            found = self._found(project_id)
            if found is not None or project_id not in self._descriptions():
                return found
        raise StudioError(
            f"{self.url} lists project {project_id}, but answers 404 when asked for it",
            hint="nothing was changed; run the command again when the server works",
        )

    def marked_projects(self, marker: str, *, beside: int | None = None) -> tuple[StudioProject, ...]:
        """Every project that carries `marker`, the oldest first; without the one of the id `beside`.

        A creation that was killed may still be finished by a slow server, or repeated by one that found its database
        locked, beside the one that was made.
        """
        sign = _sign(marker)
        found = [number for number, text in self._descriptions().items() if sign in text and number != beside]
        return tuple(project for project in map(self.project, found) if project is not None)

    def projects_by_marker(self, begin: str) -> dict[str, int]:
        """The ids of the projects whose marker begins so, by marker; of several with one marker, the oldest."""
        sign = f"[annot:{begin}"
        found: dict[str, int] = {}
        for project_id, text in self._descriptions().items():
            if sign in text:
                found.setdefault(begin + text.partition(sign)[2].partition("]")[0], project_id)
        return found

    def find_project(self, marker: str) -> StudioProject | None:
        """The project that carries `marker`, or None.

        Of several, the one that holds tasks is meant, or else the oldest. Raises StudioError if several hold tasks.
        """
        found = self.marked_projects(marker)
        holding = [project for project in found if project.tasks]
        if len(holding) > 1:
            raise StudioError(
                f"{self.url}: projects {', '.join(str(project.project_id) for project in holding)} have the same "
                f"marker {marker} and contain tasks, expected one",
                hint="in Label Studio, delete all but one of them, and run the command again",
            )
        return next(iter((*holding, *found)), None)

    def delete_project(self, project_id: int) -> None:
        """Delete the project with all that is in it; one that is gone already is fine."""
        with self._deleting(f"project {project_id}"):
            self._client.projects.delete(project_id)

    def create_project(self, spec: ProjectSpec) -> int:
        """Make the project, without looking whether it is there; its id."""
        with self._asking(f"creating the project {spec.title!r}"):
            return integer(self._client.projects.create(**_fields(spec)).id)

    def update_project(self, project_id: int, spec: ProjectSpec, *, opens: bool) -> None:
        """Bring the project's screen, instructions and settings to `spec`. opens: as of `open_instructions`."""
        with self._asking(f"updating the project {spec.title!r}"):
            fields = _fields(spec)
            fields["show_instruction"] = fields["show_instruction"] and opens
            self._client.projects.update(project_id, **fields)

    def open_instructions(self, project_id: int, opens: bool) -> None:
        """Whether the instructions open by themselves whenever the page is loaded; their button stays in any case."""
        with self._asking(f"updating project {project_id}"):
            self._client.projects.update(project_id, show_instruction=opens)

    def labelling_url(self, project_id: int) -> str:
        """The link to give to the person whose project it is."""
        return labelling_url(self.url, project_id)

    def snapshot(self, project_id: int) -> dict[str, Any]:
        """The project as the server has it: its settings, and every task with annotations and predictions.

        Raises StudioError if the server sends fewer tasks than it counts.
        """
        doing = f"taking a copy of project {project_id}"
        with self._asking(doing):
            project = self._client.projects.get(project_id, request_options=READ)
            tasks = self._export(project_id, {})
            if len(tasks) < (counted := integer(project.task_number)):
                raise refusals.short(url=self.url, doing=doing, expected=counted, found=len(tasks), what="tasks")
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
            listed = self._listed(pager, pager.response.total, doing=doing, what="tasks")
            return tuple(self._task(project_id, task) for task in listed.values())

    def count_tasks(self, project_id: int) -> int:
        """How many tasks the project holds."""
        with self._asking(f"counting the tasks of project {project_id}"):
            pager = self._client.tasks.list(project=project_id, include="id", page_size=1, request_options=READ)
            return integer(pager.response.total)

    def send_tasks(self, project_id: int, tasks: Sequence[Payload]) -> tuple[int, ...]:
        """Send one batch, once; the ids of its tasks, in its order, as far as the answer holds them.

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
        """Make `data` what the task shows; what was answered, drafted and predicted on it stays. Safe to repeat."""
        with self._asking(f"updating task {task_id}"):
            self._client.tasks.update(str(task_id), data=dict(data), request_options=READ)

    def delete_task(self, task_id: int) -> None:
        """Delete the task; one that is gone already is fine."""
        with self._deleting(f"task {task_id}"):
            self._client.tasks.delete(str(task_id))

    def delete_unanswered(self, project_id: int, task_ids: Sequence[int]) -> None:
        """Delete those of these tasks that nobody has answered by the time the server does it; the others stay.

        The server looks and deletes in one step: an answer given since the tasks were listed is never lost. Nor is one
        that it has and did not count, as it was ended in between. Safe to repeat.
        """
        # The counts leave out drafts, which nobody but their author sees.
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

        Complete, or StudioError: as many tasks as the server counts, and on each as many annotations as it counts. It
        may count too few: a server that was ended between an answer and its count has the answer all the same.
        The server keeps a copy of every export.
        """
        found: tuple[PulledTask, ...] = ()
        if task_ids is None:
            total = self.count_tasks(project_id)
            if total <= WHOLE_EXPORT:
                found = self._exported(project_id, (), expected=total)
                advance(len(found))
                return found
            task_ids = [task.task_id for task in self.tasks_of(project_id)]
        for start in range(0, len(task_ids), EXPORT_SIZE):
            group = task_ids[start : start + EXPORT_SIZE]
            found += self._exported(project_id, group, expected=len(group))
            advance(len(group))
        return found

    def annotate(self, task_id: int, result: Sequence[Payload], *, lead_time: float | None = None) -> int:
        """Annotate the task as this token's account, once, and return the annotation's id.

        Raises UncertainWrite if the answer does not settle whether it arrived: look before doing it again.
        """
        with self._asking(f"annotating task {task_id}"):
            made = self._client.annotations.create(task_id, result=list(result), lead_time=lead_time)
            return integer(made.id)

    def predictions(self, project_id: int) -> tuple[Prediction, ...]:
        """Everything that is filled in on the tasks of the project, whoever did it; all in one answer."""
        with self._asking(f"reading what is filled in on the tasks of project {project_id}"):
            listed = self._client.predictions.list(project=project_id, request_options=READ)
            return tuple(Prediction(one.task, one.model_version, one.score, tuple(one.result)) for one in listed)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _exported(self, project_id: int, task_ids: Sequence[int], *, expected: int) -> tuple[PulledTask, ...]:
        """These tasks, or all of the project, with their annotations verbatim."""
        doing = f"exporting project {project_id}"
        with self._asking(doing):
            # The library sends the ids under a name that the server does not read, and would get every task.
            asked = {"ids[]": [str(task_id) for task_id in task_ids]}
            tasks = {integer(task["id"]): task for task in self._export(project_id, asked)}
            if len(tasks) < expected:
                raise refusals.short(url=self.url, doing=doing, expected=expected, found=len(tasks), what="tasks")
            for task in tasks.values():
                # More than counted is fine: the next pull brings the task again.
                counted = integer(task["total_annotations"]) + integer(task["cancelled_annotations"])
                found = len({integer(annotation["id"]) for annotation in task["annotations"]})
                if found < counted:
                    raise refusals.short(url=self.url, doing=doing, expected=counted, found=found, what="annotations")
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

    def _found(self, project_id: int) -> StudioProject | None:
        with self._asking(f"looking at project {project_id}"):
            try:
                found = self._client.projects.get(project_id, request_options=READ)
            except Exception as error:
                if getattr(error, "status_code", None) == 404:
                    return None
                raise
            tasks, annotations = integer(found.task_number), integer(found.total_annotations_number)
            settings = {name: getattr(found, name) for name in (*PROJECT_SETTINGS, *WRITTEN)}
            opens = bool(found.show_instruction)
            return StudioProject(integer(found.id), moment(found.created_at), tasks, annotations, settings, opens)

    def _descriptions(self) -> dict[int, str]:
        doing = "listing the projects"
        with self._asking(doing):
            # Without their screens and instructions: those are long, and the server is slow at them.
            pager = self._client.projects.list(include="id,description", page_size=PAGE_SIZE, request_options=READ)
            listed = self._listed(pager, pager.response.count, doing=doing, what="projects")
            return {project_id: project.description or "" for project_id, project in listed.items()}

    def _export(self, project_id: int, asked: dict[str, Any]) -> list[dict[str, Any]]:
        """The tasks as the server exports them, those without an answer, too. It keeps a copy of every export."""
        options = {**READ, "additional_query_parameters": {"download_all_tasks": "true", **asked}}
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


def _sign(marker: str) -> str:
    return f"[annot:{marker}]"


def _changed_since(moment: str) -> str:
    """The server's filter for tasks: making, changing and deleting an annotation change its task's moment, too."""
    late = {"filter": "filter:tasks:updated_at", "operator": "greater_or_equal", "type": "Datetime", "value": moment}
    return json.dumps({"filters": {"conjunction": "and", "items": [late]}})
