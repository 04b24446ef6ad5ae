"""Findings about assessors who differ from the others, over whole topics.

Every assessor is tested for severity, for each threshold moved, and for noise (`contrasts`). The clearest difference of
all is a finding if it holds after correction for everything that was tested (Holm 1979, Scandinavian Journal of
Statistics 6, 65-70). A difference that could not hold even if all papers pointed the same way is not tested, and
corrects nothing (Tarone 1990, Biometrics 46, 515-522). Whoever was compared with that assessor seems to differ the
other way round; so the assessor is taken out, and the others are compared among themselves, until no more is found. An
assessor has one finding, the clearest.

`benchmarks/diagnosis_power.py` measures how often false findings come up, and which differences are found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.clustered import share
from annot.base.stats.values import Estimate, Undefined, Value
from annot.measuring.diagnosis.contrasts import ALPHA, detectable, noise, severity, threshold
from annot.measuring.diagnosis.pairs import GuidelineGap, HardPair, guideline_gaps, hardest_pairs
from annot.measuring.diagnosis.panel import Panel, SharedPairs

ONE_GRADE, OTHERS_AT_MOST, FEWEST = 0.99, 0.9, 20
"""Bounds of an assessor without information: one grade for this share of the pairs or more, and no more than the second
for the others' share of it; from so many judgements on.
"""


@dataclass(frozen=True, slots=True)
class AssessorFinding:
    """Difference of one assessor from the others, by more than chance."""

    assessor: str
    kind: Literal["severity", "threshold", "noise", "no information"]
    grade: int | None
    """Grade that the threshold opens, or that is always given without information; None otherwise."""
    direction: Literal["stricter", "more lenient"] | None
    size: Estimate
    """Size above 0, a mean over queries. Severity: grades. Threshold: the share of pairs at `grade` or higher. Noise:
    grades that the assessor is further from the others than these from each other. No information: the share of
    `grade`, over pairs.
    """
    n: int
    """Judgements of the assessor behind it."""
    queries: int
    papers: int
    """Papers of these queries: the units of chance."""
    p_value: Value
    """p corrected over all that was tested."""
    against: tuple[str, ...]
    """Assessors in the comparison, on common pairs."""
    either: bool
    """True if there is only one other assessor, who may be the one who differs, the other way round."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Reasons why the assessors of a study disagree."""

    alpha: float
    """Approximate upper bound of the probability of any false finding."""
    findings: tuple[AssessorFinding, ...]
    """Findings, the strongest first."""
    tested: int
    untested: tuple[str, ...]
    """Assessors who share too few topics with others for severity to stand out from chance."""
    too_small: bool
    """True if these are all assessors without a finding."""
    papers_needed: int
    """Topics that each must share with others: fewer show no severity, even if all point the same way."""
    papers: int
    """Topics with pairs of two assessors or more."""
    most_shared: int
    """Largest number of topics that one of `untested` shares with others."""
    one_team: bool
    """True if the same people judged all pairs of a topic, in every topic."""
    detectable: Value
    """Severity, in grades, that would have been found: the median over assessors."""
    hardest: tuple[HardPair, ...]
    gaps: tuple[GuidelineGap, ...]


def diagnose(panel: Panel, *, level: float) -> Diagnosis | Undefined:
    """Find differences, hard pairs and guideline gaps. level: of intervals. Missing judgements are left out."""
    compared = SharedPairs(panel, without=())
    if not len(compared.at):
        return Undefined("no pair was judged by two assessors")
    findings = _without_information(compared, level)
    first_tests = tests = _Tests(panel, findings)
    p_value = 0.0
    while (clearest := tests.clearest()) is not None:
        question, assessor = clearest
        p_value = max(p_value, tests.n_tests * float(tests.p[question, assessor]))
        findings.append(_finding(tests, question, assessor, p_value, level))
        tests = _Tests(panel, findings)
    tested = np.isfinite(first_tests.p[0])
    sizes = detectable(
        first_tests.contrasts[0].error[tested],
        first_tests.contrasts[0].freedom[tested],
        ALPHA / max(1, first_tests.n_tests),
    )
    named = {finding.assessor for finding in findings}
    needed = papers_needed(len(panel.assessors), len(panel.scale))
    few = ~tested & (first_tests.contrasts[0].units < needed)
    untested = tuple(name for name, is_few in zip(panel.assessors, few, strict=True) if is_few and name not in named)
    shared = dict(zip(panel.assessors, first_tests.contrasts[0].units.tolist(), strict=True))
    return Diagnosis(
        alpha=ALPHA,
        findings=tuple(findings),
        tested=first_tests.n_tests,
        untested=untested,
        too_small=len(untested) == len(panel.assessors) - len(named) > 0,
        papers_needed=needed,
        papers=len(np.unique(panel.paper[compared.pair])),
        most_shared=max((shared[name] for name in untested), default=0),
        one_team=_one_team(compared),
        detectable=float(np.median(sizes)) if tested.any() else Undefined("no severity was tested"),
        hardest=hardest_pairs(panel),
        gaps=guideline_gaps(tests.compared),
    )


