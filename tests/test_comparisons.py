"""Which run is best, held against planted truth: noise stays silent at the stated rate, a real lead is found."""

import numpy as np
import pytest
from annot.base.stats.inference import POWER
from annot.measuring.evaluation import comparisons
from annot.measuring.evaluation.comparisons import ALPHA, compare_runs
from scipy import optimize, stats


@pytest.fixture(autouse=True)
def few_permutations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tests of all runs at once; on Tukey's nothing here rests unless it is said."""
    monkeypatch.setattr(comparisons, "TUKEY_PERMUTATIONS", 99)
    monkeypatch.setattr(comparisons, "MAX_T_PERMUTATIONS", 2_048)


def compared(values: dict[str, np.ndarray]):
    """values: by run, shape (papers, facets): one query of each facet of each paper, all in one fold."""
    sums = {run: of_run.sum(axis=1, keepdims=True) for run, of_run in values.items()}
    papers, facets = next(iter(values.values())).shape
    sizes = np.full((papers, 1), float(facets))
    on = comparisons.ComparedTopics(sizes, None, "query paper", level=0.95, seed=4)
    return compare_runs("together", sums, on, convention="csfcube", measure="NDCG%20")


def alike(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Four runs that differ by chance alone; chance strikes a paper, and its two facets share most of it."""
    difficulty = rng.beta(2, 2, (20, 1))
    return {
        f"run{at}": np.round(difficulty + rng.normal(0, 0.15, (20, 1)) + rng.normal(0, 0.03, (20, 2)), 2)
        for at in range(4)
    }


def variants_beside_two_others(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Eight variants of one engine, hardly different, and two runs that differ from them and each other by chance."""
    engine = rng.beta(2, 2, (20, 1))
    variants = {f"variant{at}": engine + rng.normal(0, 0.01, (20, 2)) for at in range(8)}
    return variants | {f"other{at}": engine + rng.normal(0, 0.3, (20, 1)) + np.zeros(2) for at in range(2)}


@pytest.mark.parametrize(("planted", "studies"), [(alike, 150), (variants_beside_two_others, 60)])
def test_noise_stays_silent_at_the_stated_rate(planted, studies: int) -> None:
    """At most 5% of studies name any difference; three standard errors above that are allowed here."""
    rng = np.random.default_rng(11)
    alarms = sum(any(one.holds for one in compared(planted(rng))[0]) for _ in range(studies))
    assert alarms / studies <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / studies)


def test_the_detectable_difference_is_found_as_often_as_stated() -> None:
    rng = np.random.default_rng(3)
    noise = {"a": rng.normal(0, 0.1, (30, 1)), "b": rng.normal(0, 0.1, (30, 1))}
    _, verdict = compared(noise)
    error = np.std(noise["a"] - noise["b"], ddof=1) / np.sqrt(30)
    # That of the t test, of which this test of one pair asks about the same |t|.
    shift = optimize.brentq(lambda nc: stats.nct.sf(stats.t.ppf(0.975, 29), 29, nc) - POWER, 0, 9)
    assert verdict.detectable == pytest.approx(error * shift, rel=0.03)
    lead = 0.1 * np.sqrt(2 / 30) * (stats.t.ppf(0.975, 29) + stats.t.ppf(0.8, 29))
    found = 0
    for _ in range(100):
        (one,), _ = compared({"a": lead + rng.normal(0, 0.1, (30, 1)), "b": rng.normal(0, 0.1, (30, 1))})
        found += one.holds and one.run_a == "a"
    assert found / 100 == pytest.approx(POWER, abs=0.12)


def test_each_pair_is_told_from_its_better_run_with_interval_and_corrected_p() -> None:
    rng = np.random.default_rng(2)
    paper = rng.beta(2, 2, (18, 2))
    values = {
        "plain": paper,
        "good": paper + 0.1 + rng.normal(0, 0.05, (18, 1)),
        "same": paper + rng.normal(0, 0.05, (18, 1)) - 0.02,
    }
    found, verdict = compared(values)
    order = sorted(values, key=lambda run: -values[run].mean())
    assert [(one.run_a, one.run_b) for one in found] == [tuple(order[:2]), (order[0], order[2]), tuple(order[1:])]
    for one in found:
        by_paper = (values[one.run_a] - values[one.run_b]).mean(axis=1)
        assert one.difference == pytest.approx(by_paper.mean())
        assert one.difference >= 0
        # Far from -1 and 1 the scale of Fisher's z is straight, and the interval that of the t test.
        scipys = stats.ttest_1samp(by_paper, 0).confidence_interval()
        assert (one.interval.low, one.interval.high) == pytest.approx((scipys.low, scipys.high), abs=0.001)
        scipys_t = stats.ttest_1samp(by_paper, 0)
        assert one.p_t == pytest.approx(scipys_t.pvalue)
        assert one.effect == pytest.approx(by_paper.mean() / by_paper.std(ddof=1))
    # Holm by hand: the smallest p thrice, the next twice, never below the one before.
    ranked = sorted(found, key=lambda one: one.p_value)
    by_hand = np.maximum.accumulate([min(1, (3 - at) * one.p_value) for at, one in enumerate(ranked)])
    assert [one.p_holm for one in ranked] == pytest.approx(list(by_hand))
    assert (verdict.best, verdict.worse, verdict.behind, verdict.as_good) == ("good", tuple(order[1:]), (), ())


def test_two_facets_of_one_paper_are_one_observation() -> None:
    """The same lead on ten papers, told twice: the test sees ten, and p is that of ten."""
    rng = np.random.default_rng(7)
    lead = rng.normal(0.05, 0.1, (10, 1))
    once, twice = ({"a": lead + np.zeros(facets), "b": np.zeros((10, facets))} for facets in (1, 2))
    (one,), (two,) = compared(once)[0], compared(twice)[0]
    assert one.p_value == two.p_value
    assert (one.interval.low, one.interval.high) == pytest.approx((two.interval.low, two.interval.high))
