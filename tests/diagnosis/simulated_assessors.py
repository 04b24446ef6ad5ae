"""Assessors who are simulated, with a known fault in one of them: what the diagnosis must find, and nothing else.

A pair's similarity lies on a line in grades, cut at 0.5, 1.5, 2.5, spread so that grades 0..3 are given to 40, 30, 20
and 10 percent of the pairs. It is not normal: flat within a grade, with hard ends. An assessor sees it with a normal
noise of 0.35 grades: two of them then give the same grade to 70 percent of the pairs, as in CSFCube's method facet
(69.6; its background facet has 57.1).

Real people are stricter on one query and more lenient on another. Where the design effect is above 1, every assessor
has a severity of their own on every query, normal around 0. Where people carry their strictness, they have one on every
paper, for all of its facets.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from annot.base.array_files import Array
from annot.base.stats.inference import generator
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis.findings import Diagnosis, diagnose
from annot.measuring.diagnosis.panel import Panel, SharedPairs

GRADE_MIX = (0.4, 0.3, 0.2, 0.1)
THRESHOLDS = np.array([0.5, 1.5, 2.5])
ASSESSORS = ("a1", "a2", "a3", "a4")
TEAMS = list(itertools.combinations(range(len(ASSESSORS)), 2))
PAIRS = 20
DESIGNS = ("all", "per-pair", "per-query")
VARIANCE, SLOPE = 0.34, 0.75
"""Of the difference of two assessors on one pair, and by how much the mean grade falls for a severity of 1."""


@dataclass(frozen=True)
class Planted:
    """One fault: whose, which, and for a threshold the grade that it opens."""

    assessor: str
    kind: str
    grade: int | None


@dataclass(frozen=True)
class Study:
    """What is simulated: queries of 20 pairs; each of a paper of its own, or several facets of a paper."""

    design: str
    """all: all four judge all pairs; per-pair: two of them in turn; per-query: one team of two judges a whole query;
    per-paper: all queries of a paper."""
    fault: str | None
    """severity: stricter or more lenient by `size`. share: 25 percent of the pairs that the assessor would put at
    grade 1 are put at 0, or all such at 2. slips: 25 percent of ratings are any grade alike; wobble: they are off by
    one; constant: all ratings but one in a thousand are 3."""
    design_effect: float = 1.0
    """How many times the variance of query means of differences is what independent pairs would give."""
    queries: int = 50
    facets: int = 1
    """Of a paper; `queries` are those of all facets."""
    fewer: bool = False
    """Every third paper has one facet only."""
    carried: float = 0.0
    """The standard deviation, in grades, of everybody's severity on a paper."""
    size: float = 0.4
    """Of a severity, in grades; the grades of all pairs have a standard deviation of 1."""

    @property
    def paper(self) -> Array:
        """Shape (queries,), the paper of each by number."""
        sizes = np.where(self.fewer & (np.arange(self.queries) % 3 == 0), 1, self.facets)
        return np.repeat(np.arange(self.queries), sizes)[: self.queries]


