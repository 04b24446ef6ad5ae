"""Submitted runs: missing, repeated and unknown entries."""

import math
from pathlib import Path

import pytest
from annot.base.errors import FindingError
from annot.base.records import Query, ScoredDoc
from annot.ranking import submission
from annot.ranking.submission import (
    SubmissionFinding,
    SubmissionRules,
    by_query_paper,
    find_findings,
    refuse_findings,
    settle,
    topics_of_papers,
)

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
    (ranking,) = settle(run, WANTED, rules()).values()
    assert [doc.doc_id for doc in ranking[:2]] == ["d2", "d3"]
    assert {doc.doc_id for doc in ranking[2:]} == {"d1", "d4"}
    below = {doc.score for doc in ranking[2:]}
    assert len(below) == 1
    assert max(below) < ranking[1].score
    assert all(math.isfinite(doc.score) for doc in ranking)


def test_missing_documents_can_be_left_out() -> None:
    (ranking,) = settle({"q": [ScoredDoc("d3", 1.0)]}, WANTED, rules(missing="out")).values()
    assert [doc.doc_id for doc in ranking] == ["d3"]


def test_of_a_document_that_is_there_twice_the_better_score_counts_and_strangers_go_or_stay() -> None:
    run = {"q": [ScoredDoc("d1", 0.5), ScoredDoc("x", 9.0), ScoredDoc("d2", 0.7), ScoredDoc("d1", 0.9)]}
    (ranking,) = settle(run, WANTED, rules(missing="out")).values()
    assert list(ranking) == [ScoredDoc("d1", 0.9), ScoredDoc("d2", 0.7)]
    (ranking,) = settle(run, WANTED, rules(missing="out", foreign="keep")).values()
    assert [doc.doc_id for doc in ranking] == ["x", "d1", "d2"]
    found = {one.what: one.count for one in find_findings(run, WANTED)}
    assert found == {"missing candidates": 2, "foreign candidates": 1, "duplicates": 1}


def test_each_kind_of_finding_is_counted_with_its_queries_and_three_examples() -> None:
    run = {
        "q": [ScoredDoc("d1", 1.0), ScoredDoc("d2", 1.00000001), ScoredDoc("d3", 2.0), ScoredDoc("d3", 2.0)],
        "r": [ScoredDoc("x", 3.0), ScoredDoc("d1", 1.0)],
        "s": [ScoredDoc("d1", 1.0)],
    }
    wanted = {"q": [f"d{at}" for at in range(1, 7)], "r": ["d1", "d7", "d8"], "t": ["d1"]}
    assert find_findings(run, wanted) == (
        SubmissionFinding("missing queries", 1, 1, ("t",)),
        SubmissionFinding("foreign queries", 1, 1, ("s",)),
        SubmissionFinding("missing candidates", 5, 2, ("q d4", "q d5", "q d6")),
        SubmissionFinding("foreign candidates", 1, 1, ("r x",)),
        SubmissionFinding("duplicates", 1, 1, ("q d3",)),
        SubmissionFinding("ties", 2, 1, ("q d1", "q d2")),
    )
    assert settle(run, wanted, rules(missing="out")).keys() == {"q", "r"}
    assert find_findings({"q": [ScoredDoc("d1", 1.0)]}, {"q": ["d1"]}) == ()


def test_a_run_is_refused_where_the_rules_have_no_answer() -> None:
    found = [SubmissionFinding(what, 1, 2, ("q d",)) for what in ("foreign queries", "duplicates", "ties")]
    remedies = {"foreign queries": "--foreign drop", "duplicates": "--duplicates best"}
    refuse_findings(found, rules(), Path("r.run"), remedies)
    with pytest.raises(FindingError) as caught:
        refuse_findings(found, rules(duplicates=None), Path("r.run"), remedies)
    assert caught.value.faults == ("duplicates: 1 in 2 queries: q d",)
    with pytest.raises(FindingError) as caught:
        refuse_findings(found, rules(foreign=None, duplicates=None), Path("r.run"), remedies)
    assert caught.value.faults == ("foreign queries: 1 in 2 queries: q d", "duplicates: 1 in 2 queries: q d")
    assert caught.value.hint == "correct the file, or add --foreign drop and --duplicates best"


def test_a_run_of_which_nothing_is_known_ranks_all_documents_alike_below_zero() -> None:
    (ranking,) = settle({"q": [ScoredDoc("x", 9.0)]}, WANTED, rules()).values()
    assert [doc.doc_id for doc in ranking] == ["d1", "d2", "d3", "d4"]
    assert all(doc.score < 0 for doc in ranking)


def test_a_topic_counts_for_its_query_paper_and_of_several_the_best_rank_does() -> None:
    queries = [Query(f"{paper}-{facet}", paper, facet, ()) for paper, facet in ("px", "py", "sx")]
    run = {
        "p-x": [ScoredDoc("a", 3.0), ScoredDoc("b", 2.0), ScoredDoc("out", 1.0)],
        "p-y": [ScoredDoc("c", 9.0), ScoredDoc("a", 8.0), ScoredDoc("b", 7.0)],
        "z": [ScoredDoc("a", 1.0)],
    }
    rankings, findings = by_query_paper(run, queries, {"a", "b", "c"})
    assert {doc.doc_id for doc in rankings["p"][:2]} == {"a", "c"}
    assert rankings["p"][2].doc_id == "b"
    assert topics_of_papers(run, queries) == {"p": ["p-x", "p-y"]}
    assert [(one.what, one.count, one.examples) for one in findings] == [
        ("missing query papers", 1, ("s",)),
        ("foreign queries", 1, ("z",)),
        ("foreign documents", 1, ("p-x out",)),
    ]
    alone, _ = by_query_paper({"s": [ScoredDoc("a", 1.0), ScoredDoc("a", 2.0)]}, queries, {"a"})
    assert alone["s"] == (ScoredDoc("a", 2.0),)


@pytest.mark.parametrize(
    ("last", "below"), [(0.0, -1.0), (0.25, -0.75), (1.0, 0.0), (1.5, 0.0), (-0.5, -1.5), (-3, -6)]
)
def test_missing_documents_come_one_below_the_last_or_by_its_size_where_that_is_more(last: float, below: float) -> None:
    run = {"q": [ScoredDoc("a", 9.0), ScoredDoc("b", last)]}
    (ranking,) = settle(run, {"q": ["a", "b", "c", "d"]}, rules()).values()
    assert {doc.doc_id: doc.score for doc in ranking} == {"a": 9.0, "b": last, "c": below, "d": below}


def test_of_several_rankings_each_document_has_its_best_rank_as_one_over_it() -> None:
    one, other = (tuple(ScoredDoc(doc_id, 9.0 - at) for at, doc_id in enumerate(ids)) for ids in ("abd", "bcad"))
    assert submission._merged([one]) == one
    assert submission._merged([one, other]) == (
        *(ScoredDoc("a", 1.0), ScoredDoc("b", 1.0), ScoredDoc("c", 0.5)),
        ScoredDoc("d", 0.333333),
    )
