"""A design is forecast from the pilot in the store: its pairs, hours and cost, and the interval it will reach."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from annot.base.records import Assessor
from annot.store import people
from annot.store.answers import JUDGEMENTS, SourcedJudgement
from annot.store.database import open_store
from annot.store.models import Plan
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
    assert found["pilot"] == {
        "queries": 4,
        "pairs": 40,
        "chosen": 0,
        "judgements": 80,
        "with_time": 80,
        "cited": 0.0,
    }


def test_a_pilot_of_three_a_pair_tells_of_three_and_of_two_of_them(ws: Workspace, annot: Run) -> None:
    """a3 answers as a1 does: three are in dispute exactly where a1 and a2 are; two less often."""
    build(ws, judged=40)
    with open_store(ws.database_url) as store, store.begin() as session:
        plan = people.read_assignments(session)
        third = [replace(one, assessor="a3") for one in plan if one.assessor == "a1"]
        people.put_assessors(session, [Assessor("a3", "cyd@example.org", False)])
        people.replace_plan(session, [*plan, *third], plan=Plan("three", 13, "2031-03-14T18:00:00+00:00"))
        given = [replace(one, assessor="a3") for one in JUDGEMENTS.records(session) if one.assessor == "a1"]
        JUDGEMENTS.record(
            session,
            [SourcedJudgement(one, "label-studio", f"3{at}", {}) for at, one in enumerate(given)],
            recorded_at="2031-03-14T18:00:00+00:00",
        )
    arguments = ("forecast", "--design", "--per-method", 4, "--hourly-rate", 20, "--assessors", 3)
    three = annot(*arguments, "--per-pair", 3, "--json").data
    assert (three["pilot"]["pairs"], three["pilot"]["chosen"]) == (40, 0)
    assert three["forecast"]["disputed"]["value"] == pytest.approx(0.2)
    assert three["forecast"]["judgements"] == 3 * three["forecast"]["pairs"]
    assert isinstance(three["forecast"]["coefficient"]["value"], float)
    assert set(three["forecast"]["width"]["interval"]) >= {"low", "high", "level"}
    two = annot(*arguments, "--per-pair", 2, "--json").data
    assert two["pilot"]["chosen"] == 40
    assert two["forecast"]["disputed"]["value"] < 0.2
    assert (
        "40 of these pairs had more assessors; 2 were drawn at random for each"
        in annot(*arguments, "--per-pair", 2).stdout
    )
    told = annot(*arguments[:-1], 4, "--per-pair", 4).stdout
    assert told.count("no pair of the pilot was judged by 4 people; the most was 3") == 4
    assert "judging only, adjudication not included" in told


def test_without_a_pilot_it_is_refused(ws: Workspace, annot: Run) -> None:
    result = annot("forecast", "--design")
    assert (result.exit_code, "no pilot" in result.stderr) == (2, True)
    build(ws, judged=40)
    result = annot("forecast", "--design", "--coefficient", "alpha-ordinal")
    assert (result.exit_code, "did you mean 'alpha_ordinal'" in result.stderr) == (2, True)
    result = annot("forecast", "--design", "--assessors", 1)
    assert (result.exit_code, "2 are needed for each pair" in result.stderr) == (2, True)
