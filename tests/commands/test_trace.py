"""One pair's story is told whole, in the order in which it happened, and under pseudonyms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from annot.base.records import Adjudication, Assignment, PairKey
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, note_opinions
from annot.store.database import open_store
from annot.study.workspace import Workspace
from small_study import QUERIES, build, judgement, sourced, write_runs

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
    view = {"person": "j1", "revision": 1, "at": "2031-03-14T12:00:00+00:00", "ratings": "shown"}
    assert {name: found["answers"][2][name] for name in view} == view
    decision = found["decision"]
    assert (found["standing"], found["qrel"]) == ("adjudicated", 3)
    assert (decision["grade"], decision["adjudicator"], decision["reason"]) == (3, "j1", "the facet was misread")
    assert found["runs"] == {"forward": 9, "gappy": 8}


def test_what_an_adjudicator_saw_is_what_their_task_showed_then(ws: Workspace, annot: Run) -> None:
    """a2's grade of d08 changes after j1 has settled it; j1's task is sent again later, and j1 changes the decision."""
    build(ws, judged=40)
    pair = PairKey(QUERY, "d08")
    a1, a2 = (judgement(Assignment(*pair.pair, name, 1)) for name in ("a1", "a2"))
    late = replace(a2, grade=3, judged_at="2031-03-14T13:00:00+00:00")
    changed = replace(
        Adjudication(QUERY, "d08", "j1", 2, "shown", ("a2", "a1"), reason="read again"),
        judged_at="2031-03-14T12:00:00+00:00",
    )
    with open_store(ws.database_url) as store, store.begin() as session:
        for when, shown in (("2031-03-14T11:00:00+00:00", (a2, a1)), ("2031-03-14T14:00:00+00:00", (late, a1))):
            for _ in range(2):  # sending the same once more changes nothing
                note_opinions(session, "j1", {pair: shown}, sent_at=when)
        JUDGEMENTS.record(session, sourced([late]), recorded_at="2031-03-14T13:30:00+00:00")
        ADJUDICATIONS.record(
            session,
            [SourcedAdjudication(changed, "label-studio", "7", {"id": 7}, changed_at="2031-03-14T15:00:00+00:00")],
            recorded_at="2031-03-14T19:00:00+00:00",
        )
    found = annot("trace", QUERY, "d08", "--json").data
    assert [
        (one["revision"], one["at"][11:16], one["grades"], one["on_record"])
        for one in found["answers"]
        if one["ratings"]
    ] == [
        (1, "12:00", [["a2", 1], ["a1", 0]], True),
        (2, "15:00", [["a2", 3], ["a1", 0]], True),
    ]
    moments = [one["at"] for one in found["answers"] if one["person"] == "j1"]
    assert [moment[11:16] for moment in moments] == ["12:00", "15:00"]
    assert "j1 adjudicated on 2031-03-14T15:00:00+00:00 (revision 2)" in annot("trace", QUERY, "d08").stdout


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
        "j1 adjudicated on 2031-03-14T12:00:00+00:00 with the ratings shown, without names, in the order a2: 1, a1: 0",
        "decision: adjudicated",
        "grade 3 by j1: the facet was misread",
        "forward",
    ]
    assert [text.index(one) for one in landmarks] == sorted(text.index(one) for one in landmarks)
    assert "example.org" not in text
