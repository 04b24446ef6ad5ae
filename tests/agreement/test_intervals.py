"""Intervals over whole queries and papers: by their definitions, against published values, and in the tables."""

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.inference import (
    jackknife_interval,
    mean_interval,
    median_interval,
    ratio_interval,
    share,
    share_of_counts,
)
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.coefficients import COEFFICIENTS, PooledPairs, count, pooled_between, tables_between
from annot.measuring.agreement.estimates import agreement_table
from scipy import stats

GRADES = (0, 1, 2, 3)


def simulated_queries(n_queries: int, n_pairs: int, seed: int, assessors: int = 2) -> list[np.ndarray]:
    """Assessors who see the same latent grade through noise of their own; queries differ in prevalence."""
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(n_queries):
        latent = rng.poisson(rng.uniform(0.3, 1.2), size=n_pairs)
        queries.append(np.clip(latent + rng.integers(-1, 2, size=(assessors, n_pairs)), 0, 3).astype(float))
    return queries


def pooled_of(queries: list[np.ndarray]) -> PooledPairs:
    met, tables = zip(*[tables_between(one, GRADES) for one in queries], strict=True)
    return pooled_between([count(one, GRADES) for one in queries], met, tables, topics=None)


def test_median_has_the_interval_of_hettmansperger_and_sheather() -> None:
    """Eleven values: the 2nd and 10th hold the median in 1 - 2 * 12 / 2048 = 98.83%, the 3rd and 9th in 93.46%.

    So 95% takes (0.9883 - 0.95) / (0.9883 - 0.9346) = 0.7131 of the step, and 9 * 0.7131 / (2 + 7 * 0.7131) = 0.9178 of
    the way between them. The values are those of SIGN.test in the R package BSDA, which interpolates on a line.
    """
    values = np.array([7.8, 6.6, 6.5, 7.4, 7.3, 7.0, 6.4, 7.1, 6.7, 7.6, 6.8])
    found = median_interval(values, level=0.95)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx((6.5 + 0.9178 * 0.1, 7.6 - 0.9178 * 0.2), abs=2e-5)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_of_two_assessors_tables_say_the_same_as_counts(name: str) -> None:
    """What is told of each assessor and the final grades is what is told of two assessors."""
    pooled = pooled_of(simulated_queries(6, 20, seed=3))
    tables = replace(pooled, counts=None)
    assert pooled.value(name, GRADES) == pytest.approx(tables.value(name, GRADES))
    assert pooled.left_out(name, GRADES) == pytest.approx(tables.left_out(name, GRADES))


def crowd(n_queries: int, n_pairs: int, assessors: int, seed: int) -> tuple[list[Judgement], list[Decision]]:
    """Three of many judge each pair; the highest grade is final."""
    rng = np.random.default_rng(seed)
    judgements, decisions = [], []
    for at, grades in enumerate(simulated_queries(n_queries, n_pairs, seed, assessors=3)):
        for doc, of_pair in enumerate(grades.T.astype(int)):
            for row, grade in zip(rng.choice(assessors, 3, replace=False), of_pair, strict=True):
                judgements.append(Judgement(f"q{at}-method", f"d{doc}", f"a{row}", int(grade)))
            decisions.append(Decision(f"q{at}-method", f"d{doc}", int(of_pair.max()), "adjudicated"))
    return judgements, decisions


def test_a_crowd_has_every_figure_of_any_number_of_assessors_within_ten_seconds() -> None:
    """50 queries x 125 pairs, 200 assessors, every coefficient, before and after: processor time with imports."""
    judgements, decisions = crowd(50, 125, 200, seed=6)
    started = time.thread_time()
    table = agreement_table(
        judgements,
        decisions,
        {f"q{at}-method": "method" for at in range(50)},
        grades=GRADES,
        missing="drop",
        binarised_at=None,
        level=0.95,
        topics=None,
    )
    assert time.thread_time() - started < 10
    for name, summary in table.groups[0].before.items():
        assert summary.intervals is not None
        if name not in ("spearman_rho", "kendall_tau_b"):
            assert summary.n_queries == 50
            assert all(isinstance(found, Interval) for found in summary.intervals.values())
    # Two of 200 share too few pairs for a rank correlation.
    assert isinstance(table.groups[0].before["spearman_rho"].median, Undefined)


