"""Which run is best, held against planted truth: noise stays silent at the stated rate, a real lead is found."""

from __future__ import annotations

import itertools

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


@pytest.mark.parametrize(("planted", "studies"), [(alike, 300), (variants_beside_two_others, 100)])
def test_noise_stays_silent_at_the_stated_rate(planted, studies: int) -> None:
    """At most 5% of studies name any difference; three standard errors above that are allowed here."""
    rng = np.random.default_rng(11)
    alarms = sum(any(one.holds for one in compared(planted(rng))[0]) for _ in range(studies))
    assert alarms / studies <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / studies)


def test_of_runs_that_are_alike_each_test_errs_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four runs of 20 papers with two facets each, 600 times: one pair's own p (randomisation, t) is at most 0.05 in
    5%, and so is the smallest of all six by the largest t and by Tukey; by Holm in 5% or less. Four standard errors are
    allowed."""
    monkeypatch.setattr(comparisons, "TUKEY_PERMUTATIONS", 499)
    monkeypatch.setattr(comparisons, "EXACT_UP_TO", 0)
    monkeypatch.setattr(comparisons, "PERMUTATIONS", 999)
    monkeypatch.setattr(comparisons, "MAX_T_PERMUTATIONS", 999)
    rng, studies = np.random.default_rng(29), 600
    hits = dict.fromkeys(("p_value", "p_t", "p_tukey", "p_corrected", "p_holm"), 0)
    for _ in range(studies):
        found, _ = compared(alike(rng))
        (pair,) = [one for one in found if {one.run_a, one.run_b} == {"run0", "run1"}]
        for name in hits:
            of = [pair] if name in ("p_value", "p_t") else found
            hits[name] += min(getattr(one, name) for one in of) <= ALPHA
    error = np.sqrt(ALPHA * (1 - ALPHA) / studies)
    for name in ("p_value", "p_t", "p_tukey", "p_corrected"):
        assert hits[name] / studies == pytest.approx(ALPHA, abs=4 * error), name
    assert ALPHA / 4 <= hits["p_holm"] / studies <= ALPHA + 4 * error


def test_facets_of_one_paper_taken_for_units_of_their_own_would_raise_false_alarms() -> None:
    """Why papers are shuffled whole: chance strikes a paper, and by query the same noise is found far too often."""
    rng, studies = np.random.default_rng(31), 300
    by_paper = by_query = 0
    for _ in range(studies):
        values = {run: of for run, of in alike(rng).items() if run in ("run0", "run1")}
        (one,), _ = compared(values)
        by_paper += one.p_value <= ALPHA
        difference = (values["run0"] - values["run1"]).ravel()
        by_query += stats.ttest_1samp(difference, 0).pvalue <= ALPHA
    assert by_paper / studies <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / studies) < by_query / studies


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


def test_the_detectable_difference_grows_with_the_number_of_pairs() -> None:
    """As that of Tukey's test of all pairs, which is right for runs of equal noise, and not as that of one pair."""
    rng = np.random.default_rng(11)
    noise = {f"run{at}": rng.normal(0, 0.1, (60, 1)) for at in range(6)}
    pairs = [np.std(one - other, ddof=1) for one, other in itertools.combinations(noise.values(), 2)]
    error = np.median(pairs) / np.sqrt(60)

    def detectable(critical: float) -> float:
        return error * optimize.brentq(lambda shift: stats.nct.sf(critical, 59, shift) - POWER, 0, 12)

    _, verdict = compared(noise)
    assert verdict.detectable == pytest.approx(
        detectable(stats.studentized_range.ppf(0.95, 6, 59) / np.sqrt(2)), rel=0.06
    )
    assert verdict.detectable > 1.2 * detectable(stats.t.ppf(0.975, 59))


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


def test_five_papers_can_show_nothing_and_six_can_however_many_runs_there_are() -> None:
    """One run wins everywhere: 2 of 2^5 arrangements are as far out, and 2 of 2^6. Holm's p rises with the pairs."""
    for papers, holds in ((5, False), (6, True)):
        values = {f"run{at}": np.full((papers, 1), at / 10) for at in range(4)}
        found, verdict = compared(values)
        assert verdict.smallest_p == max(one.p_corrected for one in found) == 2.0 ** (1 - papers)
        assert {one.holds for one in found} == {holds}
        assert min(one.p_holm for one in found) == 6 * 2.0 ** (1 - papers)
        assert (verdict.best, verdict.worse) == ("run3", ("run2", "run1", "run0") if holds else ())
        # The differences never vary: there is no interval by which a run could be behind.
        assert verdict.as_good == (() if holds else ("run2", "run1", "run0"))
    assert comparisons.FEWEST_PAPERS == 6
    found, verdict = compared({run: np.random.default_rng(at).normal(at, 0.1, (5, 1)) for at, run in enumerate("ab")})
    assert verdict.detectable is None


def test_a_run_is_behind_by_its_own_interval_where_the_correction_leaves_nothing() -> None:
    """Of nine runs the best leads one by a little more than its own interval: too little among 36 pairs."""
    rng = np.random.default_rng(17)
    paper, noise = rng.beta(2, 2, (12, 1)), stats.zscore(rng.normal(0, 1, (12, 1)), ddof=1)
    values = {f"run{at}": paper + rng.normal(0, 0.1, (12, 1)) for at in range(7)}
    best = np.max([of.mean(axis=1) for of in values.values()], axis=0)[:, None]
    # Their difference has a mean of 2.5 standard errors.
    values |= {"best": best, "second": best - 0.1 * (2.5 / np.sqrt(12) + noise)}
    found, verdict = compared(values)
    (one,) = [one for one in found if (one.run_a, one.run_b) == ("best", "second")]
    assert one.p_value < ALPHA < one.p_corrected
    assert one.interval.low > 0
    assert verdict.best == "best"
    assert "second" in verdict.behind
    assert {*verdict.worse, *verdict.behind, *verdict.as_good} == values.keys() - {"best"}


def test_runs_that_tie_are_ordered_by_name() -> None:
    tied = {"z": np.tile([[0.1], [0.2]], (4, 1)), "a": np.tile([[0.2], [0.1]], (4, 1))}
    (one,), verdict = compared(tied)
    assert (one.run_a, one.run_b, one.difference, one.p_value, verdict.best) == ("a", "z", 0.0, 1.0, "a")
