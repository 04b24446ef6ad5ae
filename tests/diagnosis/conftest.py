"""A study of three assessors, for the tests of their figures."""

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.measuring.diagnosis.panel import Panel, panel_of


@pytest.fixture(scope="session")
def study() -> Panel:
    """Three assessors, 6 queries of 20 pairs; a3 judged half of them; final is the median with a2 over-ruled often."""
    rng = np.random.default_rng(3)
    truth = rng.choice(4, 120, p=[0.4, 0.3, 0.2, 0.1])
    grades = np.clip(truth[:, None] + rng.choice([-1, 0, 1], (120, 3), p=[0.15, 0.7, 0.15]), 0, 3)
    judgements = [
        Judgement(f"q{i // 20}", f"d{i}", f"a{a + 1}", int(grades[i, a]))
        for i in range(120)
        for a in range(3)
        if a < 2 or i % 2
    ]
    decisions = [
        Decision(f"q{i // 20}", f"d{i}", int(truth[i]), "adjudicated" if len(set(grades[i, :2])) > 1 else "agreed")
        for i in range(100)
    ]
    return panel_of(
        judgements,
        decisions,
        {f"q{n}": "method" for n in range(6)},
        scale=(0, 1, 2, 3),
        open_pairs=(),
        assignments=(),
        by_clock=False,
    )
