"""A proxy before the tests' Label Studio, through which one chosen request goes wrong."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Literal

import httpx
from annot.labelstudio.http_client import PatientClient
from fixtures_studio import GUARD

Kind = Literal[
    "dropped before", "dropped after", "429", "500", "500 after", "502", "401", "truncated", "late", "twice", "404"
]
WRITES = ("POST", "PATCH", "DELETE")
PATIENCE = 0.4
"""Seconds that the program waits for the answer to a request that comes late; for all others it waits as ever."""
PASSED_ON = ("authorization", "content-type", "accept")


@dataclass
class Plan:
    """Which request goes wrong, and how; and what was asked for so far."""

    target: str
    kind: Kind | None = None
    at: int = -1
    """The number of the request that goes wrong, from 0."""
    seen: list[str] = field(default_factory=list)
    """The method of every request."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the command has ended: what is late arrives then."""


@contextmanager
def faulty_proxy(target: str, kind: Kind | None = None, at: int = -1) -> Iterator[tuple[str, Plan]]:
    """Its address, and its plan, whose `seen` fills up."""
    plan = Plan(target, kind, at)
    handler = type("Handler", (_Handler,), {"plan": plan})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", plan
        finally:
            plan.over.set()
            server.shutdown()
            thread.join()


def impatient_client(plan: Plan) -> type[PatientClient]:
    """A client that soon gives up the one request that comes late. The program sends one at a time."""

    class Client(PatientClient):
        def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
            if len(plan.seen) == plan.at:
                request.extensions["timeout"] = httpx.Timeout(PATIENCE).as_dict()
            return super().send(request, **options)

    return Client


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    """Closing waits for what is on its way, so that nothing late falls into the next command."""


class _Handler(BaseHTTPRequestHandler):
    wbufsize = -1  # head and body go out together
    plan: ClassVar[Plan]

    def _any(self) -> None:
        plan = self.plan
        with plan.lock:
            number = len(plan.seen)
            plan.seen.append(self.command)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = plan.kind if number == plan.at else None
        match kind:
            case "dropped before":
                self.close_connection = True
                self.connection.close()
            case "429":
                self._answer(429, b'{"detail": "too many"}', {"Retry-After": "0"})
            case "500":
                self._answer(500, b"<html>oops</html>", {})
            case "502":
                self._answer(502, b"<html>bad gateway</html>", {})
            case "401":
                self._answer(401, b'{"detail": "Token expired"}', {})
            case "404":
                self._answer(404, b'{"detail": "Invalid page."}', {})
            case _:
                if kind == "late":
                    plan.over.wait()
                answer = self._forward(body)
                if kind == "twice":
                    answer = self._forward(body)
                if kind == "dropped after":
                    self.connection.close()
                elif kind == "500 after":
                    self._answer(500, b"oops", {})
                else:
                    content = answer.content[: len(answer.content) // 2] if kind == "truncated" else answer.content
                    kept = {"Content-Type": answer.headers.get("Content-Type", "application/json")}
                    self._answer(answer.status_code, content, kept)

    do_GET = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815

    def _forward(self, body: bytes) -> httpx.Response:
        headers = {name: self.headers[name] for name in PASSED_ON if name in self.headers}
        with httpx.Client(timeout=GUARD, trust_env=False) as http:
            return http.request(self.command, f"{self.plan.target}{self.path}", content=body, headers=headers)

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content)), "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            # The program did not wait for a late answer.
            self.close_connection = True

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""
