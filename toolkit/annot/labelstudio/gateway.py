"""The gateway to a Label Studio server: a handful of verbs, our records out. All that the client library sends.

What the library does behind one's back, and what is done about it here:
- it sends a POST again on 5xx, 408, 409 and 429: writes are sent once (`max_retries` 0), then read back;
- its pager asks for a page beyond the last one, and takes a 404 in the middle for the end: no more than the total is
  asked for, and everything listed is counted against it;
- it does not check answers: everything is converted, with checks, at this door;
- its errors carry headers with a session cookie: only status and detail get into our messages.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from annot.errors import StudioError
from annot.labelstudio import refusals
from annot.labelstudio.sealed_keys import TaskKeys
from annot.labelstudio.studio_records import (
    KEY,
    Payload,
    ProjectSpec,
    PulledTask,
    StudioProject,
    StudioTask,
    labelling_url,
)

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 120.0
EXPORT_SIZE = 200
_PAGE_SIZE = 500
_READ: dict[str, Any] = {"max_retries": 2}
PROJECT_SETTINGS = {
    "sampling": "Sequential sampling",
    "maximum_annotations": 1,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    # What fills the sentence labels is the task's own prediction; without this it would stay unused.
    "show_collab_predictions": True,
}
"""What every project of ours is set to, whoever it is for."""


class Gateway:
    """One server, seen through one account's token (legacy or personal). `transport` stands in for the network.

    `keys` seals the keys of tasks on their way out and opens them on their way in, looked up when the first task comes
    by; without it keys stand on the server as they are.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        keys: Callable[[], TaskKeys] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if "@" in url:
            raise StudioError(
                "the address of Label Studio holds a user name or a password (an @ stands in it)",
                hint="take them out of LABEL_STUDIO_URL or --url; the token in LABEL_STUDIO_API_KEY is enough",
            )
        self.url = url.rstrip("/")
        if not api_key or not api_key.isascii() or any(letter.isspace() for letter in api_key):
            raise StudioError(
                "the token is empty or holds spaces or letters no token has",
                hint="set LABEL_STUDIO_API_KEY to a token from Label Studio's Account & Settings",
            )
        from annot.labelstudio.patience import PatientClient

        self._keys = None if keys is None else cache(keys)
        # A proxy from the environment must not get requests to this machine.
        self._http = PatientClient(
            timeout=TIMEOUT_SECONDS, follow_redirects=True, transport=transport, trust_env=not is_loopback(url)
        )
        with self._asking("reading the token"):
            from label_studio_sdk import LabelStudio

            self._client: Any = LabelStudio(
                base_url=self.url + "/", api_key=api_key, httpx_client=self._http, max_retries=0
            )

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # -- the server and its accounts ---------------------------------------------------------------------------------

    def version(self) -> str:
        """The server's release, such as `1.23.2`."""
        with self._asking("asking for the version"):
            return str(self._client.versions.get(request_options=_READ).model_dump()["release"])

    def identity(self) -> str:
        """What tells this server's data from another's, whatever its address: its organisation and when it was made."""
        with self._asking("asking which server this is"):
            active = self._client.users.whoami(request_options=_READ).active_organization
            made = {group.id: group.created_at for group in self._client.organizations.list(request_options=_READ)}
            return f"{active} of {made[active].isoformat()}"

    def whoami(self) -> int:
        """The id of the account whose token this is. Raises StudioError on a wrong token, server or address."""
        with self._asking("checking the token"):
            return _integer(self._client.users.whoami(request_options=_READ).id)

    def user_ids(self) -> dict[str, int]:
        """The ids of all accounts of the organisation, by address in small letters.

        An address is an identity: it goes no further than the database.
        """
        with self._asking("listing the accounts"):
            users = self._client.users.list(request_options=_READ)
            return {user.email.lower(): _integer(user.id) for user in users}

    def invitation(self) -> str:
        """Path and query of the link by which an account can be made."""
        with self._asking("asking for the invitation link"):
            link = self._client.organizations.invites.get_invite_link(request_options=_READ).invite_url
            parts = urlsplit(link)
            return f"{parts.path}?{parts.query}"

    # -- projects ------------------------------------------------------------------------------------------------------

    def project(self, project_id: int) -> StudioProject | None:
        """The project of this id; None where the server has none."""
        with self._asking(f"looking at project {project_id}"):
            try:
                found = self._client.projects.get(project_id, request_options=_READ)
            except Exception as error:
                if getattr(error, "status_code", None) == 404:
                    return None
                raise
            tasks, annotations = _integer(found.task_number), _integer(found.total_annotations_number)
            settings = {name: getattr(found, name) for name in (*PROJECT_SETTINGS, "label_config")}
            return StudioProject(_integer(found.id), _moment(found.created_at), tasks, annotations, settings)

    def marked_projects(self, marker: str) -> tuple[StudioProject, ...]:
        """Every project that carries `marker`, the oldest first.

        A creation that was killed may still be finished by a slow server, or repeated by one that found its database
        locked, beside the one that was made.
        """
        doing, sign = "listing the projects", _sign(marker)
        with self._asking(doing):
            # Without their screens and instructions: those are long, and the server is slow at them.
            pager = self._client.projects.list(include="id,description", page_size=_PAGE_SIZE, request_options=_READ)
            total = _integer(pager.response.count)
            listed = {_integer(project.id): project.description or "" for project in islice(pager, total)}
            self._count(listed, total, doing=doing, what="projects")
        found = sorted(project_id for project_id, description in listed.items() if sign in description)
        return tuple(project for project in map(self.project, found) if project is not None)

    def find_project(self, marker: str) -> StudioProject | None:
        """The project that carries `marker`, or None.

        Of several, the one that holds tasks is meant, or else the oldest. Raises StudioError where several hold tasks.
        """
        found = self.marked_projects(marker)
        holding = [project for project in found if project.tasks]
        if len(holding) > 1:
            raise StudioError(
                f"{self.url}: projects {', '.join(str(project.project_id) for project in holding)} carry the same "
                f"marker {marker} and hold tasks, expected one",
                hint="look at them in Label Studio, delete all but one, and run the command again",
            )
        return next(iter((*holding, *found)), None)

    def delete_project(self, project_id: int) -> None:
        """Delete the project with all that is in it; one that is gone already is fine."""
        with self._asking(f"deleting project {project_id}"):
            try:
                self._client.projects.delete(project_id)
            except Exception as error:
                if getattr(error, "status_code", None) != 404:
                    raise

    def projects_by_marker(self, begin: str) -> dict[str, int]:
        """The ids of the projects whose marker begins so, by marker; of several with one marker, the oldest."""
        doing, sign = "listing the projects", f"[annot:{begin}"
        with self._asking(doing):
            pager = self._client.projects.list(include="id,description", page_size=_PAGE_SIZE, request_options=_READ)
            listed = {_integer(project.id): project.description or "" for project in pager}
            self._count(listed, _integer(pager.response.count), doing=doing, what="projects")
        found: dict[str, int] = {}
        for project_id, description in sorted(listed.items()):
            if sign in description:
                found.setdefault(begin + description.partition(sign)[2].partition("]")[0], project_id)
        return found

    def create_project(self, spec: ProjectSpec) -> int:
        """Make the project, without looking whether it is there; its id."""
        with self._asking(f"creating the project {spec.title!r}"):
            return _integer(self._client.projects.create(**_fields(spec)).id)

    def update_project(self, project_id: int, spec: ProjectSpec) -> None:
        """Bring the project's screen, instructions and settings to `spec`."""
        with self._asking(f"updating the project {spec.title!r}"):
            self._client.projects.update(project_id, **_fields(spec))

    def labelling_url(self, project_id: int) -> str:
        """The link to give to the person whose project it is."""
        return labelling_url(self.url, project_id)

    def snapshot(self, project_id: int) -> dict[str, Any]:
        """The project as the server has it: its settings, and every task with annotations and predictions.

        Raises StudioError where the server sends fewer tasks than it counts.
        """
        doing = f"taking a copy of project {project_id}"
        with self._asking(doing):
            project = self._client.projects.get(project_id, request_options=_READ)
            options = {**_READ, "additional_query_parameters": {"download_all_tasks": "true"}}
            chunks = self._client.projects.exports.download_sync(
                id=project_id, export_type="JSON", request_options=options
            )
            tasks = json.loads(b"".join(chunks))
            if len(tasks) < (counted := _integer(project.task_number)):
                raise refusals.short(url=self.url, doing=doing, expected=counted, found=len(tasks), what="tasks")
            return {"project": json.loads(project.model_dump_json()), "tasks": tasks}

    # -- tasks ---------------------------------------------------------------------------------------------------------

    def tasks_of(self, project_id: int) -> tuple[StudioTask, ...]:
        """Every task of the project, by id, counted.

        Raises StudioError where the server gives fewer than it counts.
        """
        doing = f"listing the tasks of project {project_id}"
        with self._asking(doing):
            pager = self._client.tasks.list(
                project=project_id,
                include="id,data,total_annotations,cancelled_annotations,updated_at",
                fields="task_only",
                page_size=_PAGE_SIZE,
                request_options=_READ,
            )
            total = _integer(pager.response.total)
            listed = {task.task_id: task for task in (self._task(project_id, task) for task in islice(pager, total))}
            self._count(listed, total, doing=doing, what="tasks")
            return tuple(task for _, task in sorted(listed.items()))

    def send_tasks(self, project_id: int, tasks: Sequence[Payload]) -> None:
        """Send one batch, once. Raises UncertainWrite where the answer does not settle whether it arrived."""
        sent = list(tasks) if self._keys is None else [self._keys().sealed(project_id, task) for task in tasks]
        with self._asking(f"sending {len(tasks)} tasks to project {project_id}"):
            self._client.projects.import_tasks(id=project_id, request=sent, return_task_ids=False)

    def update_task(self, task_id: int, data: Payload) -> None:
        """Make `data` what the task shows; what was answered, drafted and predicted on it stays. Safe to repeat."""
        with self._asking(f"updating task {task_id}"):
            self._client.tasks.update(str(task_id), data=dict(data), request_options=_READ)

    def delete_task(self, task_id: int) -> None:
        """Delete the task; one that is gone already is fine."""
        with self._asking(f"deleting task {task_id}"):
            try:
                self._client.tasks.delete(str(task_id))
            except Exception as error:
                if getattr(error, "status_code", None) != 404:
                    raise

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
            answered = self.export(project_id, chunk)
            chunk = [task_id for task_id in chunk if not answered.get(task_id)]
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

    def pull(self, project_id: int, *, advance: Callable[[int], None] = lambda done: None) -> tuple[PulledTask, ...]:
        """All tasks with every annotation on them, cancelled ones included.

        Complete, or StudioError: tasks are listed with the server's count of annotations on each, exported in small
        groups (those without annotations are not in an export), and every group is held against those counts. They may
        be too low: a server that was ended between an answer and its count has the answer all the same.
        """
        tasks = self.tasks_of(project_id)
        found: dict[int, tuple[dict[str, Any], ...]] = {}
        for start in range(0, len(tasks), EXPORT_SIZE):
            group = tasks[start : start + EXPORT_SIZE]
            found |= self.export(project_id, [task.task_id for task in group])
            expected = sum(task.annotations for task in group)
            # More than counted is fine: somebody submitted in between, and the next pull brings the task again.
            got = sum(min(len(found.get(task.task_id, ())), task.annotations) for task in group)
            if got < expected:
                doing = f"exporting project {project_id}"
                raise refusals.short(url=self.url, doing=doing, expected=expected, found=got, what="annotations")
            advance(len(group))
        return tuple(PulledTask(task.key, found.get(task.task_id, ()), task.updated_at) for task in tasks)

    def export(self, project_id: int, task_ids: Sequence[int]) -> dict[int, tuple[dict[str, Any], ...]]:
        """The annotations, verbatim, on those of these tasks that have any. The server keeps a copy of every export."""
        with self._asking(f"exporting {len(task_ids)} tasks of project {project_id}"):
            # The library sends the ids under a name that the server does not read, and would get every task.
            options = {**_READ, "additional_query_parameters": {"ids[]": [str(task_id) for task_id in task_ids]}}
            chunks = self._client.projects.exports.download_sync(
                id=project_id, export_type="JSON", request_options=options
            )
            exported = {_integer(task["id"]): tuple(task["annotations"]) for task in json.loads(b"".join(chunks))}
            for annotations in exported.values():
                for annotation in annotations:
                    _integer(annotation["id"])
            return exported

    def annotate(self, task_id: int, result: Sequence[Payload], *, lead_time: float | None = None) -> int:
        """Annotate the task as this token's account, once, and return the annotation's id.

        Raises UncertainWrite where the answer does not settle whether it arrived: look before doing it again.
        """
        with self._asking(f"annotating task {task_id}"):
            made = self._client.annotations.create(task_id, result=list(result), lead_time=lead_time)
            return _integer(made.id)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _task(self, project_id: int, task: Any) -> StudioTask:
        key = task.data.get(KEY)
        if key is not None:
            key = str(key) if self._keys is None else self._keys().opened(project_id, str(key))
        annotations = _integer(task.total_annotations) + _integer(task.cancelled_annotations)
        return StudioTask(_integer(task.id), key, annotations, task.data, _moment(task.updated_at))

    def _count(self, listed: Collection[object], total: int, *, doing: str, what: str) -> None:
        """Raise StudioError where the pages hold less than the server counts, or more."""
        if len(listed) != total:
            raise refusals.short(url=self.url, doing=doing, expected=total, found=len(listed), what=what)

    def _asking(self, doing: str) -> AbstractContextManager[None]:
        return refusals.asking(self.url, doing)


def _fields(spec: ProjectSpec) -> dict[str, Any]:
    return {
        "title": spec.title,
        "description": f"{spec.description} {_sign(spec.marker)}",
        "label_config": spec.label_config,
        "expert_instruction": spec.instructions,
        "show_instruction": bool(spec.instructions),
        "color": spec.color,
        **PROJECT_SETTINGS,
    }


def _sign(marker: str) -> str:
    return f"[annot:{marker}]"


def _moment(value: datetime | None) -> str | None:
    """As the server writes it in exports, so that moments compare as text."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")
    return value


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
