"""A server that hangs is told of while one still waits, on a real socket."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from annot.labelstudio import http_client
from command_line import annot, annot_done

NOW = threading.Event()


class Slow(BaseHTTPRequestHandler):
    """Answers 403, once it may."""

    def do_GET(self) -> None:
        NOW.wait()
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


@pytest.fixture
def slow_server() -> Iterator[str]:
    NOW.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        NOW.set()
        server.shutdown()
        thread.join()


def test_a_server_that_hangs_is_told_of_while_the_command_waits(
    slow_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warning(*words: object) -> None:
        http_client.logging.getLogger("annot").warning(*words)
        NOW.set()

    monkeypatch.setattr(http_client, "WARN_AFTER", 0.2)
    monkeypatch.setattr(http_client, "LOGGER", SimpleNamespace(warning=warning))
    annot_done("init", "study", folder=tmp_path)
    ended = annot("pull", "--url", slow_server, "--api-key", "5ecre7", folder=tmp_path / "study")
    assert ended.exit_code == 3
    said = ended.stderr.splitlines()
    assert said[0] == f"{slow_server} has not answered for 0 s; still waiting"
    assert "403" in ended.stderr
    assert "5ecre7" not in ended.stderr


def test_a_server_that_has_answered_is_not_spoken_of(
    slow_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    timers: list[threading.Timer] = []

    class Timer(threading.Timer):
        def start(self) -> None:
            timers.append(self)
            super().start()

    monkeypatch.setattr(http_client, "WARN_AFTER", 3600.0)
    monkeypatch.setattr(http_client, "threading", SimpleNamespace(Timer=Timer))
    NOW.set()
    with http_client.PatientClient(trust_env=False, timeout=600) as client:
        assert client.get(slow_server).status_code == 403
    (timer,) = timers
    # Its hour is not over: it ended since it was told to.
    timer.join(600)
    assert not timer.is_alive()
    assert [record.getMessage() for record in caplog.records if record.name == "annot"] == []
