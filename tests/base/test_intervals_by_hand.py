"""Intervals over queries and papers: solved by hand, by brute force, from their definitions, or refused."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from annot.base.stats.inference import (
    clusters_of,
    fences,
    fewest_for_median,
    jackknife_interval,
    mean_by_queries,
    mean_interval,
    median_interval,
    median_of_clusters,
    parts_of_mean,
    ratio_interval,
    share,
    share_of_counts,
    too_few,
    winsorised,
)
from annot.base.stats.values import Interval, Share, Undefined, rounded, significant, to_json
from scipy import stats


def ends(found: Interval | Undefined) -> tuple[float, float]:
    assert isinstance(found, Interval), found
    return found.low, found.high


def test_units_of_chance_are_the_papers_where_several_queries_are_of_one() -> None:
    queries, papers = ["b-x", "a-x", "b-y"], ["b", "a", "b"]
    found = clusters_of(queries, papers)
    assert (found.of.tolist(), found.n, found.unit) == ([1, 0, 1], 2, "query paper")
    assert found.summed(np.array([1.0, 2, 4])).tolist() == [2, 5]
    assert found.summed(np.array([[1.0, 0], [2, 1], [4, 0]])).tolist() == [[2, 1], [5, 0]]
    own = clusters_of(queries, ["p", "q", "r"])
    assert (own.of.tolist(), own.n, own.unit) == ([1, 0, 2], 3, "query")
    assert clusters_of(queries, None).unit == "query"


def is_wilsons(of: Share, *, worth: float, units: int) -> None:
    """Both ends lie t standard errors of their own from the share: Wilson's definition."""
    t = float(stats.t.ppf(0.975, units - 1))
    assert isinstance(of.value, float)
    for end in ends(of.interval):
        if 0 < end < 1:
            assert (of.value - end) ** 2 == pytest.approx(t * t * end * (1 - end) / worth)


def test_a_share_of_independent_observations_is_worth_their_number() -> None:
    found = share([1, 1, 1, *[0] * 7], range(10), level=0.95)
    assert (found.count, found.of, found.value) == (3, 10, 0.3)
    is_wilsons(found, worth=10, units=10)
    low, high = ends(found.interval)
    assert low < 0.3 < high


def test_a_share_of_units_that_are_each_alike_is_worth_the_number_of_units() -> None:
    found = share([1] * 10 + [0] * 10, np.repeat(range(4), 5), level=0.95)
    is_wilsons(found, worth=4, units=4)
    assert isinstance(found.interval, Interval)
    assert found.interval.method == "Wilson, clustered by 4 queries"
    by_paper = share([1] * 10 + [0] * 10, range(20), level=0.95, topics=np.repeat(range(4), 5))
    assert isinstance(by_paper.interval, Interval)
    assert (by_paper.interval.low, by_paper.interval.high) == ends(found.interval)
    assert by_paper.interval.method == "Wilson, clustered by 4 query papers"


@pytest.mark.parametrize(("hits", "end"), [(1, 1.0), (0, 0.0)])
def test_where_all_or_none_are_hits_observations_count_as_independent(hits: int, end: float) -> None:
    found = share([hits] * 6, np.repeat(range(3), 2), level=0.95)
    is_wilsons(found, worth=6, units=3)
    assert end in ends(found.interval)


def test_observations_that_differ_more_within_units_than_between_are_worth_no_more_than_their_number() -> None:
    found = share([1, 0] * 4, np.repeat(range(4), 2), level=0.95)
    is_wilsons(found, worth=8, units=4)
    almost = share([1, 0, 1, 0, 1, 0, 0, 0], np.repeat(range(4), 2), level=0.95)
    is_wilsons(almost, worth=8, units=4)


def test_a_share_without_two_units_has_no_interval() -> None:
    one = share([1, 0], ["q", "q"], level=0.95)
    assert (one.value, one.interval) == (0.5, Undefined("one query: an interval over queries needs two"))
    assert share([], [], level=0.95) == Share(0, 0, *[Undefined("there is nothing to count")] * 2)
    assert isinstance(share([1, 0], ["q", "r"], level=0.95).interval, Interval)


def test_queries_of_which_nothing_was_counted_are_left_out_of_a_share() -> None:
    found = share_of_counts([1, 0, 2, 0], [2, 0, 2, 1], level=0.95, topics=["p", "p", "q", "q"])
    plain = share([1, 0, 1, 1, 0], ["a", "a", "b", "b", "c"], level=0.95, topics=["p", "p", "q", "q", "q"])
    assert found == plain
    assert (found.count, found.of) == (3, 5)


