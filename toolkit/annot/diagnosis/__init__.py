"""Assessors looked at one by one and two by two: how they judge, whether they change, and why they disagree."""

from __future__ import annotations

from annot.diagnosis.dawid_skene import ModelAgainstFinal, compare_with_final, dawid_skene
from annot.diagnosis.drift import Drift, drifts
from annot.diagnosis.findings import AssessorFinding, Diagnosis, diagnose
from annot.diagnosis.items import order_of_hard
from annot.diagnosis.matrices import (
    AgainstFinal,
    AssessorPair,
    Repeat,
    SelfConsistency,
    Severity,
    against_final,
    pairwise_matrix,
    self_consistency,
    severities,
)
from annot.diagnosis.pace import Pace, Streak, paces, streaks
from annot.diagnosis.panel import Panel, panel_of
from annot.diagnosis.sequences import JudgedSequence, sequences_of
from annot.stats.values import Share, Undefined, to_json

__all__ = [
    "AgainstFinal",
    "AssessorFinding",
    "AssessorPair",
    "Diagnosis",
    "Drift",
    "JudgedSequence",
    "ModelAgainstFinal",
    "Pace",
    "Panel",
    "Repeat",
    "SelfConsistency",
    "Severity",
    "Share",
    "Streak",
    "Undefined",
    "against_final",
    "compare_with_final",
    "dawid_skene",
    "diagnose",
    "drifts",
    "order_of_hard",
    "paces",
    "pairwise_matrix",
    "panel_of",
    "self_consistency",
    "sequences_of",
    "severities",
    "streaks",
    "to_json",
]
