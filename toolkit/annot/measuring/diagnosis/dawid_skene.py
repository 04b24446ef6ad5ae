"""Dawid and Skene's model: the most likely grade of each pair and each assessor's error rates, without adjudication.

Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics
28(1), 20-28: equations 2.3 to 2.5, start 3.1. Tested on the paper's own data.

It is a comparison and judges nobody: it takes grades as names without order, and with two judgements a pair it leans on
few equations, so that a frequent error of everybody is taken for the truth. So it stands beside a plain rule that knows
nothing of assessors, the lower median of a pair's grades.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annot.base.stats.arrays import Array, Integers
from annot.base.stats.clustered import no_share, share
from annot.base.stats.values import Share
from annot.measuring.diagnosis.panel import Panel, sums

TINY = 1e-300
TOLERANCE, MAX_STEPS = 1e-7, 2_000
BEARS, SHOWN = 6, 2
"""Decimals of a probability: as many as the EM finds alike on every machine, and as many as a page prints."""


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """The model where the EM stopped, as arrays."""

    posterior: Array
    """Shape (N, G), the probability of each class for each pair."""
    prevalence: Array
    """Shape (G,)."""
    errors: Array
    """Shape (M, G, G), the probability that assessor m says l (last axis) where the class is j."""
    log_likelihood: float
    converged: bool


@dataclass(frozen=True, slots=True)
class Departure:
    """A pair to which the model gives another grade than the final one."""

    query_id: str
    doc_id: str
    final: int
    model: int
    probability: float
    """Of the model's grade."""


@dataclass(frozen=True, slots=True)
class ModelAgainstFinal:
    """The model's grades beside the final ones, and those of a rule that needs no model."""

    same: Share
    """Without value while disputes are open. Pairs whose final grade is the only one given are left out."""
    baseline: Share
    """The same for the lower median of a pair's grades: of two, the lower one."""
    by_facet: dict[str, Share]
    prevalence: dict[int, float]
    """The share of each grade as the model estimates it."""
    errors: dict[str, tuple[tuple[float, ...], ...]]
    """By assessor: the chance that they give the column's grade where the model's is the row's."""
    departures: tuple[Departure, ...]
    """Most certain first, at `SHOWN` digits; then by id."""
    converged: bool


def dawid_skene(pair: Integers, who: Integers, grade: Integers, *, n_grades: int, max_steps: int) -> DawidSkene:
    """Run the EM until a step raises the log-likelihood by less than `TOLERANCE` a pair, or `max_steps` are used up.

    pair, who, grade: shape (J,), of each judgement, by number from 0; `pair` ascends and leaves none out.
    """
    m, starts = int(who.max()) + 1, np.flatnonzero(np.diff(pair, prepend=-1))
    votes = np.bincount(pair * n_grades + grade, minlength=len(starts) * n_grades).reshape(-1, n_grades)
    posterior: Array = votes / votes.sum(axis=1, keepdims=True)
    reached = -np.inf
    for _ in range(max_steps):
        prevalence = posterior.mean(axis=0)
        said = [sums(who * n_grades + grade, posterior[pair, of_class], m * n_grades) for of_class in range(n_grades)]
        errors = np.stack(said).reshape(n_grades, m, n_grades).swapaxes(0, 1)
        total = errors.sum(axis=2, keepdims=True)
        # An assessor who met no pair of a class has no error rates there: all alike, which moves no posterior.
        errors = np.divide(errors, total, out=np.full_like(errors, 1 / n_grades), where=total > 0)
        # The logarithm of 0 is kept finite: what was never said is as good as impossible.
        likely = np.log(np.maximum(errors, TINY))[who, :, grade]
        joint = np.log(np.maximum(prevalence, TINY)) + np.add.reduceat(likely, starts)
        top = joint.max(axis=1, keepdims=True)
        likelihood = np.exp(joint - top)
        evidence = likelihood.sum(axis=1, keepdims=True)
        posterior = likelihood / evidence
        before, reached = reached, float((np.log(evidence) + top).sum())
        converged = reached - before < TOLERANCE * len(starts)
        if converged:
            break
    return DawidSkene(posterior, prevalence, errors, reached, converged)


def compare_with_final(panel: Panel, *, level: float) -> ModelAgainstFinal:
    """Fit the model to the panel and set its most likely grades beside the final ones (ties: the lower grade)."""
    fitted = dawid_skene(panel.pair, panel.who, panel.grade, n_grades=len(panel.scale), max_steps=MAX_STEPS)
    posterior = np.round(fitted.posterior, BEARS)
    model = posterior.argmax(axis=1)
    settled = np.flatnonzero(panel.independent)
    departures = [
        Departure(
            panel.query_ids[i],
            panel.doc_ids[i],
            panel.scale[panel.final[i]],
            panel.scale[model[i]],
            float(posterior[i, model[i]]),
        )
        for i in settled
        if model[i] != panel.final[i]
    ]
    waiting = int(panel.open.sum())
    pairs = "1 pair is" if waiting == 1 else f"{waiting} pairs are"
    reason = f"{pairs} disputed and not settled; until then only undisputed pairs have a final grade"

    def same(grades: Integers, at: Integers) -> Share:
        if waiting:
            return no_share(reason)
        return share(grades[at] == panel.final[at], panel.query[at], level=level, papers=panel.paper[at])

    facets = np.array(panel.facets)[settled]
    return ModelAgainstFinal(
        same=same(model, settled),
        baseline=same(_lower_median(panel), settled),
        by_facet={name: same(model, settled[facets == name]) for name in sorted(set(panel.facets))},
        prevalence={grade: round(float(p), BEARS) for grade, p in zip(panel.scale, fitted.prevalence, strict=True)},
        errors={
            name: tuple(tuple(round(float(rate), BEARS) for rate in row) for row in rates)
            for name, rates in zip(panel.assessors, fitted.errors, strict=True)
        },
        departures=tuple(
            sorted(departures, key=lambda pair: (-round(pair.probability, SHOWN), pair.query_id, pair.doc_id))
        ),
        converged=fitted.converged,
    )


def _lower_median(panel: Panel) -> Integers:
    """Shape (N,), the place of the grade below or at which half of a pair's judgements lie."""
    ordered = panel.grade[np.lexsort((panel.grade, panel.pair))]
    first = np.searchsorted(panel.pair, np.arange(len(panel.query_ids)))
    return np.asarray(ordered[first + (panel.n_judged - 1) // 2])
