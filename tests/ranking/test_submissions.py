"""What becomes of a submitted run: what it lacks, what it has twice, what was never asked for."""

from __future__ import annotations

import math

import pytest
from annot.base.records import ScoredDoc
from annot.ranking.submission import SubmissionRules, look, settled

WANTED = {"q": ("d1", "d2", "d3", "d4")}


def rules(**given: str | None) -> SubmissionRules:
    return SubmissionRules(**{"foreign": "drop", "duplicates": "best", "missing": "last", **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 3.5e6, 2e17, 1e300])
@pytest.mark.parametrize("sign", [1, -1])
def test_documents_that_are_missing_come_below_all_others_at_any_scale(scale: float, sign: int) -> None:
    run = {
        "q": [
            ScoredDoc("d3", sign * scale * (1 if sign > 0 else 2)),
            ScoredDoc("d2", sign * scale * (2 if sign > 0 else 1)),
        ]
    }
    (ranking,) = settled(run, WANTED, rules()).values()
    assert [doc.doc_id for doc in ranking[:2]] == ["d2", "d3"]
    assert {doc.doc_id for doc in ranking[2:]} == {"d1", "d4"}
    below = {doc.score for doc in ranking[2:]}
    assert len(below) == 1
    assert max(below) < ranking[1].score
    assert all(math.isfinite(doc.score) for doc in ranking)


def test_missing_documents_can_be_left_out() -> None:
    (ranking,) = settled({"q": [ScoredDoc("d3", 1.0)]}, WANTED, rules(missing="out")).values()
    assert [doc.doc_id for doc in ranking] == ["d3"]


def test_of_a_document_that_is_there_twice_the_better_score_counts_and_strangers_go_or_stay() -> None:
    run = {"q": [ScoredDoc("d1", 0.5), ScoredDoc("x", 9.0), ScoredDoc("d2", 0.7), ScoredDoc("d1", 0.9)]}
    (ranking,) = settled(run, WANTED, rules(missing="out")).values()
    assert list(ranking) == [ScoredDoc("d1", 0.9), ScoredDoc("d2", 0.7)]
    (ranking,) = settled(run, WANTED, rules(missing="out", foreign="keep")).values()
    assert [doc.doc_id for doc in ranking] == ["x", "d1", "d2"]
    found = {one.what: one.count for one in look(run, WANTED)}
    assert found == {"missing candidates": 2, "foreign candidates": 1, "duplicates": 1}
