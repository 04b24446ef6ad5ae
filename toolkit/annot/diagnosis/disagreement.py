"""Why assessors disagree: findings, and what each two assessors' disagreement is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from annot.diagnosis.findings import NAMED, ON_EACH_SIDE, Named, NotTested, Selected, select
from annot.diagnosis.grading import SHARES, Kind
from annot.diagnosis.items import GuidelineGap, HardPair, guideline_gaps, hardest_pairs
from annot.diagnosis.ordinal import grade_probabilities
from annot.diagnosis.panel import NO_GRADE, Panel, partners
from annot.diagnosis.parts import PairDiagnosis, covariance, mix_of_queries, pair_diagnoses
from annot.stats.values import Estimate, Interval, Undefined, Value


@dataclass(frozen=True, slots=True)
class AssessorFinding:
    """One way in which one assessor differs from the others, by more than chance."""

    assessor: str
    kind: Named
    manner: Kind
    """What fits best among the kinds of `ordinal.Kind`."""
    grade: int | None
    """For a threshold the grade that it opens."""
    direction: Literal["stricter", "more lenient"] | None
    """None for noise."""
    size: Estimate
    """Above 0. Severity: in grades, over the assessor's pairs. Threshold: the share of the pairs beside it that change
    their grade. Noise: by how much the chance to agree with an assessor without it falls, 0..1."""
    n: int
    """The assessor's judgements that it rests on."""
    moved: Value
    """How far all thresholds (severity) or the one (threshold) lie from the others', in widths of a grade: the distance
    between neighbouring thresholds, on average. Above 0."""
    p_value: float
    """Corrected over all that was tested."""
    against: tuple[str, ...]
    either: bool
    """Compared with one other only: the other may be the one who differs, the other way round."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why the assessors of a study disagree."""

    alpha: float
    """The chance of any false finding is at most about this."""
    findings: tuple[AssessorFinding, ...]
    """In the order in which they were found: the strongest first."""
    tested: int
    not_tested: tuple[NotTested, ...]
    pairs: tuple[PairDiagnosis, ...]
    hardest: tuple[HardPair, ...]
    gaps: tuple[GuidelineGap, ...]


def diagnose(
    panel: Panel, *, alpha: float, level: float, seed: int, hardest: int, examples: int
) -> Diagnosis | Undefined:
    """Findings at family-wise level `alpha`, the parts of each two assessors' disagreement, hard pairs, guideline gaps.

    level: of intervals. hardest: so many pairs a query. examples: so many pairs a gap. Missing judgements are missing.
    """
    selected = select(panel, alpha=alpha, seed=seed)
    if selected is None:
        return Undefined("no pair was judged by two assessors")
    return Diagnosis(
        alpha=alpha,
        findings=tuple(_finding(panel, selected, at, level) for at in range(len(selected.fitted.effects))),
        tested=selected.tested,
        not_tested=selected.not_tested,
        pairs=pair_diagnoses(panel, selected, level=level),
        hardest=hardest_pairs(panel, selected, per_query=hardest),
        gaps=guideline_gaps(panel, selected, alpha=alpha, examples=examples),
    )


def _finding(panel: Panel, selected: Selected, at: int, level: float) -> AssessorFinding:
    from scipy.special import ndtri

    effect = selected.fitted.effects[at]
    value = float(selected.fitted.sizes[at])
    half = float(ndtri(0.5 + level / 2)) * math.sqrt(covariance(selected)[at, at])
    ends = (value - half, value + half)
    if effect.kind in SHARES:
        ends = (min(max(ends[0], 0.0), 1.0), min(max(ends[1], 0.0), 1.0))
    lenient = effect.kind == "up" or (effect.kind in ("severity", "threshold") and value < 0)
    sign = -1.0 if lenient and effect.kind != "up" else 1.0
    low, middle, high = (sign * _size(panel, selected, at, number, lenient) for number in (ends[0], value, ends[1]))
    others = sorted(partners(panel)[effect.assessor] - {effect.assessor})
    kind = NAMED[effect.kind]
    return AssessorFinding(
        assessor=panel.assessors[effect.assessor],
        kind=kind,
        manner=effect.kind,
        grade=None if effect.threshold is None else panel.scale[effect.threshold],
        direction=None if kind == "noise" else "more lenient" if lenient else "stricter",
        size=Estimate(middle, Interval(min(low, high), max(low, high), level, "Wald, from the model")),
        n=int(panel.judged[selected.rows, effect.assessor].sum()),
        moved=_moved(panel, selected, at),
        p_value=selected.p_values[at],
        against=tuple(panel.assessors[other] for other in others),
        either=len(others) == 1,
    )


def _size(panel: Panel, selected: Selected, at: int, value: float, lenient: bool) -> float:
    """The effect in plain units, with its sign, were its number `value`."""
    effect = selected.fitted.effects[at]
    without, having = selected.fitted.sizes.copy(), selected.fitted.sizes.copy()
    without[at], having[at] = 0.0, value
    mine = mix_of_queries(selected, [effect.assessor])
    plain, weights = grade_probabilities(selected.fitted, without)
    moved, _ = grade_probabilities(selected.fitted, having)
    plain, moved = plain[:, effect.assessor], moved[:, effect.assessor]
    if NAMED[effect.kind] == "noise":
        typical = grade_probabilities(selected.fitted, np.zeros_like(without))[0][:, effect.assessor]
        return float(mine @ (typical * (plain - moved)).sum(axis=1) @ weights)
    before, after = mine @ (plain @ weights), mine @ (moved @ weights)
    if effect.kind == "severity":
        return float(np.array(panel.scale) @ (before - after))
    assert effect.threshold is not None
    if effect.kind in SHARES:
        return value
    beside = before[effect.threshold - 1] if lenient else before[effect.threshold]
    return float((before - after)[effect.threshold :].sum() / beside)


def _moved(panel: Panel, selected: Selected, at: int) -> Value:
    if selected.fitted.effects[at].kind not in ("severity", "threshold"):
        return Undefined("it is a share of pairs, not a threshold as a whole")
    given = panel.grades[selected.rows]
    given = given[given != NO_GRADE]
    enough = [
        k for k in range(1, len(panel.scale)) if min(int((given < k).sum()), int((given >= k).sum())) >= ON_EACH_SIDE
    ]
    if len(enough) < 2:
        return Undefined("only one threshold of the scale is in use: there is no width of a grade")
    low, high = (float(selected.fitted.parameters[k - 1]) for k in (enough[0], enough[-1]))
    return abs(float(selected.fitted.sizes[at])) * (enough[-1] - enough[0]) / (high - low)
