"""A Label Studio in memory in place of the tests' real one, for stories that no real server has to tell.

Within the process of the tests it is asked without a network; at a socket, other processes ask it too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import httpx
from annot.labelstudio import server
from fixtures_studio import Studio
from studio_contents import LEAD
from studio_in_memory import StudioInMemory


@dataclass
class StudioOfMemory(Studio):
    """As `Studio`, with the server itself to look at and to break."""

    server: StudioInMemory = field(default_factory=StudioInMemory)

    def end_what_was_abandoned(self) -> None:
        """It goes on with nothing."""


@contextmanager
def studio_of_memory(folder: Path) -> Iterator[StudioOfMemory]:
    """The server with a folder that says it runs there. `labelstudio/test_contract.py` holds it against a real one."""
    made = StudioInMemory(in_time=True)
    write_administrator(made, folder)
    status = server.status

    def running(asked: Path) -> server.Server | None:
        return server.Server(made.url, 80, 1, True) if asked.resolve() == folder.resolve() else status(asked)

    with made.served(), mock.patch.object(server, "status", running):
        yield StudioOfMemory(made.url, made.token, folder, server=made)


def write_administrator(made: StudioInMemory, folder: Path) -> None:
    administrator = {"email": LEAD, "password": made.account(LEAD)["password"], "token": made.token}
    (folder / "admin.json").write_text(json.dumps(administrator), encoding="utf-8")


class Answering(BaseHTTPRequestHandler):
    """Answers what is asked at a port by the server in memory."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    """Head and body in one packet: a second one would wait for the first to be acknowledged, 40 milliseconds each."""
    server: Listening

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.server.closed:  # a connection from before it went away
            self.close_connection = True
            return
        made = self.server.made
        asked = httpx.Request(
            self.command, f"{made.url}{self.path}", headers=list(self.headers.items()), content=content
        )
        answered = made.answer(asked)
        self.send_response(answered.status_code)
        for name, value in answered.headers.multi_items():
            if name not in ("content-length", "date"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(answered.content)))
        self.end_headers()
        self.wfile.write(answered.content)

    def log_message(self, format: str, *args: object) -> None:
        """Tests print nothing."""


for method in ("GET", "POST", "PATCH", "DELETE"):
    setattr(Answering, f"do_{method}", Answering.answer)


class Listening(ThreadingHTTPServer):
    """The server in memory at a port of this machine. port: 0 for any that is free."""

    def __init__(self, made: StudioInMemory, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Answering)
        self.made, self.closed = made, False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def close(self) -> None:
        self.closed = True
        self.shutdown()
        self.server_close()


@dataclass(kw_only=True)
class StudioAtASocket(Studio):
    """As `Studio`: a process that was killed may have left a request that is still answered."""

    server: StudioInMemory
    listening: Listening

    def switch(self, word: str, port: int | None = None) -> None:
        """Go "down", or "up" again at the same port or another one."""
        if word == "down":
            self.listening.close()
        elif self.listening.closed:
            self.listening = Listening(self.server, self.listening.port if port is None else port)
            self.url = self.server.url = f"http://127.0.0.1:{self.listening.port}"
            (self.folder / "port").write_text(str(self.listening.port), encoding="ascii")

    @contextmanager
    def stopped(self, port: int | None = None) -> Iterator[None]:
        """It does not run meanwhile; then it does, at the same port or another one."""
        running = self.folder / "server.pid"
        aside = running.rename(running.with_suffix(".kept"))
        self.switch("down")
        yield
        self.switch("up", port)
        aside.rename(running)


@contextmanager
def studio_at_a_socket(folder: Path) -> Iterator[StudioAtASocket]:
    """The server at a port of this machine, and a folder that tells every process that it runs there.

    What `annot studio down` would end is a process that does nothing.
    """
    made = StudioInMemory(in_time=True)
    listening = Listening(made)
    made.url = f"http://127.0.0.1:{listening.port}"
    write_administrator(made, folder)
    (folder / "port").write_text(str(listening.port), encoding="ascii")
    looks_like_it = [
        sys.executable,
        "-c",
        "import sys; sys.stdin.read()",
        "label-studio",
        str(folder.resolve() / "data"),
    ]
    with subprocess.Popen(looks_like_it, stdin=subprocess.PIPE, start_new_session=True) as process:
        (folder / "server.pid").write_text(str(process.pid), encoding="ascii")
        studio = StudioAtASocket(made.url, made.token, folder, server=made, listening=listening)
        yield studio
        process.kill()
    studio.switch("down")
