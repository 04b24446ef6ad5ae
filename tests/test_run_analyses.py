"""What CSFCube's paper says of its runs: two facets of a paper, methods outside the pools, where runs go wrong."""

from __future__ import annotations

import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.measuring.evaluation.analyses import (
    FAR_DOWN,
    NEAR_TOP,
    BestOfEach,
    ErrorCase,
    best_of_each,
    error_cases,
    method_in_pool,
    on_facets,
)

POOLED = ("cited", "title_tfidf", "abs_tfidf", "title_cbow200", "abs_cbow200", "title_tfidfcbow200")
POOLED_BY = (*POOLED, "abs_tfidfcbow200", "specter")
"""CSFCube, section 3."""
TABLE_4 = {
    "fabs_tfidf": (57.97, 31.20),
    "fabs_bm25": (59.39, 34.59),
    "fabs_cbow200": (36.56, 21.14),
    "fabs_tfidfcbow200": (40.51, 21.70),
    "SentBERT-PP": (60.80, 33.40),
    "SentBERT-NLI": (54.23, 31.10),
    "UnSimCSE-BERT": (51.59, 31.23),
    "SuSimCSE-BERT": (55.22, 30.88),
    "SPECTER": (66.70, 37.41),
    "SPECTER-ID": (69.22, 42.76),
}
"""NDCG%20 on background and method."""


def test_methods_that_did_not_draw_the_pools_are_those_that_the_paper_names() -> None:
    """Section 5, Reusability: fabs_bm25, the SentBERT and SimCSE methods, and SPECTER-ID."""
    others = {run for run in TABLE_4 if method_in_pool(run, POOLED_BY) is None}
    assert others == {
        "fabs_bm25",
        "SentBERT-PP",
        "SentBERT-NLI",
        "UnSimCSE-BERT",
        "SuSimCSE-BERT",
        "SPECTER-ID",
    }


@pytest.mark.parametrize("column", [0, 1])
def test_the_best_of_each_is_read_from_table_4(column: int) -> None:
    means = {run: figures[column] for run, figures in TABLE_4.items()}
    assert best_of_each(means, POOLED_BY) == BestOfEach("SPECTER", "SPECTER-ID")
    del means["SPECTER-ID"]
    # On background a sentence encoder comes next, on method BM25.
    assert best_of_each(means, POOLED_BY).other == ("SentBERT-PP", "fabs_bm25")[column]


def test_without_pools_no_run_is_of_their_methods() -> None:
    assert best_of_each({"b": 0.5, "a": 0.5}, ()) == BestOfEach(None, "a")
    assert best_of_each({"cited": 0.5}, ("cited",)).pooled is None


def test_papers_of_one_facet_are_left_out_and_the_widest_difference_comes_first() -> None:
    found = on_facets(
        {"p-a": 0.5, "p-b": 0.25, "q-a": 0.1, "q-b": 0.9, "r-a": 1.0},
        facets={"p-a": "a", "p-b": "b", "q-a": "a", "q-b": "b", "r-a": "a"},
        papers={"p-a": "p", "p-b": "p", "q-a": "q", "q-b": "q", "r-a": "r"},
    )
    assert [(one.paper_id, one.spread) for one in found] == [("q", pytest.approx(0.8)), ("p", 0.25)]


def ranking(*doc_ids: str) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids))


def test_errors_are_told_worst_first_and_the_unjudged_is_none() -> None:
    grades = {"a": 0, "b": 3, "c": 0, "d": 2, "e": 1, "f": 2, "g": 0, "h": 2, "i": 3, "left": 3}
    qrels = [Qrel("q", doc_id, grade) for doc_id, grade in grades.items()]
    ranked = {"q": ranking("a", "new", "c", "b", "d", "e", "h", "g", "f", "i"), "elsewhere": ranking("a")}
    found = error_cases({"run": ranked}, qrels, relevant_from=2)
    # Ten documents: the first fifth is two of them, the lower half begins at rank 6.
    assert found == (
        ErrorCase("run", "q", "a", NEAR_TOP, 0, 1),
        ErrorCase("run", "q", "left", FAR_DOWN, 3, None),
        ErrorCase("run", "q", "i", FAR_DOWN, 3, 10),
        ErrorCase("run", "q", "f", FAR_DOWN, 2, 9),
        ErrorCase("run", "q", "h", FAR_DOWN, 2, 7),
    )


def test_a_perfect_ranking_of_a_usual_pool_has_no_error_and_a_reversed_one_has_many() -> None:
    doc_ids = [f"d{at:03}" for at in range(100)]
    qrels = [Qrel("q", doc_id, max(0, 3 - at // 10)) for at, doc_id in enumerate(doc_ids)]
    assert error_cases({"run": {"q": ranking(*doc_ids)}}, qrels, relevant_from=2) == ()
    found = error_cases({"run": {"q": ranking(*reversed(doc_ids))}}, qrels, relevant_from=2)
    assert [sum(case.error == error for case in found) for error in (NEAR_TOP, FAR_DOWN)] == [20, 20]


def test_a_query_that_the_run_leaves_out_says_nothing() -> None:
    assert error_cases({"run": {}}, [Qrel("q", "a", 3)], relevant_from=2) == ()
