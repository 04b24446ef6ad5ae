"""Numbers of topics and least differences: Cohen's table, scipy's noncentral t, and studies that are drawn."""

import numpy as np
import pytest
from annot.base.stats.inference import POWER, least_effect, power_of, units_needed
from scipy import stats


@pytest.mark.parametrize(
    ("effect", "alpha", "n"),
    # G*Power 3.1, t tests, difference between two dependent means, two tails, power 0.8.
    [(0.2, 0.05, 199), (0.5, 0.05, 34), (0.8, 0.05, 15), (1.0, 0.05, 10), (0.5, 0.01, 51)],
)
def test_the_number_of_units_is_that_of_known_tables(effect: float, alpha: float, n: int) -> None:
    assert units_needed(effect, alpha=alpha) == n


@pytest.mark.parametrize("effect", [0.07, 0.3, 0.66, 1.7])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_one_unit_less_would_not_do(effect: float, alpha: float) -> None:
    n = units_needed(effect, alpha=alpha)
    assert n is not None

    def power(units: int) -> float:
        critical, shift = stats.t.ppf(1 - alpha / 2, units - 1), effect * np.sqrt(units)
        return float(stats.nct.sf(critical, units - 1, shift) + stats.nct.cdf(-critical, units - 1, shift))

    assert power(n) >= POWER > power(n - 1)
    critical = float(stats.t.ppf(1 - alpha / 2, n - 1))
    assert power_of(n, effect, critical=critical) == pytest.approx(power(n))
    assert least_effect(n, critical=critical) <= effect < least_effect(n - 1, critical=critical) * 1.2


def test_a_study_of_so_many_topics_finds_the_difference_in_80_of_100() -> None:
    rng = np.random.default_rng(8)
    n = units_needed(0.6, alpha=0.05)
    studies = 0.6 + rng.standard_normal((20_000, n or 0))
    found = stats.ttest_1samp(studies, 0, axis=1).pvalue <= 0.05
    assert 0.79 <= found.mean() <= 0.83


def test_no_number_is_enough_for_no_effect_and_two_are_the_least() -> None:
    assert units_needed(0.0, alpha=0.05) is None
    assert units_needed(1e6, alpha=0.05) == 2
    assert units_needed(1e6, alpha=0.05, fewest=6) == 6
    assert power_of(6, [0.0], critical=float(stats.t.ppf(0.975, 5))) == pytest.approx(0.05)
