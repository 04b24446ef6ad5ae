"""What is known of the assessors: what the report and `annot agreement assessors` tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis import (
    AgainstFinal,
    AssessorPair,
    Diagnosis,
    Drift,
    ModelAgainstFinal,
    Pace,
    Panel,
    Repeat,
    SelfConsistency,
    Severity,
    Streak,
    Undefined,
    against_final,
    compare_with_final,
    diagnose,
    pairwise_matrix,
    self_consistency,
    severities,
)

TOLERANCE, MAX_STEPS = 1e-7, 2_000
"""Of the expectation-maximisation of Dawid and Skene's model."""


@dataclass(frozen=True, slots=True)
class AskedAndGraded:
    """How many judgements one assessor was asked for, and how many have a grade that counts."""

    assessor: str
    asked: int
    graded: int


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The assessors against each other and the final grades, and why they disagree."""

    scale: tuple[int, ...]
    level: float
    """Of all intervals."""
    policy: str
    """What annot.toml says of missing judgements. It is for coefficients: a grade that nobody gave tells nothing of an
    assessor, and is left out here."""
    missing: tuple[AskedAndGraded, ...]
    matrix: tuple[AssessorPair, ...]
    against_final: tuple[AgainstFinal, ...]
    severities: tuple[Severity, ...]
    diagnosis: Diagnosis | Undefined
    dawid_skene: ModelAgainstFinal
    self_consistency: tuple[SelfConsistency, ...]
    """Who agrees with themselves; empty where nothing was asked twice."""


@dataclass(frozen=True, slots=True)
class Looked:
    """How the assessors judge, and how they work."""

    diagnosed: Diagnosed
    order: str
    """In words, what order of judging streaks and drifts follow."""
    fence: float
    """Robust widths of the log times from their median beyond which a time is idling."""
    power: float
    """The chance with which a drift of the size called detectable would have been found."""
    paces: tuple[Pace, ...]
    streaks: tuple[Streak, ...]
    drifts: tuple[Drift, ...]


def diagnosed(
    panel: Panel,
    repeats: Sequence[Repeat],
    *,
    policy: str,
    missing: tuple[AskedAndGraded, ...],
    coefficient: Callable[[npt.NDArray[np.float64], Sequence[int]], float],
    alpha: float,
    level: float,
    power: float,
    seed: int,
    hardest: int,
    examples: int,
) -> Diagnosed:
    """Look at the panel and the repeats; `coefficient` is computed between every two assessors."""
    return Diagnosed(
        scale=panel.scale,
        level=level,
        policy=policy,
        missing=missing,
        matrix=pairwise_matrix(panel, coefficient=coefficient, level=level),
        against_final=against_final(panel, level=level),
        severities=severities(panel, level=level),
        diagnosis=diagnose(panel, alpha=alpha, level=level, power=power, seed=seed, hardest=hardest, examples=examples),
        dawid_skene=compare_with_final(panel, tolerance=TOLERANCE, max_steps=MAX_STEPS, level=level),
        self_consistency=self_consistency(repeats, widest=panel.widest, level=level),
    )
