"""What is told of the assessors: everything that is measured, undefined where it must be, and rows that add up."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from annot.agreement import COEFFICIENTS
from annot.diagnosis import Repeat, drifts, paces, panel_of, sequences_of, streaks
from annot.diagnosis.overview import AskedAndGraded, Looked, diagnosed
from annot.records import Assignment, Decision, Judgement
from annot.report.assessor_cells import fixed, signed
from annot.report.assessor_tables import MOST_HARD
from annot.report.document import Section, Table
from annot.report.sections.assessors import assessors

FACETS = {f"q{n:02}": "method" if n % 2 else "result" for n in range(20)}


def looked(*, settled: bool = True, policy: str = "drop") -> Looked:
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
    panel = panel_of(judged, decisions, FACETS, scale=(0, 1, 2, 3), open_pairs=disputed)
    sequences = sequences_of(judged, plan, by_clock=False)
    found = diagnosed(
        panel,
        [Repeat("a1", f"q{i:02}", f"d{15 * i:03}", 1, 1 + i % 2) for i in range(10)],
        policy=policy,
        missing=(AskedAndGraded("a1", 303, 300), AskedAndGraded("a2", 300, 300)),
        coefficient=COEFFICIENTS["kappa_quadratic"],
        alpha=0.02,
        level=0.95,
        seed=13,
        hardest=3,
        examples=5,
    )
    return Looked(
        diagnosed=found,
        order="the order of the plan",
        fence=3.0,
        power=0.8,
        paces=paces(sequences, fence=3.0, floor=3.0, fraction=0.2, level=0.95),
        streaks=streaks(sequences, alpha=0.02, permutations=500, seed=13),
        drifts=drifts(panel, sequences, fence=3.0, alpha=0.02, power=0.8, permutations=500, seed=13),
    )


@pytest.fixture(scope="module")
def study() -> Looked:
    return looked()


def table(section: Section, begins: str) -> Table:
    (one,) = [block for block in section.blocks if isinstance(block, Table) and block.caption.startswith(begins)]
    return one


def test_everything_that_is_measured_is_shown(study: Looked) -> None:
    section = assessors(study)
    between = table(section, "Every two assessors, grade by grade")
    assert len(between.rows) == 3 * 4
    assert sum(int(cell) for row in between.rows[:4] for cell in row[3:]) == 300
    by_grade = table(section, "Each assessor against the final grades, grade by grade")
    for row in by_grade.rows:
        assert int(row[2]) == sum(map(int, row[3:7]))
        assert row[7].startswith(f"{100 * int(row[3 + int(row[1])]) / int(row[2]):.1f}%")
    assert [row[1] for row in table(section, "Hidden repeats").rows] == ["10", "10"]
    model = table(section, "Dawid and Skene's model")
    assert all(sum(map(float, row[2:])) == pytest.approx(100, abs=0.21) for row in model.rows)
    hard = table(section, f"The {MOST_HARD} hardest candidates")
    assert {row[1] for row in hard.rows} == {"method", "result"}
    assert hard.notes == (
        f"Shown: 20 of {len(study.diagnosed.diagnosis.hardest)} candidates (the hardest of each query); all: "
        "annot agreement assessors --query QUERY, or --json.",
    )
    seconds = table(section, "Seconds a pair")
    assert seconds.headings[2:8] == ("Median", "Q1", "Q3", "Mean", "Idle", "Too fast")
    assert len(table(section, "The longest run of one grade").rows) == 3
    assert len(table(section, "Change while judging").rows) == 9


def test_every_share_and_kappa_has_an_interval_and_its_method_is_named(study: Looked) -> None:
    section = assessors(study)
    for row in table(section, "Every two assessors: the share").rows:
        assert all(re.fullmatch(r"[+-]?[\d.]+%? \[-?[\d.]+, [\d.]+\]", cell) for cell in row[3:])
    for row in table(section, "Each assessor against the final grades, on pairs").rows:
        assert "[" in row[2]
        assert "[" in row[6]
    assert any(line.startswith("Intervals: 95%, with whole queries as the units") for line in section.paragraphs)


def test_hard_candidates_of_a_query_are_all_shown_on_request(study: Looked) -> None:
    hard = table(assessors(study, ["q03"]), "The 3 hardest candidates")
    assert {row[0] for row in hard.rows} == {"q03"}
    assert hard.notes == ()


def test_open_disputes_leave_a_dash_and_a_reason() -> None:
    section = assessors(looked(settled=False))
    against = table(section, "Each assessor against the final grades, on pairs")
    for row in against.rows:
        assert (row[2], row[3], row[6]) == ("–", "–", "–")
        assert row[4] != "–"
    assert len(against.notes) == 3
    assert "pairs that a1 judged are in dispute and not settled" in against.notes[0]
    assert not [block for block in section.blocks if "final grades, grade by grade" in block.caption]
    (model,) = [line for line in section.paragraphs if line.startswith("Dawid and Skene")]
    assert "cannot be set beside the final grades" in model
    assert "100.0%" not in model


def test_parts_add_up_as_they_are_printed_and_a_minus_is_explained(study: Looked) -> None:
    parts = table(assessors(study), "What every two assessors differ in")
    assert parts.headings[4:] == ("Expected", "Ordinary", "Severity", "Threshold", "Noise")
    for row in parts.rows:
        assert sum(map(float, row[5:])) == pytest.approx(float(row[4]), abs=1e-9)
    assert any(float(row[7]) > 1 for row in parts.rows)
    negative = any(cell.startswith("-") for row in parts.rows for cell in row[5:])
    assert bool(parts.notes) == negative


def test_a_fit_that_has_not_converged_is_called_provisional_wherever_it_is_shown(study: Looked) -> None:
    fitted = replace(study.diagnosed.dawid_skene, converged=False, steps=500)
    section = assessors(replace(study, diagnosed=replace(study.diagnosed, dawid_skene=fitted)))
    told = [*section.paragraphs, *(block.caption for block in section.blocks)]
    of_model = [text for text in told if text.startswith(("Dawid", "Where Dawid"))]
    assert len(of_model) == 3
    assert all("not converged after 500 steps" in text and "provisional" in text for text in of_model)
    assert not [line for line in assessors(study).paragraphs if "provisional" in line]


def test_policy_for_missing_judgements_is_told_with_counts() -> None:
    (told,) = [line for line in assessors(looked(policy="zero")).paragraphs if "without a grade" in line]
    assert "though annot.toml counts them as grade 0" in told
    assert told.endswith("a1 3 of 303.")


def test_nothing_found_is_told_with_what_could_have_been_found(study: Looked) -> None:
    (told,) = [line for line in assessors(study).paragraphs if line.startswith("No assessor changes")]
    assert re.search(r"with a chance of 80% .*severity by 0\.\d\d grades to .*speed by 1\.\d\d times as long", told)


def test_zero_has_no_sign() -> None:
    assert (signed(-0.001), signed(0.0), signed(0.004), signed(-0.02), signed(0.02)) == (
        "0.00",
        "0.00",
        "0.00",
        "-0.02",
        "+0.02",
    )
    assert (fixed(-0.04, 1), fixed(-0.06, 1)) == ("0.0", "-0.1")


def test_no_cell_has_a_signed_zero(study: Looked) -> None:
    for block in assessors(study).blocks:
        assert not [cell for row in block.rows for cell in row if re.search(r"-0\.0+\b(?!\d)", cell)]
