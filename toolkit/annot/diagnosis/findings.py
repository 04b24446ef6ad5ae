"""Which assessor differs from the others, and how: findings that hold together, or none.

Every assessor who can be compared is suspected of everything: of severity, of each threshold moved (altogether, or for
a share of the pairs at a grade), of noise (a wider spread, slips to any grade, slips to the next one). A suspicion that
the robust score test (Boos 1992, The American Statistician 46, 327-333) does not drop at once is fitted, and the best
explanation is taken when its likelihood ratio is too large for the largest of so many correlated tests (Hothorn, Bretz
and Westfall 2008, Biometrical Journal 50, 346-363: the distribution of the largest of jointly normal statistics). It
enters the model, and the rest is asked again, so that what one finding explains is not found again under another name.
At the end a finding that another one has made needless is dropped.

What is taken as chance: pairs are independent given their similarity. For noise, where a hard query looks like a noisy
assessor, the variance between queries is used when it is the larger one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from annot.diagnosis.grading import SHARES, Effect, Kind, Patterns, patterns_of
from annot.diagnosis.ordinal import Fit, effect_scores, fit
from annot.diagnosis.panel import NO_GRADE, Panel, partners
from annot.stats.seeding import generator

Named = Literal["severity", "threshold", "noise"]

NAMED: dict[Kind, Named] = {
    "severity": "severity",
    "threshold": "threshold",
    "down": "threshold",
    "up": "threshold",
    "spread": "noise",
    "slips": "noise",
    "wobble": "noise",
}
ONE_SIDED: frozenset[Kind] = frozenset((*SHARES, "spread"))
"""Less noise than others, or fewer moved pairs, is no finding."""

DRAWS = 4000
"""Of the largest statistic; p-values are accurate to about 0.002 at 0.02."""
FITTED_AT_ONCE = 5
DROPPED_AT_ONCE = 0.3
"""A suspicion whose corrected score test says more than this is not fitted."""
COMPARABLE = 0.6
"""Nor one whose score statistic is below this share of the largest."""
ON_EACH_SIDE = 10
"""A threshold is tested with at least so many grades on either side of it."""
ALIKE = 6
"""Decimals at which two explanations are equally good; the first one asked is taken."""
PER_ASSESSOR = 4
"""At most so many findings an assessor: one with more is not described by findings any more."""


class NotTested(NamedTuple):
    """A suspicion that the data cannot answer, and why."""

    assessor: str
    kind: Named
    grade: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Selected:
    """The model with what was found, and what it rests on."""

    fitted: Fit
    rows: npt.NDArray[np.int64]
    """The panel's rows with two or more grades: the pairs of `fitted`, in order."""
    p_values: tuple[float, ...]
    """Of each effect in `fitted`, corrected over all suspicions."""
    tested: int
    not_tested: tuple[NotTested, ...]


def select(panel: Panel, *, alpha: float, seed: int) -> Selected | None:
    """The findings at family-wise level `alpha`; None where no pair was judged twice."""
    rows = np.flatnonzero(panel.judged.sum(axis=1) >= 2)
    if not len(rows):
        return None
    patterns = patterns_of_panel(panel, rows)
    suspicions, not_tested = _suspicions(panel, rows)
    current = fit(patterns, (), start=None)
    p_values: dict[Effect, float] = {}
    while True:
        step = _next(current, suspicions, generator(seed, "diagnosis", str(len(current.effects))))
        if step is None or step[1] > alpha:
            break
        current = step[0]
        p_values[current.effects[-1]] = step[1]
        if sum(effect.assessor == current.effects[-1].assessor for effect in current.effects) >= PER_ASSESSOR:
            break
    current = _without_needless(current, alpha / max(1, len(suspicions)))
    return Selected(current, rows, tuple(p_values[effect] for effect in current.effects), len(suspicions), not_tested)


def patterns_of_panel(panel: Panel, rows: npt.NDArray[np.int64]) -> Patterns:
    """Equal rows of the panel, counted; queries and facets by number in the order of their names."""
    queries = sorted({panel.query_ids[i] for i in rows})
    facet_of = {panel.query_ids[i]: panel.facets[i] for i in rows}
    facets = sorted(set(facet_of.values()))
    number = {name: at for at, name in enumerate(queries)}
    return patterns_of(
        panel.grades[rows],
        np.array([number[panel.query_ids[i]] for i in rows]),
        np.array([facets.index(facet_of[name]) for name in queries]),
        n_grades=len(panel.scale),
    )


def variance_ratio(fitted: Fit, at: int) -> float:
    """How much larger the variance of an effect's scores is by queries than by pairs, at least 1.

    at: the effect's place in `fitted.effects`. Scores are taken where the effect is fitted, so that they vary around 0.
    """
    column = len(fitted.parameters) - len(fitted.effects) + at
    others = np.delete(np.arange(len(fitted.parameters)), column)
    information = fitted.information
    shared = np.linalg.lstsq(information[np.ix_(others, others)], information[others, column], rcond=1e-10)[0]
    effective = fitted.scores[:, column] - fitted.scores[:, others] @ shared
    count = fitted.patterns.count
    n_queries = len(fitted.patterns.facet_of_query)
    if n_queries < 2:
        return 1.0
    totals = np.bincount(fitted.patterns.query, weights=count * effective, minlength=n_queries)
    by_queries = float((totals**2).sum()) * n_queries / (n_queries - 1)
    return max(1.0, by_queries / max(float(count @ effective**2), 1e-12))


