"""Which assessor differs from the others, and how: findings that hold over whole queries, or none.

Every assessor is asked for severity, for each threshold moved, and for noise (`contrasts`). The clearest difference of
all is a finding if it holds after correction for everything that was tested (Holm 1979, Scandinavian Journal of
Statistics 6, 65-70). Whoever was compared with that assessor seems to differ the other way round; so the assessor is
taken out, and the others are compared among themselves, until nothing more is found. An assessor has one finding, the
clearest.

`benchmarks/diagnosis_power.py` shows how often this finds something where there is nothing, and what it finds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annot.diagnosis.chance import ALPHA, detectable
from annot.diagnosis.contrasts import noise, severity, threshold
from annot.diagnosis.items import GuidelineGap, HardPair, guideline_gaps, hardest_pairs
from annot.diagnosis.panel import Compared, Panel
from annot.stats.arrays import Array, Integers
from annot.stats.clustered import share
from annot.stats.seeding import generator
from annot.stats.values import Estimate, Undefined, Value

ONE_GRADE, OTHERS_AT_MOST, FEWEST = 0.99, 0.9, 20
"""Who gives one grade to this share of the pairs or more, where others give it to no more than that one, says nothing;
asked of so many judgements or more."""
FEWEST_QUERIES = math.ceil(1 - math.log2(ALPHA))
"""Queries that must tell something: fewer are no evidence at `ALPHA` even if all point the same way."""


@dataclass(frozen=True, slots=True)
class AssessorFinding:
    """One way in which one assessor differs from the others, by more than chance."""

    assessor: str
    kind: Literal["severity", "threshold", "noise", "no information"]
    grade: int | None
    """For a threshold the grade that it opens; without information the one that is always given."""
    direction: Literal["stricter", "more lenient"] | None
    size: Estimate
    """Above 0, a mean over queries. Severity: grades. Threshold: the share of pairs at `grade` or higher. Noise: so
    many grades further from the others than these from each other. No information: the share of `grade`, over pairs."""
    halves: tuple[Value, ...]
    """The same in two halves of the queries, split by chance; below 0 where it is the other way round."""
    n: int
    """The assessor's judgements that it rests on."""
    queries: int
    p_value: Value
    """Corrected over all that was tested."""
    against: tuple[str, ...]
    """Those compared with, on common pairs."""
    either: bool
    """Compared with one other only: the other may be the one who differs, the other way round."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why the assessors of a study disagree."""

    alpha: float
    """The chance of any false finding is at most about this."""
    findings: tuple[AssessorFinding, ...]
    """The strongest first."""
    tested: int
    untested: tuple[str, ...]
    """Those who share too few queries with others for any difference to stand out from chance."""
    detectable: Value
    """The severity, in grades, that would have been found: the median over assessors."""
    hardest: tuple[HardPair, ...]
    gaps: tuple[GuidelineGap, ...]


def diagnose(panel: Panel, *, level: float, seed: int) -> Diagnosis | Undefined:
    """Findings, hard pairs and guideline gaps. level: of intervals. Missing judgements are missing."""
    compared = Compared(panel, without=())
    if not len(compared.at):
        return Undefined("no pair was judged by two assessors")
    shuffled = generator(seed, "halves").permutation(compared.n_queries)
    findings = _without_information(compared, shuffled, level)
    first = asked = _Asked(panel, findings)
    reached = 0.0
    while asked.n_tests:
        question, assessor = asked.clearest()
        reached = max(reached, asked.n_tests * float(asked.p[question, assessor]))
        if reached > ALPHA:
            break
        findings.append(_finding(asked, question, assessor, shuffled, reached, level))
        asked = _Asked(panel, findings)
    told = np.isfinite(first.p[0])
    sizes = detectable(first.contrasts[0].error[told], first.contrasts[0].freedom[told], ALPHA / max(1, first.n_tests))
    named = {one.assessor for one in findings}
    return Diagnosis(
        alpha=ALPHA,
        findings=tuple(findings),
        tested=first.n_tests,
        untested=tuple(
            name
            for name, n in zip(panel.assessors, first.contrasts[0].n, strict=True)
            if n < FEWEST_QUERIES and name not in named
        ),
        detectable=float(np.median(sizes)) if told.any() else Undefined(f"nobody shares {FEWEST_QUERIES} queries"),
        hardest=hardest_pairs(panel),
        gaps=guideline_gaps(asked.compared),
    )


