"""Assessors who are simulated, with a known fault in one of them: what the diagnosis must find, and nothing else.

A pair's similarity lies on a line in grades, cut at 0.5, 1.5, 2.5, spread so that grades 0..3 are given to 40, 30, 20
and 10 percent of the pairs. It is not normal: flat within a grade, with hard ends. An assessor sees it with a normal
noise of 0.35 grades: two of them then give the same grade to 70 percent of the pairs, as in CSFCube's method facet
(69.6; its background facet has 57.1).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from annot.diagnosis import Diagnosis, Panel, diagnose
from annot.stats.seeding import generator

GRADE_MIX = (0.4, 0.3, 0.2, 0.1)
THRESHOLDS = np.array([0.5, 1.5, 2.5])
ASSESSORS = ("a1", "a2", "a3", "a4")
QUERIES = 16
DESIGNS = ("all", "per-pair", "per-query")
ALPHA = 0.02


@dataclass(frozen=True)
class Planted:
    """One fault: whose, which, and for a threshold the grade that it opens."""

    assessor: str
    kind: str
    grade: int | None


@dataclass(frozen=True)
class Study:
    """What is simulated."""

    design: str
    """all: 400 pairs, judged by all four; per-pair: 800 pairs, each by two of them in turn; per-query: so too, but with
    one team a query. Everyone judges 400 pairs."""
    fault: str | None
    """severity: 0.4 grades, stricter or more lenient. share: 25 percent of the pairs that the assessor would put at
    grade 1 are put at 0, or all such at 2. move: the threshold itself is moved so far. slips: 25 percent of ratings are
    any grade alike; wobble: they are off by one; shuffle: they are drawn from the assessor's own grades."""
    noise: float = 0.35
    uneven: float = 0.0
    """Queries differ in noise: standard deviation of its logarithm."""


def simulate(study: Study, seed: int) -> tuple[Panel, Planted | None]:
    rng = generator(seed, "simulated study", study.design, str(study.fault), str(study.noise), str(study.uneven))
    n = 400 if study.design == "all" else 800
    similarity = np.interp(rng.random(n), np.cumsum([0.0, *GRADE_MIX]), [-0.5, *THRESHOLDS, 3.5])
    query = np.repeat(np.arange(QUERIES), n // QUERIES)
    noise = study.noise * np.exp(study.uneven * rng.standard_normal(QUERIES))[query]
    seen = similarity[:, None] + noise[:, None] * rng.standard_normal((n, len(ASSESSORS)))
    who = int(rng.integers(len(ASSESSORS)))
    stricter = bool(rng.random() < 0.5)
    if study.fault == "severity":
        seen[:, who] -= 0.4 if stricter else -0.4
    grades = (seen[:, :, None] >= THRESHOLDS).sum(axis=2)
    planted = _distort(grades, seen, who, stricter, study.fault, rng)
    if study.design != "all":
        teams = list(itertools.combinations(range(len(ASSESSORS)), 2))
        turn = query if study.design == "per-query" else np.arange(n)
        judged = np.zeros(grades.shape, dtype=bool)
        for i in range(n):
            judged[i, list(teams[turn[i] % len(teams)])] = True
        grades = np.where(judged, grades, -1)
    return panel(grades, query), planted


def diagnosed(panel: Panel) -> set[Planted]:
    """What the diagnosis reports, in the terms of what is planted."""
    diagnosis = diagnose(panel, alpha=ALPHA, level=0.95, seed=13, hardest=3, examples=5)
    assert isinstance(diagnosis, Diagnosis)
    return {Planted(one.assessor, one.kind, one.grade) for one in diagnosis.findings}


def panel(grades: np.ndarray, query: np.ndarray, facets: tuple[str, ...] = ("background", "method")) -> Panel:
    """A panel of simulated grades; queries take the facets in turn, and nothing is settled yet."""
    n = len(grades)
    return Panel(
        assessors=ASSESSORS[: grades.shape[1]],
        query_ids=tuple(f"q{one:02}" for one in query),
        doc_ids=tuple(f"d{i:04}" for i in range(n)),
        facets=tuple(facets[one % len(facets)] for one in query),
        scale=(0, 1, 2, 3),
        grades=grades.astype(np.int64),
        final=np.full(n, -1),
        adjudicated=np.zeros(n, dtype=bool),
        open=np.zeros(n, dtype=bool),
    )


def _distort(grades, seen, who, stricter, fault, rng) -> Planted | None:
    if fault is None:
        return None
    name, n = ASSESSORS[who], len(grades)
    if fault == "severity":
        return Planted(name, "severity", None)
    if fault in ("share", "move"):
        at_one = np.flatnonzero(grades[:, who] == 1)
        if fault == "share":
            moved = at_one[rng.random(len(at_one)) < 0.25]
        else:
            order = np.argsort(seen[at_one, who])
            quarter = len(at_one) // 4
            moved = at_one[order[:quarter] if stricter else order[-quarter:]]
        grades[moved, who] = 0 if stricter else 2
        return Planted(name, "threshold", 1 if stricter else 2)
    hit = np.flatnonzero(rng.random(n) < 0.25)
    if fault == "slips":
        grades[hit, who] = rng.integers(0, 4, len(hit))
    elif fault == "wobble":
        step = grades[hit, who] + rng.choice([-1, 1], len(hit))
        grades[hit, who] = np.select([step < 0, step > 3], [1, 2], step)
    else:
        grades[hit, who] = rng.permutation(grades[:, who])[: len(hit)]
    return Planted(name, "noise", None)
