"""A diagnosis as the tests look at it, panels of a handful of grades, and grades with the usual noise."""

import json

import numpy as np
from annot.base.names import OF_PAPERS
from annot.base.records import Decision, Judgement
from annot.base.stats.values import to_json
from annot.measuring.diagnosis.findings import Diagnosis, diagnose
from annot.measuring.diagnosis.panel import Panel, panel_of
from annot.publishing.report.tables import sentences


def diagnosis_of(one: Panel) -> Diagnosis:
    found = diagnose(one, level=0.95)
    assert isinstance(found, Diagnosis)
    json.dumps(to_json(found), allow_nan=False)
    return found


def told(one: Panel) -> str:
    """The findings as the report tells them."""
    return " ".join(
        sentences("assessors.findings", words=OF_PAPERS, diagnosis=diagnosis_of(one), power=0.8, undefined=False)
    )


def adjacent(rng: np.random.Generator, truth: np.ndarray, assessors: int, rate: float = 0.2) -> np.ndarray:
    """Grades off by one at a rate."""
    step = rng.choice([-1, 0, 1], (len(truth), assessors), p=[rate / 2, 1 - rate, rate / 2])
    return np.clip(truth[:, None] + step, 0, 3)


def panel(
    *grades: list[int],
    queries: list[str] | None = None,
    papers: dict[str, str] | None = None,
    seconds: list[float] | None = None,
    final: list[Decision] | None = None,
    open_pairs: tuple[tuple[str, str], ...] = (),
    scale: tuple[int, ...] = (0, 1, 2, 3),
) -> Panel:
    """One list of grades for each assessor, in the order of the pairs; -1: not judged. seconds: of each pair."""
    queries = queries or ["q1"] * len(grades[0])
    judged = [
        Judgement(query, f"d{at:03}", f"a{who}", mine[at], lead_time=None if seconds is None else seconds[at])
        for who, mine in enumerate(grades, start=1)
        for at, query in enumerate(queries)
        if mine[at] >= 0
    ]
    facets = dict.fromkeys(queries, "method")
    return panel_of(
        judged, final or [], facets, topics=papers, scale=scale, open_pairs=open_pairs, assignments=(), by_clock=False
    )