def test_of_five_assessors_every_two_have_a_table_of_their_own() -> None:
    rng = np.random.default_rng(3)
    queries = [rng.integers(0, 2, (5, 8)).astype(float) for _ in range(3)]
    met, tables = zip(*(tables_between(one, (0, 1)) for one in queries), strict=True)
    pooled = pooled_between([count(one, (0, 1)) for one in queries], met, tables, topics=None)
    assert len(pooled.summed()) == 10
    expected = COEFFICIENTS["kappa"](np.concatenate(queries, axis=1), (0, 1))
    assert pooled.value("kappa", (0, 1)) == pytest.approx(expected)


def table(**changes: Any) -> Any:
    """Two assessors on five queries of four pairs; they differ on so many pairs of each query: 0, 1, 1, 2, 3."""
    judged, final = [], []
    for q, apart in enumerate((0, 1, 1, 2, 3)):
        for d in range(4):
            for who, grade in (("a1", d % 3), ("a2", (d + (d < apart)) % 3)):
                judged.append(Judgement(f"q{q}", f"d{d}", who, grade))
            final.append(Decision(f"q{q}", f"d{d}", d % 3, "adjudicated" if d < apart else "agreed"))
    usual: dict[str, Any] = {"grades": (0, 1, 2), "missing": "drop", "level": 0.95, "topics": None}
    facets = {f"q{q}": "aim" for q in range(5)}
    return agreement_table(judged, final if changes.pop("settled", True) else (), facets, **(usual | changes))


@pytest.mark.parametrize("at", [1, 2])
def test_grades_are_split_at_each_but_the_lowest(at: int) -> None:
    assert table(binarised_at=at).groups


def test_shares_are_summarised_over_queries_within_0_and_1_or_not_at_all_while_disputes_are_open() -> None:
    (together,) = [group for group in table(binarised_at=None).groups if group.name == "together"]
    shares = np.array([0, 1, 1, 2, 3]) / 4
    without = (shares.sum() - shares) / 4
    expected = jackknife_interval(float(shares.mean()), without, level=0.95, least=0.0, most=1.0)
    assert together.disputed.mean == pytest.approx(shares.mean())
    found = together.disputed.intervals["mean"]
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    (waiting,) = [group for group in table(binarised_at=None, settled=False).groups if group.name == "together"]
    assert (together.overruled.n_queries, waiting.overruled.n_queries) == (5, 0)


def ends(sums: np.ndarray, sizes: np.ndarray, **options: float) -> tuple[float, float]:
    found = ratio_interval(sums, sizes, level=0.95, unit="query paper", **options)
    assert isinstance(found, Interval)
    assert found.method == f"jackknife over {len(sizes)} query papers, Fisher's z, Student's t"
    return found.low, found.high


def by_definition(sums: np.ndarray, sizes: np.ndarray, least: float = 0.0) -> tuple[float, float]:
    """Pseudo-values of the figure on the scale of Fisher's z (Efron and Tibshirani 1993, 11.6), then SciPy's t."""

    def figure(rows: list[int]) -> float:
        ratios = [sums[rows, fold].sum() / sizes[rows, fold].sum() for fold in range(sums.shape[1])]
        return float(np.arctanh((np.mean(ratios) - (1 + least) / 2) * 2 / (1 - least)))

    n = len(sizes)
    whole = figure(list(range(n)))
    pseudo = [n * whole - (n - 1) * figure([row for row in range(n) if row != left]) for left in range(n)]
    low, high = stats.t.interval(0.95, n - 1, whole, stats.sem(pseudo))
    return tuple((1 + least) / 2 + np.tanh([low, high]) * (1 - least) / 2)


def planted(seed: int, n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 2 to 30 pairs, each with a share of its own: shapes (n, 1)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 31, (n, 1)).astype(float)
    return rng.binomial(sizes.astype(int), rng.beta(2, 5, (n, 1))).astype(float), sizes


def test_the_interval_of_a_ratio_is_the_jackknifes_by_its_definition() -> None:
    sums, sizes = planted(1)
    assert ends(sums, sizes) == pytest.approx(by_definition(sums, sizes), rel=1e-9)
    difference = sums - planted(2)[0]
    assert ends(difference, 2 * sizes, least=-1.0) == pytest.approx(
        by_definition(difference, 2 * sizes, -1.0), rel=1e-9
    )