class _Asked:
    """All that is asked of the assessors of whom nothing was found yet."""

    def __init__(self, panel: Panel, found: list[AssessorFinding]) -> None:
        self.compared = compared = Compared(panel, without=[one.assessor for one in found])
        thresholds = [threshold(compared, place) for place in range(1, len(panel.scale))]
        self.contrasts = [severity(compared), *thresholds, noise(compared)]
        self.by_t = np.stack([one.p for one in self.contrasts])
        least = np.stack([np.where(one.telling >= FEWEST_QUERIES, one.least, np.nan) for one in self.contrasts])
        self.p: Array = np.maximum(self.by_t, least)
        """Shape (questions, M), not yet corrected; nan where it is not tested."""
        self.n_tests = int(np.isfinite(self.p).sum())

    def clearest(self) -> tuple[int, int]:
        """The question and the assessor with the smallest p-value; of equal ones, with the smallest by Student's t."""
        equal = self.p == np.nanmin(self.p)
        question, assessor = divmod(int(np.where(equal, self.by_t, np.inf).argmin()), equal.shape[1])
        return question, assessor


def _finding(
    asked: _Asked, question: int, assessor: int, shuffled: Integers, p_value: float, level: float
) -> AssessorFinding:
    panel, contrast = asked.compared.panel, asked.contrasts[question]
    alike = [
        one
        for one, p in zip(asked.contrasts, asked.p[:, assessor], strict=True)
        if one.kind == "threshold" and p <= ALPHA and one.mean[assessor] * contrast.mean[assessor] > 0
    ]
    # Several thresholds moved the same way are severity.
    if contrast.kind == "threshold" and len(alike) > 1 and asked.n_tests * asked.p[0, assessor] <= ALPHA:
        contrast = asked.contrasts[0]
    sign = 1.0 if contrast.mean[assessor] > 0 else -1.0
    most = 1.0 if contrast.kind == "threshold" else panel.widest
    against = asked.compared.partners[assessor]
    return AssessorFinding(
        assessor=panel.assessors[assessor],
        kind=contrast.kind,
        grade=None if contrast.place is None else panel.scale[contrast.place],
        direction=None if contrast.kind == "noise" else "more lenient" if sign > 0 else "stricter",
        size=contrast.estimate(assessor, level=level, most=most, sign=sign),
        halves=_halves(asked.compared, assessor, sign * contrast.cells, shuffled),
        n=int((asked.compared.who == assessor).sum()),
        queries=int(contrast.n[assessor]),
        p_value=p_value,
        against=against,
        either=len(against) == 1,
    )


def _halves(compared: Compared, assessor: int, cells: Array, shuffled: Integers) -> tuple[Value, ...]:
    """Means over every other query of theirs, in the order of `shuffled`, and over the rest."""
    at = np.flatnonzero((compared.cell_who == assessor) & ~np.isnan(cells))
    at = at[np.argsort(shuffled[compared.cell_query[at]])]
    return tuple(float(cells[half].mean()) if len(half) else Undefined("one query") for half in (at[::2], at[1::2]))


def _without_information(compared: Compared, shuffled: Integers, level: float) -> list[AssessorFinding]:
    """Those who give one grade whatever the pair is."""
    panel = compared.panel
    m, g = len(panel.assessors), len(panel.scale)
    given = np.bincount(compared.who * g + compared.grade, minlength=m * g).reshape(m, g)
    n = given.sum(axis=1)
    found = []
    for assessor in np.flatnonzero((given.max(axis=1) >= ONE_GRADE * n) & (n >= FEWEST)):
        place, mine = int(given[assessor].argmax()), compared.who == assessor
        same = compared.grade == place
        if (same - compared.differences(same))[mine].mean() > OTHERS_AT_MOST:
            continue
        told = share(same[mine], panel.query[compared.pair[mine]], level=level)
        found.append(
            AssessorFinding(
                assessor=panel.assessors[assessor],
                kind="no information",
                grade=panel.scale[place],
                direction=None,
                size=Estimate(told.value, told.interval),
                halves=_halves(compared, assessor, compared.by_cell(same), shuffled),
                n=told.of,
                queries=int((compared.cell_who == assessor).sum()),
                p_value=Undefined("a grade given throughout is counted, not tested"),
                against=compared.partners[assessor],
                either=False,
            )
        )
    return found
