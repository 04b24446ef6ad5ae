"""Where several queries are of one paper the paper is the sampling unit; where each has its own, nothing changes."""

import itertools

import numpy as np
import pytest
from annot.base.records import Judgement
from annot.base.stats.inference import mean_interval, median_interval, share, share_of_counts
from annot.base.stats.values import Interval
from annot.measuring.agreement.coefficients import COEFFICIENTS, count, pooled_between, tables_between
from annot.measuring.agreement.estimates import agreement_table
from scipy import stats

GRADES = (0, 1, 2, 3)
PAPERS = [f"p{at // 3}" for at in range(24)]
"""Eight papers of three queries."""


def planted(seed: int) -> np.ndarray:
    """Values of 24 queries, alike within a paper."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.normal(0, 0.3, 8), 3) + rng.normal(0, 0.1, 24)


def not_rejected(values: np.ndarray, papers: list[str], at: float) -> bool:
    """The sign test over papers of the median `at`, one side after the other, by all changes of sign."""
    _, of = np.unique(papers, return_inverse=True)
    sums = np.bincount(of, weights=np.sign(values - at))
    flipped = np.array(list(itertools.product((-1, 1), repeat=len(sums)))) @ np.abs(sums)
    return min((flipped >= sums.sum()).mean(), (flipped <= sums.sum()).mean()) > 0.025


@pytest.mark.parametrize("seed", range(12))
def test_the_interval_of_a_median_ends_where_the_sign_test_over_papers_begins_to_reject(seed: int) -> None:
    values = planted(seed)
    found = median_interval(values, level=0.95, topics=PAPERS)
    assert isinstance(found, Interval)
    assert found.method == "sign test over 8 query papers"
    known = np.sort(values)
    middles = (known[:-1] + known[1:]) / 2
    kept = [at for at in range(23) if not_rejected(values, PAPERS, middles[at])]
    # Its ends are inside the outermost gaps that are not rejected.
    assert known[kept[0]] <= found.low < known[kept[0] + 1]
    assert known[kept[-1]] < found.high <= known[kept[-1] + 1]


@pytest.mark.parametrize("seed", range(8))
def test_a_value_that_many_queries_have_stays_inside_while_the_test_does_not_reject_it(seed: int) -> None:
    """Shares in steps of a tenth: a median is a value that many have."""
    values = np.round(planted(seed), 1)
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


def test_intervals_of_papers_are_wider_where_their_queries_are_alike() -> None:
    values = planted(1)
    for make in (
        lambda papers: median_interval(values, level=0.95, topics=papers),
        lambda papers: mean_interval(values, level=0.95, least=-1, most=1, topics=papers),
        lambda papers: share_of_counts(values > 0, np.ones(24), level=0.95, topics=papers).interval,
        lambda papers: share(values > 0, range(24), level=0.95, topics=papers).interval,
    ):
        wide, narrow = make(PAPERS), make(None)
        assert isinstance(wide, Interval)
        assert isinstance(narrow, Interval)
        assert "8 query papers" in wide.method
        assert "24 queries" in narrow.method
        assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


def test_a_mean_has_the_jackknife_over_papers() -> None:
    """Pseudo-values without each paper, some with fewer queries (Efron and Tibshirani 1993, section 11.5)."""
    values, papers = planted(2)[:22], PAPERS[:22]
    found = mean_interval(values, level=0.9, least=-1, most=1, topics=papers)
    assert isinstance(found, Interval)
    of = np.array(papers)
    left = np.arctanh([values[of != paper].mean() for paper in dict.fromkeys(papers)])
    error = np.sqrt(7 / 8 * ((left - left.mean()) ** 2).sum())
    assert (found.low, found.high) == pytest.approx(
        np.tanh(stats.t.interval(0.9, 7, loc=np.arctanh(values.mean()), scale=error))
    )


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


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_what_is_left_without_a_paper_is_the_coefficient_of_the_other_papers(name: str) -> None:
    rng = np.random.default_rng(5)
    queries = [rng.integers(0, 4, (3, 20)).astype(float) for _ in range(8)]
    queries[1][0], queries[4][1, :9] = np.nan, np.nan
    papers = ["a", "b", "a", "c", "d", "b", "b", "e"]
    met, tables = zip(*[tables_between(one, GRADES) for one in queries], strict=True)
    pooled = pooled_between([count(one, GRADES) for one in queries], met, tables, topics=papers)
    for paper, found in zip("abcde", pooled.left_out(name, GRADES), strict=True):
        others = np.concatenate([one for one, of in zip(queries, papers, strict=True) if of != paper], axis=1)
        assert found == pytest.approx(COEFFICIENTS[name](others, GRADES), abs=1e-8)


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
            *(judgements, (), facets),
            grades=GRADES,
            missing="drop",
            binarised_at=None,
            level=0.95,
            topics=known,
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
