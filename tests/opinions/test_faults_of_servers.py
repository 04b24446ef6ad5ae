"""Servers that refuse, hang, break off and speak nonsense: what is asked again, what is kept, and when asking stops."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import ModelError
from annot.study.workspace import Workspace
from annot_opinions.steps import Selection, preview
from asked_study import PRICED, Hurried, ask, calls_of, made, opinions_of, with_model
from scripted_server import Scripted, serving

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


@pytest.mark.parametrize("at_once", [1, 5])
def test_money_is_set_aside_before_a_request_so_that_the_limit_holds(ws: Workspace, at_once: int) -> None:
    # Each costs 1, and could cost about 4: the prompt's bytes and 50 tokens of answer.
    usage = {"prompt_tokens": 800, "completion_tokens": 20}
    with serving(lambda request, number: Scripted(usage=usage, after=0.01)) as server:
        ws = with_model(ws, server.url, requests_at_once=at_once, longest_answer=50, most_money=16.5, **PRICED)
        done = ask(ws, clock=Hurried())
        most = max(len(prompt.encode()) + 64 for prompt in server.prompts) * 0.001 + 0.5
        asked = len(server.requests)
        assert done.stopped == "most_money"
        assert done.standing.cost == pytest.approx(asked)
        assert 16.5 - most < asked <= 16.5
        assert ask(ws).stopped == "most_money"
        assert len(server.requests) == asked


@pytest.mark.parametrize("at_once", [1, 3])
def test_hidden_reasoning_passes_the_most_money_by_one_answer_of_each_connection_at_most(
    ws: Workspace, at_once: int
) -> None:
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
        (Scripted(None, status=404, body="no model"), 1, "HTTP 404: no model", "check url and model"),
        (Scripted(None, status=307, headers={"Location": "http://127.0.0.1:9/"}), 5, "HTTP 307", "check url and model"),
        (Scripted(None, status=204), 5, "HTTP 204: without a word", "check url and model"),
        (Scripted(None, body="<html>Welcome</html>"), 5, "no answer of a model: <html>Welcome", "check url"),
        (Scripted(None, body='{"choices": []}'), 5, "no answer of a model: {", "check url and model"),
        (Scripted(None, body='{"choices": [{'), 5, 'no answer of a model: {"choices": [{', "check url and model"),
        (Scripted(None, body=" "), 5, "an empty body", "check url and model"),
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
