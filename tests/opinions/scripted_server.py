"""A server that speaks OpenAI's chat completions and does as it was told: the answers of a model, and faults."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = '{"grade": 2, "reason": "Both are about it."}'
USAGE = {"prompt_tokens": 400, "completion_tokens": 20}


@dataclass(frozen=True)
class Scripted:
    """One answer of the server."""

    text: str | None = GOOD
    """What the model says; None gives `body` as it is."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | bytes = ""
    model: str = "tiny-1"
    version: str | None = "fp_1"
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: dict[str, int] | None = field(default_factory=lambda: dict(USAGE))
    after: float = 0.0
    """Seconds before it answers."""
    cut: bool = False
    """Whether the connection ends in the middle of the answer."""

    @property
    def content(self) -> bytes:
        if self.text is None:
            return self.body if isinstance(self.body, bytes) else self.body.encode()
        message = {"role": "assistant", "content": self.text, "refusal": self.refusal}
        whole: dict[str, Any] = {"id": "x", "object": "chat.completion", "model": self.model}
        whole["choices"] = [{"index": 0, "message": message, "finish_reason": self.finish_reason}]
        if self.version:
            whole["system_fingerprint"] = self.version
        if self.usage:
            whole["usage"] = self.usage
        return json.dumps(whole, ensure_ascii=False).encode()


Script = Callable[[dict[str, Any], int], Scripted]
"""What is answered to a request, which is the so-and-so-manieth, from 1."""


@dataclass
class Server:
    """What came in."""

    url: str
    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def prompts(self) -> list[str]:
        return [request["messages"][0]["content"] for request in self.requests]


class Many(ThreadingHTTPServer):
    """A server to which many connections may be made at once: five wait otherwise, and the others for seconds."""

    request_queue_size = 128
    daemon_threads = True


@contextmanager
def serving(script: Script = lambda request, number: Scripted()) -> Iterator[Server]:
    """A server on a free port of this machine."""
    state = Server("", script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16
        """Head and body go out together: the network would hold the second back."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with state.lock:
                state.requests.append({**asked, "path": self.path})
                state.headers.append(dict(self.headers))
                number = len(state.requests)
                state.at_once += 1
                state.most_at_once = max(state.most_at_once, state.at_once)
            answer = state.script(asked, number)
            time.sleep(answer.after)
            with state.lock:
                state.at_once -= 1
            content = answer.content
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if answer.cut else content)
                self.wfile.flush()
            except OSError:
                return  # Who asked has gone.
            if answer.cut:
                self.close_connection = True

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    http = Many(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        http.shutdown()
        http.server_close()
