"""Tests and intervals behind the findings beside those of SciPy, scikit-learn and CSFCube, and where rules begin."""

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.diagnosis.panel import (
    Panel,
    SharedPairs,
    against_final,
    higher,
    noise,
    pairwise_matrix,
    severities,
    severity,
    threshold,
    variance_between,
)
from diagnosed import panel
from scipy import stats
from simulated_assessors import TEAMS, Study, dense, of_papers, simulate
from sklearn.metrics import cohen_kappa_score


def by_query(one: Panel, values: np.ndarray) -> np.ndarray:
    """The mean of each query, values at nan left out."""
    return np.array([np.nanmean(values[one.query == q]) for q in np.unique(one.query)])


def test_severity_and_thresholds_are_scipys_t_tests_of_query_means() -> None:
    one, _ = simulate(Study("all", None, 3.0, queries=12), 1)
    compared = SharedPairs(one, without=())
    grades = dense(one).astype(float)
    for found, values in ((severity(compared), grades), (threshold(compared, 2), (grades >= 2).astype(float))):
        for a in range(4):
            means = by_query(one, values[:, a] - np.delete(values, a, axis=1).mean(axis=1))
            theirs = stats.ttest_1samp(means, 0.0)
            assert found.mean[a] == pytest.approx(means.mean())
            assert found.p[a] == pytest.approx(theirs.pvalue)
            interval = found.estimate(a, level=0.9, most=3.0, sign=1.0).interval
            assert (interval.low, interval.high) == pytest.approx(tuple(theirs.confidence_interval(0.9)))
            telling = int((abs(means) > 1e-12).sum())
            assert (found.n[a], found.telling[a]) == (12, telling)
            assert found.least[a] == pytest.approx(stats.binomtest(telling, telling).pvalue)


def of_facets(one: Panel) -> tuple[np.ndarray, np.ndarray]:
    """The query means of the differences of the first assessor, and the paper of each query."""
    grades = dense(one).astype(float)
    means = by_query(one, grades[:, 0] - np.delete(grades, 0, axis=1).mean(axis=1))
    first = [int(np.flatnonzero(one.query == query)[0]) for query in range(len(means))]
    return means, one.paper[first]


