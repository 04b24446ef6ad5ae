"""Which assessor differs from the others, and how: findings that hold over whole queries, or none.

Every assessor is asked for severity, for each threshold moved, and for noise (`contrasts`). The clearest difference of
all is a finding if it holds after correction for everything that was tested (Holm). Whoever was compared with that
assessor seems to differ the other way round; so the assessor is taken out, and the others are compared among
themselves, until nothing more is found. An assessor has one finding, the clearest.

`benchmarks/diagnosis_power.py` shows how often this finds something where there is nothing, and what it finds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from annot.diagnosis.contrasts import Contrast, noise, severity, threshold
from annot.diagnosis.items import GuidelineGap, HardPair, guideline_gaps, hardest_pairs
from annot.diagnosis.panel import Array, Compared, Index, Mask, Panel
from annot.stats.clustered import share
from annot.stats.seeding import generator
from annot.stats.values import Estimate, Undefined, Value

ONE_GRADE, OTHERS_AT_MOST, FEWEST = 0.99, 0.9, 20
"""Whose grades are one and the same to this share, where others give it to no more than that one, says nothing of
pairs; asked of so many judgements or more."""


class NotTested(NamedTuple):
    """A question that the data cannot answer, and why."""

    assessor: str
    kind: str
    grade: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class AssessorFinding:
    """One way in which one assessor differs from the others, by more than chance."""

    assessor: str
    kind: Literal["severity", "threshold", "noise", "no information"]
    grade: int | None
    """For a threshold the grade that it opens; without information the one that is always given."""
    direction: Literal["stricter", "more lenient"] | None
    size: Estimate
    """Above 0; the mean over queries. Severity: grades. Threshold: the share of pairs at `grade` or higher. Noise: by how
    many grades they lie further from the others than these from each other. No information: the share of `grade`."""
    halves: tuple[Value, Value]
    """The same in each half of the queries, split by chance; below 0 where it is the other way round."""
    n: int
    """The assessor's judgements that it rests on."""
    queries: int
    p_value: Value
    """Corrected over all that was tested."""
    against: tuple[str, ...]
    """Those compared with on common pairs."""
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
    detectable: Value
    """The severity, in grades, that would be found with the chance asked for: the median over assessors."""
    not_tested: tuple[NotTested, ...]
    hardest: tuple[HardPair, ...]
    gaps: tuple[GuidelineGap, ...]


def diagnose(
    panel: Panel, *, alpha: float, level: float, power: float, seed: int, hardest: int, examples: int
) -> Diagnosis | Undefined:
    """Findings at family-wise level `alpha`, hard pairs, guideline gaps. Missing judgements are missing.

    level: of intervals. power: of what is called detectable. hardest: so many pairs a query. examples: so many pairs a
    gap.
    """
    compared = Compared(panel, np.ones(len(panel.assessors), dtype=np.bool_))
    if not len(compared.at):
        return Undefined("no pair was judged by two assessors")
    half = generator(seed, "halves").permutation(int(panel.query.max()) + 1)
    findings = _without_information(compared, half, level)
    kept = np.array([name not in {one.assessor for one in findings} for name in panel.assessors])
    first = asked = _Asked(panel, kept, alpha)
    reached = 0.0
    while asked.n_tests:
        question, assessor = divmod(int(np.nanargmin(asked.p)), len(kept))
        reached = max(reached, asked.corrected(question, assessor))
        if reached > alpha:
            break
        findings.append(_finding(asked, question, assessor, half, p_value=reached, alpha=alpha, level=level))
        kept[assessor] = False
        asked = _Asked(panel, kept, alpha)
    return Diagnosis(
        alpha=alpha,
        findings=tuple(findings),
        tested=first.n_tests,
        detectable=first.detectable(alpha, power),
        not_tested=tuple(first.not_tested()),
        hardest=hardest_pairs(panel, per_query=hardest),
        gaps=guideline_gaps(panel, alpha=alpha, examples=examples),
    )


