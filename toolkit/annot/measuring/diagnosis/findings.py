"""Which assessor differs from the others, and how: findings that hold over whole topics, or none.

Every assessor is asked for severity, for each threshold moved, and for noise (`contrasts`). The clearest difference of
all is a finding if it holds after correction for everything that was tested (Holm 1979, Scandinavian Journal of
Statistics 6, 65-70). What could not hold even if all papers pointed the same way is not tested, and corrects nothing
(Tarone 1990, Biometrics 46, 515-522). Whoever was compared with that assessor seems to differ the other way round; so
the assessor is taken out, and the others are compared among themselves, until nothing more is found. An assessor has
one finding, the clearest.

`benchmarks/diagnosis_power.py` shows how often this finds something where there is nothing, and what it finds.
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
"""Who gives one grade to this share of the pairs or more, where others give it to no more than that one, says nothing;
asked of so many judgements or more."""


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
    n: int
    """The assessor's judgements that it rests on."""
    queries: int
    papers: int
    """Of these queries: the units of chance."""
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
    """Those who share too few topics with others for severity to stand out from chance."""
    too_small: bool
    """Whether that is everyone of whom nothing was found."""
    papers_needed: int
    """That each must share with others: fewer show no severity, even if all point the same way."""
    papers: int
    """Topics with pairs of two assessors or more."""
    most_shared: int
    """Topics that one of `untested` shares with others, at most."""
    one_team: bool
    """Whether the same people judged all pairs of a topic, in every topic."""
    detectable: Value
    """The severity, in grades, that would have been found: the median over assessors."""
    hardest: tuple[HardPair, ...]
    gaps: tuple[GuidelineGap, ...]


def diagnose(panel: Panel, *, level: float) -> Diagnosis | Undefined:
    """Findings, hard pairs and guideline gaps. level: of intervals. Missing judgements are missing."""
    compared = SharedPairs(panel, without=())
    if not len(compared.at):
        return Undefined("no pair was judged by two assessors")
    findings = _without_information(compared, level)
    first = asked = _Asked(panel, findings)
    reached = 0.0
    while (clearest := asked.clearest()) is not None:
        question, assessor = clearest
        reached = max(reached, asked.n_tests * float(asked.p[question, assessor]))
        findings.append(_finding(asked, question, assessor, reached, level))
        asked = _Asked(panel, findings)
    tested = np.isfinite(first.p[0])
    sizes = detectable(
        first.contrasts[0].error[tested], first.contrasts[0].freedom[tested], ALPHA / max(1, first.n_tests)
    )
    named = {one.assessor for one in findings}
    needed = papers_needed(len(panel.assessors), len(panel.scale))
    few = ~tested & (first.contrasts[0].units < needed)
    untested = tuple(name for name, one in zip(panel.assessors, few, strict=True) if one and name not in named)
    shared = dict(zip(panel.assessors, first.contrasts[0].units.tolist(), strict=True))
    return Diagnosis(
        alpha=ALPHA,
        findings=tuple(findings),
        tested=first.n_tests,
        untested=untested,
        too_small=len(untested) == len(panel.assessors) - len(named) > 0,
        papers_needed=needed,
        papers=len(np.unique(panel.paper[compared.pair])),
        most_shared=max((shared[name] for name in untested), default=0),
        one_team=_one_team(compared),
        detectable=float(np.median(sizes)) if tested.any() else Undefined("no severity was tested"),
        hardest=hardest_pairs(panel),
        gaps=guideline_gaps(asked.compared),
    )


def papers_needed(assessors: int, grades: int) -> int:
    """The least topics that each of so many assessors must share with others for anything to be found.

    So many that the p-value of papers that all point the same way holds after correction for all that is asked.
    """
    return math.ceil(1 + math.log2(assessors * (grades + 1) / ALPHA))


def _one_team(compared: SharedPairs) -> bool:
    """Whether everyone who judged a pair of a topic judged all of its pairs."""
    paper = compared.panel.paper
    cells = compared.who * (int(paper.max()) + 1) + paper[compared.pair]
    names, n_judged = np.unique(cells, return_counts=True)
    n_pairs = np.bincount(paper[np.unique(compared.pair)])
    return bool((n_judged == n_pairs[names % (int(paper.max()) + 1)]).all())


class _Asked:
    """All that is asked of the assessors of whom nothing was found yet."""

    def __init__(self, panel: Panel, found: list[AssessorFinding]) -> None:
        self.compared = compared = SharedPairs(panel, without=[one.assessor for one in found])
        thresholds = [threshold(compared, place) for place in range(1, len(panel.scale))]
        self.contrasts = [severity(compared), *thresholds, noise(compared)]
        self.by_t = np.stack([one.p for one in self.contrasts])
        least = np.stack([one.least for one in self.contrasts])
        ordered = np.sort(least, axis=None)
        could_hold = ordered * np.searchsorted(ordered, ordered, side="right") <= ALPHA
        most = ordered[could_hold].max(initial=0.0)
        self.p: Array = np.where(least <= most, np.maximum(self.by_t, least), np.nan)
        """Shape (questions, M), not yet corrected; nan where it is not tested."""
        self.n_tests = int(np.isfinite(self.p).sum())

    def clearest(self) -> tuple[int, int] | None:
        """The question with the clearest difference by Student's t, and the assessor who differs most in it.

        Only what holds counts; None if nothing does. Whoever was compared with a strict person is lenient by a part
        of that, and may be so more evenly.
        """
        holds = self.n_tests * self.p <= ALPHA
        if not holds.any():
            return None
        question = int(np.where(holds, self.by_t, np.inf).min(axis=1).argmin())
        return question, int(np.where(holds[question], np.abs(self.contrasts[question].mean), -1.0).argmax())


def _finding(asked: _Asked, question: int, assessor: int, p_value: float, level: float) -> AssessorFinding:
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
        n=int((asked.compared.who == assessor).sum()),
        queries=int(contrast.n[assessor]),
        papers=int(contrast.units[assessor]),
        p_value=p_value,
        against=against,
        either=len(against) == 1,
    )


def _without_information(compared: SharedPairs, level: float) -> list[AssessorFinding]:
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
        pairs = compared.pair[mine]
        constant = share(same[mine], panel.query[pairs], level=level, topics=panel.paper[pairs])
        found.append(
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
    return found