def papers_needed(assessors: int, grades: int) -> int:
    """Least number of topics that each of so many assessors must share with others for a finding.

    With these, the p-value of papers that all point the same way holds after correction for all tests.
    """
    return math.ceil(1 + math.log2(assessors * (grades + 1) / ALPHA))


def _one_team(compared: SharedPairs) -> bool:
    """True if everyone who judged a pair of a topic judged all of its pairs."""
    paper = compared.panel.paper
    cells = compared.who * (int(paper.max()) + 1) + paper[compared.pair]
    names, n_judged = np.unique(cells, return_counts=True)
    n_pairs = np.bincount(paper[np.unique(compared.pair)])
    return bool((n_judged == n_pairs[names % (int(paper.max()) + 1)]).all())


class _Tests:
    """Tests of all assessors without a finding so far."""

    def __init__(self, panel: Panel, findings: list[AssessorFinding]) -> None:
        self.compared = compared = SharedPairs(panel, without=[finding.assessor for finding in findings])
        thresholds = [threshold(compared, place) for place in range(1, len(panel.scale))]
        self.contrasts = [severity(compared), *thresholds, noise(compared)]
        self.by_t = np.stack([contrast.p for contrast in self.contrasts])
        least = np.stack([contrast.least for contrast in self.contrasts])
        ordered = np.sort(least, axis=None)
        could_hold = ordered * np.searchsorted(ordered, ordered, side="right") <= ALPHA
        most = ordered[could_hold].max(initial=0.0)
        self.p: Array = np.where(least <= most, np.maximum(self.by_t, least), np.nan)
        """Shape (questions, M), not yet corrected; nan if it is not tested."""
        self.n_tests = int(np.isfinite(self.p).sum())

    def clearest(self) -> tuple[int, int] | None:
        """Question with the clearest difference by Student's t, and the assessor who differs most in it.

        Only differences that hold count; None if there are none. Whoever was compared with a strict person is lenient
        by a part of that, and may be so more evenly.
        """
        holds = self.n_tests * self.p <= ALPHA
        if not holds.any():
            return None
        question = int(np.where(holds, self.by_t, np.inf).min(axis=1).argmin())
        return question, int(np.where(holds[question], np.abs(self.contrasts[question].mean), -1.0).argmax())


def _finding(tests: _Tests, question: int, assessor: int, p_value: float, level: float) -> AssessorFinding:
    panel, contrast = tests.compared.panel, tests.contrasts[question]
    alike = [
        other
        for other, p in zip(tests.contrasts, tests.p[:, assessor], strict=True)
        if other.kind == "threshold" and p <= ALPHA and other.mean[assessor] * contrast.mean[assessor] > 0
    ]
    # Several thresholds moved the same way are severity.
    if contrast.kind == "threshold" and len(alike) > 1 and tests.n_tests * tests.p[0, assessor] <= ALPHA:
        contrast = tests.contrasts[0]
    sign = 1.0 if contrast.mean[assessor] > 0 else -1.0
    most = 1.0 if contrast.kind == "threshold" else panel.widest
    against = tests.compared.partners[assessor]
    return AssessorFinding(
        assessor=panel.assessors[assessor],
        kind=contrast.kind,
        grade=None if contrast.place is None else panel.scale[contrast.place],
        direction=None if contrast.kind == "noise" else "more lenient" if sign > 0 else "stricter",
        size=contrast.estimate(assessor, level=level, most=most, sign=sign),
        n=int((tests.compared.who == assessor).sum()),
        queries=int(contrast.n[assessor]),
        papers=int(contrast.units[assessor]),
        p_value=p_value,
        against=against,
        either=len(against) == 1,
    )


def _without_information(compared: SharedPairs, level: float) -> list[AssessorFinding]:
    """Findings about assessors who give one grade whatever the pair is."""
    panel = compared.panel
    m, g = len(panel.assessors), len(panel.scale)
    counts = np.bincount(compared.who * g + compared.grade, minlength=m * g).reshape(m, g)
    n = counts.sum(axis=1)
    findings = []
    for assessor in np.flatnonzero((counts.max(axis=1) >= ONE_GRADE * n) & (n >= FEWEST)):
        place, by_assessor = int(counts[assessor].argmax()), compared.who == assessor
        same = compared.grade == place
        if (same - compared.differences(same))[by_assessor].mean() > OTHERS_AT_MOST:
            continue
        pairs = compared.pair[by_assessor]
        constant = share(same[by_assessor], panel.query[pairs], level=level, topics=panel.paper[pairs])
        findings.append(
            AssessorFinding(
                assessor=panel.assessors[assessor],
                kind="no information",
                grade=panel.scale[place],
                direction=None,
                size=Estimate(constant.value, constant.interval),
                n=constant.of,
                queries=len(np.unique(panel.query[pairs])),
                papers=len(np.unique(panel.paper[pairs])),
                p_value=Undefined("a grade that is always given is counted, not tested"),
                against=compared.partners[assessor],
                either=False,
            )
        )
    return findings
