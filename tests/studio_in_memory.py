"""A Label Studio in memory, behind httpx: the real gateway and its client library run against it unchanged.

It answers what the package asks a real server, with the refusals that matter, and 404 past the last page. What it
holds is in `studio_contents.py`; `labelstudio/test_contract.py` holds both against a real server.

    with StudioInMemory().served() as studio:   # now http://studio.memory.example answers
        studio.annotate(...)
"""

from __future__ import annotations

import json
import re
import ssl
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import httpx
from studio_contents import Record, Refused, StudioContents, faults_of_settings

URL = "http://studio.memory.example"
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Fault = Callable[[httpx.Request], httpx.Response | None]


class Killed(BaseException):
    """The program ends in the middle of a request: nothing catches it."""


@dataclass
class StudioInMemory(StudioContents):
    """One server with everything on it.

    `faults` are asked before each request, in order; one that answers or raises is used up.
    """

    url: str = URL
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    total_lies_by: int = 0
    """By how much the count of tasks is wrong."""
    release: str = "1.23.2"
    _alone: threading.RLock = field(default_factory=threading.RLock, repr=False)
    """Of several requests at once it does one after the other."""

    # -- requests and faults -------------------------------------------------------------------------------------------

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
        made = self._new_project(body, user)
        counts = ("task_number", "total_annotations_number", "skipped_annotations_number", "num_tasks_with_annotations")
        return 201, {**made, **dict.fromkeys(counts)}

    def _change_project(self, ids: list[int], _: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        project = self._project(ids[0])
        faults = faults_of_settings(body)
        if "label_config" in faults:
            raise Refused(400, faults["label_config"][0])
        if faults:
            raise Refused(400, faults)
        project |= body
        return 200, self._counted_project(ids[0])

    def _delete_project(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self.delete_project(ids[0])
        return 204, None

    def _empty_project(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self.empty_project(ids[0])
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
        chosen = body["selectedItems"]
        tasks = [self._counted_task(task["id"]) for task in self.tasks_of(int(params["project"]))]
        tasks = [task for task in tasks if chosen["all"] or task["id"] in chosen["included"]]
        gone = _filtered(tasks, body.get("filters") or {})
        for task in gone:
            self.delete_task(task["id"])
        return 200, {"processed_items": len(gone), "reload": False, "detail": f"Deleted {len(gone)} tasks"}

    def _update_task(self, ids: list[int], _: httpx.QueryParams, body: Any, _user: int) -> tuple[int, Any]:
        self._task(ids[0])
        self.tasks[ids[0]] |= {"data": body["data"], "updated_at": self.moment()}
        return 200, {**self._counted_task(ids[0]), "annotations": [], "predictions": []}

    def _one_task(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self._task(ids[0])
        return 200, self._exported(ids[0])

    def _remove_task(self, ids: list[int], _: httpx.QueryParams, _body: Any, _user: int) -> tuple[int, Any]:
        self.delete_task(ids[0])
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
        self.delete_annotation(ids[0])
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


def _date() -> str:
    return datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
