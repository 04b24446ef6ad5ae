"""What a person's answer makes of a paper's labels: what they changed, what they took away, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from annot.base.records import Paper, Query
from annot.judging.rounds.labels import correction_of
from annot.steps.init import init
from annot.study.workspace import Workspace

PAPER = Paper("p1", "A title", ("Why.", "How.", "What."), 2001, ("background", "method", "result"))


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    init(tmp_path / "study", name="small", dry_run=False)
    return Workspace.open(tmp_path / "study")


def answer(*labels: str | None) -> dict[str, Any]:
    """The regions of an answer; None for a sentence whose region was taken away."""
    regions = [
        {"id": f"query-{at}", "from_name": "sentence_label", "value": {"labels": [label]}}
        for at, label in enumerate(labels)
        if label is not None
    ]
    return {"result": regions, "updated_at": "2031-03-14T18:00:00Z"}


def test_a_label_that_was_taken_away_leaves_the_earlier_one_and_is_named(ws: Workspace) -> None:
    found = correction_of(ws, PAPER, answer("background", None, "method"), {}, set())
    assert found.paper.labels == ("background", "method", "method")
    assert found.changed == 1
    (note,) = found.notes
    assert note == "p1: label removed from 1 sentence; the earlier one counts: sentence 2 (method)"


def test_an_answer_with_every_label_has_nothing_to_name(ws: Workspace) -> None:
    found = correction_of(ws, PAPER, answer("background", "method", "result"), {}, set())
    assert (found.changed, found.notes) == (0, ())


def test_sentences_of_a_query_follow_unless_it_was_sent(ws: Workspace) -> None:
    query = Query("p1-method", "p1", "method", (1,))
    changed = answer("background", "method", "method")
    (follows,) = correction_of(ws, PAPER, changed, {"p1": [query]}, set()).queries
    assert follows.sentences == (1, 2)
    sent = correction_of(ws, PAPER, changed, {"p1": [query]}, {"p1"})
    assert (sent.queries, sent.paper.labels) == ((), None)
