"""Overview of the assessors for the report and `annot agreement --by assessor`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from annot.base.stats.power import POWER
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis import matrices
from annot.measuring.diagnosis.drift import Drift, drifts
from annot.measuring.diagnosis.findings import Diagnosis, diagnose
from annot.measuring.diagnosis.pace import Pace, Streak, paces, streaks
from annot.measuring.diagnosis.panel import Panel


@dataclass(frozen=True, slots=True)
class AskedAndGraded:
    """Number of judgements that one assessor was asked for, and number of those that have a grade that counts."""

    assessor: str
    asked: int
    graded: int


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """Assessors compared with each other and the final grades, and reasons why they disagree."""

    scale: tuple[int, ...]
    level: float
    """Level of all intervals."""
    policy: str
    """Policy for missing judgements of annot.toml. It is for coefficients: a grade that was not given shows nothing
    about an assessor, and is left out here.
    """
    missing: tuple[AskedAndGraded, ...]
    matrix: tuple[matrices.AssessorPair, ...]
    against_final: tuple[matrices.AgainstFinal, ...]
    severities: tuple[matrices.Severity, ...]
    diagnosis: Diagnosis | Undefined
    self_consistency: tuple[matrices.SelfConsistency, ...]
    """Consistency of assessors with themselves; empty if nothing was asked twice."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Analysis of the assessors: how they judge, and how they work."""

    diagnosed: Diagnosed
    order: str
    """Order of judging that streaks and drifts follow, in words."""
    reading_limit: float
    """Seconds in which nobody can read a pair."""
    fence: float
    """Robust widths of the log times from their median beyond which a time is idling."""
    power: float
    """Probability with which a drift of the detectable size would have been found."""
    paces: tuple[Pace, ...]
    streaks: tuple[Streak, ...]
    drifts: tuple[Drift, ...]


def look(
    panel: Panel,
    repeats: Iterable[matrices.Repeat],
    *,
    topics: Mapping[str, str],
    policy: str,
    missing: tuple[AskedAndGraded, ...],
    order: str,
    rushed: Mapping[str, Collection[tuple[str, str]]],
    reading_limit: float,
    fence: float,
    level: float,
    seed: int,
) -> Looked:
    """Analyse the panel and the repeats. topics: the topic of each query. rushed: as in `paces`."""
    return Looked(
        diagnosed=Diagnosed(
            scale=panel.scale,
            level=level,
            policy=policy,
            missing=missing,
            matrix=matrices.pairwise_matrix(panel, level=level),
            against_final=matrices.against_final(panel, level=level),
            severities=matrices.severities(panel, level=level),
            diagnosis=diagnose(panel, level=level),
            self_consistency=matrices.self_consistency(repeats, widest=panel.widest, level=level, topics=topics),
        ),
        order=order,
        reading_limit=reading_limit,
        fence=fence,
        power=POWER,
        paces=paces(panel, rushed=rushed, fence=fence, level=level),
        streaks=streaks(panel, seed=seed),
        drifts=drifts(panel, fence=fence),
    )
