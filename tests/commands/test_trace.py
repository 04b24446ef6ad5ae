"""One pair's story is told whole, in the order in which it happened, and under pseudonyms."""

from collections.abc import Callable
from typing import Any

from annot.study.workspace import Workspace
from small_study import QUERIES, build, write_runs

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
