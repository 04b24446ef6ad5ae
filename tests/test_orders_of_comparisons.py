"""How many arrangements the tests of runs count or draw, read from the least p-value that they can have."""

import math

import numpy as np
import pytest
from annot.base.stats.inference import jackknife_interval
from annot.base.stats.values import Interval
from annot.measuring.evaluation.comparisons import ComparedTopics, RunComparison, compare_runs
from annot.measuring.evaluation.evaluated import average_of


def always_ahead(papers: int) -> RunComparison:
    """One run is ahead of another on every paper, by a little more or less."""
    lead = np.linspace(0.2, 0.3, papers)[:, None]
    sums = {"a": 0.3 + lead, "b": np.full((papers, 1), 0.3)}
    on = ComparedTopics(np.ones((papers, 1)), None, "query paper", level=0.95, seed=1)
    ((found,), _) = compare_runs("m", sums, on, convention="trec", measure="AP")
    return found


def test_twenty_papers_are_counted_and_of_more_a_hundred_thousand_orders_are_drawn() -> None:
    assert always_ahead(20).p_value == 2 / 2**20
    assert always_ahead(21).p_value == 1 / 100_001


def test_the_test_that_decides_counts_fifteen_papers_and_draws_twenty_thousand_orders_of_more() -> None:
    assert always_ahead(15).p_corrected == 2 / 2**15
    assert always_ahead(16).p_corrected == 1 / 20_001


def test_tukeys_test_draws_ten_thousand_orders() -> None:
    assert always_ahead(30).p_tukey == pytest.approx(1 / 10_001)


def test_two_papers_have_a_spread() -> None:
    assert always_ahead(2).effect == pytest.approx(0.25 / (0.1 / math.sqrt(2)))


def test_a_lead_over_chance_is_between_minus_one_and_one() -> None:
    ahead = np.array([0.25, 0.3, 0.35, -0.3])
    names = [f"q{at}" for at in range(4)]
    average = average_of(set(names), "m", {}, None, "plain")
    sums = average.sums(dict(zip(names, ahead.tolist(), strict=True)))
    topics = ComparedTopics(average.sizes(), None, average.unit, level=0.95, seed=1)
    p_value = topics.p_over_chance({"run": sums})["run"]
    found = topics.interval_beside_test(sums, np.zeros((4, 1)), p_value=p_value, holds=False)
    expected = jackknife_interval(ahead.mean(), (ahead.sum() - ahead) / 3, level=0.95, least=-1.0, most=1.0)
    assert isinstance(found, Interval)
    assert isinstance(expected, Interval)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
