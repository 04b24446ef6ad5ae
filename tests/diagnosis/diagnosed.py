"""A diagnosis as the tests look at it, and grades with the usual noise."""

from __future__ import annotations

import json

import numpy as np
from annot.base.stats.values import to_json
from annot.measuring.diagnosis.findings import Diagnosis, diagnose
from annot.measuring.diagnosis.panel import Panel
from annot.publishing.report.words import sentences


def diagnosis_of(one: Panel) -> Diagnosis:
    found = diagnose(one, level=0.95)
    assert isinstance(found, Diagnosis)
    json.dumps(to_json(found), allow_nan=False)
    return found


def told(one: Panel) -> str:
    """The findings as the report tells them."""
    return " ".join(sentences("assessors.findings", diagnosis=diagnosis_of(one), power=0.8, undefined=False))


def adjacent(rng: np.random.Generator, truth: np.ndarray, assessors: int, rate: float = 0.2) -> np.ndarray:
    """Grades off by one at a rate."""
    step = rng.choice([-1, 0, 1], (len(truth), assessors), p=[rate / 2, 1 - rate, rate / 2])
    return np.clip(truth[:, None] + step, 0, 3)
