"""One pair's story is told whole, in the order in which it happened, and under pseudonyms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from annot.base.records import Assignment
from annot.store.answers import JUDGEMENTS
from annot.store.database import open_store
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, QUERIES, build, judgement, sourced, write_runs

Run = Callable[..., Any]
QUERY = QUERIES[0].query_id


def test_the_whole_story_of_a_settled_pair(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    write_runs(ws)
    assert annot("qrels", "--partial").exit_code == 0
    found = annot("trace", QUERY, "d08", "--json").data
    assert found["query"]["sentences"] == [1]
    assert found["document"]["title"] == "Title of d08"
    assert found["document"]["labels"] == ["background", "method", "result"]
    drawn = found["pool"]["drawn"]
    assert (drawn["method"], drawn["rank"], drawn["turn"]) == ("title_tfidf", 5, 9)
    assert [(one["method"], one["rank"]) for one in found["pool"]["also"]] == [("abs_tfidf", 10)]
    assert [[row["assessor"], row["position"], row["occasion"]] for row in found["given_to"]] == [
        ["a1", 9, 1],
        ["a2", 9, 1],
    ]
    assert [(one["person"], one["role"], one["grade"], one["counts"]) for one in found["answers"]] == [
        ("a1", "assessor", 0, True),
        ("a2", "assessor", 1, True),
        ("j1", "adjudicator", 3, True),
    ]
    view = {"person": "j1", "revision": 1, "at": "2031-03-14T12:00:00+00:00"}
    assert {name: found["answers"][2][name] for name in view} == view
    decision = found["decision"]
    assert (found["standing"], found["qrel"]) == ("adjudicated", 3)
    assert (decision["grade"], decision["adjudicator"], decision["reason"]) == (3, "j1", "the facet was misread")
    assert found["runs"] == {"forward": 9, "gappy": 8}


def test_every_revision_is_told_and_only_the_last_counts(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    again = replace(judgement(Assignment(QUERY, "d00", "a1", 1)), grade=2, comment="read again")
    with open_store(ws.database_url) as store, store.begin() as session:
        JUDGEMENTS.record(session, sourced([again]), recorded_at="2031-03-15T09:00:00+00:00")
    found = annot("trace", QUERY, "d00", "--json").data
    assert [(one["person"], one["revision"], one["grade"], one["counts"]) for one in found["answers"]] == [
        ("a1", 1, 1, False),
        ("a2", 1, 1, True),
        ("a1", 2, 2, True),
    ]
    assert (found["standing"], found["decision"], found["qrel"]) == ("in dispute", None, None)


def test_the_text_tells_it_in_the_order_of_the_work_without_identities(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    write_runs(ws)
    text = annot("trace", QUERY, "d08").stdout
    landmarks = [
        f"query {QUERY}: facet method, sentences 2",
        "  2  method      How p1.",
        "document d08",
        "drawn by title_tfidf at rank 5 in turn 9",
        "assigned to a1 as pair number 9",
        "decision: adjudicated",
        "grade 3 by j1: the facet was misread",
        "forward",
    ]
    assert [text.index(one) for one in landmarks] == sorted(text.index(one) for one in landmarks)
    assert "example.org" not in text


def test_a_pair_still_to_be_judged(ws: Workspace, annot: Run) -> None:
    build(ws, judged=3)
    found = annot("trace", QUERY, DOCUMENTS[5], "--json").data
    assert (found["standing"], found["answers"], found["runs"]) == ("incomplete", [], {})
    assert "this pair has not been judged" in annot("trace", QUERY, DOCUMENTS[5]).stdout


def test_unknown_names_are_refused_with_the_near_one(ws: Workspace, annot: Run) -> None:
    build(ws, judged=0)
    result = annot("trace", "p1-metod", "d00")
    assert result.exit_code == 2
    assert "did you mean 'p1-method'?" in result.stderr
    result = annot("trace", QUERY, "d0O")
    assert result.exit_code == 2
    assert "document 'd0O': not in the corpus" in result.stderr
    assert "did you mean 'd0" in result.stderr
