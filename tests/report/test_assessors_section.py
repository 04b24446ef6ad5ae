"""What is told of the assessors: everything that is measured, undefined where it must be, and rows that add up."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from annot.base.names import OF_PAPERS
from annot.base.records import Assignment, Decision, Judgement
from annot.base.stats.inference import POWER
from annot.measuring.diagnosis import findings
from annot.measuring.diagnosis import panel as panels
from annot.measuring.diagnosis.findings import AssessorAnalysis, JudgementCount
from annot.measuring.diagnosis.panel import Repeat, panel_of
from annot.publishing.report.cells import Number
from annot.publishing.report.sections.assessors import MOST_HARD, tables
from annot.publishing.report.tables import Table

FACETS = {f"q{n:02}": "method" if n % 2 else "result" for n in range(20)}


def looked(*, settled: bool = True, policy: str = "drop") -> AssessorAnalysis:
    """Three assessors, 300 pairs each; a1 grades 1 where the others see 2 in half of the cases."""
    rng = np.random.default_rng(4)
    truth = rng.choice(4, 300, p=[0.4, 0.3, 0.2, 0.1])
    judged, plan, decisions, disputed = [], [], [], []
    for i in range(300):
        pair = (f"q{i // 15:02}", f"d{i:03}")
        given = np.clip(truth[i] + rng.choice([-1, 0, 1], 3, p=[0.1, 0.8, 0.1]), 0, 3)
        given[0] = 1 if given[0] == 2 and rng.random() < 0.5 else given[0]
        for a in range(3):
            seconds = round(float(rng.lognormal(3.4, 0.4)), 1)
            judged.append(Judgement(*pair, f"a{a + 1}", int(given[a]), lead_time=seconds))
            plan.append(Assignment(*pair, f"a{a + 1}", i + 1))
        if len(set(given)) == 1:
            decisions.append(Decision(*pair, int(given[0]), "agreed"))
        elif settled:
            decisions.append(Decision(*pair, int(truth[i]), "adjudicated"))
        else:
            disputed.append(pair)
    panel = panel_of(
        judged, decisions, FACETS, scale=(0, 1, 2, 3), open_pairs=disputed, assignments=plan, by_clock=False
    )
    repeats = [Repeat("a1", f"q{i:02}", f"d{15 * i:03}", 1, 1 + i % 2) for i in range(10)]
    return AssessorAnalysis(
        diagnosed=findings.AssessorComparison(
            scale=panel.scale,
            level=0.95,
            policy=policy,
            missing=(JudgementCount("a1", 303, 300), JudgementCount("a2", 300, 300)),
            matrix=panels.pairwise_matrix(panel, level=0.95),
            against_final=panels.against_final(panel, level=0.95),
            severities=panels.severities(panel, level=0.95),
            diagnosis=findings.diagnose(panel, level=0.95),
            self_consistency=panels.self_consistency(repeats, widest=3.0, level=0.95),
        ),
        order="the order of the plan",
        reading_limit=1.0,
        fence=3.0,
        power=POWER,
        paces=findings.paces(panel, rushed={"a1": [("q", "d")]}, fence=3.0, level=0.95),
        streaks=findings.streaks(panel, seed=13),
        drifts=findings.drifts(panel, fence=3.0),
    )


@pytest.fixture(scope="module")
def study() -> AssessorAnalysis:
    return looked()


def table(looked: AssessorAnalysis, name: str, queries: Sequence[str] = ()) -> Table:
    (found,) = [one for one in tables(looked, OF_PAPERS, queries) if one.name == name]
    return found


def test_everything_that_is_measured_is_shown(study: AssessorAnalysis) -> None:
    between = table(study, "between-grades")
    assert len(between.rows) == 3 * 4
    assert sum(int(str(cell)) for row in between.rows[:4] for cell in row[3:]) == 300
    for row in table(study, "against-final-grades").rows:
        counts = [int(str(cell)) for cell in row[1:7]]
        assert counts[1] == sum(counts[2:])
        assert isinstance(row[7], Number)
        assert row[7].value == pytest.approx(100 * counts[2 + counts[0]] / counts[1])
    assert [row[1] for row in table(study, "repeats").rows] == [10, 10]
    hard = table(study, "hardest")
    assert len(hard.rows) == MOST_HARD
    assert {row[1] for row in hard.rows} == {"method", "result"}
    assert hard.notes == (
        f"20 of {len(study.diagnosed.diagnosis.hardest)} candidates (the hardest of each query) are shown; "
        "`annot agreement --by assessor --query QUERY` or `annot agreement --by assessor --json` print all.",
    )
    assert table(study, "pace").headings[2:8] == ("Median", "Q1", "Q3", "Mean", "Idle", "Too fast")
    assert len(table(study, "streaks").rows) == 3
    assert len(table(study, "change-sizes").rows) == 9


def test_every_share_and_kappa_has_an_interval(study: AssessorAnalysis) -> None:
    for row in table(study, "between").rows:
        assert all(re.fullmatch(r"[+-]?[\d.]+%? \[-?[\d.]+, [\d.]+\]", str(cell)) for cell in row[3:])
    for row in table(study, "against-final").rows:
        assert "[" in str(row[2])
        assert "[" in str(row[6])


def test_hard_candidates_of_a_query_are_all_shown_on_request(study: AssessorAnalysis) -> None:
    hard = table(study, "hardest", ["q03"])
    assert (len(hard.rows), {row[0] for row in hard.rows}) == (3, {"q03"})
    assert hard.notes == ()


def test_open_disputes_leave_a_dash_and_a_reason() -> None:
    unsettled = looked(settled=False)
    against = table(unsettled, "against-final")
    for row in against.rows:
        assert [str(row[at]) for at in (2, 3, 6)] == ["–", "–", "–"]
        assert str(row[4]) != "–"
    (note,) = against.notes
    for name in ("a1", "a2", "a3"):
        assert f"pairs that {name} judged are in dispute" in note
    assert "against-final-grades" not in [one.name for one in tables(unsettled)]


def test_parts_add_up_to_the_distance(study: AssessorAnalysis) -> None:
    parts = table(study, "parts")
    assert parts.headings[4:] == ("Distance", "Severity", "Threshold", "Noise")
    for row in parts.rows:
        assert sum(float(str(cell)) for cell in row[5:]) == pytest.approx(float(str(row[4])), abs=0.016)


def test_no_cell_has_a_signed_zero(study: AssessorAnalysis) -> None:
    for one in tables(study):
        assert not [cell for row in one.rows for cell in row if re.search(r"-0\.0+\b(?!\d)", str(cell))]
