"""A Label Studio in memory behind a transport: what the gateway asks for, and faults on request.

It keeps what the real one is known for: no key of its own for tasks (a repeated import doubles), one request one
transaction, 404 past the last page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx

Fault = Callable[[httpx.Request], httpx.Response | None]


class FakeStudio:
    """`faults` are asked before each request, in order; one that gives an answer (or raises) is used up."""

    def __init__(self) -> None:
        self.tasks: dict[int, dict[str, Any]] = {}
        self.annotations: dict[int, list[dict[str, Any]]] = {}
        self.projects: dict[int, dict[str, Any]] = {}
        self.requests: list[tuple[str, str]] = []
        self.faults: list[Fault] = []
        self.total_lies_by = 0
        self._next = 1

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    def count(self, method: str, path: str) -> int:
        return sum(1 for asked, where in self.requests if asked == method and re.search(path, where))

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append((request.method, request.url.path))
        for fault in list(self.faults):
            try:
                answer = fault(request)
            except httpx.TransportError:
                self.faults.remove(fault)
                raise
            if answer is not None:
                self.faults.remove(fault)
                return answer
        return self.serve(request)

    def serve(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.rstrip("/")
        if request.method == "POST" and re.fullmatch(r"/api/projects/\d+/import", path):
            return self._import(json.loads(request.content), request.url.params)
        if request.method == "GET" and path == "/api/tasks":
            return self._list(request.url.params)
        if request.method == "DELETE" and path.startswith("/api/tasks/"):
            gone = self.tasks.pop(int(path.rsplit("/", 1)[1]), None)
            return httpx.Response(204 if gone else 404, json={"detail": "gone"})
        if path.endswith("/export"):
            ids = [int(task_id) for task_id in request.url.params.get_list("ids[]")] or sorted(self.tasks)
            return httpx.Response(200, json=[self._exported(task_id) for task_id in ids if task_id in self.tasks])
        if path == "/api/current-user/whoami":
            return httpx.Response(200, json={"id": 7, "email": "ann@example.org"})
        if request.method == "POST" and re.fullmatch(r"/api/tasks/\d+/annotations", path):
            return self._annotate(int(path.split("/")[3]), json.loads(request.content))
        if request.method == "GET" and re.fullmatch(r"/api/tasks/\d+/annotations", path):
            return httpx.Response(200, json=self.annotations.get(int(path.split("/")[3]), []))
        if path == "/api/projects" and request.method == "POST":
            counts = ("task_number", "num_tasks_with_annotations", "total_annotations_number")
            made = {**json.loads(request.content), "id": self._take_id(), "skipped_annotations_number": 0}
            made |= dict.fromkeys(counts, 0) | {"created_at": f"2026-11-21T10:00:00.{made['id']:06d}Z"}
            self.projects[made["id"]] = made
            return httpx.Response(201, json=made)
        if path == "/api/projects":
            found = list(self.projects.values())
            if int(request.url.params.get("page", 1)) > 1:
                return httpx.Response(404, json={"detail": "Invalid page."})
            return httpx.Response(200, json={"count": len(found), "next": None, "previous": None, "results": found})
        if re.fullmatch(r"/api/projects/\d+", path) and int(path.rsplit("/", 1)[1]) not in self.projects:
            return httpx.Response(404, json={"detail": "Not found."})
        if re.fullmatch(r"/api/projects/\d+", path) and request.method == "DELETE":
            del self.projects[int(path.rsplit("/", 1)[1])]
            return httpx.Response(204)
        if re.fullmatch(r"/api/projects/\d+", path) and request.method == "GET":
            return httpx.Response(200, json=self.projects[int(path.rsplit("/", 1)[1])])
        if re.fullmatch(r"/api/projects/\d+", path) and request.method == "PATCH":
            self.projects[int(path.rsplit("/", 1)[1])] |= json.loads(request.content)
            return httpx.Response(200, json=self.projects[int(path.rsplit("/", 1)[1])])
        return httpx.Response(404, json={"detail": "Not found."})

    def _import(self, tasks: list[dict[str, Any]], params: httpx.QueryParams) -> httpx.Response:
        made = {self._take_id(): task for task in tasks}
        self.tasks |= made
        counts: dict[str, Any] = {"task_count": len(tasks), "annotation_count": 0}
        return httpx.Response(201, json=counts | ({"task_ids": [*made]} if params.get("return_task_ids") else {}))

    def _annotate(self, task_id: int, body: dict[str, Any]) -> httpx.Response:
        made = {**body, "id": self._take_id(), "completed_by": 7, "was_cancelled": bool(body.get("was_cancelled"))}
        self.annotations.setdefault(task_id, []).append(made)
        return httpx.Response(201, json=made)

    def _list(self, params: httpx.QueryParams) -> httpx.Response:
        page, size = int(params["page"]), int(params["page_size"])
        ids = sorted(self.tasks)[(page - 1) * size : page * size]
        if not ids and page > 1:
            return httpx.Response(404, json={"detail": "Invalid page."})
        tasks = [{**self._counted(task_id), "data": self.tasks[task_id]["data"]} for task_id in ids]
        return httpx.Response(200, json={"tasks": tasks, "total": len(self.tasks) + self.total_lies_by})

    def _counted(self, task_id: int) -> dict[str, Any]:
        return {
            "id": task_id,
            "total_annotations": len(self.annotations.get(task_id, [])),
            "cancelled_annotations": 0,
            "updated_at": f"2026-11-21T10:00:00.{task_id:06d}Z",
        }

    def _exported(self, task_id: int) -> dict[str, Any]:
        return {**self._counted(task_id), **self.tasks[task_id], "annotations": self.annotations.get(task_id, [])}

    def _take_id(self) -> int:
        self._next += 1
        return self._next - 1


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
