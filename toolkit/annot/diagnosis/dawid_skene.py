"""Dawid and Skene's model: the most likely grade of each pair and each assessor's error rates, without adjudication.

Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics
28(1), 20-28. The EM below is theirs (equations 2.3 to 2.5, start 3.1); it is forty lines, while crowd-kit, which has it
too, installs transformers, tokenizers and a hub client. Tested on the paper's own data against both.

It is a comparison, not a judge: it takes grades as names without order, and with two judgements a pair it leans on few
equations, so that a frequent error of everybody is taken for the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annot.diagnosis.panel import NO_GRADE, Panel
from annot.diagnosis.results import Share, share
from annot.errors import UndefinedStatistic

Array = npt.NDArray[np.float64]
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """The model at its maximum, as arrays."""

    posterior: Array
    """Shape (N, G), the probability of each class for each pair."""
    prevalence: Array
    """Shape (G,)."""
    errors: Array
    """Shape (M, G, G), the probability that assessor m says l (last axis) where the class is j."""
    log_likelihood: float
    steps: int
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
class Comparison:
    """The model's grades beside the final ones."""

    same: Share
    by_facet: dict[str, Share]
    prevalence: dict[int, float]
    """The share of each grade as the model estimates it."""
    errors: dict[str, tuple[tuple[float, ...], ...]]
    """By assessor: the chance that they give the column's grade where the model's is the row's."""
    departures: tuple[Departure, ...]
    """Most certain first."""
    steps: int
    converged: bool


def dawid_skene(counts: npt.ArrayLike, *, tolerance: float, max_steps: int) -> DawidSkene:
    """Run the EM until no posterior moves by `tolerance` or more.

    counts: shape (N, M, G), how often assessor m said g of pair n; every pair has at least one.
    """
    counts = np.asarray(counts, dtype=np.float64)
    posterior = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
    steps, change = 0, tolerance
    while steps < max_steps and change >= tolerance:
        steps += 1
        prevalence = posterior.mean(axis=0)
        errors = np.einsum("nj,nml->mjl", posterior, counts)
        total = errors.sum(axis=2, keepdims=True)
        # An assessor who met no pair of a class has no error rates there: all alike, which moves no posterior.
        errors = np.divide(errors, total, out=np.full_like(errors, 1 / counts.shape[2]), where=total > 0)
        # The logarithm of 0 is kept finite, so that 0 times it is 0: what was never said tells nothing.
        log_errors, log_prevalence = np.log(np.maximum(errors, TINY)), np.log(np.maximum(prevalence, TINY))
        joint = log_prevalence + np.einsum("nml,mjl->nj", counts, log_errors)
        top = joint.max(axis=1, keepdims=True)
        likelihood = np.exp(joint - top)
        moved = likelihood / likelihood.sum(axis=1, keepdims=True)
        change = float(np.abs(moved - posterior).max())
        posterior = moved
    log_likelihood = float((np.log(likelihood.sum(axis=1)) + top[:, 0]).sum())
    return DawidSkene(posterior, prevalence, errors, log_likelihood, steps, change < tolerance)


def compare_with_final(panel: Panel, *, tolerance: float, max_steps: int, level: float) -> Comparison:
    """Fit the model to the panel and set its most likely grades beside the final ones (ties: the lower grade).

    Raises UndefinedStatistic when nothing was judged.
    """
    if not len(panel.doc_ids):
        raise UndefinedStatistic("nothing was judged")
    g = len(panel.scale)
    counts = (panel.grades[:, :, None] == np.arange(g)).astype(np.float64)
    fitted = dawid_skene(counts, tolerance=tolerance, max_steps=max_steps)
    model = fitted.posterior.argmax(axis=1)
    settled = np.flatnonzero(panel.final != NO_GRADE)
    same = model == panel.final
    departures = [
        Departure(
            panel.query_ids[i],
            panel.doc_ids[i],
            panel.scale[panel.final[i]],
            panel.scale[model[i]],
            float(fitted.posterior[i, model[i]]),
        )
        for i in settled
        if model[i] != panel.final[i]
    ]
    facet = np.array(panel.facets)[settled]
    same = same[settled]
    return Comparison(
        same=share(int(same.sum()), len(settled), level=level),
        by_facet={
            name: share(int(same[facet == name].sum()), int((facet == name).sum()), level=level)
            for name in sorted(set(panel.facets))
        },
        prevalence={grade: float(one) for grade, one in zip(panel.scale, fitted.prevalence, strict=True)},
        errors={
            name: tuple(tuple(float(one) for one in row) for row in rates)
            for name, rates in zip(panel.assessors, fitted.errors, strict=True)
        },
        departures=tuple(sorted(departures, key=lambda one: (-one.probability, one.query_id, one.doc_id))),
        steps=fitted.steps,
        converged=fitted.converged,
    )