def test_papers_of_several_facets_are_the_sample_of_the_t_test() -> None:
    one, _ = simulate(Study("all", None, queries=24, facets=2, carried=0.3), 1)
    means, paper = of_facets(one)
    found = severity(SharedPairs(one, without=()))
    of_paper = np.array([means[paper == p].mean() for p in np.unique(paper)])
    theirs = stats.ttest_1samp(of_paper, 0.0)
    assert (found.n[0], found.units[0]) == (24, 12)
    assert found.mean[0] == pytest.approx(means.mean())
    assert found.p[0] == pytest.approx(theirs.pvalue)
    interval = found.estimate(0, level=0.95, most=3.0, sign=1.0).interval
    assert (interval.low, interval.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert interval.method == "clustered by 12 query papers, Student's t"


def test_papers_with_fewer_facets_keep_the_mean_over_queries_with_the_jackknife_over_papers() -> None:
    one, _ = simulate(Study("all", None, queries=of_papers(12, 3, fewer=True), facets=3, fewer=True, carried=0.3), 1)
    means, paper = of_facets(one)
    found = severity(SharedPairs(one, without=()))
    without = np.array([means[paper != p].mean() for p in np.unique(paper)])
    error = np.sqrt(11 / 12 * ((without - without.mean()) ** 2).sum())
    assert sorted(np.bincount(paper)) == [1] * 4 + [3] * 8
    assert (found.mean[0], found.error[0]) == pytest.approx((means.mean(), error))
    assert found.p[0] == pytest.approx(2 * stats.t.sf(abs(means.mean()) / error, 11))


def distances(grades: np.ndarray, couples: list[tuple[int, int]]) -> np.ndarray:
    """The mean distance of each pair's grades over the couples that both judged it, nan where there is none."""
    apart = [
        np.where((grades[:, [a, b]] < 0).any(axis=1), np.nan, abs(grades[:, a] - grades[:, b])) for a, b in couples
    ]
    counts = np.isfinite(apart).sum(axis=0)
    return np.where(counts > 0, np.nansum(apart, axis=0) / np.maximum(counts, 1), np.nan)


@pytest.mark.parametrize("design", ["all", "per-pair"])
def test_noise_is_the_distance_to_others_less_that_between_them_in_the_same_query(design: str) -> None:
    one, _ = simulate(Study(design, None, 3.0, queries=12), 2)
    grades = dense(one)
    found = noise(SharedPairs(one, without=()))
    for a in range(4):
        mine = by_query(one, distances(grades, [team for team in TEAMS if a in team]))
        theirs = by_query(one, distances(grades, [team for team in TEAMS if a not in team]))
        test = stats.ttest_1samp(mine - theirs, 0.0, alternative="greater")
        assert found.mean[a] == pytest.approx((mine - theirs).mean())
        assert found.p[a] == pytest.approx(test.pvalue)


def test_noise_of_teams_that_judge_whole_queries_is_welchs_test_between_queries() -> None:
    one, _ = simulate(Study("per-query", None, 3.0, queries=24), 2)
    found = noise(SharedPairs(one, without=()))
    apart = by_query(one, distances(dense(one), TEAMS))
    for a in range(4):
        mine = np.array([a in TEAMS[q % len(TEAMS)] for q in range(24)])
        test = stats.ttest_ind(apart[mine], apart[~mine], equal_var=False, alternative="greater")
        assert (found.n[a], found.p[a]) == (12, pytest.approx(test.pvalue))
        # Twelve papers that all point one way, two-sided.
        assert found.least[a] == pytest.approx(2 * 0.5**12)
        assert found.freedom[a] == pytest.approx(test.df)


def both_tests(groups: list[np.ndarray], units: np.ndarray | None = None) -> tuple:
    """Welch's test of the first two groups, and the analysis of variance of all; each value a unit of its own."""
    values, group = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    units = np.arange(len(values)) if units is None else units
    two = group < 2
    return higher(values[two], group[two] == 1, units[two]), variance_between(values, group, units)


def test_queries_of_one_paper_that_say_the_same_count_as_one() -> None:
    rng = np.random.default_rng(6)
    groups = [rng.normal(size=n) for n in (7, 4, 9)]
    papers = np.repeat(np.arange(20), 3)
    for once, thrice in zip(both_tests(groups), both_tests([np.repeat(one, 3) for one in groups], papers), strict=True):
        assert tuple(thrice) == pytest.approx(tuple(once))


def test_papers_with_queries_on_both_sides_are_compared_within() -> None:
    """Papers differ by far more than the facets: the paired t-test of scipy sees it, Welch's does not."""
    rng = np.random.default_rng(7)
    paper = rng.normal(0, 5, 9)
    first, second = paper + rng.normal(1.0, 0.3, 9), paper + rng.normal(0, 0.3, 9)
    units = np.concatenate([np.arange(9), np.arange(9)])
    test, between = both_tests([first, second], units)
    theirs = stats.ttest_rel(first, second, alternative="greater")
    assert (test.difference / test.error, test.freedom) == pytest.approx((theirs.statistic, 8))
    assert test.p == pytest.approx(theirs.pvalue)
    assert test.least == pytest.approx(2.0**-9)
    assert between.p < 0.001 < 0.2 < both_tests([first, second])[0].p


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
    assert higher(values, group == 1, np.arange(4)) is not None
    assert variance_between(values, group, np.array([0, 2, 1, 1])) is not None


def test_the_least_p_value_is_at_most_one() -> None:
    """A paper in the second and the third group can be put in two ways, and three groups be named in six."""
    values, group = np.array([1.0, 2.0, 4.0, 3.0, 9.0]), np.array([0, 0, 0, 1, 2])
    found = variance_between(values, group, np.array([0, 1, 2, 3, 3]))
    assert found is not None
    assert found.least == 1.0


LEVEL = 0.95


def test_interval_over_equal_queries_is_the_t_interval_of_their_means(study: Panel) -> None:
    one = against_final(study, level=LEVEL)[0]
    difference = (dense(study)[:, 0] - study.final)[study.final >= 0]
    queries = np.array(study.query_ids)[study.final >= 0]
    means = [difference[queries == name].mean() for name in sorted(set(queries))]
    low, high = stats.t.interval(LEVEL, len(means) - 1, np.mean(means), stats.sem(means))
    assert (one.bias.interval.low, one.bias.interval.high) == pytest.approx((low, high))


def test_severity_is_the_t_interval_of_query_means_of_the_difference_to_the_others(study: Panel) -> None:
    grades = np.where(dense(study) < 0, np.nan, dense(study))
    queries = np.array(study.query_ids)
    for a, one in enumerate(severities(study, level=LEVEL)):
        difference = np.nanmean(np.delete(grades, a, axis=1), axis=1) - grades[:, a]
        means = [np.nanmean(difference[queries == name]) for name in sorted(set(queries))]
        assert one.severity.value == pytest.approx(np.mean(means))
        low, high = stats.t.interval(LEVEL, len(means) - 1, np.mean(means), stats.sem(means))
        assert (one.severity.interval.low, one.severity.interval.high) == pytest.approx((low, high))
        assert (one.n, len(one.partners)) == (int(np.isfinite(grades[:, a]).sum()), 2)


def test_interval_of_kappa_is_the_jackknife_over_queries(study: Panel) -> None:
    one = pairwise_matrix(study, level=LEVEL)[0]
    x, y = dense(study)[:, 0], dense(study)[:, 1]
    queries = np.array(study.query_ids)
    without = [
        cohen_kappa_score(x[queries != name], y[queries != name], weights="quadratic") for name in sorted(set(queries))
    ]
    # On the scale of Fisher's z, where a coefficient has no ends.
    pseudo = 6 * np.arctanh(one.coefficient) - 5 * np.arctanh(without)
    half = stats.t.ppf(0.975, 5) * stats.sem(pseudo)
    found = one.coefficient_interval
    ends = np.tanh(np.arctanh(one.coefficient) + half * np.array([-1, 1]))
    assert (found.low, found.high) == pytest.approx(tuple(ends))
