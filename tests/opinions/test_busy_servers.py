"""A server that allows so many requests a second: all opinions come, at the pace that it allows."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from annot.judging.opinions.pacing import Clock
from annot.steps.opinion_ask import Selection
from annot.study.workspace import Workspace
from asked_study import ask, made, opinions_of, with_model
from scripted_server import Scripted, serving

FASTER = 30.0
"""So many of the server's and the program's seconds go by in one."""
BUSY = Scripted(None, status=429, headers={"Retry-After": "1"}, body="slow down")
THREE_QUERIES = Selection(queries=("p1-method", "p2-method", "p3-method"))
ONE_QUERY = Selection(queries=("p1-method",))


def hurried() -> float:
    return time.monotonic() * FASTER


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds / FASTER)


class TwoASecond:
    """Answers at most two requests within any second, and refuses the others at once."""

    def __init__(self) -> None:
        self.taken: deque[float] = deque()
        self.refused = 0
        self.lock = threading.Lock()

    def __call__(self, request: dict[str, Any], number: int) -> Scripted:
        with self.lock:
            now = hurried()
            while self.taken and self.taken[0] <= now - 1:
                self.taken.popleft()
            if len(self.taken) >= 2:
                self.refused += 1
                return BUSY
            self.taken.append(now)
            return Scripted()


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return made(tmp_path)


def test_a_server_that_allows_two_requests_a_second_answers_sixteen_connections(ws: Workspace) -> None:
    script = TwoASecond()
    with serving(script) as server:
        ws = with_model(ws, server.url, requests_at_once=16, repeats=2)
        done = ask(ws, selection=THREE_QUERIES, clock=Clock(hurried, sleep))
    assert (done.asked, done.settled, len(opinions_of(ws))) == (60, 60, 60)
    # The first sixteen go out together; after that, most requests are sent when the server takes them.
    assert script.refused <= 14 + 30
