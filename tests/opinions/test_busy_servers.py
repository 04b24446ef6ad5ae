"""A server that allows so many requests a second: all opinions come, at the pace that it allows."""

import asyncio
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import ModelError
from annot.study.workspace import Workspace
from annot_opinions.asking import Clock
from annot_opinions.steps import Selection
from asked_study import Hurried, ask, calls_of, made, opinions_of, with_model
from command_line import annot
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


def test_failures_are_counted_since_the_last_answer_whatever_question_they_are_of(ws: Workspace) -> None:
    """Every second request fails: 40 failures in all, and never two one after the other."""
    with serving(lambda request, number: Scripted(None, status=503) if number % 2 else Scripted()) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        assert ask(ws, clock=Hurried()).settled == 40
    assert sum(call.state == "failed" for call in calls_of(ws)) == 40


LONG = Scripted(None, status=429, headers={"Retry-After": "61"}, body="daily limit")


def test_a_wait_of_more_than_a_minute_is_printed_and_not_waited_for(ws: Workspace) -> None:
    clock = Hurried()
    with serving(lambda request, number: LONG if number == 3 else Scripted()) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        with pytest.raises(ModelError, match="asks to wait 1 min: HTTP 429: daily limit") as error:
            ask(ws, selection=ONE_QUERY, clock=clock)
        assert "With --long-waits" in (error.value.hint or "")
        assert (clock.waits, len(opinions_of(ws))) == ([], 2)
        stopped = annot("opinion", "ask", "small", "--query", "p1-method", folder=ws.root)
        assert stopped.exit_code == 0, stopped.stderr
    assert len(opinions_of(ws)) == 10


def test_a_long_wait_is_waited_for_if_the_lead_asks_for_it(ws: Workspace) -> None:
    clock, heard = Hurried(), list[str]()
    with serving(lambda request, number: LONG if number == 3 else Scripted()) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        assert ask(ws, selection=ONE_QUERY, clock=clock, wait_long=True, tell=heard.append).settled == 10
    assert clock.waits[0] == 61
    assert heard[0].startswith("HTTP 429: daily limit; asking again in 1 min")


def test_not_even_then_is_more_than_a_day_waited_for(ws: Workspace) -> None:
    days = Scripted(None, status=429, headers={"Retry-After": "9" * 400})
    with serving(lambda request, number: days) as server, pytest.raises(ModelError, match="asks to wait"):
        ask(with_model(ws, server.url), selection=ONE_QUERY, clock=Hurried(), wait_long=True)