def of_papers(papers: int, facets: int, *, fewer: bool = False) -> int:
    """How many queries a study of so many papers has."""
    return papers * facets - (-(-papers // 3) * (facets - 1) if fewer else 0)


def simulate(study: Study, seed: int) -> tuple[Panel, Planted | None]:
    key = [study.design, str(study.fault), str(study.design_effect), str(study.queries)]
    if study.facets > 1 or study.carried:
        key += [str(study.facets), str(study.fewer), str(study.carried)]
    rng = generator(seed, "simulated study", *key)
    n = study.queries * PAIRS
    query = np.repeat(np.arange(study.queries), PAIRS)
    similarity = np.interp(rng.random(n), np.cumsum([0.0, *GRADE_MIX]), [-0.5, *THRESHOLDS, 3.5])
    seen = similarity[:, None] + 0.35 * rng.standard_normal((n, len(ASSESSORS)))
    # Two of them in turn: half of the pairs, against three others whose own severities differ within the query.
    in_common = (PAIRS - 1.55 * study.design_effect) / 3 if study.design == "per-pair" else PAIRS
    spread = np.sqrt((study.design_effect - 1) * VARIANCE / (2 * in_common * SLOPE**2))
    seen += spread * rng.standard_normal((study.queries, len(ASSESSORS)))[query]
    if study.carried:
        seen += study.carried * rng.standard_normal((study.queries, len(ASSESSORS)))[study.paper[query]]
    who = int(rng.integers(len(ASSESSORS)))
    stricter = bool(rng.random() < 0.5)
    if study.fault == "severity":
        seen[:, who] -= study.size if stricter else -study.size
    grades = (seen[:, :, None] >= THRESHOLDS).sum(axis=2)
    planted = _distort(grades, who, stricter, study.fault, rng)
    if study.design != "all":
        turn = {"per-query": query, "per-pair": np.arange(n), "per-paper": study.paper[query]}[study.design]
        judged = np.zeros(grades.shape, dtype=bool)
        for member in range(2):
            judged[np.arange(n), np.array(TEAMS)[turn % len(TEAMS), member]] = True
        grades = np.where(judged, grades, -1)
    return panel(grades, query, papers=study.paper), planted


def as_planted(diagnosis: Diagnosis | Undefined) -> set[Planted]:
    """What the diagnosis reports, in the terms of what is planted."""
    assert isinstance(diagnosis, Diagnosis)
    return {Planted(one.assessor, one.kind, one.grade) for one in diagnosis.findings}


def diagnosed(panel: Panel) -> set[Planted]:
    """What is found in the panel."""
    return as_planted(diagnose(panel, level=0.95))


def panel(
    grades: Array, query: Array, facets: tuple[str, ...] = ("background", "method"), papers: Array | None = None
) -> Panel:
    """A panel of simulated grades, shape (N, M), -1 where there is none. Queries take the facets in turn; nothing is
    settled yet. papers: shape (Q,), of each query by number; None gives each one of its own."""
    n = len(grades)
    pair, who = np.nonzero(grades >= 0)
    return Panel(
        assessors=ASSESSORS[: grades.shape[1]],
        query_ids=tuple(f"q{one:02}" for one in query),
        doc_ids=tuple(f"d{i:04}" for i in range(n)),
        papers=tuple(f"p{one if papers is None else papers[one]:02}" for one in query),
        facets=tuple(facets[one % len(facets)] for one in query),
        scale=(0, 1, 2, 3),
        pair=pair,
        who=who,
        grade=grades[pair, who].astype(np.int64),
        seconds=np.full(len(pair), np.nan),
        in_order=tuple(np.flatnonzero(who == a) for a in range(grades.shape[1])),
        by_clock=np.zeros(grades.shape[1], dtype=bool),
        final=np.full(n, -1),
        adjudicated=np.zeros(n, dtype=bool),
        open=np.zeros(n, dtype=bool),
    )


def dense(panel: Panel) -> Array:
    """The grades of all pairs and assessors, shape (N, M), -1 where there is none."""
    grades = np.full((len(panel.query_ids), len(panel.assessors)), -1)
    grades[panel.pair, panel.who] = panel.grade
    return grades


def design_effect(panel: Panel) -> float:
    """How many times the variance of the query means of a1's differences to the others is that of independent pairs."""
    compared = SharedPairs(panel, without=())
    mine = compared.who == 0
    difference = compared.differences(compared.grade)[mine]
    query = panel.query[compared.pair[mine]]
    by_query = [difference[query == one] for one in np.unique(query)]
    expected = np.mean([values.var(ddof=1) / len(values) for values in by_query])
    return float(np.var([values.mean() for values in by_query], ddof=1) / expected)


def _distort(grades: Array, who: int, stricter: int, fault: str | None, rng: np.random.Generator) -> Planted | None:
    if fault is None:
        return None
    name, n = ASSESSORS[who], len(grades)
    if fault == "severity":
        return Planted(name, "severity", None)
    if fault == "constant":
        grades[:, who] = np.where(rng.random(n) < 0.001, 0, 3)
        return Planted(name, "no information", 3)
    if fault == "share":
        at_one = np.flatnonzero(grades[:, who] == 1)
        grades[at_one[rng.random(len(at_one)) < 0.25], who] = 0 if stricter else 2
        return Planted(name, "threshold", 1 if stricter else 2)
    hit = np.flatnonzero(rng.random(n) < 0.25)
    if fault == "slips":
        grades[hit, who] = rng.integers(0, 4, len(hit))
    else:
        step = grades[hit, who] + rng.choice([-1, 1], len(hit))
        grades[hit, who] = np.select([step < 0, step > 3], [1, 2], step)
    return Planted(name, "noise", None)
