"""The counts behind the coefficients, of a few pairs counted by hand, and what the coefficients make of them."""

import numpy as np
import pytest
from annot.base.stats.inference import clusters_of
from annot.measuring.agreement.coefficients import (
    OF_COUNTS,
    Counts,
    count,
    kendall_tau_b,
    n_judged_twice,
    ratio,
    spearman_rho,
    tables_between,
    tables_with,
)

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
