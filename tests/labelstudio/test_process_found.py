"""How the server on this machine is found: asked without any proxy, and by its process on systems without /proc."""

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from annot.labelstudio import server


def test_no_proxy_is_asked_for_the_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *values: object) -> None:
            """Say nothing."""

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            assert server._is_healthy(f"http://127.0.0.1:{running.server_port}", "5ecre7")
        finally:
            running.shutdown()
            thread.join()


@pytest.mark.parametrize(("said", "command"), [("/x/label-studio start --data-dir /d\n", 4), ("", 0)])
def test_where_the_system_has_no_list_of_processes_it_is_asked_for_one(
    said: str, command: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        assert (options["capture_output"], options["text"], options["check"]) == (True, True, False)
        asked.append(arguments)
        return subprocess.CompletedProcess(arguments, 0 if said else 1, stdout=said)

    monkeypatch.setattr(Path, "exists", lambda path: False)
    monkeypatch.setattr(subprocess, "run", run)
    assert len(server.command_of(77)) == command
    assert asked == [["ps", "-ww", "-o", "command=", "-p", "77"]]
