"""The server's word that something happened: a webhook of Label Studio that ends a wait.

A hint, never trusted: what comes is thrown away, and whoever calls the address can make us look earlier, no more.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from annot.base.errors import InputError, StudioError
from annot.judging.exchange.server_projects import marker_of
from annot.judging.exchange.servers import connect
from annot.labelstudio.gateway import Gateway
from annot.store import projects
from annot.store.database import open_store
from annot.study.workspace import Workspace

BURST_SECONDS = 5.0
"""After a hint: who judges sends one answer after the other, and one pull brings them all."""
MOST_BYTES = 65536
"""Of a request; without its payload the server sends less than a hundred."""
CALLER_SECONDS = 60.0
"""After so long without a byte a caller is dropped."""
MOST_CALLERS = 32
"""At once; one more is hung up on, and comes a pull later."""


class _Listener(ThreadingHTTPServer):
    """Hears so many callers at once, and says nothing of what a caller does wrong."""

    def __init__(self, place: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._free = threading.Semaphore(MOST_CALLERS)
        super().__init__(place, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def listening(ws: Workspace, address: str) -> Iterator[Callable[[float], None]]:
    """A wait that ends early when answers have changed on the server; its webhooks are there as long as the context.

    address: `HOST:PORT`, of this machine as the server reaches it. Webhooks that an earlier run of this study left are
    deleted. Raises InputError where nobody can listen there, and StudioError where the server refuses to call it.
    """
    place = _parsed(address)
    ours = f"/{marker_of(ws.settings.collection.name, 'judge', 'hint')}/"
    path = ours + secrets.token_urlsafe(24)
    happened = threading.Event()
    with _listener(address, place, path, happened):
        with connect(ws) as gateway:
            _delete(gateway, ours)
            for project_id in _projects(ws, gateway):
                _add(gateway, project_id, f"http://{address}{path}")

        def wait(seconds: float) -> None:
            if happened.wait(seconds):
                time.sleep(min(BURST_SECONDS, seconds))
            happened.clear()

        try:
            yield wait
        finally:
            # Where the server is away, the next run deletes it.
            with suppress(StudioError), connect(ws) as gateway:
                _delete(gateway, path)


def _projects(ws: Workspace, gateway: Gateway) -> list[int]:
    """The projects in which pairs are judged that are on this server."""
    server = gateway.identity()
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        known = projects.read_projects(session, round="judge")
    ids = [project.remote_id for project in known if project.server == server]
    return [project_id for project_id in ids if project_id is not None and gateway.project(project_id) is not None]


def _add(gateway: Gateway, project_id: int, called: str) -> None:
    try:
        gateway.add_webhook(project_id, called)
    except StudioError as error:
        raise StudioError(
            error.message,
            hint="Label Studio calls no local or private address unless it is started with "
            "LABEL_STUDIO_USE_DEFAULT_BANNED_SUBNETS=false; without --hook nothing is missed, it comes later",
        ) from None


def _delete(gateway: Gateway, begin: str) -> None:
    """Delete the webhooks whose path begins so."""
    for webhook, called in gateway.webhooks().items():
        if urlsplit(called).path.startswith(begin):
            gateway.delete_webhook(webhook)


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"--hook: found {address!r}, expected HOST:PORT, as lead.example.org:8765")
    return host, int(port)


@contextmanager
def _listener(address: str, place: tuple[str, int], path: str, happened: threading.Event) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        timeout = CALLER_SECONDS

        def do_POST(self) -> None:
            known = hmac.compare_digest(self.path.encode(), path.encode())
            length = self.headers.get("Content-Length", "")
            known_length = length.isascii() and length.isdigit() and len(length) <= len(str(MOST_BYTES))
            self.rfile.read(min(int(length), MOST_BYTES) if known_length else 0)
            # First of all: the server waits for an answer for a second, and may be gone by now.
            if known:
                happened.set()
            self.send_response(204 if known else 404)
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            """Say nothing: the path is a secret."""

    try:
        server = _Listener(place, Handler)
    except OSError as error:
        raise InputError(
            f"--hook {address}: nobody can listen there: {error.strerror or error}",
            hint="name an address and a free port of this machine",
        ) from None
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
