"""Intervals of few topics: against topics that are added by hand, SciPy, and collections whose true means are known."""

import numpy as np
import pytest
from annot.base.stats.inference import (
    PSEUDO_DOCUMENTS,
    Reach,
    differing_share,
    ends_of_mean,
    half_of_difference,
    interval_of_difference,
    interval_of_mean,
    ratio_interval,
)
from annot.base.stats.values import Interval, Undefined
from scipy import optimize, stats

LEVEL = 0.95
VALUES = np.array([0.02, 0.5, 0.01, 0.05, 1.0, 0.03, 0.2])


def of_mean(values: np.ndarray, reach: Reach) -> Interval:
    interval = interval_of_mean(values[:, None], np.ones((len(values), 1)), reach, level=LEVEL, unit="topic")
    assert isinstance(interval, Interval)
    return interval


def of_difference(a: np.ndarray, b: np.ndarray, reach: Reach) -> Interval | Undefined:
    return interval_of_difference(a[:, None], b[:, None], np.ones((len(a), 1)), reach, level=LEVEL, unit="topic")


@pytest.mark.parametrize("highest", [1.0, 0.6])
def test_the_ends_of_a_mean_are_the_means_that_a_score_test_of_all_topics_just_allows(highest: float) -> None:
    """With one whole topic at each end: these two are added by hand, and each end is looked for as a root."""
    topics = np.array([*VALUES * highest, 0.0, highest])
    mean, variance = topics.mean(), topics.var(ddof=1) / len(topics)
    t = stats.t.ppf(0.975, len(VALUES) - 1)

    def score(true: float) -> float:
        return float((mean - true) ** 2 - t**2 * variance * true * (1 - true) / (mean * (1 - mean)))

    interval = of_mean(VALUES * highest, Reach(highest, 1 / PSEUDO_DOCUMENTS))
    expected = (optimize.brentq(score, 0, mean), optimize.brentq(score, mean, 1))
    assert (interval.low, interval.high) == pytest.approx(expected)


def test_a_topic_of_twenty_relevant_documents_adds_a_twentieth_of_a_topic_of_one() -> None:
    assert Reach(1.0, 1 / 20).weight == pytest.approx(Reach(1.0, 1.0).weight / 20)


def test_half_of_a_difference_is_that_of_students_t_without_topics_that_are_added() -> None:
    a, b = VALUES, VALUES[::-1]
    half = half_of_difference(a - b, differing_share(a, b), np.array(1.0), np.array(0.0), level=LEVEL)
    ends = stats.ttest_1samp(a - b, 0).confidence_interval(LEVEL)
    assert 2 * float(half) == pytest.approx(ends.high - ends.low)


def test_near_copies_keep_a_narrow_interval_and_other_runs_with_the_same_differences_do_not() -> None:
    a = np.array([0.5, 0.6, 0.4, 0.55, 0.7, 0.45])
    gaps = np.array([0.01, 0, 0, -0.01, 0.01, 0])
    copies = of_difference(a, a - gaps, Reach(1.0, 0.5))
    weak = of_difference(0.02 + gaps, np.full(6, 0.02), Reach(1.0, 0.5))
    by_t = stats.ttest_1samp(gaps, 0).confidence_interval(LEVEL)
    assert isinstance(copies, Interval)
    assert isinstance(weak, Interval)
    assert copies.high - copies.low < 1.2 * (by_t.high - by_t.low)
    assert weak.high - weak.low > 5 * (by_t.high - by_t.low)


def test_a_run_that_is_perfect_on_all_topics_has_an_interval_and_one_without_relevant_documents_has_none() -> None:
    perfect = of_mean(np.ones(6), Reach(1.0, 1.0))
    assert 0.4 < perfect.low < perfect.high == 1
    nothing = interval_of_mean(np.zeros((6, 1)), np.ones((6, 1)), Reach(0.0, 1.0), level=LEVEL, unit="topic")
    assert nothing == Undefined("the mean is not between 0 and 1")


def test_runs_with_equal_values_on_all_topics_have_no_interval() -> None:
    same = of_difference(VALUES, VALUES, Reach(1.0, 1.0))
    assert isinstance(same, Undefined)
    assert same.reason == "leaving out any topic does not change it, so how it varies over topics is not known"


def test_three_topics_have_no_interval_and_an_unknown_reach_has_that_of_the_jackknife() -> None:
    sums, sizes = VALUES[:, None], np.ones((7, 1))
    few = interval_of_mean(sums[:3], sizes[:3], Reach(1.0, 1.0), level=LEVEL, unit="topic")
    assert few == Undefined("3 topics: an interval over topics needs 4")
    assert interval_of_mean(sums, sizes, None, level=LEVEL, unit="topic") == ratio_interval(
        sums, sizes, level=LEVEL, unit="topic"
    )


@pytest.mark.parametrize("topics", [6, 10, 25])
def test_intervals_hold_where_each_topic_has_one_relevant_document_that_is_rarely_found(topics: int) -> None:
    """Its rank is any of 1 to 100 and a run's measure 1 / rank, so the true mean is that of these fractions.

    Without the topics that are added, the interval contains it in fewer than 80 of 100 studies of 10 topics.
    """
    fractions = 1 / np.arange(1, 101)
    drawn = np.random.default_rng(topics).choice(fractions, (4000, topics))
    low, high = ends_of_mean(drawn, np.array(1.0), np.array(Reach(1.0, 1.0).weight), level=LEVEL)
    assert np.mean((low <= fractions.mean()) & (fractions.mean() <= high)) > 0.92
    bare_low, bare_high = ends_of_mean(drawn, np.array(1.0), np.array(0.0), level=LEVEL)
    assert topics > 10 or np.mean((bare_low <= fractions.mean()) & (fractions.mean() <= bare_high)) < 0.8


@pytest.mark.parametrize("topics", [10, 25])
def test_intervals_hold_where_one_topic_in_three_allows_more_than_others_and_is_rarely_done_well(topics: int) -> None:
    """P@20 on topics with one relevant document, and on some with a burst of 16 near-duplicates that is found or not.

    The best order has 1/20 or 16/20; a run finds the document on a third of the topics, the burst on a sixth of those
    that have one. If the range ends at the mean of the best orders, intervals hold in fewer than 92 of 100 studies.
    """
    rng = np.random.default_rng(topics)
    best = np.where(rng.random((4000, topics)) < 1 / 3, 16, 1) / 20
    drawn = best * (rng.random(best.shape) < np.where(best > 0.5, 1 / 6, 1 / 3))
    truth = (16 / 3 / 6 + 2 / 3 / 3) / 20
    weight = PSEUDO_DOCUMENTS * np.mean(np.where(best > 0.5, 1 / 16, 1), axis=1)

    def held(end: np.ndarray) -> float:
        low, high = ends_of_mean(drawn, end, weight, level=LEVEL)
        return float(np.mean((low <= truth) & (truth <= high)))

    assert held(best.max(axis=1)) > 0.92
    assert held(best.mean(axis=1)) < 0.92
