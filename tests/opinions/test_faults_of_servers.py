"""Servers that refuse, hang, break off, are busy or hostile: what is asked again or kept, and when asking stops."""

import asyncio
import gzip
import json
import re
import sqlite3
import threading
import time
import tracemalloc
from collections import Counter, deque
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import ModelError
from annot.steps import backup, publish
from annot.study.workspace import Workspace
from annot_opinions import asking
from annot_opinions.asking import Clock
from annot_opinions.steps import Selection, preview
from asked_study import PRICED, Hurried, ask, calls_of, made, opinions_of, with_model
from command_line import annot
from scripted_server import Scripted, serving
from study_stages import quietly

ONE_QUERY = Selection(queries=("p1-method",))
REFUSED = Scripted(None, status=429, headers={"Retry-After": "7"}, body='{"error": "slow down"}')


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return made(tmp_path)


def states(ws: Workspace) -> Counter[str]:
    return Counter(call.state for call in calls_of(ws))


def test_a_server_that_asks_for_a_wait_gets_it_from_every_connection(ws: Workspace) -> None:
    clock, heard = Hurried(), list[str]()
    with serving(lambda request, number: REFUSED if number == 1 else Scripted()) as server:
        ws = with_model(ws, server.url, requests_at_once=1, **PRICED)
        done = ask(ws, selection=ONE_QUERY, clock=clock, tell=heard.append)
    assert (done.settled, clock.waits[0]) == (10, 7.0)
    assert heard == ['HTTP 429: {"error": "slow down"}; asking again in 7 s, and more slowly from then on']
    (failed,) = (call for call in calls_of(ws) if call.state == "failed")
    assert (failed.status, failed.cost, failed.answer) == (429, 0.0, '{"error": "slow down"}')


def test_an_error_of_the_server_is_followed_by_longer_and_longer_waits(ws: Workspace) -> None:
    clock = Hurried()
    with serving(lambda request, number: Scripted(None, status=500) if number <= 4 else Scripted()) as server:
        done = ask(with_model(ws, server.url, requests_at_once=1), selection=ONE_QUERY, clock=clock)
    assert (done.settled, clock.waits) == (10, [1.0, 2.0, 4.0, 8.0])


def test_a_server_that_stays_away_ends_the_asking_and_what_was_answered_stays(ws: Workspace) -> None:
    with serving(lambda request, number: Scripted() if number <= 4 else Scripted(None, status=503)) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        with pytest.raises(ModelError, match=r"no answer to 6 requests in a row: HTTP 503") as error:
            ask(ws, selection=ONE_QUERY, clock=Hurried())
        assert "what was answered is on record" in (error.value.hint or "")
        assert len(opinions_of(ws)) == 4
        server.script = lambda request, number: Scripted()
        assert ask(ws, selection=ONE_QUERY).asked == 6
    assert len(opinions_of(ws)) == 10


def test_a_server_that_is_not_there_is_an_error_in_words(ws: Workspace) -> None:
    heard: list[str] = []
    with serving() as server:
        url = server.url
    with pytest.raises(
        ModelError, match=r"127\.0\.0\.1:\d+/v1/chat/completions: no answer to 6 requests in a row: ConnectError"
    ) as e:
        ask(with_model(ws, url, requests_at_once=4), selection=ONE_QUERY, clock=Hurried(), tell=heard.append)
    assert "check that the server runs" in (e.value.hint or "")
    # All four connections wait, and one line says so.
    assert [line.rpartition("again in ")[2] for line in heard] == ["1 s", "2 s", "4 s", "8 s", "16 s"]


@pytest.mark.parametrize(
    ("fault", "says"), [(Scripted(after=0.6), "no answer within 0.2 s"), (Scripted(cut=True), "RemoteProtocolError")]
)
def test_an_answer_that_does_not_come_whole_is_asked_for_again_and_counts_with_its_highest_cost(
    ws: Workspace, fault: Scripted, says: str
) -> None:
    with serving(lambda request, number: fault if number == 1 else Scripted()) as server:
        ws = with_model(ws, server.url, requests_at_once=1, timeout=0.2, longest_answer=50, **PRICED)
        done = ask(ws, selection=ONE_QUERY, clock=Hurried())
    assert done.settled == 10
    first = min(calls_of(ws), key=lambda call: call.sent_at)
    again = next(call for call in calls_of(ws) if call.doc_id == first.doc_id and call.attempt == 2)
    assert (first.state, first.status) == ("failed", None)
    assert says in (first.answer or "")
    prompt = server.prompts[0]
    # At most a token for each byte, and what a chat puts around it.
    assert first.cost == pytest.approx((len(prompt.encode()) + 64) * 0.001 + 50 * 0.01)
    assert again.state == "read"


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_kept_as_unreadable(ws: Workspace) -> None:
    def script(request: dict[str, Any], number: int) -> Scripted:
        prompt = request["messages"][0]["content"]
        if "Title of d03" in prompt or ("Title of d04" in prompt and first_time(prompt)):
            return Scripted("Das weiss ich nicht.")
        return Scripted()

    seen = set[str]()

    def first_time(prompt: str) -> bool:
        new = prompt not in seen
        seen.add(prompt)
        return new

    with serving(script) as server:
        ws = with_model(ws, server.url)
        done = ask(ws, selection=ONE_QUERY)
        assert ask(ws, selection=ONE_QUERY).asked == 0
    found = {one.doc_id: one.grade for one in opinions_of(ws)}
    assert found == {f"d{at:02}": None if at == 3 else 2 for at in range(10)}
    assert (done.settled, done.standing.pairs, done.standing.unreadable) == (10, 9, 1)
    assert states(ws) == {"read": 9, "unreadable": 3}
    kept = [json.loads(call.answer or "") for call in calls_of(ws) if call.doc_id == "d03"]
    assert [one["choices"][0]["message"]["content"] for one in kept] == ["Das weiss ich nicht."] * 2


