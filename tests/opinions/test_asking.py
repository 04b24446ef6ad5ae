"""A model is asked of every pooled pair: what is sent, what is kept, and what is asked again."""

import json
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.store.answers import JUDGEMENTS
from annot.store.shown import hash_of_text
from annot.study.workspace import Workspace, write_file
from annot_opinions.steps import Selection, preview
from asked_study import PRICED, ask, calls_of, made, opinions_of, with_model
from sampled_study import judged, pooled
from scripted_server import GOOD, Scripted, serving
from small_study import DOCUMENTS, QUERIES


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return made(tmp_path)


def own_page(ws: Workspace, text: str) -> None:
    write_file(ws.root / "guidelines" / "method.md", text)


def test_every_pooled_pair_is_asked_once_and_the_answers_are_kept_as_they_came(ws: Workspace) -> None:
    with serving() as server:
        ws = with_model(ws, server.url, temperature=0.25, seed=7, longest_answer=50, **PRICED)
        done = ask(ws)
        again = ask(ws)
    assert (done.asked, done.settled, again.asked) == (40, 40, 0)
    assert len(server.requests) == 40
    first = server.requests[0]
    assert first["path"] == "/v1/chat/completions"
    assert {key: first[key] for key in ("model", "temperature", "seed", "max_tokens", "stream")} == {
        **{"model": "tiny", "temperature": 0.25, "seed": 7, "max_tokens": 50, "stream": False}
    }
    calls = calls_of(ws)
    assert {(call.query_id, call.doc_id) for call in calls} == {(q.query_id, d) for q in QUERIES for d in DOCUMENTS}
    one = calls[0]
    assert json.loads(one.answer or "")["choices"][0]["message"]["content"] == GOOD
    assert one.prompt_sha256 in {hash_of_text(prompt) for prompt in server.prompts}
    assert (one.served, one.version, one.tokens_in, one.tokens_out, one.estimated) == ("tiny-1", "fp_1", 400, 20, False)
    assert one.cost == pytest.approx(400 * 0.001 + 20 * 0.01)
    assert done.standing.cost == pytest.approx(40 * one.cost)
    assert {(one.grade, one.reason) for one in opinions_of(ws)} == {(2, "Both are about it.")}


def test_opinions_are_no_judgements(ws: Workspace) -> None:
    with ws.reading() as session:
        before = JUDGEMENTS.current(session)
    with serving() as server:
        ask(with_model(ws, server.url))
    with ws.reading() as session:
        assert JUDGEMENTS.current(session) == before


def test_a_prompt_has_the_guidelines_the_grades_and_the_pair_with_the_marks_of_the_screen(ws: Workspace) -> None:
    own_page(ws, "# Method\n\nHow the paper goes about it.\n\nGrade bees first.")
    found = preview(with_model(ws, "http://localhost:1/v1"), "small", Selection(), before_judging=None)
    assert "How the paper goes about it.\n\nGrade bees first." in found.prompt
    for grade, name in enumerate(ws.settings.scale.names):
        assert f"\n{grade}: {name}\n" in found.prompt
    # The paper's second sentence is its method, and the query.
    assert "| Query: Title of p1\n| Why p1.\n| >> How p1.\n| What p1.\n" in found.prompt
    assert "| Candidate: Title of d00\n| Why d00.\n| >> How d00.\n| What d00.\n" in found.prompt


def test_repeats_are_asked_with_seeds_of_their_own_after_every_first_opinion(ws: Workspace) -> None:
    with serving() as server:
        ws = with_model(ws, server.url, requests_at_once=1, seed=5, repeats=2)
        ask(ws, selection=Selection(queries=("p1-method",)))
    assert [request["seed"] for request in server.requests] == [5] * 10 + [6] * 10
    assert {one.repeat for one in opinions_of(ws)} == {1, 2}


def test_no_more_requests_are_under_way_than_were_allowed(ws: Workspace) -> None:
    with serving(lambda request, number: Scripted(after=0.02)) as server:
        ask(with_model(ws, server.url, requests_at_once=3))
    assert server.most_at_once == 3


def test_named_and_planned_pairs_are_asked_alone(ws: Workspace, tmp_path: Path) -> None:
    named = tmp_path / "pairs.txt"
    named.write_text("p1-method d03\np2-method 0 d04 1\n", encoding="utf-8")
    with serving() as server:
        ws = with_model(ws, server.url)
        ask(ws, selection=Selection(file=named))
        assert {one.pair for one in opinions_of(ws)} == {("p1-method", "d03"), ("p2-method", "d04")}
        ask(ws, selection=Selection(planned=True, queries=("p1-method",)))
    assert len(opinions_of(ws)) == 11
    named.write_text("p1-method\np9-method d03\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        ask(ws, selection=Selection(file=named))
    assert len(error.value.faults) == 2


def test_a_dry_run_sends_nothing_keeps_nothing_and_counts_what_is_left(ws: Workspace) -> None:
    with serving() as server:
        ws = with_model(ws, server.url, longest_answer=100, **PRICED)
        found = preview(ws, "small", Selection(), before_judging=None)
        assert (server.requests, calls_of(ws)) == ([], ())
        ask(ws, selection=Selection(queries=("p1-method",)))
        left = preview(ws, "small", Selection(), before_judging=None)
    assert (found.requests, left.requests, found.tokens_out) == (40, 30, 4000)
    assert found.prompt == min(server.prompts)
    assert found.cost == pytest.approx(found.tokens_in * 0.001 + 4000 * 0.01)


def test_another_model_or_prompt_needs_another_name(ws: Workspace) -> None:
    with serving() as server:
        ask(with_model(ws, server.url))
        with pytest.raises(InputError, match="asked with other settings before") as error:
            ask(with_model(ws, server.url, model="large", temperature=1.0))
        assert error.value.faults == ("model: found 'large', on record 'tiny'", "temperature: found 1.0, on record 0.0")
        own_page(ws, "# Method\n\nHow the paper goes about it.")
        with pytest.raises(InputError, match=r"asked with another prompt before \(method\)"):
            ask(with_model(ws, server.url))
        ws = with_model(ws, server.url, name="strict")
        assert ask(ws, "strict").settled == 40


def test_what_is_asked_about_some_pairs_or_too_late_does_not_predict_and_the_result_says_why(tmp_path: Path) -> None:
    ws, pairs = pooled(tmp_path), tmp_path / "pairs.txt"
    text = ws.settings_file.read_text(encoding="utf-8")
    text = text.replace('predict = "ranker"', 'cheap_label = "small"\npredict = "ranker"')
    ws.settings_file.write_text(text, encoding="utf-8")
    with serving() as server:
        ws = with_model(ws, server.url)
        pairs.write_text("p1-method d01\n", encoding="utf-8")
        (note,) = ask(ws, selection=Selection(file=pairs), before_judging="A test.").notes
        assert "about all pooled pairs of a query, drawn or not" in note
        judged(ws, share=0.33)
        pairs.write_text("p1-method d02\n", encoding="utf-8")
        (note,) = ask(ws, selection=Selection(file=pairs)).notes
        assert "does not predict" in note
