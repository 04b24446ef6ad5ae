"""A Label Studio in memory, behind httpx: the real gateway and its client library run against it unchanged.

It answers what the package asks a real server, with the refusals that matter, and keeps what the real one is known
for: no key of its own for tasks (a repeated import doubles them), 404 past the last page, numbers that are never given
twice. `labelstudio/test_contract.py` holds it against a real server.

    with StudioInMemory().served() as studio:   # now http://studio.memory.example answers
        studio.judge(...)
"""

from __future__ import annotations

import copy
import json
import re
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import httpx

URL = "http://studio.memory.example"
LEAD = "lead@annot.example"
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
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

Fault = Callable[[httpx.Request], httpx.Response | None]
Record = dict[str, Any]


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, detail: Any, *, page: bool = False) -> None:
        """page: the server answers with a web page, as it does where a view looks its project up itself."""
        super().__init__(detail)
        self.status, self.detail, self.page = status, detail, page


class Killed(BaseException):
    """The program ends in the middle of a request: nothing catches it."""


@dataclass
class StudioInMemory:
    """One server with everything on it.

    `faults` are asked before each request, in order; one that answers or raises is used up.
    """

    url: str = URL
    projects: dict[int, Record] = field(default_factory=dict)
    tasks: dict[int, Record] = field(default_factory=dict)
    annotations: dict[int, Record] = field(default_factory=dict)
    predictions: dict[int, Record] = field(default_factory=dict)
    users: dict[int, Record] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    total_lies_by: int = 0
    """By how much the count of tasks is wrong."""
    release: str = "1.23.2"
    now: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(hours=1))
    """The server's clock: each write moves it on by a millisecond."""
    in_time: bool = False
    """Whether its clock is this machine's, where that is ahead."""
    _last: dict[str, int] = field(default_factory=dict)
    _alone: threading.RLock = field(default_factory=threading.RLock, repr=False)
    """Of several requests at once it does one after the other."""

    def __post_init__(self) -> None:
        self.made = self.moment()
        self.identity = str(uuid.uuid4())
        self.token = self.sign_up(LEAD, "lead-of-memory")

    # -- what a test does ----------------------------------------------------------------------------------------------

    @property
    def transport(self) -> httpx.MockTransport:
        """For one gateway."""
        return httpx.MockTransport(self.answer)

    @contextmanager
    def served(self) -> Iterator[StudioInMemory]:
        """Everything that this process asks at the server's address comes here; nothing else goes anywhere."""
        host, handle = urlsplit(self.url).hostname, httpx.HTTPTransport.handle_request

        def here(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
            if request.url.host != host:
                return handle(transport, request)
            request.read()
            return self.answer(request)

        # Certificates are looked at nowhere, and reading them takes most of a connection's time.
        certificates = mock.patch("httpx._transports.default.create_ssl_context", return_value=NO_CERTIFICATES)
        with mock.patch.object(httpx.HTTPTransport, "handle_request", here), certificates:
            yield self

    def sign_up(self, email: str, password: str = "secret") -> str:
        """A new account; its token."""
        number = self._number("users")
        token = uuid.uuid5(uuid.NAMESPACE_URL, email).hex
        made = {"id": number, "email": email, "username": "", "first_name": "", "last_name": "", "initials": email[:2]}
        self.users[number] = made | {"password": password, "token": token, "date_joined": self.moment()}
        return token

    def make_project(self, title: str, **settings: Any) -> int:
        """A new project with these settings; its id."""
        return int(self._make_project([], httpx.QueryParams(), {"title": title, **settings}, 1)[1]["id"])

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
        return [one for number, one in sorted(self.annotations.items()) if one["task"] == task]

    def annotate(self, task: int, result: list[Any], *, email: str, cancelled: bool = False) -> int:
        """A person annotates a task; the annotation's id."""
        body = {"result": result, "was_cancelled": cancelled, "lead_time": 4.0}
        made: int = self._annotate(task, body, self.account(email)["id"])["id"]
        return made

    def change(self, annotation: int, result: list[Any], *, email: str | None = None) -> None:
        """The annotation is changed, by its author or another account."""
        by = self.annotations[annotation]["completed_by"] if email is None else self.account(email)["id"]
        self._change_annotation(annotation, {"result": result}, by)

    def delete_annotation(self, annotation: int) -> None:
        """The annotation is deleted in Label Studio."""
        self._delete_annotation(annotation)

    def delete_task(self, task: int) -> None:
        """The task is deleted with all that is on it."""
        self._delete_task(task)

    def delete_project(self, project: int) -> None:
        """The project is deleted with all that is in it."""
        self._delete_project([project], httpx.QueryParams(), None, 1)

    def import_tasks(self, project: int, tasks: list[Record]) -> list[int]:
        """Somebody imports tasks; their ids."""
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

    def count(self, method: str, path: str) -> int:
        """How many requests of this method there were to a path that matches."""
        return sum(1 for asked, where in self.requests if asked == method and re.search(path, where))

    def kill_at(self, number: int) -> None:
        """The program is killed at the request of this number from now on (from 1): before the server has it."""
        first = len(self.requests)

        def fault(_: httpx.Request) -> httpx.Response | None:
            if len(self.requests) - first >= number:
                raise Killed
            return None

        self.faults.append(fault)

    def moment(self) -> str:
        """The clock after another millisecond, as the server writes it."""
        self.now += timedelta(milliseconds=1)
        if self.in_time:
            self.now = max(self.now, datetime.now(UTC))
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    # -- what the server does ------------------------------------------------------------------------------------------

    def answer(self, request: httpx.Request) -> httpx.Response:
        """One request, one answer."""
        self.requests.append((request.method, request.url.path))
        for fault in list(self.faults):
            try:
                answered = fault(request)
            except BaseException:
                self.faults.remove(fault)
                raise
            if answered is not None:
                self.faults.remove(fault)
                return answered
        return self.serve(request)

    def serve(self, request: httpx.Request) -> httpx.Response:
        """As `answer`, without the faults."""
        with self._alone:
            return self._serve(request)

    def _serve(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.rstrip("/")
        try:
            if path.startswith("/user/"):
                return self._site(request, path)
            user = self._user(request)
            for (method, pattern), verb in ROUTES.items():
                if method == request.method and (found := re.fullmatch(pattern, path)):
                    body = json.loads(request.content) if request.content else {}
                    status, answered = verb(
                        self, [int(number) for number in found.groups()], request.url.params, body, user
                    )
                    return httpx.Response(status) if answered is None else httpx.Response(status, json=answered)
            raise Refused(404, "", page=True)
        except Refused as refused:
            if refused.page:
                return httpx.Response(refused.status, html=f"<!doctype html><html>{refused.status}</html>")
            said = {"id": str(uuid.uuid4()), "status_code": refused.status, "version": self.release, "exc_info": None}
            if isinstance(refused.detail, dict):
                said |= {"detail": "Validation error", "validation_errors": refused.detail}
            else:
                said |= {"detail": refused.detail}
            return httpx.Response(refused.status, json=said)

    def _number(self, kind: str) -> int:
        self._last[kind] = self._last.get(kind, 0) + 1
        return self._last[kind]

    def _user(self, request: httpx.Request) -> int:
        token = request.headers.get("authorization", "").removeprefix("Token ")
        if not token:
            session = re.search(r"sessionid=(\d+)", request.headers.get("cookie", ""))
            if session and int(session[1]) in self.users:
                return int(session[1])
            raise Refused(401, "Authentication credentials were not provided.")
        for number, user in self.users.items():
            if user["token"] == token:
                return number
        raise Refused(401, "Invalid token.")

    def _site(self, request: httpx.Request, path: str) -> httpx.Response:
        """The pages with a form: for logging in and for signing up."""
        if request.method == "GET":
            page = f"<!doctype html><html><form action={path}></form><a href=/user/signup>Sign up</a></html>"
            return httpx.Response(200, html=page, headers={"set-cookie": "csrftoken=form; Path=/", "date": _date()})
        given = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        if given.get("csrfmiddlewaretoken") != "form" or "csrftoken=form" not in request.headers.get("cookie", ""):
            return httpx.Response(403, html="<html>CSRF</html>")
        known = [user for user in self.users.values() if user["email"] == given.get("email")]
        if path == "/user/signup":
            if known:
                return httpx.Response(200, html="<html>User with this email already exists</html>")
            self.sign_up(given["email"], given["password"])
            known = [self.account(given["email"])]
        elif not known or known[0]["password"] != given.get("password"):
            return httpx.Response(200, html="<html>The email and password you entered don't match.</html>")
        headers = {"location": "/projects/", "set-cookie": f"sessionid={known[0]['id']}; Path=/"}
        return httpx.Response(302, headers=headers)

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
        filled = sum(one["task"] == number for one in self.predictions.values())
        return {
            **self.tasks[number],
            "total_annotations": given,
            "cancelled_annotations": cancelled,
            "total_predictions": filled,
        }

    def _exported(self, number: int) -> Record:
        filled = [key for key, one in sorted(self.predictions.items()) if one["task"] == number]
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

    def _delete_annotation(self, number: int) -> None:
        one = self._annotation(number)
        del self.annotations[number]
        self.tasks[one["task"]]["updated_at"] = self.moment()

    def _delete_task(self, number: int) -> None:
        self._task(number)
        del self.tasks[number]
        for kept in (self.annotations, self.predictions):
            for key in [key for key, one in kept.items() if one["task"] == number]:
                del kept[key]

    # -- one method for each endpoint ----------------------------------------------------------------------------------

    def _list_projects(self, _: list[int], params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        # The newest first, as the real one lists them.
        found, pages = _page(sorted(self.projects, reverse=True), params, usual=100)
        include = params.get("include")
        listed = [self._counted_project(number) for number in found]
        if include:
            listed = [{name: project[name] for name in include.split(",")} for project in listed]
        following = f"{self.url}/api/projects/?page={pages[0] + 1}" if pages[0] < pages[1] else None
        return 200, {"count": len(self.projects), "next": following, "previous": None, "results": listed}

    def _make_project(self, _: list[int], _params: httpx.QueryParams, body: Any, user: int) -> tuple[int, Any]:
        if faults := _faults(body):
            raise Refused(400, faults)
        number = self._number("projects")
        made = {**USUAL_PROJECT, **body, "id": number, "created_at": self.moment()}
        self.projects[number] = made | {"organization": 1, "created_by": {"id": user}}
        counts = ("task_number", "total_annotations_number", "skipped_annotations_number", "num_tasks_with_annotations")
        return 201, {**self.projects[number], **dict.fromkeys(counts)}

    def _change_project(self, ids: list[int], _: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        project = self._project(ids[0])
        faults = _faults(body)
        if "label_config" in faults:
            raise Refused(400, faults["label_config"][0])
        if faults:
            raise Refused(400, faults)
        project |= body
        return 200, self._counted_project(ids[0])

    def _delete_project(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._project(ids[0])
        for task in self.tasks_of(ids[0]):
            self._delete_task(task["id"])
        del self.projects[ids[0]]
        return 204, None

    def _empty_project(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._project(ids[0])
        for task in self.tasks_of(ids[0]):
            self._delete_task(task["id"])
        return 204, None

    def _export(self, ids: list[int], params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._project(ids[0], page=True)
        wanted = {int(number) for number in params.get_list("ids[]")}
        everything = params.get("download_all_tasks") == "true"
        tasks = [self._exported(task["id"]) for task in self.tasks_of(ids[0]) if not wanted or task["id"] in wanted]
        return 200, [task for task in tasks if everything or task["annotations"]]

    def _import_tasks(self, ids: list[int], params: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        self._project(ids[0], page=True)
        made = self._import(ids[0], body if isinstance(body, list) else [body])
        if params.get("return_task_ids") != "true":
            del made["task_ids"]
        return 201, made

    def _list_tasks(self, _: list[int], params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._project(int(params["project"]))
        every = [self._counted_task(task["id"]) for task in self.tasks_of(int(params["project"]))]
        every = _filtered(every, json.loads(params.get("query") or "{}").get("filters") or {})
        found, _pages = _page(every, params, usual=30)
        include = params.get("include")
        listed = [{name: task[name] for name in include.split(",")} for task in found] if include else found
        answers = sum(task["total_annotations"] for task in every)
        return 200, {"tasks": listed, "total": len(every) + self.total_lies_by, "total_annotations": answers}

    def _act(self, _: list[int], params: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        self._project(int(params["project"]))
        if params.get("id") != "delete_tasks":
            raise Refused(400, "no such action")
        chosen = set(body["selectedItems"]["included"])
        tasks = [
            self._counted_task(task["id"]) for task in self.tasks_of(int(params["project"])) if task["id"] in chosen
        ]
        gone = _filtered(tasks, body.get("filters") or {})
        for task in gone:
            self._delete_task(task["id"])
        return 200, {"processed_items": len(gone), "reload": False, "detail": f"Deleted {len(gone)} tasks"}

    def _update_task(self, ids: list[int], _: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        self._task(ids[0])
        self.tasks[ids[0]] |= {"data": body["data"], "updated_at": self.moment()}
        return 200, {**self._counted_task(ids[0]), "annotations": [], "predictions": []}

    def _one_task(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._task(ids[0])
        return 200, self._exported(ids[0])

    def _remove_task(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._delete_task(ids[0])
        return 204, None

    def _list_annotations(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._task(ids[0])
        return 200, self.annotations_on(ids[0])

    def _make_annotation(self, ids: list[int], _: httpx.QueryParams, body: Any, user: int) -> tuple[int, Any]:
        return 201, self._annotate(ids[0], body, user)

    def _one_annotation(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        return 200, self._annotation(ids[0])

    def _update_annotation(self, ids: list[int], _: httpx.QueryParams, body: Any, user: int) -> tuple[int, Any]:
        return 200, self._change_annotation(ids[0], body, user)

    def _remove_annotation(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._delete_annotation(ids[0])
        return 204, None

    def _list_predictions(self, _: list[int], params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        of_project = (one for _, one in sorted(self.predictions.items()) if one["project"] == int(params["project"]))
        return 200, list(of_project)

    def _make_prediction(self, _: list[int], _params: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        task, number, at = self._task(int(body["task"])), self._number("predictions"), self.moment()
        usual = {"model_version": "undefined", "score": None, "result": []}
        own = {"id": number, "project": task["project"], "created_at": at, "updated_at": at}
        self.predictions[number] = {**usual, **body, **own}
        return 201, self.predictions[number]

    def _whoami(self, _: list[int], _params: httpx.QueryParams, _body: Any, user: int) -> tuple[int, Any]:
        return 200, self._shown(self.users[user])

    def _list_users(self, _: list[int], _params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        return 200, [self._shown(user) for user in self.users.values()]

    def _own_token(self, _: list[int], _params: httpx.QueryParams, _body: Any, user: int) -> tuple[int, Any]:
        return 200, {"token": self.users[user]["token"]}

    def _organizations(self, _: list[int], _params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        return 200, [{"id": 1, "title": "Label Studio", "contact_info": None, "created_at": self.made}]

    def _version(self, _: list[int], _params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        package = {"version": self.release, "short_version": self.release.rpartition(".")[0]}
        return 200, {"release": self.release, "label-studio-os-package": package, "edition": "Community"}

    def _invite(self, _: list[int], _params: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        return 200, {"token": "invited", "invite_url": "/user/signup/?token=invited"}

    def _shown(self, user: Record) -> Record:
        shown = {name: value for name, value in user.items() if name not in ("password", "token")}
        return {**shown, "last_activity": user["date_joined"], "avatar": None, "phone": "", "active_organization": 1}


Endpoint = Callable[[StudioInMemory, list[int], httpx.QueryParams, Any, int], tuple[int, Any]]
ROUTES: dict[tuple[str, str], Endpoint] = {
    ("GET", "/api/version"): StudioInMemory._version,
    ("GET", "/api/current-user/whoami"): StudioInMemory._whoami,
    ("GET", "/api/current-user/token"): StudioInMemory._own_token,
    ("GET", "/api/users"): StudioInMemory._list_users,
    ("GET", "/api/organizations"): StudioInMemory._organizations,
    ("GET", "/api/invite"): StudioInMemory._invite,
    ("GET", "/api/projects"): StudioInMemory._list_projects,
    ("POST", "/api/projects"): StudioInMemory._make_project,
    ("GET", r"/api/projects/(\d+)"): lambda studio, ids, *_: (200, studio._counted_project(ids[0])),
    ("PATCH", r"/api/projects/(\d+)"): StudioInMemory._change_project,
    ("DELETE", r"/api/projects/(\d+)"): StudioInMemory._delete_project,
    ("DELETE", r"/api/projects/(\d+)/tasks"): StudioInMemory._empty_project,
    ("GET", r"/api/projects/(\d+)/export"): StudioInMemory._export,
    ("POST", r"/api/projects/(\d+)/import"): StudioInMemory._import_tasks,
    ("GET", "/api/tasks"): StudioInMemory._list_tasks,
    ("GET", r"/api/tasks/(\d+)"): StudioInMemory._one_task,
    ("PATCH", r"/api/tasks/(\d+)"): StudioInMemory._update_task,
    ("DELETE", r"/api/tasks/(\d+)"): StudioInMemory._remove_task,
    ("GET", r"/api/tasks/(\d+)/annotations"): StudioInMemory._list_annotations,
    ("POST", r"/api/tasks/(\d+)/annotations"): StudioInMemory._make_annotation,
    ("GET", r"/api/annotations/(\d+)"): StudioInMemory._one_annotation,
    ("PATCH", r"/api/annotations/(\d+)"): StudioInMemory._update_annotation,
    ("DELETE", r"/api/annotations/(\d+)"): StudioInMemory._remove_annotation,
    ("GET", "/api/predictions"): StudioInMemory._list_predictions,
    ("POST", "/api/predictions"): StudioInMemory._make_prediction,
    ("POST", "/api/dm/actions"): StudioInMemory._act,
}
"""What is asked of the server, by method and path."""


def once(method: str, path: str, respond: Callable[[httpx.Request], httpx.Response], *, after: int = 0) -> Fault:
    """A fault on the request number `after` (from 0) of this method to a path that matches."""
    left = after

    def fault(request: httpx.Request) -> httpx.Response | None:
        nonlocal left
        if request.method != method or not re.search(path, request.url.path):
            return None
        left -= 1
        return respond(request) if left < 0 else None

    return fault


def _page(found: list[Any], params: httpx.QueryParams, *, usual: int) -> tuple[list[Any], tuple[int, int]]:
    """One page, its number and how many there are. Past the last one the server finds nothing."""
    page, size = int(params.get("page", 1)), int(params.get("page_size", usual))
    shown = found[(page - 1) * size : page * size]
    if page > 1 and not shown:
        raise Refused(404, "Invalid page.")
    return shown, (page, -(-len(found) // size))


def _filtered(tasks: list[Record], filters: Record) -> list[Record]:
    """The tasks that all filters let through: the two operators that the package uses."""
    for one in filters.get("items", ()):
        name, wanted = one["filter"].removeprefix("filter:tasks:"), one["value"]
        if one["operator"] == "equal":
            tasks = [task for task in tasks if task[name] == wanted]
        elif one["operator"] == "greater_or_equal":
            tasks = [task for task in tasks if datetime.fromisoformat(task[name]) >= datetime.fromisoformat(wanted)]
        else:
            raise Refused(400, f"no operator {one['operator']}")
    return tasks


def _faults(body: Record) -> Record:
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


def _date() -> str:
    return datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