def _suspicions(panel: Panel, rows: npt.NDArray[np.int64]) -> tuple[list[Effect], tuple[NotTested, ...]]:
    grades = panel.grades[rows]
    groups = partners(panel)
    found: list[Effect] = []
    not_tested: list[NotTested] = []
    for a, name in enumerate(panel.assessors):
        if len(groups[a]) < 2:
            not_tested.append(NotTested(name, "severity", None, "no pair was judged by anyone else too"))
            continue
        found.append(Effect(a, "severity", None))
        mine = grades[grades[:, a] != NO_GRADE]
        given = mine[mine != NO_GRADE]
        for k in range(1, len(panel.scale)):
            below, above = int((given < k).sum()), int((given >= k).sum())
            if min(below, above) < ON_EACH_SIDE:
                reason = f"{below} grades are lower and {above} are not; {ON_EACH_SIDE} of each are needed"
                not_tested.append(NotTested(name, "threshold", panel.scale[k], reason))
                continue
            found += [Effect(a, kind, k) for kind in ("threshold", "down", "up")]
        if len(groups[a]) < 3:
            other = panel.assessors[min(groups[a] - {a})]
            reason = f"compared with {other} alone, it is not known which of the two is the noisy one"
            not_tested.append(NotTested(name, "noise", None, reason))
        else:
            found += [Effect(a, kind, None) for kind in ("spread", "slips", "wobble")]
    return found, tuple(not_tested)


def _next(current: Fit, suspicions: Sequence[Effect], rng: np.random.Generator) -> tuple[Fit, float] | None:
    """The model with the best further explanation, and its corrected p-value."""
    from scipy.special import ndtr

    open_ones = [effect for effect in suspicions if effect not in current.effects]
    if not open_ones:
        return None
    count = current.patterns.count
    own = np.stack([effect_scores(current, effect) for effect in open_ones], axis=1)
    effective, score = current.efficient(own)
    covariance = effective.T @ (count[:, None] * effective)
    squares = np.diag(covariance)
    # What the model's parameters explain wholly cannot be told apart from them.
    told = squares > 1e-6 * np.maximum(count @ own**2, 1e-12)
    open_ones = [effect for effect, yes in zip(open_ones, told, strict=True) if yes]
    if not open_ones:
        return None
    effective, covariance, squares = effective[:, told], covariance[np.ix_(told, told)], squares[told]
    one_sided = np.array([effect.kind in ONE_SIDED for effect in open_ones])
    z = score[told] / np.sqrt(squares)
    z = np.where(one_sided, z, np.abs(z))

    values, vectors = np.linalg.eigh(covariance / np.sqrt(np.outer(squares, squares)))
    # The symmetric root: eigenvectors have no sign, nor those of equal values a direction, that every machine finds.
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    drawn = rng.standard_normal((DRAWS, len(z))) @ root
    smallest = np.where(one_sided, ndtr(-drawn), 2 * ndtr(-np.abs(drawn))).min(axis=1)

    def corrected(statistic: float, at: int) -> float:
        p = float(ndtr(-statistic)) * (1 if one_sided[at] else 2)
        return float((1 + (smallest <= p).sum()) / (1 + DRAWS))

    best: tuple[float, int, Fit] | None = None
    for at in np.argsort(-np.round(z, ALIKE), kind="stable")[:FITTED_AT_ONCE]:
        if z[at] < COMPARABLE * z.max() or corrected(float(z[at]), int(at)) > DROPPED_AT_ONCE:
            break
        tried = fit(current.patterns, (*current.effects, open_ones[at]), start=current)
        if not tried.converged:
            continue
        gain = 2 * max(0.0, tried.log_likelihood - current.log_likelihood)
        if NAMED[open_ones[at].kind] == "noise":
            gain /= variance_ratio(tried, len(current.effects))
        if best is None or round(gain - best[0], ALIKE) > 0:
            best = (gain, int(at), tried)
    if best is None:
        return None
    return best[2], corrected(math.sqrt(best[0]), best[1])


def _without_needless(current: Fit, level: float) -> Fit:
    """Drop, one at a time, effects whose likelihood ratio in the whole model is not significant at `level`."""
    from scipy.special import chdtrc

    while len(current.effects) > 1:
        without = [
            fit(current.patterns, [other for other in current.effects if other != effect], start=current)
            for effect in current.effects
        ]
        least = max(without, key=lambda fitted: round(fitted.log_likelihood, ALIKE))
        if chdtrc(1, 2 * max(0.0, current.log_likelihood - least.log_likelihood)) <= level:
            break
        current = least
    return current
