"""Topics for a wished difference between two runs: by scipy's noncentral t, and by the spread of a pilot."""

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.evaluation.comparisons import ComparedTopics, compare_runs
from annot.measuring.forecast.design import TopicSetSize, topic_set_size
from scipy import stats


def pilot(topics: int, spread: float, runs: int = 2):
    """Runs of which each two differ by .2 on average, with this standard deviation."""
    rng = np.random.default_rng(topics)
    lead = stats.zscore(rng.standard_normal(topics), ddof=1) * spread + 0.2
    sums = {f"r{at}": (0.5 + at * lead)[:, None] for at in range(runs)}
    on = ComparedTopics(np.ones((topics, 1)), None, "query", level=0.95, seed=1)
    return compare_runs("together", sums, on, convention="trec", measure="nDCG")


def power(n: int, effect: float, alpha: float) -> float:
    critical = stats.t.ppf(1 - alpha / 2, n - 1)
    return float(stats.nct.sf(critical, n - 1, effect * np.sqrt(n)))


@pytest.mark.parametrize("difference", [0.03, 0.05, 0.15])
def test_the_topics_needed_find_the_difference_with_80_percent_power_and_one_less_do_not(difference: float) -> None:
    comparisons, verdict = pilot(20, 0.2)
    found = topic_set_size(comparisons, verdict, topics=50, difference=difference, level=0.95)
    assert isinstance(found, TopicSetSize)
    assert verdict.critical is not None
    alpha = 2 * stats.t.sf(verdict.critical, 19)
    # One pair of runs is not corrected; the test by signs is nearly that of Student.
    assert alpha == pytest.approx(0.05, abs=0.012)
    assert found.spread.value == pytest.approx(0.2)
    assert isinstance(found.needed.value, float | int)
    n = int(found.needed.value)
    assert power(n, difference / 0.2, alpha) >= 0.8 > power(n - 1, difference / 0.2, alpha)
    assert isinstance(found.shown.value, float)
    assert power(50, found.shown.value / 0.2, alpha) == pytest.approx(0.8, abs=1e-4)


def test_the_spread_has_the_interval_of_chi_square_and_more_runs_need_more_topics() -> None:
    two, three = (topic_set_size(*pilot(20, 0.2, runs), topics=50, difference=0.05, level=0.95) for runs in (2, 3))
    assert isinstance(two, TopicSetSize)
    assert isinstance(three, TopicSetSize)
    ends = [0.2 * np.sqrt(19 / stats.chi2.ppf(tail, 19)) for tail in (0.975, 0.025)]
    assert isinstance(two.spread.interval, Interval)
    assert [two.spread.interval.low, two.spread.interval.high] == pytest.approx(ends)
    assert (two.pairs, three.pairs) == (1, 3)
    assert isinstance(two.needed.interval, Interval)
    assert two.needed.interval.low < two.needed.value < two.needed.interval.high  # type: ignore[operator]


def test_a_small_pilot_is_corrected_by_bonferroni_and_five_topics_show_nothing() -> None:
    comparisons, verdict = pilot(4, 0.2)
    assert verdict.critical is None
    found = topic_set_size(comparisons, verdict, topics=5, difference=0.2, level=0.95)
    assert isinstance(found, TopicSetSize)
    assert isinstance(found.shown.value, Undefined)
    # G*Power 3.1: an effect of 1 at 5%, two tails, takes 10 pairs.
    assert found.needed.value == 10


def test_a_number_beyond_all_reason_is_not_given() -> None:
    found = topic_set_size(*pilot(6, 0.3), topics=9, difference=0.0005, level=0.95)
    assert isinstance(found, TopicSetSize)
    assert found.needed.value == Undefined("more than 100,000 may be needed")


def test_a_pilot_without_spread_is_not_known() -> None:
    comparisons, verdict = pilot(6, 0.0)
    assert isinstance(topic_set_size(comparisons, verdict, topics=9, difference=0.1, level=0.95), Undefined)
