"""What a Label Studio in memory holds: accounts, projects, tasks, annotations and predictions, and how they change.

It keeps what the real server is known for: no key of its own for tasks (a repeated import doubles them), a clock that
moves with each write, numbers that are never given twice. `studio_in_memory.py` answers requests with it.
"""

from __future__ import annotations

import copy
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

LEAD = "lead@annot.example"
USUAL_PROJECT: dict[str, Any] = {
    "title": "",
    "description": "",
    "label_config": "<View></View>",
    "expert_instruction": "",
    "show_instruction": False,
    "show_skip_button": True,
    "enable_empty_annotation": True,
    "maximum_annotations": 1,
    "color": "#FFFFFF",
    "sampling": "Sequential sampling",
    "show_collab_predictions": True,
    "is_published": False,
    "model_version": "",
}
"""What a project is where nothing else is asked for."""

Record = dict[str, Any]


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, detail: Any, *, page: bool = False) -> None:
        """page: the server answers with a web page, as it does where a view looks its project up itself."""
        super().__init__(detail)
        self.status, self.detail, self.page = status, detail, page


class OnTasks(dict[int, Record]):
    """What is on tasks, by its number and by task: a look through all of it for each task would take the longest."""

    def __init__(self, every: Mapping[int, Record] = MappingProxyType({})) -> None:
        super().__init__()
        self._of: dict[int, dict[int, Record]] = {}
        for number, one in every.items():
            self[number] = one

    def __reduce__(self) -> tuple[type[OnTasks], tuple[dict[int, Record]]]:
        return OnTasks, (dict(self),)

    def __setitem__(self, number: int, one: Record) -> None:
        super().__setitem__(number, one)
        self._of.setdefault(one["task"], {})[number] = one

    def __delitem__(self, number: int) -> None:
        del self._of[self[number]["task"]][number]
        super().__delitem__(number)

    def of(self, task: int) -> list[tuple[int, Record]]:
        """What is on the task, with its numbers, the oldest first."""
        return sorted(self._of.get(task, {}).items())


