"""The tables of the assessor effect: which gradings stand beside the runs, and how an order is written."""

from types import SimpleNamespace
from typing import Any

from annot.base.names import OF_TEXTS
from annot.base.stats.values import Undefined
from annot.measuring.assessor_effect import GradingComparison, GradingRanking
from annot.publishing.report.cells import Number
from annot.publishing.report.sections import assessors


def comparison(first: str, second: str, tau: float | Undefined = 0.5) -> GradingComparison:
    means = {first: {"lsa": 0.5, "bm25": 0.25}, second: {"bm25": 0.75, "lsa": 0.25}}
    return GradingComparison(first, second, 1, means, 3, tau, 1, {first: 0, second: 1}, ())


def found() -> Any:
    """A1 graded one of two queries, A and B both."""
    both = {"bm25": 0.6123, "lsa": 0.58, "tfidf": 0.58}
    return SimpleNamespace(
        settings=SimpleNamespace(
            convention="trec", measure="nDCG", relevant_from=2, n_random=100, level=0.95, alpha=0.05
        ),
        missing="zero",
        queries=("q1", "q2"),
        runs=("bm25", "lsa", "tfidf"),
        n_pairs=9,
        rankings=(
            GradingRanking("final", both, ("q1", "q2"), 9, 0),
            GradingRanking("A", {"lsa": 0.7, "bm25": 0.6, "tfidf": 0.1}, ("q1", "q2"), 9, 1),
            GradingRanking("a1", {"lsa": 0.5, "bm25": 0.25}, ("q1",), 4, 0),
        ),
        comparisons=(comparison("A", "final"), comparison("a1", "final", Undefined("a tie"))),
        random_assessors=SimpleNamespace(means={"bm25": (0.6, 0.71234)}, n=100, tau=0.9, tau_range=(0.8, 1.0)),
        notes=(),
    )


def test_beside_the_runs_are_the_gradings_of_all_queries() -> None:
    table = assessors.ranges(found())
    assert table.headings == ("Run", "final grades", "assessor A", "random assessor")
    rows = [[cell.raw if isinstance(cell, Number) else cell for cell in row] for row in table.rows]
    assert rows == [["bm25", 0.6123, 0.6, "[60.0, 71.2]"], ["lsa", 0.58, 0.7, "–"], ["tfidf", 0.58, 0.1, "–"]]
    assert [(record["random_low"], record["random_high"]) for record in table.records] == [
        (0.6, 0.71234),
        (None, None),
        (None, None),
    ]
    assert table.command == "annot assessor-effect --convention trec --measure nDCG"


def test_an_order_names_ties_and_a_grading_of_some_queries_has_the_final_grades_below_it() -> None:
    (orders, *_) = assessors.orders(found())
    assert list(orders.rows) == [
        ("final", 2, 9, 0, "bm25 61.23, lsa 58.00 = tfidf 58.00"),
        ("A", 2, 9, 1, "lsa 70.00, bm25 60.00, tfidf 10.00"),
        ("a1", 1, 4, 0, "lsa 50.00, bm25 25.00"),
        ("final, queries of a1", 1, 4, 0, "bm25 75.00, lsa 25.00"),
    ]
    (of_questions, *_) = assessors.orders(found(), OF_TEXTS)
    assert of_questions.rows[-1][0] == "final, topics of a1"
