"""The intervals of a difference and of its effect never contradict the test that is printed next to them."""

import numpy as np
import pytest
from annot.base.stats.inference import Reach, interval_of_difference
from annot.base.stats.values import Interval
from annot.measuring.evaluation import comparisons
from annot.measuring.evaluation.comparisons import ALPHA, RunComparison, compare_runs

REACH = Reach(1.0, 0.5)


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "TUKEY_PERMUTATIONS", 9)
    monkeypatch.setattr(comparisons, "MAX_T_PERMUTATIONS", 2_048)


def compared(values: np.ndarray, *, level: float = 0.95) -> tuple[RunComparison, ...]:
    """values: shape (runs, topics)."""
    sums = {f"run{at}": of_run[:, None] for at, of_run in enumerate(values)}
    sizes = np.ones((values.shape[1], 1))
    on = comparisons.ComparedTopics(sizes, REACH, "query", level=level, seed=3)
    return compare_runs("all", sums, on, convention="trec", measure="AP")[0]


def rarely_found(rng: np.random.Generator, topics: int) -> np.ndarray:
    """Three runs on topics with one relevant document: 1 / rank; the first run is better than the others."""
    ranks = np.exp(rng.gamma(1.5, 1.0, (3, topics)) * np.array([[0.5], [1.5], [1.5]]))
    return 1 / np.ceil(ranks)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("topics", [6, 14])
def test_an_interval_contains_nothing_where_and_only_where_the_test_of_the_pair_finds_no_difference(
    topics: int, level: float
) -> None:
    rng, against = np.random.default_rng(topics), 0
    for _ in range(60):
        values = rarely_found(rng, topics)
        for pair in compared(values, level=level):
            if not isinstance(pair.interval, Interval):
                continue
            low, high = pair.interval.low, pair.interval.high
            assert low <= pair.difference <= high
            assert (low <= 0 <= high) is (pair.p_value > round(1 - level, 12))
            assert not (pair.holds and low <= 0 <= high)
            assert isinstance(pair.effect_interval, Interval)
            assert isinstance(pair.effect, float)
            assert pair.effect_interval.low <= pair.effect <= pair.effect_interval.high
            assert (pair.effect_interval.low <= 0 <= pair.effect_interval.high) is (low <= 0 <= high)
            a, b = (values[int(run[3:])][:, None] for run in (pair.run_a, pair.run_b))
            alone = interval_of_difference(a, b, np.ones((topics, 1)), REACH, level=level, unit="query")
            assert isinstance(alone, Interval)
            against += (alone.low <= 0 <= alone.high) is not (low <= 0 <= high)
    # Otherwise nothing was tested.
    assert against > 0


def test_an_interval_that_would_contain_nothing_against_the_test_begins_where_the_test_begins_to_reject() -> None:
    """Ahead on all of six topics, and by much on one: 2 of 64 arrangements of signs are as far from 0.

    Up to a lead of 1 point, which is the smallest difference, this is so; above it, four arrangements are.
    """
    leads = [0.01, 0.02, 0.03, 0.02, 0.02, 0.9]
    (pair,) = compared(np.array([leads, [0.0] * 6]))
    assert pair.p_value == 2 / 64 <= ALPHA
    assert pair.holds
    assert isinstance(pair.interval, Interval)
    assert pair.interval.low == pytest.approx(0.01, abs=1e-5)
    # By the noncentral t, the effect's interval would contain 0: t is 1.1.
    assert isinstance(pair.effect_interval, Interval)
    assert pair.effect_interval.low == pytest.approx(0.01 / np.std(leads, ddof=1), rel=1e-3)