def test_an_interval_by_units_has_students_t_and_ends_at_the_range() -> None:
    values = 0.2 + 4 * np.array([0.1, 0.1, -0.2, 0.0])
    t = float(stats.t.ppf(0.95, 3))
    half = t * math.sqrt((0.01 + 0.01 + 0.04) * 4 / 3)
    found = mean_by_queries(values, range(4), level=0.9, most=9)
    assert found.value == pytest.approx(0.2)
    assert ends(found.interval) == pytest.approx((0.2 - half, 0.2 + half))
    assert ends(mean_by_queries(values, range(4), level=0.9, most=0.3).interval) == (-0.3, 0.3)
    few = mean_by_queries(values, range(4), level=0.9, most=1, topics=[1, 1, 2, 3])
    assert few.interval == Undefined("3 query papers: an interval over query papers needs 4")
    nothing = mean_by_queries(np.array([]), [], level=0.9, most=1)
    assert nothing.value == Undefined("no judgements")
    mean = mean_by_queries(np.array([0.0, 1, 2, 5]), range(4), level=0.95, most=9)
    assert mean.value == 2
    # With a query of each value it is the t interval of a mean.
    error = np.std([0, 1, 2, 5], ddof=1) / 2
    assert ends(mean.interval) == pytest.approx(stats.t.interval(0.95, 3, 2, error))


def test_the_jackknife_is_students_t_on_fishers_scale() -> None:
    values = np.array([0.2, 0.4, 0.6, 0.9])
    others = (values.sum() - values) / 3
    middle = math.atanh(2 * values.mean() - 1)
    left_out = np.arctanh(2 * others - 1)
    error = math.sqrt(3 / 4 * ((left_out - left_out.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, 3) * error
    expected = tuple((1 + math.tanh(end)) / 2 for end in (middle - half, middle + half))
    assert ends(jackknife_interval(0.525, others, level=0.95, least=0, most=1)) == pytest.approx(expected)
    assert ends(mean_interval(values, level=0.95, least=0, most=1)) == pytest.approx(expected)
    ratio = ratio_interval(values[:, None], np.ones((4, 1)), level=0.95, unit="query")
    assert ends(ratio) == pytest.approx(expected)
    doubled = np.repeat(values, 2)
    by_paper = mean_interval(doubled, level=0.95, least=0, most=1, topics=[*"aabbccdd"])
    assert ends(by_paper) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "without", "reason"),
    [
        (0.5, [0.5] * 3, "3 queries: an interval over queries needs 4"),
        (0.5, [0.5, 0.4, math.nan, 0.5], "without one of the queries, it has no value"),
        (1.0, [0.9] * 4, "the value is 1 or -1, on all queries or without one of them"),
        (0.5, [0.5, 0.5, -1.0, 0.5], "the value is 1 or -1, on all queries or without one of them"),
        (0.5, [0.5] * 4, "leaving out any query does not change it, so how it varies over queries is not known"),
    ],
)
def test_a_jackknife_that_says_nothing_is_undefined(value: float, without: list[float], reason: str) -> None:
    assert jackknife_interval(value, np.array(without), level=0.95) == Undefined(reason)


def test_the_parts_of_a_mean_have_its_mean() -> None:
    parts = parts_of_mean(np.array([[1.0, 2, 3, 6], [0, 0, 0, 4]]), ["b", "a", "b", "b"])
    assert parts.tolist() == [[2 / 2, 10 / 2], [0, 4 / 2]]
    assert parts.mean(axis=1).tolist() == [3, 1]


def test_few_units_are_said_in_words() -> None:
    assert too_few(1).reason == "1 query: an interval over queries needs 4"
    assert too_few(2, 6, "query paper").kind == "fewer than 6 query papers"


@pytest.mark.parametrize(("level", "fewest"), [(0.95, 6), (0.5, 2), (0.75, 3), (0.99, 8)])
def test_two_observations_hold_the_median_with_enough_units(level: float, fewest: int) -> None:
    assert fewest_for_median(level) == fewest
    assert 1 - 2 * 0.5**fewest >= level > 1 - 2 * 0.5 ** (fewest - 1)


def test_times_beyond_three_widths_of_their_logarithms_are_pulled_in() -> None:
    times = np.exp([0.0, 1, 2])
    low, high = fences(times, 2)
    assert (math.log(low), math.log(high)) == pytest.approx((1 - 2 * 1.4826, 1 + 2 * 1.4826))
    # Times that are all but equal may differ by a tenth a width.
    assert tuple(map(math.log, fences(np.ones(3), 3))) == pytest.approx((-0.3, 0.3))
    pulled = winsorised(np.exp([0.0, 0, 0, 1, -1]), fence=3)
    assert np.log(pulled).tolist() == pytest.approx([0, 0, 0, 0.3, -0.3])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.12345678904, 0.1234567890),
        (123456789012.0, 123456789000.0),
        (9e-13, 0.0),
        (2e-12, 2e-12),
        (-9e-13, 0.0),
        ((1 / 3, [2 / 3], {"a": 1e-13}), (0.3333333333, [0.6666666667], {"a": 0.0})),
        (Undefined("x"), Undefined("x")),
        (7, 7),
    ],
)
def test_figures_have_ten_digits_and_no_dust(value: Any, shown: Any) -> None:
    assert rounded(value) == shown


