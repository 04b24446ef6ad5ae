"""Many queries put together, without each sampling unit by brute force, and patterns of grades counted by hand."""

from typing import Any

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.coefficients import (
    COEFFICIENTS,
    PooledPairs,
    count,
    ends_of,
    interval_of,
    pooled_between,
    tables_between,
)
from annot.measuring.agreement.estimates import NOTHING, QueryRatings, agreement_between
from annot.measuring.forecast.design import joint_grades

GRADES = (0, 1, 2)
NAN = np.nan
QUERIES = [
    np.array([[0, 1, 2, 2, 0, 1, 1, 0], [0, 1, 1, 2, 0, 2, 1, 1], [NAN] * 6 + [1, 0]], dtype=float),
    np.array([[0, 0, 2, 1, 2, 2], [1, 0, 2, 1, 2, 1], [0, 0, 2, 1, NAN, 2]], dtype=float),
    np.array([[2, 0, 1, 0, 1, 2, 2], [2, 1, 1, 0, 0, 2, 1], [2, 0, 1, 1, 1, 2, 2]], dtype=float),
    np.array([[0, 2, 1, 1, 0, 0], [0, 2, 0, 1, 0, 1], [1, 2, 1, 1, 0, 0]], dtype=float),
]
"""Of the same three assessors, some of whom judged a part of the pairs."""


def pooled(queries: list[np.ndarray], papers: list[str] | None) -> PooledPairs:
    met, tables = zip(*(tables_between(one, GRADES) for one in queries), strict=True)
    return pooled_between([count(one, GRADES) for one in queries], met, tables, topics=papers)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("papers", [None, ["p", "r", "p", "s"]])
def test_what_is_left_without_a_unit_is_the_value_of_the_others(name: str, papers: list[str] | None) -> None:
    whole = pooled(QUERIES, papers)
    assert whole.value(name, GRADES) == pytest.approx(COEFFICIENTS[name](np.concatenate(QUERIES, axis=1), GRADES))
    units = papers or list("0123")
    left = []
    for unit in sorted(set(units)):
        kept = [query for query, of in zip(QUERIES, units, strict=True) if of != unit]
        left.append(COEFFICIENTS[name](np.concatenate(kept, axis=1), GRADES))
    assert whole.left_out(name, GRADES).tolist() == pytest.approx(left)


def test_without_most_of_the_pairs_a_rank_correlation_has_no_value() -> None:
    """Without the first query only the third of three twos of assessors has an order, and fewer than half the pairs."""
    flat = np.array([[0.0] * 6, [1.0] * 6, [NAN] * 6])
    found = pooled([QUERIES[3], flat], None).left_out("spearman_rho", GRADES)
    assert np.isnan(found).tolist() == [True, False]


def test_the_ends_of_a_coefficient() -> None:
    assert [ends_of(name) for name in ("kappa", "percent", "percent_within_one")] == [(-1, 1), (0, 100), (0, 100)]


def test_the_interval_of_a_figure_is_inside_its_ends() -> None:
    of = pooled(QUERIES, None)
    found = interval_of(of, of.value("percent", GRADES), "percent", GRADES, level=0.9)
    assert isinstance(found, Interval)
    assert 20 < found.low < of.value("percent", GRADES) < found.high < 100
    why = Undefined("no value")
    assert interval_of(of, why, "percent", GRADES, level=0.9) is why


def test_two_gradings_agree_on_the_pairs_that_both_have() -> None:
    first = {("q1", "d1"): 0, ("q1", "d2"): 2, ("q2", "d1"): 1, ("q2", "d9"): 1}
    second = {("q1", "d1"): 0, ("q1", "d2"): 1, ("q2", "d1"): 1, ("q3", "d1"): 0}
    how = {"grades": GRADES, "level": 0.95, "coefficients": ["percent"]}
    found = agreement_between(first, second, topics={"q1": "p", "q2": "p"}, **how)
    assert (found.n_pairs, found.n_queries) == (3, 2)
    assert found.figures["percent"].value == pytest.approx(200 / 3)
    nothing = agreement_between(first, {}, topics=None, **how)
    assert (nothing.n_pairs, nothing.n_queries) == (0, 0)
    assert nothing.figures["percent"].value is NOTHING


