"""Contrasts of a few grades, counted by hand or beside scipy, where each rule begins."""

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.diagnosis.panel import SharedPairs, higher, noise, severity, variance_between
from diagnosed import panel
from scipy import stats

NAMES = ["q1", "q2", "q3", "q4", "q5", "q6"]


def of_two(*differences: int) -> SharedPairs:
    """One pair a query, which the first of two people gives so much more."""
    n = len(differences)
    return SharedPairs(panel([1 + more for more in differences], [1] * n, queries=NAMES[:n]), without=())


def test_one_query_shows_a_difference_and_nothing_about_chance() -> None:
    found = severity(of_two(1))
    assert found.mean.tolist() == [1.0, -1.0]
    assert found.n.tolist() == found.units.tolist() == found.telling.tolist() == [1, 1]
    assert found.p.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("differences", [(1, 2), (1, 0, 0), (-1, 0, 1), (1, 2, 1, 0)])
def test_the_p_value_is_that_of_students_t(differences: tuple[int, ...]) -> None:
    found = severity(of_two(*differences))
    assert found.p[0] == pytest.approx(stats.ttest_1samp(differences, 0.0).pvalue)
    assert found.telling[0] == sum(one != 0 for one in differences)


def test_people_who_always_agree_do_not_differ() -> None:
    found = severity(of_two(0, 0, 0))
    assert found.p.tolist() == [1.0, 1.0]
    assert found.telling.tolist() == [0, 0]


def test_an_interval_needs_four_queries() -> None:
    three = severity(of_two(1, 2, 1)).estimate(0, level=0.9, most=3.0, sign=1.0)
    assert three.value == pytest.approx(4 / 3)
    assert isinstance(three.interval, Undefined)
    four = severity(of_two(1, 2, 1, 0)).estimate(0, level=0.9, most=3.0, sign=1.0)
    theirs = stats.ttest_1samp([1, 2, 1, 0], 0.0).confidence_interval(0.9)
    assert isinstance(four.interval, Interval)
    assert (four.interval.low, four.interval.high) == pytest.approx((theirs.low, theirs.high))


def test_noise_is_told_by_one_pair_that_two_others_judged() -> None:
    """Distances of the first to the others 2 and 3, then 0 and 1; between the others 1 and 1."""
    made = panel([0, 1], [2, 1], [3, 2], queries=NAMES[:2])
    found = noise(SharedPairs(made, without=()))
    assert (found.mean[0], found.n[0]) == (pytest.approx(((2.5 - 1) + (0.5 - 1)) / 2), 2)


def test_teams_are_compared_between_queries_only_where_most_queries_had_one_team() -> None:
    """The first judged two queries with one other person and two with both: the latter have others to compare with."""
    first, second, third = [0, 2, 0, 1, -1, -1], [1, 0, 2, 1, 0, 1], [-1, -1, 3, 3, 1, 3]
    found = noise(SharedPairs(panel(first, second, third, queries=NAMES), without=()))
    # Distances 2 and 3 with 1 between the others; 0 and 2 with 2.
    assert (found.mean[0], found.n[0]) == (pytest.approx(((2.5 - 1) + (1 - 2)) / 2), 2)


def test_a_group_of_one_query_has_its_value_for_a_mean() -> None:
    groups = [[4.0], [1.0, 2.0, 4.0, 0.5]]
    found = variance_between(np.concatenate(groups), np.array([0, 1, 1, 1, 1]), np.arange(5))
    assert found is not None
    assert found.difference == pytest.approx(4 - 7.5 / 4)
    assert found.p == pytest.approx(stats.f_oneway(*groups).pvalue)


def test_as_many_papers_as_groups_say_nothing_however_many_queries_they_have() -> None:
    values, group = np.array([1.0, 2.0, 3.0, 5.0]), np.array([0, 0, 1, 1])
    assert variance_between(values, group, group) is None
    assert higher(values, group == 1, group) is None
    assert variance_between(values, group, np.array([0, 2, 1, 1])) is not None


def test_the_least_p_value_is_at_most_one() -> None:
    """A paper in the second and the third group can be put in two ways, and three groups be named in six."""
    values, group = np.array([1.0, 2.0, 4.0, 3.0, 9.0]), np.array([0, 0, 0, 1, 2])
    found = variance_between(values, group, np.array([0, 1, 2, 3, 3]))
    assert found is not None
    assert found.least == 1.0