def test_a_result_in_json_has_reasons_and_no_nan() -> None:
    share_ = Share(1, 2, 0.5, Undefined("why"))
    assert to_json({"a": [share_], 1: (None, "x")}) == {
        "a": [{"count": 1, "of": 2, "value": 0.5, "interval": {"undefined": "why"}}],
        "1": [None, "x"],
    }
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="use Undefined, with a reason"):
            to_json([value])
    assert significant(0.99996, 2) == 1.0
    assert (Undefined("x").kind, Undefined("x", "y").kind) == ("x", "y")


def test_a_reason_is_the_same_whatever_it_has_in_general() -> None:
    one, other = Undefined("only 2 queries", "few queries"), Undefined("only 2 queries")
    assert one == other
    assert repr(one) == repr(other)
    assert one != Undefined("only 3 queries", "few queries")


@pytest.mark.parametrize(
    ("n", "level", "k", "held", "next_held"),
    [
        # The chance that the k-th of n from both ends hold the median: 1 - 2 * (binomial sum below k) / 2^n.
        (10, 0.95, 2, 1002 / 1024, 912 / 1024),
        (10, 1002 / 1024, 2, 1002 / 1024, 912 / 1024),
        (8, 0.5, 3, 182 / 256, 70 / 256),
        (7, 0.9, 1, 126 / 128, 112 / 128),
        (3, 0.5, 1, 6 / 8, 0.0),
        (4, 0.3, 2, 6 / 16, -6 / 16),
    ],
)
def test_the_ends_are_between_the_order_statistics_on_both_sides_of_the_level(
    n: int, level: float, k: int, held: float, next_held: float
) -> None:
    """Hettmansperger and Sheather 1986: I = (held - level) / (held - next); (n - k) I / (k + (n - 2k) I) inwards."""
    part = (held - level) / (held - next_held)
    inwards = (n - k) * part / (k + (n - 2 * k) * part)
    values = np.arange(1.0, n + 1) ** 2
    low = k**2 + inwards * ((k + 1) ** 2 - k**2)
    high = (n + 1 - k) ** 2 - inwards * ((n + 1 - k) ** 2 - (n - k) ** 2)
    assert ends(median_interval(np.flip(values), level=level)) == pytest.approx((low, high))


def lower_end(values: np.ndarray, papers: list[int], level: float) -> float:
    """From the lowest gap up, the sign test by every change of sign, until a gap is not rejected."""
    known = np.sort(values)
    flips = np.array(list(itertools.product((-1, 1), repeat=len(set(papers)))))

    def chance(gap: int) -> float:
        sums = np.array(
            [np.sign(values[np.equal(papers, paper)] - known[gap] + 1e-9).sum() for paper in sorted(set(papers))]
        )
        return float(np.mean(flips @ np.abs(sums) >= sums.sum()))

    missed = (1 - level) / 2
    kept = next(gap for gap in range(len(known)) if chance(gap) > missed)
    part = (missed - chance(kept - 1)) / (chance(kept) - chance(kept - 1))
    inwards = (len(known) - kept) * part / (kept + (len(known) - 2 * kept) * part)
    return float(known[kept - 1] + inwards * (known[kept] - known[kept - 1]))


PAPERS = [
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    [0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 4, 5, 6],
    [0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7],
    [0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7],
]


@pytest.mark.parametrize("papers", PAPERS)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("seed", range(3))
def test_over_papers_each_end_is_in_the_first_gap_that_the_sign_test_keeps(
    papers: list[int], level: float, seed: int
) -> None:
    values = np.random.default_rng(seed).normal(3, 1, len(papers)) + 0.3 * np.array(papers)
    expected = (lower_end(values, papers, level), -lower_end(-values, papers, level))
    found = median_of_clusters(values, clusters_of(range(len(papers)), papers), level=level)
    assert ends(found) == pytest.approx(expected)


def test_papers_whose_queries_cancel_out_say_nothing_of_the_median() -> None:
    """Below all values all 6 papers are above, 1 of 64; in the next gap the 5 that do not cancel out, 1 of 32."""
    values = np.array([-1.0, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6])
    part = (0.025 - 1 / 64) / (1 / 32 - 1 / 64)
    end = 6 - 11 * part / (1 + 10 * part)
    found = median_interval(values, level=0.95, topics=[str(at // 2) for at in range(12)])
    assert ends(found) == pytest.approx((-end, end))
