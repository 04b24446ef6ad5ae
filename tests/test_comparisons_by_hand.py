"""Few runs on few papers compared, each figure by hand or by SciPy; which runs a verdict names."""

import math

import numpy as np
import pytest
from annot.base.stats.inference import effect_interval, max_t_tests
from annot.base.stats.values import Interval, Undefined
from annot.measuring.evaluation import comparisons
from annot.measuring.evaluation.comparisons import (
    FEWEST_PAPERS,
    RunComparison,
    Score,
    Verdict,
    alike,
    compare_runs,
    restated_scores,
)
from scipy import optimize, stats

BASE = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.7])
LEAD = np.array([0.1, 0.2, 0.1, 0.3, 0.1, 0.2])


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tests that draw; six papers have 64 arrangements, and are counted."""
    monkeypatch.setattr(comparisons, "TUKEY_PERMUTATIONS", 999)


def compared(
    values: dict[str, np.ndarray], sizes: np.ndarray | None = None
) -> tuple[tuple[RunComparison, ...], Verdict]:
    """values: by run, of each paper, or its sums in each fold."""
    sums = {run: of.reshape(len(of), -1) for run, of in values.items()}
    sizes = np.ones((len(next(iter(sums.values()))), 1)) if sizes is None else sizes
    on = comparisons.ComparedTopics(sizes, None, "query paper", level=0.95, seed=1)
    return compare_runs("m", sums, on, convention="trec", measure="AP")


def test_two_runs_on_six_papers() -> None:
    (one,), verdict = compared({"a": BASE - LEAD, "b": BASE})
    assert (one.facet, one.run_a, one.run_b, one.convention, one.measure) == ("m", "b", "a", "trec", "AP")
    assert one.difference == pytest.approx(LEAD.mean())
    # Two of 64 arrangements of signs are as far out.
    assert one.p_value == one.p_corrected == one.p_holm == 2 / 64
    assert one.holds
    assert one.p_tukey == pytest.approx(2 / 64, abs=0.03)
    scipys = stats.ttest_1samp(LEAD, 0)
    assert one.p_t == pytest.approx(scipys.pvalue)
    assert one.effect == pytest.approx(LEAD.mean() / LEAD.std(ddof=1))
    assert isinstance(one.interval, Interval)
    by_t = scipys.confidence_interval()
    assert (one.interval.low, one.interval.high) == pytest.approx((by_t.low, by_t.high), abs=0.01)
    assert (verdict.best, verdict.worse, verdict.behind, verdict.as_good) == ("b", ("a",), (), ())
    assert (verdict.facet, verdict.papers, verdict.pairs, verdict.smallest_p) == ("m", 6, 1, 2 / 64)


def test_a_difference_may_be_negative_by_its_interval() -> None:
    """About no difference, both ends are as far away."""
    (one,), _ = compared({"a": BASE, "b": BASE + np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1])})
    assert isinstance(one.interval, Interval)
    assert one.interval.low == pytest.approx(-one.interval.high)
    assert one.interval.low < -0.1
    assert one.difference == 0.0
    assert (one.run_a, one.run_b) == ("a", "b")


def test_the_detectable_difference_is_that_of_the_noncentral_t() -> None:
    """Of the median error of three pairs, with a chance of 80%."""
    runs = {"a": BASE, "b": BASE - LEAD, "c": BASE[::-1] / 2}
    differences = np.array([runs["a"] - runs["b"], runs["a"] - runs["c"], runs["b"] - runs["c"]])
    critical = max_t_tests(differences, alpha=0.05, permutations=20_000, seed=1).critical
    error = np.median(differences.std(axis=1, ddof=1)) / math.sqrt(6)
    shift = optimize.brentq(lambda nc: stats.nct.sf(critical, 5, nc) - 0.8, 0, 40)
    assert compared(runs)[1].detectable == pytest.approx(error * shift, rel=1e-4)


def test_copies_of_a_run_tell_nothing_of_the_detectable_difference() -> None:
    """Four copies make six of ten differences 0, whose median is 0: no study shows a difference of 0."""
    copies = {f"copy {at}": BASE for at in range(4)}
    differences = np.array([*[np.zeros(6)] * 6, *[LEAD] * 4])
    critical = max_t_tests(differences, alpha=0.05, permutations=20_000, seed=1).critical
    shift = optimize.brentq(lambda nc: stats.nct.sf(critical, 5, nc) - 0.8, 0, 40)
    found = compared({**copies, "worse": BASE - LEAD})[1].detectable
    assert found == pytest.approx(shift * LEAD.std(ddof=1) / math.sqrt(6), rel=1e-4)
    assert compared(copies)[1].detectable is None


def test_the_mean_is_that_of_the_folds_means() -> None:
    """Paper 1 has two queries in the first fold; papers 2 and 3 one each in the second."""
    sizes = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    first = np.array([[1.6, 0.0], [0.0, 0.5], [0.0, 0.1]])
    second = np.array([[0.8, 0.0], [0.0, 0.3], [0.0, 0.2]])
    (one,), verdict = compared({"x": first, "y": second}, sizes)
    assert one.difference == pytest.approx((0.8 + 0.3) / 2 - (0.4 + 0.25) / 2)
    assert verdict.papers == 3
    # Their parts of the difference, times three: 0.2, 0.05 and -0.025 of each.
    parts = 3 * np.array([0.2, 0.05, -0.025])
    assert one.effect == pytest.approx(parts.mean() / parts.std(ddof=1))
    assert one.p_t == pytest.approx(stats.ttest_1samp(parts, 0).pvalue)


def test_six_papers_are_the_fewest_on_which_a_difference_can_hold() -> None:
    assert 2.0 ** (1 - FEWEST_PAPERS) <= 0.05 < 2.0 ** (2 - FEWEST_PAPERS)


def test_of_five_papers_a_run_may_be_behind_and_another_as_good() -> None:
    base = BASE[:5]
    runs = {"best": base, "behind": base - LEAD[:5], "even": base + np.array([0.1, -0.1, 0.05, -0.1, 0.0])}
    found, verdict = compared(runs)
    assert not any(one.holds for one in found)
    assert verdict.smallest_p == 2 / 32
    assert (verdict.best, verdict.worse, verdict.behind, verdict.as_good) == ("best", (), ("behind",), ("even",))
    assert verdict.detectable is None
    assert verdict.pairs == 3


@pytest.mark.parametrize("papers", [1, 2, 5])
def test_a_difference_that_is_the_same_everywhere_has_no_effect_size(papers: int) -> None:
    (one,), verdict = compared({"a": np.full(papers, 0.5), "b": np.full(papers, 0.25)})
    assert (one.difference, one.p_t, one.effect) == (0.25, alike("query paper"), alike("query paper"))
    assert isinstance(one.interval, Undefined)
    assert not one.holds
    assert (verdict.papers, verdict.behind, verdict.as_good) == (papers, (), ("b",))


def test_scores_before_and_now_have_their_places() -> None:
    before = {"m": {"a": 0.5, "b": 0.5, "c": 0.4, "late": 0.1}}
    now = {"m": {"a": 0.3, "b": 0.4, "c": 0.4, "new": 0.9}, "other": {"a": 1.0}}
    assert restated_scores([before], now) == (
        Score("m", "b", (0.5, 0.4), (1, 1)),
        Score("m", "c", (0.4, 0.4), (3, 1)),
        Score("m", "a", (0.5, 0.3), (1, 3)),
    )
    assert restated_scores([], {"m": {"a": 0.3}}) == (Score("m", "a", (0.3,), (1,)),)


@pytest.mark.parametrize(("effect", "n"), [(0.5, 16), (-0.2, 8), (4.0, 6), (0.0, 100)])
def test_the_interval_of_an_effect_has_as_much_of_the_noncentral_t_in_either_tail(effect: float, n: int) -> None:
    found = effect_interval(effect, n, level=0.9, unit="query")
    t = effect * math.sqrt(n)
    assert stats.nct.sf(t, n - 1, found.low * math.sqrt(n)) == pytest.approx(0.05, abs=1e-6)
    assert stats.nct.cdf(t, n - 1, found.high * math.sqrt(n)) == pytest.approx(0.05, abs=1e-6)
    assert found.low < effect < found.high