# Patterns


def ratings(query_id: str, rows: list[list[float]], asked: list[list[int]] | None = None) -> QueryRatings:
    given = np.array(rows, dtype=float)
    m, n = given.shape
    names, docs = tuple(f"a{at}" for at in range(m)), tuple(f"d{at}" for at in range(n))
    mask = np.ones((m, n), dtype=bool) if asked is None else np.array(asked, dtype=bool)
    return QueryRatings(query_id, "aim", names, docs, given, mask, np.zeros(n), np.zeros(n, dtype=bool), np.ones(n))


def test_patterns_of_grades_are_counted_by_query() -> None:
    """A pair of one answer says nothing of two; an answer without a grade is a pattern of its own."""
    first = ratings("q1", [[0, 0, 1, 2], [0, 1, NAN, 2]], [[1, 1, 1, 1], [1, 1, 1, 0]])
    second = ratings("q2", [[0, 0], [1, 1]])
    third = ratings("q3", [[1], [1]], [[1], [0]])
    found = joint_grades([first, second, third], per_pair=2, seed=1, grades=GRADES, missing="drop")
    assert found.query_ids == ("q1", "q2")
    assert np.array_equal(found.patterns, [[0, 0], [0, 1], [1, NAN]], equal_nan=True)
    assert found.tables.tolist() == [[1, 1, 1], [0, 2, 0]]
    assert (found.chosen, found.most) == (0, 2)
    assert found.disputed.tolist() == [False, True, True]


def test_of_more_answers_as_many_are_drawn_and_kept_in_order() -> None:
    found = joint_grades(
        [ratings("q", [[0] * 60, [1] * 60, [2] * 60])], per_pair=2, seed=1, grades=GRADES, missing="drop"
    )
    assert found.patterns.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.tables.sum() == 60
    assert (found.tables > 8).all()
    assert (found.chosen, found.most) == (60, 3)


@pytest.mark.parametrize("per_pair", [2, 3])
@pytest.mark.parametrize("name", ["alpha_ordinal", "kappa", "spearman_rho", "percent"])
def test_the_coefficient_of_patterns_is_that_of_their_pairs(name: str, per_pair: int) -> None:
    drawn: dict[str, Any] = {"per_pair": per_pair, "seed": 1, "grades": GRADES, "missing": "drop"}
    rows = [query[:per_pair, ~np.isnan(query).any(axis=0)] for query in QUERIES[1:]]
    found = joint_grades([ratings(f"q{at}", one.tolist()) for at, one in enumerate(rows)], **drawn)
    together = np.concatenate(rows, axis=1)
    value = COEFFICIENTS[name](together, GRADES)
    ours = found.estimate(found.tables, name=name, level=0.95)
    assert ours.value == pytest.approx(value)
    met, tables = zip(*(tables_between(one, GRADES) for one in rows), strict=True)
    of_pairs = pooled_between([count(one, GRADES) for one in rows], met, tables, topics=None)
    assert ours.interval == interval_of(of_pairs, of_pairs.value(name, GRADES), name, GRADES, level=0.95)


def test_a_grade_that_is_missing_counts_by_the_policy() -> None:
    pairs = [ratings("q", [[0, 2, 1, 0], [0, 2, NAN, 1]])]
    values = {}
    for missing in ("drop", "zero"):
        found = joint_grades(pairs, per_pair=2, seed=1, grades=GRADES, missing=missing)
        values[missing] = found.estimate(found.tables, name="percent", level=0.95).value
    assert values == {"drop": pytest.approx(200 / 3), "zero": pytest.approx(50)}
