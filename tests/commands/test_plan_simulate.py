"""A design is forecast from the pilot in the store: its pairs, hours and cost, and the interval it will reach."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from annot.base.records import Assessor
from annot.store import people, pools
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


def test_the_forecast_in_words_and_the_study_untouched(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    files = [ws.root / "annot.db", ws.pools / "plan.jsonl"]
    before = [path.read_bytes() for path in files]
    told = annot("forecast", "--design")
    assert told.exit_code == 0
    assert "from a pilot of 40 pairs judged by 2 on 4 queries" in told.stdout
    assert "95% prediction intervals" in told.stdout
    assert "A missing judgement is left out" in told.stdout
    assert "cost, EUR" in told.stdout
    assert "unknown: no hourly rate is set" in told.stdout
    assert [path.read_bytes() for path in files] == before


def test_by_depth_the_forecast_is_said_to_be_the_most(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    said = "hours and cost are upper limits"
    assert said not in " ".join(annot("forecast", "--design").stdout.split())
    settings = ws.root / "annot.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('mode = "round-robin"', 'mode = "depth"'), encoding="utf-8")
    kept = annot("forecast", "--design")
    assert said not in " ".join(kept.stdout.split())
    assert "mode: the recorded pools have round-robin" in " ".join(kept.stdout.split())
    with open_store(ws.database_url) as store, store.begin() as session:
        drawn = [replace(pool, mode="depth") for pool in pools.read_pools(session).values()]
        pools.replace_pools(session, drawn, rankings_sha256={pool.topic_id: "abc" for pool in drawn})
    assert said in " ".join(annot("forecast", "--design").stdout.split())


def test_without_a_pilot_it_is_refused(ws: Workspace, annot: Run) -> None:
    result = annot("forecast", "--design")
    assert (result.exit_code, "no pilot" in result.stderr) == (2, True)
    build(ws, judged=40)
    result = annot("forecast", "--design", "--coefficient", "alpha-ordinal")
    assert (result.exit_code, "did you mean 'alpha_ordinal'" in result.stderr) == (2, True)
    result = annot("forecast", "--design", "--assessors", 1)
    assert (result.exit_code, "2 are needed for each pair" in result.stderr) == (2, True)


def test_the_seconds_of_a_dispute_come_from_the_option_then_the_settings_then_the_pilot(
    ws: Workspace, annot: Run
) -> None:
    """Nothing is settled while no query is complete: judging alone has its price, until the seconds are named."""
    build(ws, judged=9)
    arguments = ("forecast", "--design", "--hourly-rate", 20)
    alone = annot(*arguments, "--json").data["forecast"]
    assert alone["hours"] == alone["hours_judging"]
    assert alone["cost"]["value"] == pytest.approx(20 * alone["hours_judging"]["value"])
    assert alone["priced"] == "judging only, adjudication not included"
    told = annot(*arguments).stdout
    assert len(re.findall(r"(?m)^(hours in all|cost, EUR) .*\(judging only, adjudication not included\)$", told)) == 2
    (ws.root / "annot.toml").write_text("[forecast]\ndispute_seconds = 60\n")
    per_dispute = {}
    for name, option in (("settings", ()), ("option", ("--dispute-seconds", 120))):
        data = annot(*arguments, *option, "--json").data["forecast"]
        disputes = data["pairs"] * data["disputed"]["value"]
        per_dispute[name] = data["hours_adjudicating"]["value"] * 3600 / disputes
        assert data["priced"] == "judging and adjudication"
    assert per_dispute == {"settings": pytest.approx(60), "option": pytest.approx(120)}


def test_repeats_are_judged_and_paid_but_not_settled(ws: Workspace, annot: Run) -> None:
    build(ws, judged=40)
    arguments = ("forecast", "--design", "--per-method", 6, "--hourly-rate", 20, "--dispute-seconds", 60)
    plain, again = (annot(*arguments, "--repeats", share, "--json").data["forecast"] for share in (0, 0.25))
    assert again["judgements"] == 1.25 * plain["judgements"]
    assert again["hours_judging"]["value"] == pytest.approx(1.25 * plain["hours_judging"]["value"])
    assert again["hours_adjudicating"] == plain["hours_adjudicating"]
    hours = again["hours_judging"]["value"] + again["hours_adjudicating"]["value"]
    assert again["cost"]["value"] == pytest.approx(20 * hours)
    assert "25% of them again" in annot(*arguments, "--repeats", 0.25).stdout
    # The plan asks nothing again in a query of fewer than ten documents.
    small = ("forecast", "--design", "--per-method", 1, "--repeats", 0.25)
    data = annot(*small, "--json").data
    assert (data["repeats"], data["forecast"]["design"]["repeats"]) == (0.25, 0.0)
    assert data["forecast"]["judgements"] == 2 * data["forecast"]["pairs"]
    assert "no repeats, because an assessor has fewer than 42 pairs" in annot(*small).stdout


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
