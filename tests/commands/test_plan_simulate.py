"""A design is forecast from the pilot in the store: its pairs, hours and cost, and the interval it will reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from annot.agreement import Bootstrap
from annot.agreement.paired import coefficient, interval, tables_of
from annot.agreement.ratings import QueryRatings
from annot.errors import UndefinedStatistic
from annot.workspace import Workspace
from sklearn.metrics import cohen_kappa_score
from small_study import build

Run = Callable[..., Any]
GRADES = (0, 1, 2, 3)


def of_two(first: list[float], second: list[float], third: list[float] | None = None) -> QueryRatings:
    ratings = np.array([first, second, *([third] if third else [])], dtype=float)
    names = ("a1", "a2", "a3")[: len(ratings)]
    docs = tuple(f"d{at}" for at in range(ratings.shape[1]))
    nothing = np.full(ratings.shape[1], np.nan)
    return QueryRatings("q", "method", names, docs, ratings, ~np.isnan(ratings), nothing)


def test_tables_count_the_first_two_grades_of_each_pair() -> None:
    nan = float("nan")
    found = tables_of([of_two([0, 1, nan, 3], [0, 2, 2, nan], [3, 3, 1, nan]), of_two([nan], [1])], GRADES)
    expected = np.zeros((1, 4, 4), dtype=int)
    expected[0, 0, 0] = expected[0, 1, 2] = expected[0, 2, 1] = 1
    assert (found == expected).all()


def test_the_coefficient_of_tables_is_that_of_all_pairs_together() -> None:
    rng = np.random.default_rng(3)
    tables = rng.integers(0, 5, (6, 4, 4)) + 8 * np.eye(4, dtype=int)
    whole = tables.sum(axis=0)
    first, second = np.repeat(np.array(list(np.ndindex(4, 4))), whole.ravel(), axis=0).T
    kappa = cohen_kappa_score(first, second)
    assert coefficient(tables, GRADES, name="kappa") == pytest.approx(kappa)
    assert coefficient(tables, GRADES, name="percent") == pytest.approx(100 * np.trace(whole) / whole.sum())
    plan = Bootstrap(resamples=300, level=0.9, seed=5)
    low, high = interval(tables, GRADES, name="kappa", plan=plan)
    assert low < kappa < high


def test_what_has_no_value_is_said_so() -> None:
    unanimous = np.zeros((2, 4, 4), dtype=int)
    unanimous[:, 1, 1] = 5
    with pytest.raises(UndefinedStatistic):
        coefficient(unanimous, GRADES, name="alpha_ordinal")
    with pytest.raises(UndefinedStatistic):
        interval(unanimous[:1], GRADES, name="percent", plan=Bootstrap(100, 0.95, 1))


def test_a_design_from_the_pilot(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    arguments = ("--queries", 30, "--per-method", 4, "--assessors", 3, "--hourly-rate", 20)
    found = annot("plan", "--simulate", *arguments, "--json").data
    forecast = found["forecast"]
    # Seven methods draw, cited aside; nothing was cited here.
    assert forecast["design"] == {"queries": 30, "pool_size": 28, "per_pair": 2, "assessors": 3, "repeats": 0.0}
    assert (forecast["pairs"], forecast["judgements"]) == (840, 1680)
    # Half of the judgements at about 30 seconds, half at about 60.
    hours = forecast["hours_judging"]["value"]
    assert hours == pytest.approx(1680 * 45 / 3600, rel=0.1)
    assert forecast["hours_per_assessor"] == pytest.approx(hours / 3)
    # The planted assessors differ on two of ten; j1 took 90 seconds over each dispute.
    assert forecast["disputed"] == pytest.approx(0.2)
    assert forecast["hours_adjudicating"] == pytest.approx(0.2 * 840 * 90 / 3600)
    assert forecast["cost"]["value"] == pytest.approx(20 * (hours + forecast["hours_adjudicating"]))
    assert found["pilot"] == {
        "queries": 4,
        "pairs": 40,
        "judgements": 80,
        "with_time": 80,
        "assessors": 2,
        "settled_with_time": 2,
        "cited": 0.0,
    }
    assert annot("plan", "simulate", *arguments, "--json").data == found


def test_more_queries_narrow_the_interval(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)

    def width(queries: int) -> float:
        data = annot("plan", "--simulate", "--queries", queries, "--per-method", 2, "--json").data
        return float(data["forecast"]["width"]["value"])

    assert width(60) < 0.7 * width(10)


def test_the_forecast_in_words_and_the_study_untouched(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    before = (ws.root / "annot.db").read_bytes()
    told = annot("plan", "--simulate")
    assert told.exit_code == 0
    assert "from a pilot of 40 pairs judged twice on 4 queries" in told.stdout
    assert "cost, EUR" in told.stdout
    assert "unknown: no hourly rate is given" in told.stdout
    assert not (ws.pools / "plan.jsonl").exists()
    assert (ws.root / "annot.db").read_bytes() == before


def test_without_a_pilot_or_out_of_place_it_is_refused(ws: Workspace, annot: Run) -> None:
    result = annot("plan", "--simulate")
    assert (result.exit_code, "no pilot" in result.stderr) == (2, True)
    build(ws, judged=40)
    result = annot("plan", "--per-method", 3)
    assert (result.exit_code, "--simulate" in result.stderr) == (2, True)
    result = annot("plan", "--simulate", "--coefficient", "alpha-ordinal")
    assert (result.exit_code, "did you mean 'alpha_ordinal'" in result.stderr) == (2, True)
    result = annot("plan", "--simulate", "--assessors", 1)
    assert (result.exit_code, "expected at least the 2 of one pair" in result.stderr) == (2, True)
