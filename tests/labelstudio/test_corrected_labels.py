"""What a person's answer makes of a paper's labels: what they changed, what they took away, and what follows."""

from pathlib import Path
from typing import Any

import pytest
from annot.base.records import PairKey, Paper, Query
from annot.judging.rounds.labels import _spread, correction_of
from annot.steps.setup import init
from annot.store.facet_labels import FacetLabels
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
    assert found.labels is not None
    assert found.labels.labels == ("background", "method", "method")
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
    assert (sent.queries, sent.labels) == ((), None)


def region(**more: Any) -> dict[str, Any]:
    return {"id": "query-1", "from_name": "sentence_label", "value": {"labels": ["result"]}, **more}


@pytest.mark.parametrize(
    ("result", "label"),
    [
        (region(), "result"),
        (region(from_name="rating"), "method"),
        (region(id="cand-1"), "method"),
        (region(id="query-x"), "method"),
        (region(id="query-3"), "method"),
        (region(value={"labels": ["nonsense"]}), "method"),
        (region(value={"labels": ["result", "method"]}), "method"),
        (region(value={"labels": []}), "method"),
        (region(value=None), "method"),
    ],
)
def test_only_one_known_label_on_a_sentence_of_the_paper_is_taken(
    ws: Workspace, result: dict[str, Any], label: str
) -> None:
    found = correction_of(ws, PAPER, {"result": [result], "updated_at": "x"}, {}, set())
    assert found.labels is not None
    assert found.labels.labels == ("background", label, "result")
    assert found.changed == (label != "method")


def test_a_sentence_without_words_needs_no_label(ws: Workspace) -> None:
    paper = Paper("p1", "A title", ("Why.", "  ", "What."), 2001, ("background", "method", "result"))
    assert correction_of(ws, paper, answer("background", None, "result"), {}, set()).notes == ()


def test_corrections_of_a_paper_that_was_sent_are_ignored_and_counted_and_a_confirmation_is_not(ws: Workspace) -> None:
    changed = correction_of(ws, PAPER, answer("method", "method", "method"), {}, {"p1"})
    assert (changed.labels, changed.changed) == (None, 0)
    assert changed.notes == ("p1: 2 corrections ignored, because its queries had been sent",)
    same = correction_of(ws, PAPER, answer("background", "method", "result"), {}, {"p1"})
    assert same.labels == FacetLabels("p1", ("background", "method", "result"), "corrected", "2031-03-14T18:00:00Z")
    assert (same.changed, same.notes) == (0, ())


def test_chosen_sentences_stay_and_so_do_those_of_a_facet_that_has_no_sentence_any_more(ws: Workspace) -> None:
    queries = [
        Query("p1-chosen", "p1", "method", (0, 1)),
        Query("p1-method", "p1", "method", (1,)),
        Query("p1-result", "p1", "result", (2,)),
        Query("p1-gone", "p1", "gone", (1,)),
    ]
    found = correction_of(ws, PAPER, answer("background", "result", "result"), {"p1": queries}, set())
    assert [(one.query_id, one.sentences) for one in found.queries] == [("p1-result", (1, 2))]
    assert found.notes == ("p1-method: no sentence has the label of its facet now; its sentences stay as they were",)


def test_papers_that_nobody_has_go_to_whoever_has_fewest_and_the_first_named_of_two() -> None:
    asked = [PairKey(f"p{at}", "labels") for at in range(6)]
    given = {asked[1]: "a1", asked[4]: "a3"}
    assert _spread(given, asked, ("a2", "a1")) == {
        **given, asked[0]: "a2", asked[2]: "a2", asked[3]: "a1", asked[5]: "a2",
    }  # fmt: skip
    assert list(_spread({}, asked, ("a1", "a2")).values()) == ["a1", "a2"] * 3
