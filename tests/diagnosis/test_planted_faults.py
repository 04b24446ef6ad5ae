"""The diagnosis of simulated assessors: it finds what was planted, and nothing where nothing was.

Few studies of each kind; `benchmarks/diagnosis_power.py` counts over many. Bounds are those that the true share would
miss in fewer than two of a hundred runs of this test.
"""

import itertools

import pytest
from scipy import stats
from simulated_assessors import DESIGNS, Study, design_effect, diagnosed, simulate

EFFECTS = (1.0, 3.0, 9.0)


@pytest.mark.parametrize(("design", "effect"), [*zip(DESIGNS, EFFECTS, strict=True)])
def test_design_effect_is_the_one_that_was_asked_for(design: str, effect: float) -> None:
    measured = [design_effect(simulate(Study(design, None, effect), seed)[0]) for seed in range(10)]
    assert sum(measured) / 10 == pytest.approx(effect, rel=0.15)


def test_nothing_is_found_where_people_differ_from_query_to_query_but_not_on_average() -> None:
    alarms = sum(
        bool(diagnosed(simulate(Study(design, None, effect), seed)[0]))
        for design, effect, seed in itertools.product(DESIGNS, EFFECTS, range(5))
    )
    assert alarms <= stats.binom.ppf(0.98, 9 * 5, 0.02)


@pytest.mark.parametrize("fault", ["severity", "slips", "constant"])
def test_planted_fault_is_reported_with_assessor_and_kind(fault: str) -> None:
    """At design effect 3 in the first design, where 90 of 100 and more are found, and at 1 in the others."""
    right = 0
    for seed in range(12):
        panel, planted = simulate(Study(DESIGNS[seed % 3], fault, 1.0 if seed % 3 else 3.0), seed)
        right += planted in diagnosed(panel)
    assert right >= stats.binom.ppf(0.02, 12, 0.95)


def test_a_planted_fault_is_not_found_in_others() -> None:
    others = 0
    for seed in range(12):
        panel, planted = simulate(Study(DESIGNS[seed % 3], "severity", 3.0), 100 + seed)
        others += bool({one.assessor for one in diagnosed(panel)} - {planted.assessor})
    assert others <= stats.binom.ppf(0.98, 12, 0.02) + 1
