"""Counts behind the coefficients, many queries put together, and patterns of grades: counted by hand."""

from typing import Any

import numpy as np
import pytest
from annot.base.stats.inference import clusters_of
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.coefficients import (
    COEFFICIENTS,
    OF_COUNTS,
    Counts,
    PooledPairs,
    count,
    ends_of,
    interval_of,
    kendall_tau_b,
    n_judged_twice,
    pooled_between,
    ratio,
    spearman_rho,
    tables_between,
    tables_with,
)
from annot.measuring.agreement.estimates import QueryRatings
from annot.measuring.forecast.design import joint_grades

NAN = np.nan
RATINGS = np.array([[0, 1, 0, NAN], [0, 1, NAN, NAN], [1, NAN, NAN, NAN]])
"""Three assessors, four pairs: judged by three, by two, by one, and by none of them."""
TABLES = np.array([[[5, 1, 0], [2, 3, 1], [0, 1, 4]], [[0, 4, 1], [0, 8, 0], [0, 1, 5]]])
"""Of two assessors each; the second is SAS's example of PROC FREQ with AGREE."""


def exactly(found: Counts) -> list[list[object]]:
    return [part.tolist() for part in found]


def test_what_three_assessors_gave_is_counted() -> None:
    found = count(RATINGS, (0, 1))
    assert found.coincidences == pytest.approx(np.array([[1, 1], [1, 2]]))
    assert found.agreement == pytest.approx(np.array([[1 / 3, 1 / 3], [1 / 3, 1]]))
    assert found.shares == pytest.approx(np.array([2 / 3 + 0 + 1, 1 / 3 + 1 + 0]))
    assert found.margins.tolist() == [[1, 1], [1, 1], [0, 1]]
    assert n_judged_twice(found) == 2


def test_counts_of_a_table_are_those_of_its_pairs() -> None:
    found = Counts.of_tables(np.array([[2.0, 1.0], [0.0, 3.0]]))
    of_pairs = count(np.array([[0, 0, 0, 1, 1, 1.0], [0, 0, 1, 1, 1, 1]]), (0, 1))
    assert exactly(found) == exactly(of_pairs)
    assert exactly(found) == [[[4, 1], [1, 6]], [[2, 0.5], [0.5, 3]], [2.5, 3.5], [[3, 3], [2, 4]]]
    of_several = Counts.of_tables(TABLES.astype(float))
    for at, table in enumerate(TABLES.astype(float)):
        assert [part[at].tolist() for part in of_several] == exactly(Counts.of_tables(table))


def test_counts_add_up_and_are_taken_away_by_unit_of_chance() -> None:
    three = [Counts.of_tables(np.array([[n, 0.0], [1.0, 2.0]])) for n in (1.0, 2.0, 4.0)]
    together = Counts.stack(three)
    assert together.whole().shares.tolist() == [7 + 1.5, 6 + 1.5]
    assert together.weighted(np.array([[1.0, 0.0, 3.0]])).shares.tolist() == [[1 + 12 + 4 * 0.5, 4 * 2.5]]
    left = together.left_out(clusters_of(range(3), ["p", "r", "p"]))
    assert left.shares.tolist() == [[2.5, 2.5], [6.0, 5.0]]


def test_fractions_that_cancel_out_leave_nothing() -> None:
    """A third taken from a third, by sums of which neither is exact."""
    part = np.array([[0.1], [0.2]])
    counts = Counts(*[part] * 4)
    assert counts.left_out(clusters_of(range(2), ["p", "p"])).shares.tolist() == [[0.0]]
    small = Counts(*[np.array([[1e-8], [1.0]])] * 4)
    assert small.left_out(clusters_of(range(2), None)).shares.tolist() == [[1.0], [1e-8]]


def test_two_assessors_who_met_have_a_table() -> None:
    ratings = np.array([[0, 1, 1, NAN], [0, NAN, 0, NAN], [NAN, NAN, NAN, 1]])
    met, tables = tables_between(ratings, (0, 1))
    assert met.tolist() == [[0, 1]]
    assert tables.tolist() == [[[1, 0], [1, 0]]]
    # Rows are final grades.
    with_final = tables_with(ratings, np.array([1, 1, 0, NAN]), (0, 1))
    assert with_final.tolist() == [[[0, 1], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 0]]]


