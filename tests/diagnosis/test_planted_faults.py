"""The diagnosis of simulated assessors: it finds what was planted, and nothing where nothing was.

Ten seeds a fault, each of the three designs in turn. That 95 of 100 are right is counted by
`benchmarks/diagnosis_power.py`; of ten at least so many must be right that a true 95 of 100 would fall short of it in
two of a hundred studies.
"""

from __future__ import annotations

import pytest
from scipy import stats
from simulated_assessors import DESIGNS, Study, diagnosed, simulate

SEEDS = range(10)
ENOUGH = int(stats.binom.ppf(0.02, len(SEEDS), 0.95))


def test_bound_is_that_of_the_binomial_distribution() -> None:
    assert stats.binom.cdf(ENOUGH - 1, len(SEEDS), 0.95) <= 0.02
    assert ENOUGH == 8


@pytest.mark.parametrize("fault", ["severity", "share", "slips"])
def test_planted_fault_is_reported_with_assessor_and_kind(fault: str) -> None:
    right = 0
    for seed in SEEDS:
        panel, planted = simulate(Study(DESIGNS[seed % 3], fault), seed)
        right += planted in diagnosed(panel)
    assert right >= ENOUGH


def test_nothing_is_reported_where_nothing_was_planted() -> None:
    silent = sum(not diagnosed(simulate(Study(DESIGNS[seed % 3], None), seed)[0]) for seed in SEEDS)
    assert silent >= ENOUGH