@pytest.mark.parametrize("papers", [5, 50])
def test_it_holds_the_truth_as_often_as_it_says(papers: int) -> None:
    """800 studies of a skewed measure, papers of one to three queries: 95 of 100, within three standard errors."""
    rng = np.random.default_rng(papers)
    held = 0
    for _ in range(800):
        sizes = rng.integers(1, 4, (papers, 1)).astype(float)
        low, high = ends(rng.beta(1.5, 5, (papers, 1)) * sizes, sizes)
        held += low <= 1.5 / 6.5 <= high
    assert held / 800 == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 800))


PAPERS = [f"p{at // 3}" for at in range(24)]
"""Eight papers of three queries."""


def of_papers(seed: int) -> np.ndarray:
    """Values of 24 queries, alike within a paper."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.normal(0, 0.3, 8), 3) + rng.normal(0, 0.1, 24)


@pytest.mark.parametrize("seed", range(4))
def test_a_value_that_many_queries_have_stays_inside_while_the_test_does_not_reject_it(seed: int) -> None:
    """Shares in steps of a tenth: a median is a value that many have."""
    values = np.round(of_papers(seed), 1)
    found = median_interval(values, level=0.95, topics=PAPERS)
    assert isinstance(found, Interval)
    for value in np.unique(values):
        many = (values == value).sum() > 1
        above, below = (np.where(of, 1.0, -1.0) for of in (values > value, values < value))
        _, of = np.unique(PAPERS, return_inverse=True)
        kept = True
        for side in (above, below):
            sums = np.bincount(of, weights=side)
            flipped = np.array(list(itertools.product((-1, 1), repeat=8))) @ np.abs(sums)
            kept = kept and bool((flipped >= sums.sum()).mean() > 0.025)
        if many:
            assert kept == (found.low <= value <= found.high)


def test_a_query_of_its_own_paper_keeps_every_digit() -> None:
    """Papers whose names sort otherwise than the queries."""
    values = np.random.default_rng(3).uniform(0.1, 0.9, 17)
    own = [f"p{at * 7 % 17:02}" for at in range(17)]
    assert median_interval(values, level=0.95, topics=own) == median_interval(values, level=0.95)
    options = {"level": 0.95, "least": 0.0, "most": 1.0}
    assert mean_interval(values, **options, topics=own) == mean_interval(values, **options)
    sizes = np.arange(3, 20)
    assert share_of_counts(sizes // 3, sizes, level=0.95, topics=own) == share_of_counts(sizes // 3, sizes, level=0.95)
    assert share(values > 0.5, range(17), level=0.95, topics=own) == share(values > 0.5, range(17), level=0.95)


def judged() -> list[Judgement]:
    """Eight papers, three facets of each: people differ on more documents from paper to paper."""
    rng = np.random.default_rng(6)
    return [
        Judgement(f"p{paper}-{facet}", f"d{at}", who, int((at + shift) % 4))
        for paper in range(8)
        for facet in ("background", "method", "result")
        for at in range(20)
        for who, shift in (("a1", 0), ("a2", int(rng.random() < 0.02 + 0.08 * paper)))
    ]


def test_a_table_clusters_all_facets_together_and_leaves_each_facet_as_it_is() -> None:
    judgements = judged()
    facets = {one.query_id: one.query_id.partition("-")[2] for one in judgements}
    papers = {query_id: query_id.partition("-")[0] for query_id in facets}
    by_paper, by_query = (
        agreement_table(
            *(judgements, (), facets), grades=GRADES, missing="drop", binarised_at=None, level=0.95, topics=known
        )
        for known in (papers, None)
    )
    assert by_paper.queries == by_query.queries
    assert by_paper.groups[:3] == by_query.groups[:3]
    wide, narrow = by_paper.groups[3], by_query.groups[3]
    for name in COEFFICIENTS:
        one, other = wide.before[name], narrow.before[name]
        assert [one.median, one.mean, one.pooled] == [other.median, other.mean, other.pooled]
        for statistic in ("median", "mean", "pooled"):
            of_papers, of_queries = (found.intervals[statistic] for found in (one, other) if found.intervals)
            assert isinstance(of_papers, Interval)
            assert isinstance(of_queries, Interval)
            assert "8 query papers" in of_papers.method
            # A median of few values steps from one to the next, whatever the units.
            assert statistic == "median" or of_papers.high - of_papers.low > 1.2 * (of_queries.high - of_queries.low)
    for share_of in (wide.disputed,):
        assert share_of.intervals is not None
        assert all(isinstance(one, Interval) and "8 query papers" in one.method for one in share_of.intervals.values())
