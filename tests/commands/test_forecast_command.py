"""A study under way is seen as it is: counts, grades, agreement on complete pairs, and what is still to come."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from annot.base.names import OF_PAPERS
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.judging.progress import StudyProgress
from annot.publishing.report.cells import HOURS, estimate
from annot.publishing.report.status_page import describe, tables
from annot.publishing.report.terminal import share_done
from annot.steps.forecast import forecast
from annot.study.workspace import Workspace
from small_study import NOW, build

Run = Callable[..., Any]


def look(ws: Workspace) -> StudyProgress:
    """What `forecast` shows."""
    return forecast(ws.replaced("forecast", hourly_rate=30.0), clock=lambda: NOW)


def test_a_study_half_way(ws: Workspace) -> None:
    build(ws, judged=25)
    seen = look(ws)
    assert (seen.judged, seen.planned) == (50, 80)
    assert {one.assessor: (one.judged, one.assigned) for one in seen.assessors} == {"a1": (25, 40), "a2": (25, 40)}
    # By hand from the planted grades: (document + query) mod 4 on eight documents, then 0 and 1.
    assert seen.assessors[0].grades == {0: 7, 1: 7, 2: 5, 3: 6}
    assert [(one.query_id, one.complete, one.by_assessor["a1"]) for one in seen.queries] == [
        ("p1-method", 10, (10, 10)),
        ("p2-method", 10, (10, 10)),
        ("p3-method", 5, (5, 10)),
        ("p4-method", 0, (0, 10)),
    ]
    assert seen.agreement is not None
    assert (seen.agreement.n_pairs, seen.agreement.n_queries) == (25, 3)
    percent = next(shown for shown in seen.agreement.figures if shown.coefficient == "percent")
    assert percent.value == pytest.approx(80)
    assert percent.n_queries == 3
    assert "agreement so far, median over queries" in describe(
        seen, tables(seen, OF_PAPERS, all_queries=False), OF_PAPERS
    )


def test_the_agreement_so_far_is_that_of_annot_agreement(ws: Workspace, annot: Run) -> None:
    """One alpha is one number: the same median over queries, with the same interval."""
    build(ws, judged=25)
    shown = {one["coefficient"]: one for one in annot("forecast", "--json").data["agreement"]["figures"]}
    together = annot("agreement", "--json").data["groups"][-1]
    for name in ("spearman_rho", "alpha_ordinal", "kappa", "percent"):
        summary = together["before"][name]
        assert shown[name]["value"] == summary["median"]
        assert shown[name]["interval"] == summary["intervals"]["median"]


def test_hours_date_and_cost_to_come(ws: Workspace) -> None:
    build(ws, judged=20)
    seen = look(ws)
    found = seen.forecast
    # Twenty pairs left for each, at about 30 and 60 seconds; twenty in the four days since they began.
    assert found.hours_left.value == pytest.approx(20 * (30 + 60) / 3600, rel=0.1)
    assert found.cost_left.value == pytest.approx(30 * found.hours_left.value)
    assert [one.pairs_per_day for one in found.assessors] == [5.0, 5.0]
    assert isinstance(found.finish.date, str)
    assert found.finish.date > "2031-03-14"


def test_pairs_that_one_of_two_has_judged_are_not_in_the_agreement(ws: Workspace) -> None:
    build(ws, judged=0)
    seen = look(ws)
    assert (seen.judged, seen.agreement) == (0, None)


def test_it_prints_plain_blocks(ws: Workspace, annot: Run) -> None:
    build(ws, judged=25)
    result = annot("forecast", "--hourly-rate", 30)
    assert result.exit_code == 0
    assert "50 of 80 judgements (62%)" in result.stdout
    assert "2 queries complete, 1 in progress, 1 not started" in result.stdout
    assert "25 complete pairs of 3 queries" in result.stdout
    assert "cost of judging left, EUR" in result.stdout
    assert "\x1b" not in result.stdout
    assert "p4-method" not in result.stdout
    assert "p4-method" in annot("forecast", "--all").stdout
    data = annot("forecast", "--json").data
    assert data["forecast"]["cost_left"]["value"] == {"undefined": "no hourly rate is set"}


def test_open_disputes_are_work_that_is_left(ws: Workspace, annot: Run) -> None:
    """Four queries with two disputes each, two of the eight settled: six are open when everything is judged."""
    build(ws, judged=40)
    seen = look(ws)
    assert (seen.settling.disputed, seen.settling.open) == (8, 6)
    # j1 took 90 seconds over each of two: enough for a figure, too few for an interval.
    assert seen.settling.hours.value == pytest.approx(6 * 90 / 3600)
    assert seen.settling.cost.value == pytest.approx(30 * 6 * 90 / 3600)
    assert seen.settling.hours.interval == Undefined("only 2 settled disputes with a time")
    told = describe(seen, tables(seen, OF_PAPERS, all_queries=False), OF_PAPERS)
    assert "disputed pairs so far: 8, 6 of them not settled yet" in told
    assert re.search(r"(?m)^hours of adjudication left +0\.[12]$", told)
    assert "no interval for hours of adjudication left" in told
    assert told.count("only 2 settled disputes with a time") == 1
    data = annot("forecast", "--dispute-seconds", 60, "--json").data
    assert data["settling"]["hours"]["value"] == pytest.approx(6 * 60 / 3600)


def test_while_nobody_has_settled_a_dispute_its_hours_are_not_known(ws: Workspace) -> None:
    build(ws, judged=9)
    seen = look(ws)
    assert seen.settling.open == 1
    assert isinstance(seen.settling.hours.value, Undefined)


@pytest.mark.parametrize(("level", "shown"), [(0.8, True), (0.9, False)])
def test_intervals_of_the_running_agreement_are_named_with_their_level_where_there_are_any(
    ws: Workspace, annot: Run, level: float, shown: bool
) -> None:
    """Of four queries, order statistics hold the median in 7 of 8 cases. On the last, all that is judged agrees."""
    build(ws, judged=36)
    (ws.root / "annot.toml").write_text(f"[agreement]\nlevel = {level}\n")
    (line,) = re.findall("agreement so far, median over queries: .*", annot("forecast").stdout)
    assert ("80% intervals" in line, "interval" in line) == (shown, shown)


@pytest.mark.parametrize(("part", "whole", "told"), [(8091, 8102, "99%"), (8102, 8102, "100%"), (0, 5, "0%")])
def test_only_what_is_finished_is_at_a_hundred_percent(part: int, whole: int, told: str) -> None:
    assert share_done(part, whole) == told


def test_a_figure_that_rounds_to_nothing_has_no_sign() -> None:
    assert estimate(Estimate(-0.001, Interval(-0.004, 0.002, 0.95, "prediction")), HOURS) == "0.0 [0.0, 0.0]"


def test_without_a_plan_it_says_so(annot: Run) -> None:
    result = annot("forecast")
    assert (result.exit_code, "nothing is planned" in result.stderr) == (2, True)
