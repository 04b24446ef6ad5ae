"""A design is forecast from the pilot in the store: its pairs, hours and cost, and the interval it will reach."""

from collections.abc import Callable
from typing import Any

import pytest
from annot.study.workspace import Workspace
from small_study import build

Run = Callable[..., Any]


def test_a_design_from_the_pilot(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    arguments = ("--queries", 30, "--per-method", 4, "--assessors", 3, "--hourly-rate", 20)
    found = annot("forecast", "--design", *arguments, "--json").data
    forecast = found["forecast"]
    # Two methods drew the pools on record, whatever annot.toml says; nothing was cited.
    assert {*found["pools"]["methods"]} - {"cited"} == {"abs_tfidf", "title_tfidf"}
    assert {name for name, _, _ in found["pools_differ"]} == {"methods", "ranking_depth"}
    assert forecast["design"] == {"queries": 30, "pool_size": 8, "per_pair": 2, "assessors": 3, "repeats": 0.0}
    assert (forecast["pairs"], forecast["judgements"]) == (240, 480)
    # Half of the judgements at about 30 seconds, half at about 60.
    hours = forecast["hours_judging"]["value"]
    assert hours == pytest.approx(480 * 45 / 3600, rel=0.1)
    assert forecast["hours_per_assessor"] == pytest.approx(hours / 3)
    # The planted assessors differ on two of ten; j1 took 90 seconds over each dispute.
    assert forecast["disputed"]["value"] == pytest.approx(0.2)
    settling = forecast["hours_adjudicating"]["value"]
    assert settling == pytest.approx(0.2 * 240 * 90 / 3600)
    assert forecast["cost"]["value"] == pytest.approx(20 * (hours + settling))
    assert forecast["priced"] == "judging and adjudication"
    assert found["missing"] == "drop"
    assert found["pilot"] == {"queries": 4, "pairs": 40, "chosen": 0, "judgements": 80, "with_time": 80, "cited": 0.0}


def test_without_a_pilot_it_is_refused(ws: Workspace, annot: Run) -> None:
    result = annot("forecast", "--design")
    assert (result.exit_code, "no pilot" in result.stderr) == (2, True)
    build(ws, judged=40)
    result = annot("forecast", "--design", "--coefficient", "alpha-ordinal")
    assert (result.exit_code, "did you mean 'alpha_ordinal'" in result.stderr) == (2, True)
    result = annot("forecast", "--design", "--assessors", 1)
    assert (result.exit_code, "2 are needed for each pair" in result.stderr) == (2, True)