@pytest.mark.parametrize("name", OF_COUNTS)
def test_several_sets_of_pairs_have_the_values_that_each_has_alone(name: str) -> None:
    tables = TABLES.astype(float)
    found = OF_COUNTS[name](Counts.of_tables(tables), (0, 1, 2))
    assert found.shape == (2,)
    assert found.tolist() == pytest.approx([float(OF_COUNTS[name](Counts.of_tables(one), (0, 1, 2))) for one in tables])


def test_an_assessor_who_met_nobody_changes_no_kappa() -> None:
    both = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    with_third = np.vstack([np.column_stack([both, [NAN, NAN]]), [NAN] * 4 + [1.0]])
    values = [float(OF_COUNTS["kappa"](count(one, (0, 1)), (0, 1))) for one in (both, with_third)]
    # Half of chance, three quarters observed.
    assert values == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("name", OF_COUNTS)
def test_how_many_pairs_a_coefficient_needs(name: str) -> None:
    """Two; a percentage has a value from one pair on."""
    values = [
        float(OF_COUNTS[name](count(np.array([[0.0, 2.0][:n], [1.0, 2.0][:n]]), (0, 1, 2)), (0, 1, 2)))
        for n in (0, 1, 2)
    ]
    least = 1 if name.startswith("percent") else 2
    assert [bool(np.isnan(value)) for value in values] == [n < least for n in (0, 1, 2)]


def test_within_one_grade_says_nothing_of_a_scale_of_two() -> None:
    apart = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert np.isnan(OF_COUNTS["percent_within_one"](count(apart, (0, 1)), (0, 1)))
    assert OF_COUNTS["percent_within_one"](count(apart, (0, 1, 2)), (0, 1, 2)) == 100
    assert OF_COUNTS["percent"](count(apart, (0, 1)), (0, 1)) == 50
    far = np.array([[0.0, 0.0, 1.0, 2.0], [2.0, 0.0, 0.0, 2.0]])
    assert OF_COUNTS["percent_within_one"](count(far, (0, 1, 2)), (0, 1, 2)) == 75


@pytest.mark.parametrize("correlation", [spearman_rho, kendall_tau_b])
def test_a_rank_correlation_needs_three_pairs_and_two_grades_of_each(correlation) -> None:
    assert np.isnan(correlation(np.array([[1.0, 0.0], [0.0, 1.0]])))
    assert float(correlation(np.array([[2.0, 0.0], [0.0, 1.0]]))) == pytest.approx(1.0)
    assert float(correlation(np.array([[0.0, 2.0], [1.0, 0.0]]))) == pytest.approx(-1.0)
    assert np.isnan(correlation(np.array([[2.0, 2.0], [0.0, 0.0]])))


def test_a_ratio_without_a_whole_is_what_is_asked_for() -> None:
    part, whole = np.array([1.0, 1.0, 1.0]), np.array([2.0, 0.0, 2.0])
    where = np.array([True, True, False])
    assert ratio(part, whole, where=where, otherwise=7.0).tolist() == [0.5, 7.0, 7.0]
    assert np.isnan(ratio(part, whole, where=where)).tolist() == [False, True, True]


THREE = (0, 1, 2)
OF_THREE = [
    np.array([[0, 1, 2, 2, 0, 1, 1, 0], [0, 1, 1, 2, 0, 2, 1, 1], [NAN] * 6 + [1, 0]], dtype=float),
    np.array([[0, 0, 2, 1, 2, 2], [1, 0, 2, 1, 2, 1], [0, 0, 2, 1, NAN, 2]], dtype=float),
    np.array([[2, 0, 1, 0, 1, 2, 2], [2, 1, 1, 0, 0, 2, 1], [2, 0, 1, 1, 1, 2, 2]], dtype=float),
    np.array([[0, 2, 1, 1, 0, 0], [0, 2, 0, 1, 0, 1], [1, 2, 1, 1, 0, 0]], dtype=float),
]
"""Of the same three assessors, some of whom judged a part of the pairs."""


def pooled(queries: list[np.ndarray], papers: list[str] | None) -> PooledPairs:
    met, tables = zip(*(tables_between(one, THREE) for one in queries), strict=True)
    return pooled_between([count(one, THREE) for one in queries], met, tables, topics=papers)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("papers", [None, ["p", "r", "p", "s"]])
