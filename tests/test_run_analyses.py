"""What CSFCube's paper says of its runs: two facets of a paper, and where runs go wrong."""

import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.measuring.evaluation.comparisons import FAR_DOWN, NEAR_TOP, ErrorCase, error_cases, on_facets, spread_of


def test_papers_of_one_facet_are_left_out_and_the_widest_difference_comes_first() -> None:
    found = on_facets(
        {"p-a": 0.5, "p-b": 0.25, "q-a": 0.1, "q-b": 0.9, "r-a": 1.0},
        facets={"p-a": "a", "p-b": "b", "q-a": "a", "q-b": "b", "r-a": "a"},
        topics={"p-a": "p", "p-b": "p", "q-a": "q", "q-b": "q", "r-a": "r"},
    )
    assert [(paper, spread_of(values)) for paper, values in found.items()] == [("q", pytest.approx(0.8)), ("p", 0.25)]


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
