"""What a pilot predicts against simulated studies: width and coverage of the interval, and pilots drawn again."""

from dataclasses import replace

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.forecast.design import Design, papers_by_number, redrawn
from annot.measuring.forecast.hours import speed_of
from forecasts import RULES, alpha, alpha_interval, designed, drawn_tables, judgement
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats


def test_chance_in_the_pilots_tables_is_not_taken_for_difference_between_queries() -> None:
    """All queries are alike; a pilot of 8 pairs each makes them look unlike. Drawing again must not add that up."""
    rng = np.random.default_rng(10)
    chance = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]]).rvs(200_000, random_state=1)
    p = np.zeros((4, 4))
    np.add.at(p, tuple(np.digitize(chance, [0.3, 1.0, 1.8]).T), 1 / len(chance))
    pilot = rng.multinomial(8, p.ravel() / p.sum(), size=60).reshape(60, 4, 4)
    found = designed(Design(queries=30, pool_size=200, per_pair=2, assessors=2, repeats=0.0), pilot, simulations=25)
    truly = [rng.multinomial(200, p.ravel() / p.sum(), size=30).reshape(30, 4, 4) for _ in range(25)]
    widths = [one.high - one.low for one in map(alpha_interval, truly) if isinstance(one, Interval)]
    assert found.width.value == pytest.approx(np.mean(widths), rel=0.5)
    assert isinstance(found.width.value, float)
    # Taken as they are, the pilot's tables would make the interval about five times too wide.
    assert found.width.value < 2 * np.mean(widths)


def test_more_certainty_than_the_simulated_studies_can_give_is_refused() -> None:
    """Of S draws the outermost leave 2 / (S + 1) outside: 95% needs 39."""
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    few = designed(Design(5, 20, 2, 2, 0.0), tables, simulations=38).width
    assert few.interval == Undefined("38 simulated studies are too few for a 95% interval; 39 are needed")
    assert isinstance(designed(Design(5, 20, 2, 2, 0.0), tables, simulations=39).width.interval, Interval)


def test_what_a_small_pilot_foretells_holds_what_then_comes() -> None:
    """Pilots of 5 queries x 40 pairs, each with the study of 15 x 60 that follows: 95% intervals hold 33 of 40 or more.

    Where each holds with probability 0.95, fewer than 33 come up 7 times in 10,000 (binomial distribution). A pilot
    that is taken at its word gives intervals that hold 24 or 25.
    """
    rng = np.random.default_rng(21)
    held = {"disputed": 0, "coefficient": 0, "hours": 0}
    for seed in range(40):
        difficulty = rng.normal(0, 0.3, 20)
        times = rng.lognormal(np.log(40) + difficulty[:, None, None], 0.5, (20, 2, 60))
        pilot = [
            judgement(at, f"a{person}", query_id=f"q{query}", seconds=float(times[query, person, at]))
            for query in range(5)
            for person in range(2)
            for at in range(40)
        ]
        study = drawn_tables(rng, queries=15, pairs=60)
        found = designed(
            Design(15, 60, 2, 2, 0.0),
            drawn_tables(rng, queries=5, pairs=40),
            pilot=pilot,
            rules=replace(RULES, seed=seed, draws=200),
        )
        truth = {
            "disputed": 1 - np.trace(study.sum(axis=0)) / study.sum(),
            "coefficient": alpha(study),
            "hours": times[5:].sum() / 3600,
        }
        estimates = {"disputed": found.disputed, "coefficient": found.coefficient, "hours": found.hours_judging}
        for name, one in estimates.items():
            assert isinstance(one.interval, Interval)
            held[name] += one.interval.low <= truth[name] <= one.interval.high
    assert min(held.values()) >= 33, held


@given(st.integers(3, 12), st.integers(0, 2**32))
def test_a_redrawn_pilot_is_a_distribution(n: int, seed: int) -> None:
    again = redrawn(np.arange(n), np.random.default_rng(seed))
    assert again.mean.sum() == pytest.approx(1)
    assert again.papers.sum() == pytest.approx(1)
    assert (again.papers >= 0).all()
    assert np.isfinite(again.scale)


def test_facets_of_a_paper_are_redrawn_together_and_their_times_are_one_unit() -> None:
    """Five papers of three facets, the last of one: as if each paper were one query, and more uncertain than 13."""
    papers = {f"q{at:02}": f"p{at // 3}" for at in range(13)}
    rng = np.random.default_rng(6)
    pilot = [
        judgement(at, "a1", query_id=query_id, seconds=float(np.exp(0.5 * int(paper[1]) + rng.normal(3, 0.3))))
        for query_id, paper in papers.items()
        for at in range(8)
    ]
    speed = speed_of({"a1": pilot}, fence=3.0, topics=papers)
    merged = speed_of({"a1": [replace(one, query_id=papers[one.query_id]) for one in pilot]}, fence=3.0)
    alone = speed_of({"a1": pilot}, fence=3.0)
    assert (speed.unit, speed.freedom, alone.unit, alone.freedom) == ("query papers", 4, "queries", 12)
    assert (speed.means, speed.known) == (merged.means, merged.known)
    assert speed.known["a1"] > 1.5 * alone.known["a1"]
    paper = papers_by_number(tuple(papers), papers)
    for seed in range(20):
        again = redrawn(paper, np.random.default_rng(seed))
        assert (len(again.papers), again.mean.sum()) == (5, pytest.approx(1))
        assert len({round(weight, 12) for weight in again.mean[:3]}) == 1
        like, of = again.picked(9, np.random.default_rng(seed))
        for one in np.unique(of)[:-1]:
            whole = np.flatnonzero(paper == paper[like[of == one][0]])
            assert like[of == one].tolist() == whole.tolist()


def test_the_mean_of_redrawn_pilots_varies_as_students_t_says() -> None:
    """With 10 queries the mean of all has the variance of t with 9 degrees of freedom, 9 / 7 of s^2 / 10."""
    values = np.random.default_rng(4).normal(0, 1, 10)
    rng = np.random.default_rng(5)
    means = [float(redrawn(np.arange(10), rng).mean @ values) for _ in range(20_000)]
    assert np.mean(means) == pytest.approx(values.mean(), abs=0.01)
    assert np.mean(np.abs(means - values.mean()) < stats.t(9).ppf(0.975) * values.std(ddof=1) / np.sqrt(10)) == (
        pytest.approx(0.95, abs=0.006)
    )
    assert np.var(means) == pytest.approx(stats.t(9).var() * values.var(ddof=1) / 10, rel=0.05)
