"""Intervals of the figures of assessors, beside scipy and against simulated studies."""

from pathlib import Path

import numpy as np
import pytest
from annot.base.records import Judgement
from annot.base.stats.inference import jackknife_interval, share
from annot.base.stats.values import Interval, Undefined
from annot.measuring.diagnosis.panel import Panel, against_final, pairwise_matrix, panel_of, severities
from csfcube_grades import csfcube_panel
from scipy import stats
from simulated_assessors import dense
from sklearn.metrics import cohen_kappa_score

LEVEL = 0.95


def test_interval_over_equal_queries_is_the_t_interval_of_their_means(study: Panel) -> None:
    one = against_final(study, level=LEVEL)[0]
    difference = (dense(study)[:, 0] - study.final)[study.final >= 0]
    queries = np.array(study.query_ids)[study.final >= 0]
    means = [difference[queries == name].mean() for name in sorted(set(queries))]
    low, high = stats.t.interval(LEVEL, len(means) - 1, np.mean(means), stats.sem(means))
    assert (one.bias.interval.low, one.bias.interval.high) == pytest.approx((low, high))


def test_severity_is_the_t_interval_of_query_means_of_the_difference_to_the_others(study: Panel) -> None:
    grades = np.where(dense(study) < 0, np.nan, dense(study))
    queries = np.array(study.query_ids)
    for a, one in enumerate(severities(study, level=LEVEL)):
        difference = np.nanmean(np.delete(grades, a, axis=1), axis=1) - grades[:, a]
        means = [np.nanmean(difference[queries == name]) for name in sorted(set(queries))]
        assert one.severity.value == pytest.approx(np.mean(means))
        low, high = stats.t.interval(LEVEL, len(means) - 1, np.mean(means), stats.sem(means))
        assert (one.severity.interval.low, one.severity.interval.high) == pytest.approx((low, high))
        assert (one.n, len(one.partners)) == (int(np.isfinite(grades[:, a]).sum()), 2)


def test_severity_of_one_shifted_assessor_is_found_inside_its_interval() -> None:
    inside = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        seen = rng.normal(0, 1, 300)[:, None] + rng.normal(0, 0.4, (300, 2)) - [[0.3, 0.0]]
        judgements = [
            Judgement(f"q{i // 20:02}", f"d{i}", f"a{a + 1}", round(seen[i, a] * 100))
            for i in range(300)
            for a in range(2)
        ]
        facets = {f"q{n:02}": "method" for n in range(15)}
        panel = panel_of(
            judgements,
            [],
            facets,
            scale=sorted({one.grade for one in judgements}),
            open_pairs=(),
            assignments=(),
            by_clock=False,
        )
        interval = severities(panel, level=LEVEL)[0].severity.interval
        inside += interval.low <= 30.0 <= interval.high
    # 95 of 100 in truth: 33 or fewer of 40 come up with chance 0.4 percent.
    assert inside >= 34


def at_t(queries: int) -> float:
    """The confidence at which the normal quantile is Student's t of LEVEL."""
    return float(2 * stats.norm.cdf(stats.t.ppf(0.5 + LEVEL / 2, queries - 1)) - 1)


def test_interval_of_a_share_is_scipys_wilson_interval_where_pairs_are_independent() -> None:
    for count, of in ((0, 12), (3, 12), (12, 12), (250, 400)):
        theirs = stats.binomtest(count, of).proportion_ci(at_t(of), method="wilson")
        ours = share(np.arange(of) < count, list(range(of)), level=LEVEL)
        assert (ours.interval.low, ours.interval.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert isinstance(share([], [], level=LEVEL).value, Undefined)
    assert isinstance(share([True, False], ["q1", "q1"], level=LEVEL).interval, Undefined)


def test_interval_of_a_share_covers_the_truth_where_queries_differ() -> None:
    """Shares of queries drawn from beta(8, 2), 20 queries of 30 pairs: Wilson over pairs would cover 71 of 100."""
    rng = np.random.default_rng(1)
    inside, queries = 0, np.repeat(np.arange(20), 30)
    for _ in range(300):
        interval = share(rng.random(600) < rng.beta(8, 2, 20)[queries], queries, level=LEVEL).interval
        inside += interval.low <= 0.8 <= interval.high
    # 95 of 100 in truth: 274 or fewer of 300 come up with chance 0.5 percent.
    assert inside >= stats.binom.ppf(0.005, 300, LEVEL)


def test_intervals_on_csfcube_are_about_those_of_resampled_queries(shared: Path) -> None:
    panel = csfcube_panel(shared)
    grades = dense(panel)
    rng = np.random.default_rng(2)
    names, query = np.unique(panel.query_ids, return_inverse=True)
    draws = [np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names)) for _ in range(2000)]
    for one in against_final(panel, level=LEVEL):
        a = panel.assessors.index(one.assessor)
        mine = grades[:, a] >= 0
        right = (grades[:, a] == panel.final) & mine
        hits, of = np.bincount(query[right], minlength=len(names)), np.bincount(query[mine], minlength=len(names))
        low, high = np.quantile([(draw @ hits) / (draw @ of) for draw in draws], [0.025, 0.975])
        assert (one.same.interval.low, one.same.interval.high) == pytest.approx((low, high), abs=0.025)
        wilson = stats.binomtest(int(hits.sum()), int(of.sum())).proportion_ci(LEVEL, method="wilson")
        assert one.same.interval.high - one.same.interval.low > 1.2 * (wilson.high - wilson.low)


def test_interval_of_kappa_is_the_jackknife_over_queries(study: Panel) -> None:
    one = pairwise_matrix(study, level=LEVEL)[0]
    x, y = dense(study)[:, 0], dense(study)[:, 1]
    queries = np.array(study.query_ids)
    without = [
        cohen_kappa_score(x[queries != name], y[queries != name], weights="quadratic") for name in sorted(set(queries))
    ]
    # On the scale of Fisher's z, where a coefficient has no ends.
    pseudo = 6 * np.arctanh(one.coefficient) - 5 * np.arctanh(without)
    half = stats.t.ppf(0.975, 5) * stats.sem(pseudo)
    found = one.coefficient_interval
    ends = np.tanh(np.arctanh(one.coefficient) + half * np.array([-1, 1]))
    assert (found.low, found.high) == pytest.approx(tuple(ends))


@pytest.mark.parametrize("n", range(1, 8))
def test_no_interval_of_kappa_leaves_its_range_and_few_queries_have_none(n: int) -> None:
    rng = np.random.default_rng(n)
    for value in (-0.9, 0.0, 0.39, 0.95):
        found = jackknife_interval(value, np.clip(value + rng.normal(0, 0.3, n), -0.99, 0.99), level=LEVEL)
        if n < 4:
            assert isinstance(found, Undefined)
        else:
            assert isinstance(found, Interval)
            assert -1 <= found.low < value < found.high <= 1
