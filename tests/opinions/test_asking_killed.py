"""A program that is killed while it asks loses no answer, repeats at most one request for each connection, and never
spends more than it may."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import BusyError
from annot.store.models import ModelCall
from annot.study.workspace import Workspace
from annot_opinions import steps
from asked_study import PRICED, ask, calls_of, made, opinions_of, with_model
from scripted_server import Scripted, Server, serving

KILLS, AT_ONCE = 6, 3
CHILDREN = """
import os, sys
from pathlib import Path
from annot_opinions.steps import Selection, ask, preview
from annot.study.workspace import Workspace

ws = Workspace.open(Path(sys.argv[1]))
preview(ws, "small", Selection(queries=("p1-method",)), before_judging=None)  # All that is imported late is here now.
print("ready", flush=True)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            ask(ws, "small", Selection(), before_judging=None)
        finally:
            os._exit(0)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""
"""Begins to ask, in a process of its own, for each line that comes in."""


@contextmanager
def children(ws: Workspace) -> Iterator[Any]:
    with subprocess.Popen(
        [sys.executable, "-c", CHILDREN, ws.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        yield parent
        parent.stdin.close()


def killed(parent: Any, server: Server, *, after: float) -> None:
    """Let one ask, and kill it so many seconds after its first request."""
    before = len(server.requests)
    parent.stdin.write("\n")
    child = int(parent.stdout.readline())
    deadline = time.monotonic() + 20
    while len(server.requests) == before:
        assert time.monotonic() < deadline, "nothing was asked"
        time.sleep(0.002)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    assert parent.stdout.readline() == "ended\n"


def by_key(ws: Workspace) -> dict[tuple[str, str, int, int], ModelCall]:
    return {(call.query_id, call.doc_id, call.repeat, call.attempt): call for call in calls_of(ws)}


def test_kills_lose_no_answer_and_repeat_one_request_for_each_connection(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    rng = random.Random(13)
    with serving(lambda request, number: Scripted(usage=usage, after=0.02)) as server:
        ws = with_model(made(tmp_path), server.url, requests_at_once=AT_ONCE, repeats=2)
        repeated = 0
        with children(ws) as parent:
            for _ in range(KILLS):
                before = by_key(ws)
                killed(parent, server, after=rng.uniform(0, 0.08))
                after = by_key(ws)
                assert {key: after[key] for key in before} == before
                under_way = [key for key in after.keys() - before.keys() if after[key].state == "sent"]
                assert len(under_way) <= AT_ONCE
                repeated += len(under_way)
        assert 0 < len(opinions_of(ws)) < 80
        ask(ws)
    calls = calls_of(ws)
    read = Counter((call.query_id, call.doc_id, call.repeat) for call in calls if call.state == "read")
    assert (len(read), len(opinions_of(ws)), max(read.values())) == (80, 80, 1)
    assert Counter(call.state for call in calls) == {"read": 80, "sent": repeated}
    # What was under way may or may not have reached the server; everything else did, once.
    assert 80 <= len(server.requests) <= 80 + repeated
    assert repeated >= KILLS


def test_what_was_under_way_counts_with_the_most_it_can_have_cost(tmp_path: Path) -> None:
    """So that not even kills make a study spend more than it may."""
    usage = {"prompt_tokens": 800, "completion_tokens": 20}
    priced = {"requests_at_once": 2, "longest_answer": 50, **PRICED}
    with serving(lambda request, number: Scripted(usage=usage, after=0.2)) as server:
        ws = with_model(made(tmp_path), server.url, most_money=500.0, **priced)
        with children(ws) as parent:
            for _ in range(2):
                killed(parent, server, after=0)
        (spent,) = (one.cost for one in steps.listing(ws))
        assert spent >= 2 * 3
        server.script = lambda request, number: Scripted(usage=usage)
        most = spent + 12.5
        done = ask(with_model(ws, server.url, most_money=most, **priced))
        assert done.stopped == "most_money"
        assert len(server.requests) * 1.0 <= done.standing.cost <= most


def test_who_interrupts_it_can_go_on_where_it_stopped(tmp_path: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    with serving() as server:
        ws = with_model(made(tmp_path), server.url, requests_at_once=2)
        with pytest.raises(KeyboardInterrupt):
            ask(ws, watch=lambda: nullcontext(interrupt))
        settled = len(opinions_of(ws))
        assert 3 <= settled <= 5
        assert ask(ws).asked == 40 - settled
    assert len(opinions_of(ws)) == 40


def test_two_programs_do_not_ask_and_pay_under_one_name_at_once(tmp_path: Path) -> None:
    with serving() as server:
        ws = with_model(made(tmp_path), server.url)
        with steps._alone(ws, "small"), pytest.raises(BusyError, match="another `annot opinion ask small`"):
            ask(ws)
        assert server.requests == []
        assert ask(ws).settled == 40