def test_what_is_left_without_a_unit_is_the_value_of_the_others(name: str, papers: list[str] | None) -> None:
    whole = pooled(OF_THREE, papers)
    assert whole.value(name, THREE) == pytest.approx(COEFFICIENTS[name](np.concatenate(OF_THREE, axis=1), THREE))
    units = papers or list("0123")
    left = []
    for unit in sorted(set(units)):
        kept = [query for query, of in zip(OF_THREE, units, strict=True) if of != unit]
        left.append(COEFFICIENTS[name](np.concatenate(kept, axis=1), THREE))
    assert whole.left_out(name, THREE).tolist() == pytest.approx(left)


def test_without_most_of_the_pairs_a_rank_correlation_has_no_value() -> None:
    """Without the first query only the third of three twos of assessors has an order, and fewer than half the pairs."""
    flat = np.array([[0.0] * 6, [1.0] * 6, [NAN] * 6])
    found = pooled([OF_THREE[3], flat], None).left_out("spearman_rho", THREE)
    assert np.isnan(found).tolist() == [True, False]


def test_the_ends_of_a_coefficient() -> None:
    assert [ends_of(name) for name in ("kappa", "percent", "percent_within_one")] == [(-1, 1), (0, 100), (0, 100)]


def test_the_interval_of_a_figure_is_inside_its_ends() -> None:
    of = pooled(OF_THREE, None)
    found = interval_of(of, of.value("percent", THREE), "percent", THREE, level=0.9)
    assert isinstance(found, Interval)
    assert 20 < found.low < of.value("percent", THREE) < found.high < 100
    why = Undefined("no value")
    assert interval_of(of, why, "percent", THREE, level=0.9) is why


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
    found = joint_grades([first, second, third], per_pair=2, seed=1, grades=THREE, missing="drop")
    assert found.query_ids == ("q1", "q2")
    assert np.array_equal(found.patterns, [[0, 0], [0, 1], [1, NAN]], equal_nan=True)
    assert found.tables.tolist() == [[1, 1, 1], [0, 2, 0]]
    assert (found.chosen, found.most) == (0, 2)
    assert found.disputed.tolist() == [False, True, True]


def test_of_more_answers_as_many_are_drawn_and_kept_in_order() -> None:
    found = joint_grades(
        [ratings("q", [[0] * 60, [1] * 60, [2] * 60])], per_pair=2, seed=1, grades=THREE, missing="drop"
    )
    assert found.patterns.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.tables.sum() == 60
    assert (found.tables > 8).all()
    assert (found.chosen, found.most) == (60, 3)


@pytest.mark.parametrize("per_pair", [2, 3])
@pytest.mark.parametrize("name", ["alpha_ordinal", "kappa", "spearman_rho", "percent"])
def test_the_coefficient_of_patterns_is_that_of_their_pairs(name: str, per_pair: int) -> None:
    drawn: dict[str, Any] = {"per_pair": per_pair, "seed": 1, "grades": THREE, "missing": "drop"}
    rows = [query[:per_pair, ~np.isnan(query).any(axis=0)] for query in OF_THREE[1:]]
    found = joint_grades([ratings(f"q{at}", one.tolist()) for at, one in enumerate(rows)], **drawn)
    together = np.concatenate(rows, axis=1)
    value = COEFFICIENTS[name](together, THREE)
    ours = found.estimate(found.tables, name=name, level=0.95)
    assert ours.value == pytest.approx(value)
    met, tables = zip(*(tables_between(one, THREE) for one in rows), strict=True)
    of_pairs = pooled_between([count(one, THREE) for one in rows], met, tables, topics=None)
    assert ours.interval == interval_of(of_pairs, of_pairs.value(name, THREE), name, THREE, level=0.95)


def test_a_grade_that_is_missing_counts_by_the_policy() -> None:
    pairs = [ratings("q", [[0, 2, 1, 0], [0, 2, NAN, 1]])]
    values = {}
    for missing in ("drop", "zero"):
        found = joint_grades(pairs, per_pair=2, seed=1, grades=THREE, missing=missing)
        values[missing] = found.estimate(found.tables, name="percent", level=0.95).value
    assert values == {"drop": pytest.approx(200 / 3), "zero": pytest.approx(50)}