def test_money_is_set_aside_before_a_request_so_that_the_limit_holds(ws: Workspace) -> None:
    # Each costs 1, and could cost about 4: the prompt's bytes and 50 tokens of answer.
    usage = {"prompt_tokens": 800, "completion_tokens": 20}
    with serving(lambda request, number: Scripted(usage=usage, after=0.01)) as server:
        ws = with_model(ws, server.url, requests_at_once=5, longest_answer=50, most_money=16.5, **PRICED)
        done = ask(ws, clock=Hurried())
        most = max(len(prompt.encode()) + 64 for prompt in server.prompts) * 0.001 + 0.5
        asked = len(server.requests)
        assert done.stopped == "most_money"
        assert done.standing.cost == pytest.approx(asked)
        assert 16.5 - most < asked <= 16.5
        assert ask(ws).stopped == "most_money"
        assert len(server.requests) == asked


def test_hidden_reasoning_passes_the_most_money_by_one_answer_of_each_connection_at_most(ws: Workspace) -> None:
    at_once = 3
    # Each costs 10.4, of which 10 are for the answer; for that 0.5 was set aside.
    usage = {"prompt_tokens": 400, "completion_tokens": 1_000}
    with serving(lambda request, number: Scripted(usage=usage, after=0.05)) as server:
        ws = with_model(ws, server.url, requests_at_once=at_once, longest_answer=50, **PRICED)
        prompt = preview(ws, "small", Selection(), before_judging=None).prompt
        reserved = (len(prompt.encode()) + 100) * 0.001 + 0.5
        # Enough for another round, if each answer cost what was expected.
        priced = {"requests_at_once": at_once, "longest_answer": 50, **PRICED}
        ws = with_model(ws, server.url, most_money=10.4 * at_once + reserved, **priced)
        done = ask(ws, clock=Hurried())
        assert done.stopped == "most_money"
        assert len(server.requests) == at_once
        assert done.standing.cost == pytest.approx(10.4 * at_once)
        assert not done.notes
        # The next time, this is known from the first request on.
        ws = with_model(ws, server.url, most_money=10.4 * at_once + 10.0, **priced)
        assert ask(ws, clock=Hurried()).asked == 40 - at_once
        assert len(server.requests) == at_once
        found = preview(ws, "small", Selection(), before_judging=None)
    assert found.tokens_out == (40 - at_once) * 1_000


def test_a_pair_that_the_server_does_not_take_is_left_out_and_told(ws: Workspace) -> None:
    def script(request: dict[str, Any], number: int) -> Scripted:
        too_long = "Title of d05" in request["messages"][0]["content"]
        return Scripted(None, status=400, body="too long") if too_long else Scripted()

    with serving(script) as server:
        done = ask(with_model(ws, server.url), selection=ONE_QUERY)
    assert (done.asked, done.settled) == (10, 9)
    assert done.refused == ("p1-method d05: HTTP 400: too long",)


@pytest.mark.parametrize(
    ("answer", "requests", "says", "hint"),
    [
        (Scripted(None, status=401, body="no"), 1, "HTTP 401: no", "ANNOT_OPINION_KEY"),
        (Scripted(None, status=307, headers={"Location": "http://127.0.0.1:9/"}), 5, "HTTP 307", "check url and model"),
        (Scripted(None, status=204), 5, "HTTP 204: without a word", "check url and model"),
        (Scripted(None, body="<html>Welcome</html>"), 5, "no answer of a model: <html>Welcome", "check url"),
        (Scripted(None, body='{"error": "no such model"}'), 5, "no answer of a model: {", "check url and model"),
    ],
)
def test_a_server_that_refuses_every_question_is_not_asked_them_all(
    ws: Workspace, answer: Scripted, requests: int, says: str, hint: str
) -> None:
    with serving(lambda request, number: answer) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        with pytest.raises(ModelError) as error:
            ask(ws)
    assert says in error.value.message
    assert "HTTP 200" not in error.value.message
    assert hint in (error.value.hint or "")
    assert len(server.requests) == requests
    assert opinions_of(ws) == ()