class _Asked:
    """All that is asked of the assessors who are still compared with each other."""

    def __init__(self, panel: Panel, kept: Mask, alpha: float) -> None:
        self.kept = kept.copy()
        self.compared = compared = Compared(panel, kept)
        self.contrasts = [severity(compared), *(threshold(compared, k) for k in range(1, len(panel.scale)))]
        self.contrasts.append(noise(compared))
        self.fewest = math.ceil(1 - math.log2(alpha))
        """Queries that have to point the same way: fewer are no evidence at `alpha`, whatever they hold."""
        self.p: Array = np.stack([np.where(one.telling >= self.fewest, one.p, np.nan) for one in self.contrasts])
        """Shape (questions, M), not yet corrected; nan where it is not tested."""
        self.n_tests = int(np.isfinite(self.p).sum())

    def corrected(self, question: int, assessor: int) -> float:
        return self.n_tests * float(max(self.p[question, assessor], self.contrasts[question].least[assessor]))

    def detectable(self, alpha: float, power: float) -> Value:
        from scipy.special import stdtrit

        told = np.flatnonzero(np.isfinite(self.p[0]))
        if not len(told):
            return Undefined(f"nobody was compared with others on {self.fewest} queries")
        freedom, error = self.contrasts[0].freedom[told], self.contrasts[0].error[told]
        widths = stdtrit(freedom, 1 - alpha / self.n_tests / 2) + stdtrit(freedom, power)
        return float(np.median(widths * error))

    def not_tested(self) -> Iterator[NotTested]:
        panel = self.compared.panel
        for at, contrast in enumerate(self.contrasts):
            grade = None if contrast.place is None else panel.scale[contrast.place]
            for assessor in np.flatnonzero(self.kept & np.isnan(self.p[at])):
                if contrast.n[assessor]:
                    why = (
                        f"they differ from the others on {contrast.telling[assessor]} queries; {self.fewest} are needed"
                    )
                elif contrast.kind == "noise":
                    why = "the others cannot be compared with each other"
                else:
                    why = "no pair was judged by anyone else too"
                yield NotTested(panel.assessors[assessor], contrast.kind, grade, why)


def _finding(
    asked: _Asked, question: int, assessor: int, half: Index, *, p_value: float, alpha: float, level: float
) -> AssessorFinding:
    panel = asked.compared.panel
    contrast = asked.contrasts[question]
    # Several thresholds moved the same way are severity.
    alike = [
        one
        for one, p in zip(asked.contrasts, asked.p[:, assessor], strict=True)
        if one.kind == "threshold" and p <= alpha and one.mean[assessor] * contrast.mean[assessor] > 0
    ]
    if contrast.kind == "threshold" and len(alike) > 1 and asked.corrected(0, assessor) <= alpha:
        contrast = asked.contrasts[0]
    sign = 1.0 if contrast.mean[assessor] > 0 else -1.0
    mine = replace(contrast, cells=sign * contrast.cells, mean=sign * contrast.mean)
    against = asked.compared.partners[assessor]
    return AssessorFinding(
        assessor=panel.assessors[assessor],
        kind=contrast.kind,
        grade=None if contrast.place is None else panel.scale[contrast.place],
        direction=None if contrast.kind == "noise" else "more lenient" if sign > 0 else "stricter",
        size=mine.estimate(assessor, level=level, most=1.0 if contrast.kind == "threshold" else panel.widest),
        halves=_halves(asked.compared, assessor, mine.cells, half),
        n=int((asked.compared.who == assessor).sum()),
        queries=int(contrast.n[assessor]),
        p_value=p_value,
        against=against,
        either=len(against) == 1,
    )


def _halves(compared: Compared, assessor: int, cells: Array, half: Index) -> tuple[Value, Value]:
    """Means over every other query of theirs, in the order of `half`, and over the rest."""
    at = np.flatnonzero((compared.cell_who == assessor) & ~np.isnan(cells))
    at = at[np.argsort(half[compared.cell_query[at]])]
    first, second = (float(cells[part].mean()) if len(part) else Undefined("one query") for part in (at[::2], at[1::2]))
    return first, second


def _without_information(compared: Compared, half: Index, level: float) -> list[AssessorFinding]:
    """Those who give one grade whatever the pair is."""
    panel = compared.panel
    m, g = len(panel.assessors), len(panel.scale)
    given = np.bincount(compared.who * g + compared.grade, minlength=m * g).reshape(m, g)
    found = []
    for assessor in np.flatnonzero(
        (given.max(axis=1) >= ONE_GRADE * given.sum(axis=1)) & (given.sum(axis=1) >= FEWEST)
    ):
        place = int(given[assessor].argmax())
        mine = compared.who == assessor
        same = compared.grade == place
        others = float((same - compared.differences(same))[mine].mean())
        if others > OTHERS_AT_MOST:
            continue
        told = share(same[mine], panel.query[compared.pair[mine]], level=level)
        found.append(
            AssessorFinding(
                assessor=panel.assessors[assessor],
                kind="no information",
                grade=panel.scale[place],
                direction=None,
                size=Estimate(told.value, told.interval),
                halves=_halves(compared, int(assessor), compared.by_cell(same.astype(np.float64)), half),
                n=told.of,
                queries=int((compared.cell_who == assessor).sum()),
                p_value=Undefined("one grade given throughout is a count, not a test"),
                against=compared.partners[assessor],
                either=False,
            )
        )
    return found
