"""The gateway to a Label Studio server: a handful of verbs, our records out. The only user of the client library.

What the library does behind one's back, and what is done about it here:
- it sends a POST again on 5xx, 408, 409 and 429: writes are sent once (`max_retries` 0), then read back;
- its pager takes a 404 in the middle for the end: pages are asked for one by one and counted against the total;
- it does not check answers: everything is converted, with checks, at this door;
- its errors carry headers with a session cookie: only status and detail get into our messages.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from annot.errors import InputError, StudioError
from annot.labelstudio import refusals
from annot.labelstudio.delivery import KEY, deliver
from annot.labelstudio.studio_records import (
    Delivery,
    Payload,
    ProjectCounts,
    ProjectSpec,
    PulledTask,
    StudioProject,
    StudioTask,
    StudioUser,
)

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 120.0
BATCH_SIZE = 250
EXPORT_SIZE = 200
_PAGE_SIZE = 500
_READ: dict[str, Any] = {"max_retries": 2}
_FIELDS = "id,data,total_annotations,cancelled_annotations"


class Gateway:
    """One server, seen through one account's token (legacy or personal). `transport` stands in for the network."""

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        transport: httpx.BaseTransport | None = None,
        timeout: float = TIMEOUT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        import httpx

        if "@" in url:
            raise StudioError(
                "the address of Label Studio holds a user name or a password (an @ stands in it)",
                hint="take them out of LABEL_STUDIO_URL or --url; the token in LABEL_STUDIO_API_KEY is enough",
            )
        self.url = url.rstrip("/")
        self._sleep = sleep
        if not api_key or not api_key.isascii() or any(letter.isspace() for letter in api_key):
            raise StudioError(
                "the token is empty or holds spaces or letters no token has",
                hint="set LABEL_STUDIO_API_KEY to a token from Label Studio's Account & Settings",
            )
        # A proxy from the environment must not get requests to this machine.
        self._http = httpx.Client(
            timeout=timeout, follow_redirects=True, transport=transport, trust_env=not _is_loopback(url)
        )
        with self._asking("reading the token"):
            from label_studio_sdk import LabelStudio

            self._client: Any = LabelStudio(
                base_url=self.url + "/", api_key=api_key, httpx_client=self._http, max_retries=0
            )

    def __repr__(self) -> str:
        return f"Gateway({self.url!r})"

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

    def whoami(self) -> StudioUser:
        """The account whose token this is. Raises StudioError on a wrong token, server or address."""
        with self._asking("checking the token"):
            return _user(self._client.users.whoami(request_options=_READ))

    def users(self) -> tuple[StudioUser, ...]:
        """All accounts of the organisation, by id."""
        with self._asking("listing the accounts"):
            return tuple(sorted(_user(user) for user in self._client.users.list(request_options=_READ)))

    def invitation(self) -> str:
        """Path and query of the link by which an account can be made."""
        with self._asking("asking for the invitation link"):
            link = self._client.organizations.invites.get_invite_link(request_options=_READ).invite_url
            parts = urlsplit(link)
            return f"{parts.path}?{parts.query}"

    # -- projects ------------------------------------------------------------------------------------------------------

    def find_project(self, marker: str) -> StudioProject | None:
        """The project that carries `marker`, or None.

        A creation that was killed may still be finished by a slow server, beside the one that was made instead: of
        several, the one that holds tasks is meant, or else the oldest. Raises StudioError where several hold tasks.
        """
        sign = _sign(marker)
        found = [
            StudioProject(_integer(project["id"]), str(project["title"]), False)
            for project in self._projects()
            if sign in str(project.get("description") or "")
        ]
        if len(found) > 1:
            found.sort(key=lambda project: project.project_id)
            found = [project for project in found if self.counts(project.project_id).tasks] or found[:1]
        if len(found) > 1:
            ids = ", ".join(str(project.project_id) for project in found)
            raise StudioError(
                f"{self.url}: projects {ids} carry the same marker {marker} and hold tasks, expected one",
                hint="look at them in Label Studio, delete all but one, and run the command again",
            )
        return found[0] if found else None

    def create_project(self, spec: ProjectSpec) -> StudioProject:
        """Make the project, without looking whether it is there."""
        with self._asking(f"creating the project {spec.title!r}"):
            made = self._client.projects.create(**_fields(spec))
            return StudioProject(_integer(made.id), spec.title, True)

    def update_project(self, project_id: int, spec: ProjectSpec) -> None:
        """Bring the project's screen, instructions and settings to `spec`."""
        with self._asking(f"updating the project {spec.title!r}"):
            self._client.projects.update(project_id, **_fields(spec))

    def counts(self, project_id: int) -> ProjectCounts:
        """The server's own counts of the project."""
        with self._asking(f"counting project {project_id}"):
            project = self._client.projects.get(project_id, request_options=_READ)
            return ProjectCounts(
                _integer(project.task_number),
                _integer(project.num_tasks_with_annotations),
                _integer(project.total_annotations_number),
                _integer(project.skipped_annotations_number),
            )

    def labelling_url(self, project_id: int) -> str:
        """The link to give to the assessor: it opens the stream of tasks and nothing else."""
        return f"{self.url}/projects/{project_id}/data?labeling=1"

    # -- tasks ---------------------------------------------------------------------------------------------------------

    def tasks_of(self, project_id: int) -> tuple[StudioTask, ...]:
        """Every task of the project, by id, counted.

        Raises StudioError where the server gives fewer than it counts.
        """

        def page_of(page: int) -> tuple[int, list[Any]]:
            answer = self._client.tasks.list(
                project=project_id,
                include=_FIELDS,
                fields="task_only",
                page=page,
                page_size=_PAGE_SIZE,
                request_options=_READ,
            )
            return _integer(answer.response.total), answer.items

        listed = self._all_pages(page_of, doing=f"listing the tasks of project {project_id}", what="tasks")
        return tuple(sorted(map(_task, listed), key=lambda task: task.task_id))

    def import_tasks(
        self,
        project_id: int,
        tasks: Sequence[Payload],
        *,
        batch_size: int = BATCH_SIZE,
        advance: Callable[[int], None] = lambda done: None,
    ) -> Delivery:
        """Bring `tasks` (dicts of `annot.labelstudio.tasks`) into the project, each once; see `delivery.deliver`.

        Safe to repeat after anything. `advance` is told how many more tasks are there, for a progress bar.
        """
        return deliver(self, project_id, tasks, batch_size=batch_size, sleep=self._sleep, advance=advance)

    def send_tasks(self, project_id: int, tasks: Sequence[Payload]) -> None:
        """Send one batch, once. Raises UncertainWrite where the answer does not settle whether it arrived."""
        with self._asking(f"sending {len(tasks)} tasks to project {project_id}"):
            self._client.projects.import_tasks(id=project_id, request=list(tasks), return_task_ids=False)

    def delete_task(self, task_id: int) -> None:
        """Delete the task; one that is gone already is fine."""
        with self._asking(f"deleting task {task_id}"):
            try:
                self._client.tasks.delete(str(task_id))
            except Exception as error:
                if getattr(error, "status_code", None) != 404:
                    raise

    # -- annotations ---------------------------------------------------------------------------------------------------

    def pull(self, project_id: int, *, advance: Callable[[int], None] = lambda done: None) -> tuple[PulledTask, ...]:
        """All tasks with every annotation on them, cancelled ones included.

        Complete, or StudioError: tasks are listed with the server's count of annotations on each, exported in small
        groups (those without annotations are not in an export), and every group is held against those counts.
        """
        tasks = self.tasks_of(project_id)
        annotated = [task for task in tasks if task.annotations]
        found: dict[int, tuple[dict[str, Any], ...]] = {}
        for start in range(0, len(annotated), EXPORT_SIZE):
            group = annotated[start : start + EXPORT_SIZE]
            for exported in self.export(project_id, [task.task_id for task in group]):
                found[exported["id"]] = tuple(exported["annotations"])
            expected = sum(task.annotations for task in group)
            # More than counted is fine: somebody submitted in between, and the next pull brings the task again.
            got = sum(min(len(found.get(task.task_id, ())), task.annotations) for task in group)
            if got < expected:
                doing = f"exporting project {project_id}"
                raise refusals.short(url=self.url, doing=doing, expected=expected, found=got, what="annotations")
            advance(len(group))
        return tuple(PulledTask(task.task_id, task.key, found.get(task.task_id, ())) for task in tasks)

    def export(self, project_id: int, task_ids: Sequence[int]) -> list[dict[str, Any]]:
        """Those of these tasks that have annotations, verbatim. The server keeps a copy of every export."""
        with self._asking(f"exporting {len(task_ids)} tasks of project {project_id}"):
            # The library sends the ids under a name that the server does not read, and would get every task.
            options = {**_READ, "additional_query_parameters": {"ids[]": [str(task_id) for task_id in task_ids]}}
            chunks = self._client.projects.exports.download_sync(
                id=project_id, export_type="JSON", request_options=options
            )
            exported = json.loads(b"".join(chunks))
            if not isinstance(exported, list) or not all(isinstance(task, dict) for task in exported):
                raise ValueError("not a list of tasks")
            return exported

    def annotate(
        self,
        task_id: int,
        result: Sequence[Payload],
        *,
        lead_time: float | None = None,
        cancelled: bool = False,
    ) -> int:
        """Annotate the task as this token's account, once, and return the annotation's id.

        After a lost answer the account's own annotation is looked for, not sent again.
        """
        more = {} if lead_time is None else {"lead_time": lead_time}
        try:
            with self._asking(f"annotating task {task_id}"):
                made = self._client.annotations.create(task_id, result=list(result), was_cancelled=cancelled, **more)
                return _integer(made.id)
        except refusals.UncertainWrite:
            me = self.whoami().user_id
            mine = [a for a in self.annotations_on(task_id) if a.get("completed_by") == me]
            if not mine:
                raise
            return _integer(mine[-1]["id"])

    def annotations_on(self, task_id: int) -> tuple[dict[str, Any], ...]:
        """The annotations on one task, oldest first."""
        with self._asking(f"reading the annotations of task {task_id}"):
            found = [a.model_dump(mode="json") for a in self._client.annotations.list(task_id, request_options=_READ)]
            return tuple(sorted(found, key=lambda annotation: _integer(annotation["id"])))

    # -- inside --------------------------------------------------------------------------------------------------------

    def _projects(self) -> list[dict[str, Any]]:
        """Every project, without its screen and instructions: those are long, and the server is slow at them."""

        def page_of(page: int) -> tuple[int, list[Any]]:
            answer = self._client.projects.list(
                include="id,title,description", page=page, page_size=_PAGE_SIZE, request_options=_READ
            )
            return _integer(answer.response.count), answer.items

        return self._all_pages(page_of, doing="listing the projects", what="projects")

    def _all_pages(
        self, page_of: Callable[[int], tuple[int, list[Any]]], *, doing: str, what: str
    ) -> list[dict[str, Any]]:
        """Everything on the pages, by id; `page_of` gives the server's total and the items of one page."""
        found: dict[int, dict[str, Any]] = {}
        page = total = 0
        more = True
        with self._asking(doing):
            while more:
                page += 1
                try:
                    total, items = page_of(page)
                except Exception as error:
                    # Past the first page a 404 means that the pages ended early, not that there is no such thing.
                    if page == 1 or getattr(error, "status_code", None) != 404:
                        raise
                    break
                found.update((_integer(item.id), item.model_dump(mode="json")) for item in items)
                more = bool(items) and len(found) < total
        if len(found) != total:
            raise refusals.short(url=self.url, doing=doing, expected=total, found=len(found), what=what)
        return list(found.values())

    @contextmanager
    def _asking(self, doing: str) -> Iterator[None]:
        """Turn what the client library and the network raise into StudioError; nothing of theirs is chained on."""
        import httpx

        try:
            yield
        except StudioError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise refusals.unanswered(error, url=self.url, doing=doing) from None
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise refusals.unlike(error, url=self.url, doing=doing) from None
        except Exception as error:
            if not hasattr(error, "status_code"):
                raise
            body = getattr(error, "body", None)
            raise refusals.refused(error.status_code, body, url=self.url, doing=doing) from None