def test_an_answer_begins_the_count_of_refusals_anew(ws: Workspace) -> None:
    refusal = Scripted(None, status=204)
    with serving(lambda _, number: Scripted() if number == 3 else refusal) as server, pytest.raises(ModelError):
        ask(with_model(ws, server.url, requests_at_once=1))
    assert len(server.requests) == 3 + 5


FASTER = 30.0
"""So many of the server's and the program's seconds go by in one."""
BUSY = Scripted(None, status=429, headers={"Retry-After": "1"}, body="slow down")
THREE_QUERIES = Selection(queries=("p1-method", "p2-method", "p3-method"))


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


KEY = "sk-a/key-that-nobody-may-see-0123456789"


def twice_packed(size: int) -> bytes:
    return gzip.compress(gzip.compress(b"\0" * size))


@pytest.mark.parametrize("encoding", ["gzip, gzip", "x-unknown"])
def test_an_answer_in_an_encoding_that_was_not_asked_for_is_not_unpacked(ws: Workspace, encoding: str) -> None:
    content = twice_packed(50_000_000)
    assert len(content) < 1_000
    packed = Scripted(None, headers={"Content-Encoding": encoding}, body=content)
    with serving(lambda request, number: packed) as server:
        ws = with_model(ws, server.url, requests_at_once=1, longest_answer=50, **PRICED)
        tracemalloc.start()
        with pytest.raises(ModelError, match=f"in the encoding '{encoding}', which was not asked for"):
            ask(ws, selection=ONE_QUERY)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 30_000_000
    assert {header["Accept-Encoding"] for header in server.headers} == {"identity"}
    # The model answered, so that it may have to be paid for.
    assert all(call.cost > 0.5 for call in calls_of(ws))


def test_no_more_than_the_limit_is_read_of_an_answer(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LONGEST_BODY", 10_000)
    with (
        serving(lambda request, number: Scripted("x" * 20_000)) as server,
        pytest.raises(ModelError, match="an answer of more than 10,000 bytes"),
    ):
        ask(with_model(ws, server.url, requests_at_once=1), selection=ONE_QUERY)
    assert len(server.requests) == 5


def escaped(text: str) -> str:
    """Each letter as JSON may write it."""
    return "".join(f"\\u{ord(letter):04X}" for letter in text)


SAID = '{"grade": 1, "reason": "You sent %s."}'
WHOLE = '{"model": "tiny %s", "choices": [{"message": {"content": %s}}]}'
SPELLINGS = {
    "escaped once": WHOLE % (escaped(KEY), json.dumps(SAID)[:-1].replace("%s", escaped(KEY)) + '"'),
    "escaped twice": WHOLE % ("", json.dumps(SAID % escaped(KEY))),
    "with its slash escaped": WHOLE % (KEY.replace("/", "\\/"), json.dumps(SAID % KEY.replace("/", "\\/"))),
}
BROKEN = '{"choices": [{"message": "' + escaped(KEY)


def refuse_key(text: str) -> None:
    assert KEY not in text
    # No reader of JSON puts it together, however deep it reads.
    assert KEY not in re.sub(r"\\+u00([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
    assert KEY.replace("/", "\\/") not in text


def test_the_key_is_blotted_out_however_json_spells_it(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOT_OPINION_KEY", KEY)
    spellings = [*SPELLINGS.values()]
    with serving(lambda request, number: Scripted(None, body=spellings[number % 3])) as server:
        ws = with_model(ws, server.url, requests_at_once=1, report=True)
        ask(ws, selection=ONE_QUERY)
        assert {one.reason for one in opinions_of(ws)} == {"You sent [the key]."}
        server.script = lambda request, number: Scripted(None, body=BROKEN)
        with pytest.raises(ModelError) as error:
            ask(ws, selection=Selection(queries=("p2-method",)))
        refuse_key(str(error.value))
    backup.backup(ws, tmp_path / "backup.tar.gz", dry_run=False, advance=quietly)
    publish.release(
        ws, tmp_path / "out", with_text=True, licence="CC0-1.0", published=None, allowed=(), draft=True, dry_run=False
    )
    with closing(sqlite3.connect(ws.root / "annot.db")) as database:
        refuse_key("\n".join(database.iterdump()))
    refuse_key("".join(path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*") if path.is_file()))
    with gzip.open(tmp_path / "backup.tar.gz") as packed:
        refuse_key(packed.read().decode("utf-8", "replace"))