@dataclass
class StudioContents:
    """All that is on one server, with what people and programs do to it."""

    projects: dict[int, Record] = field(default_factory=dict)
    tasks: dict[int, Record] = field(default_factory=dict)
    annotations: OnTasks = field(default_factory=OnTasks)
    predictions: OnTasks = field(default_factory=OnTasks)
    users: dict[int, Record] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(hours=1))
    """The server's clock: each write moves it on by a millisecond."""
    in_time: bool = False
    """Whether its clock is this machine's, where that is ahead."""
    _last: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.made = self.moment()
        self.token = self.sign_up(LEAD, "lead-of-memory")

    # -- what people and programs do -----------------------------------------------------------------------------------

    def sign_up(self, email: str, password: str = "secret") -> str:
        """A new account; its token."""
        number = self._number("users")
        token = uuid.uuid5(uuid.NAMESPACE_URL, email).hex
        made = {"id": number, "email": email, "username": "", "first_name": "", "last_name": "", "initials": email[:2]}
        self.users[number] = made | {"password": password, "token": token, "date_joined": self.moment()}
        return token

    def make_project(self, title: str, **settings: Any) -> int:
        """A new project with these settings; its id."""
        return int(self._new_project({"title": title, **settings}, 1)["id"])

    def account(self, email: str) -> Record:
        """The account of this address."""
        return next(user for user in self.users.values() if user["email"] == email)

    def projects_of(self, sign: str) -> list[int]:
        """The projects whose description holds this, the oldest first."""
        return sorted(number for number, project in self.projects.items() if sign in project["description"])

    def tasks_of(self, project: int) -> list[Record]:
        """The tasks of a project, the oldest first."""
        return [task for number, task in sorted(self.tasks.items()) if task["project"] == project]

    def annotations_on(self, task: int) -> list[Record]:
        """The annotations of a task, the oldest first."""
        return [one for _, one in self.annotations.of(task)]

    def annotate(self, task: int, result: list[Any], *, email: str, cancelled: bool = False) -> int:
        """A person annotates a task; the annotation's id."""
        body = {"result": result, "was_cancelled": cancelled, "lead_time": 4.0}
        made: int = self._annotate(task, body, self.account(email)["id"])["id"]
        return made

    def change(self, annotation: int, result: list[Any], *, email: str | None = None) -> None:
        """The annotation is changed, by its author or another account."""
        by = self.annotations[annotation]["completed_by"] if email is None else self.account(email)["id"]
        self._change_annotation(annotation, {"result": result}, by)

    def delete_annotation(self, number: int) -> None:
        """The annotation is deleted in Label Studio."""
        one = self._annotation(number)
        del self.annotations[number]
        self.tasks[one["task"]]["updated_at"] = self.moment()

    def delete_task(self, number: int) -> None:
        """The task is deleted with all that is on it."""
        self._task(number)
        del self.tasks[number]
        for kept in (self.annotations, self.predictions):
            for key, _ in kept.of(number):
                del kept[key]

    def empty_project(self, project: int) -> None:
        """All tasks of the project are deleted."""
        self._project(project)
        for task in self.tasks_of(project):
            self.delete_task(task["id"])

    def delete_project(self, project: int) -> None:
        """The project is deleted with all that is in it."""
        self.empty_project(project)
        del self.projects[project]

    def import_tasks(self, project: int, tasks: list[Record]) -> list[int]:
        """Another program imports tasks; their ids."""
        made: list[int] = self._import(project, tasks)["task_ids"]
        return made

    def double(self, project: int, *, with_tasks: bool = False) -> int:
        """The server has made the project twice; the other one's id."""
        number = self._number("projects")
        self.projects[number] = {**copy.deepcopy(self.projects[project]), "id": number, "created_at": self.moment()}
        if with_tasks:
            self._import(number, [{"data": task["data"]} for task in self.tasks_of(project)])
        return number

    def kept(self) -> Record:
        """All that is on the server, as a backup keeps it."""
        names = ("projects", "tasks", "annotations", "predictions", "users", "_last", "made", "token")
        return copy.deepcopy({name: getattr(self, name) for name in names})

    def restore(self, kept: Record) -> None:
        """The server is set back to a backup: its numbers count on from there, its clock goes on."""
        for name, value in copy.deepcopy(kept).items():
            setattr(self, name, value)

    def moment(self) -> str:
        """The clock after another millisecond, as the server writes it."""
        self.now += timedelta(milliseconds=1)
        if self.in_time:
            self.now = max(self.now, datetime.now(UTC))
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    # -- what the server keeps -----------------------------------------------------------------------------------------

    def _number(self, kind: str) -> int:
        self._last[kind] = self._last.get(kind, 0) + 1
        return self._last[kind]

    def _project(self, number: int, *, page: bool = False) -> Record:
        if number not in self.projects:
            raise Refused(404, "No Project matches the given query.", page=page)
        return self.projects[number]

    def _task(self, number: int) -> Record:
        if number not in self.tasks:
            raise Refused(404, "No Task matches the given query.")
        return self.tasks[number]

    def _annotation(self, number: int) -> Record:
        if number not in self.annotations:
            raise Refused(404, "No Annotation matches the given query.")
        return self.annotations[number]

    def _new_project(self, body: Record, user: int) -> Record:
        if faults := faults_of_settings(body):
            raise Refused(400, faults)
        number = self._number("projects")
        made = {**USUAL_PROJECT, **body, "id": number, "created_at": self.moment()}
        self.projects[number] = made | {"organization": 1, "created_by": {"id": user}}
        return self.projects[number]

    def _counted_project(self, number: int) -> Record:
        tasks = self.tasks_of(number)
        on_tasks = [self._counts(task["id"]) for task in tasks]
        return {
            **self._project(number),
            "task_number": len(tasks),
            "total_annotations_number": sum(given for given, _ in on_tasks),
            "skipped_annotations_number": sum(cancelled for _, cancelled in on_tasks),
            "num_tasks_with_annotations": sum(given > 0 for given, _ in on_tasks),
        }

    def _counts(self, task: int) -> tuple[int, int]:
        cancelled = [one["was_cancelled"] for one in self.annotations_on(task)]
        return len(cancelled) - sum(cancelled), sum(cancelled)

    def _counted_task(self, number: int) -> Record:
        given, cancelled = self._counts(number)
        return {
            **self.tasks[number],
            "total_annotations": given,
            "cancelled_annotations": cancelled,
            "total_predictions": len(self.predictions.of(number)),
        }

    def _exported(self, number: int) -> Record:
        filled = [key for key, _ in self.predictions.of(number)]
        own = [{**one, "unique_id": str(uuid.UUID(int=one["id"]))} for one in self.annotations_on(number)]
        return {**self._counted_task(number), "annotations": own, "drafts": [], "predictions": filled}

    def _import(self, project: int, tasks: list[Record]) -> Record:
        fields = _fields_of(self.projects[project]["label_config"])
        faults = []
        for at, task in enumerate(tasks):
            faults += [
                f'Error at item {at}: "{name}" key is expected in task data'
                for name in sorted(fields)
                if name not in task.get("data", task)
            ]
        if faults or not tasks:
            raise Refused(400, {"non_field_errors": faults or ["load_tasks: No tasks added"]})
        made = []
        for task in tasks:
            number, at = self._number("tasks"), self.moment()
            self.tasks[number] = {
                "id": number,
                "project": project,
                "data": task.get("data", task),
                "meta": task.get("meta", {}),
                "created_at": at,
                "updated_at": at,
                "updated_by": None,
            }
            for filled in task.get("predictions", ()):
                own = self._number("predictions")
                usual = {"model_version": "undefined", "score": None}
                self.predictions[own] = {**usual, **filled, "id": own, "task": number, "project": project}
                self.predictions[own] |= {"created_at": at, "updated_at": at}
            made.append(number)
        filled = sum(len(task.get("predictions", ())) for task in tasks)
        return {"task_count": len(made), "annotation_count": 0, "prediction_count": filled, "task_ids": made}

    def _annotate(self, task: int, body: Record, user: int) -> Record:
        on = self._task(task)
        number, at = self._number("annotations"), self.moment()
        self.annotations[number] = {
            "id": number,
            "task": task,
            "project": on["project"],
            "result": body.get("result", []),
            "completed_by": user,
            "updated_by": user,
            "was_cancelled": bool(body.get("was_cancelled")),
            "ground_truth": False,
            "lead_time": body.get("lead_time"),
            "created_at": at,
            "updated_at": at,
        }
        on |= {"updated_at": self.moment(), "updated_by": user}
        return self.annotations[number]

    def _change_annotation(self, number: int, body: Record, user: int) -> Record:
        one = self._annotation(number)
        one |= {**body, "updated_at": self.moment(), "updated_by": user}
        self.tasks[one["task"]] |= {"updated_at": self.moment(), "updated_by": user}
        return one


def faults_of_settings(body: Record) -> Record:
    """What the server refuses in the settings of a project."""
    found: Record = {}
    if "title" in body and len(body["title"]) < 3:
        found["title"] = ["Ensure this field has at least 3 characters."]
    if "title" in body and len(body["title"]) > 50:
        found["title"] = ["Ensure this field has no more than 50 characters."]
    if "label_config" in body:
        try:
            ElementTree.fromstring(body["label_config"])
        except ElementTree.ParseError as error:
            found["label_config"] = [str(error)]
    return found


def _fields_of(label_config: str) -> set[str]:
    """The fields of a task's data that the screen shows."""
    values = (element.get("value", "") for element in ElementTree.fromstring(label_config).iter())
    return {value[1:] for value in values if re.fullmatch(r"\$\w+", value)}