def check_label_config(xml: str) -> None:
    """Check a labelling configuration without a server. Raises InputError with the cause."""
    from label_studio_sdk.label_interface import LabelInterface

    try:
        LabelInterface(xml).validate()
    except Exception as error:  # the library raises many kinds, its own and lxml's
        raise InputError(f"the labelling configuration is not valid: {error}") from None


def check_predictions(xml: str, tasks: Sequence[Payload]) -> None:
    """Check every prediction of `tasks` against the configuration: the server stores any. Raises InputError."""
    from label_studio_sdk.label_interface import LabelInterface

    interface: Any = LabelInterface(xml)
    faults = []
    for task in tasks:
        for prediction in task.get("predictions", ()):
            faults += [f"{task['data'][KEY]}: {fault}" for fault in interface.validate_prediction(prediction, True)]
    if faults:
        raise InputError(f"{len(faults)} fault(s) in the predictions", faults=faults)


def _fields(spec: ProjectSpec) -> dict[str, Any]:
    if not 3 <= len(spec.title) <= 50:
        raise InputError(f"project title {spec.title!r}: found {len(spec.title)} characters, expected 3 to 50")
    return {
        "title": spec.title,
        "description": f"{spec.description} {_sign(spec.marker)}",
        "label_config": spec.label_config,
        "expert_instruction": spec.instructions,
        "show_instruction": bool(spec.instructions),
        "color": spec.color,
        "sampling": "Sequential sampling",
        "maximum_annotations": 1,
        "show_skip_button": False,
        "enable_empty_annotation": False,
        # What fills the sentence labels is the task's own prediction; without this it would stay unused.
        "show_collab_predictions": True,
    }


def _sign(marker: str) -> str:
    return f"[annot:{marker}]"


def _user(user: Any) -> StudioUser:
    return StudioUser(_integer(user.id), str(user.email))


def _task(task: dict[str, Any]) -> StudioTask:
    key = task["data"].get(KEY)
    annotations = _integer(task["total_annotations"]) + _integer(task["cancelled_annotations"])
    return StudioTask(_integer(task["id"]), None if key is None else str(key), annotations, task["data"])


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")
    return value


def _is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
