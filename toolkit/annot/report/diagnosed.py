"""What the report says of the assessors: nothing in it depends on the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis import (
    AgainstFinal,
    AssessorPair,
    Comparison,
    Diagnosis,
    Panel,
    Repeat,
    SelfConsistency,
    Severity,
    Undefined,
    against_final,
    compare_with_final,
    diagnose,
    pairwise_matrix,
    self_consistency,
    severities,
)

TOLERANCE, MAX_STEPS = 1e-9, 50_000
"""Of the expectation-maximisation of Dawid and Skene's model."""


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The assessors against each other and the final grades, and why they disagree."""

    matrix: tuple[AssessorPair, ...]
    against_final: tuple[AgainstFinal, ...]
    severities: tuple[Severity, ...]
    diagnosis: Diagnosis | Undefined
    dawid_skene: Comparison
    self_consistency: tuple[SelfConsistency, ...]
    """Who agrees with themselves; empty where nothing was asked twice."""


def diagnosed(
    panel: Panel,
    repeats: Sequence[Repeat],
    *,
    coefficient: Callable[[npt.NDArray[np.float64], Sequence[int]], float],
    alpha: float,
    level: float,
    seed: int,
    hardest: int,
    examples: int,
) -> Diagnosed:
    """Look at the panel and the repeats; `coefficient` is computed between every two assessors."""
    return Diagnosed(
        matrix=pairwise_matrix(panel, coefficient=coefficient, level=level),
        against_final=against_final(panel, level=level),
        severities=severities(panel, level=level),
        diagnosis=diagnose(panel, alpha=alpha, level=level, seed=seed, hardest=hardest, examples=examples),
        dawid_skene=compare_with_final(panel, tolerance=TOLERANCE, max_steps=MAX_STEPS, level=level),
        self_consistency=self_consistency(repeats, level=level),
    )
