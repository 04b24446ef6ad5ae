"""Dawid and Skene's model: the most likely grade of each pair and each assessor's error rates, without adjudication.

Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics
28(1), 20-28. The EM below is theirs (equations 2.3 to 2.5, start 3.1); crowd-kit, which has it too, installs
transformers, tokenizers and a hub client. Tested on the paper's own data against both.

The EM crawls where two judgements a pair say little: on CSFCube's 4,051 pairs it comes to a plateau where a step moves
no posterior by 1e-6 (after 14,378 steps), and from there, over 43,772, to a maximum that lies elsewhere. So equal pairs
are counted together, steps are extrapolated (SQUAREM, scheme S3 of Varadhan and Roland 2008, Scandinavian Journal of
Statistics 35, 335-353; never to a lower likelihood), and the tolerance has to be far below 1e-6.

It is a comparison, not a judge: it takes grades as names without order, and with two judgements a pair it leans on few
equations, so that a frequent error of everybody is taken for the truth, and other maxima are nearly as high.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.diagnosis.panel import Panel
from annot.errors import UndefinedStatistic
from annot.stats.clustered import no_share, share
from annot.stats.values import Share

Array = npt.NDArray[np.float64]
TINY = 1e-300
SHORTEST_LEAP = 1.01
"""An extrapolation by 1 is two plain steps."""
BEARS, SHOWN = 6, 2
"""Decimals of a probability: as many as the EM finds alike on every machine, and as many as a page prints."""


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
class ModelAgainstFinal:
    """The model's grades beside the final ones."""

    same: Share
    """Without value while disputes are open. Pairs whose final grade is the only one given are left out."""
    by_facet: dict[str, Share]
    prevalence: dict[int, float]
    """The share of each grade as the model estimates it."""
    errors: dict[str, tuple[tuple[float, ...], ...]]
    """By assessor: the chance that they give the column's grade where the model's is the row's."""
    departures: tuple[Departure, ...]
    """Most certain first, at `SHOWN` digits; then by id."""
    converged: bool


def dawid_skene(counts: npt.ArrayLike, *, tolerance: float, max_steps: int) -> DawidSkene:
    """Run the EM until a step moves no posterior by `tolerance` or more, or `max_steps` are used up.

    counts: shape (N, M, G), how often assessor m said g of pair n; every pair has at least one.
    """
    counts = np.asarray(counts, dtype=np.float64)
    rows, of_pair, times = np.unique(counts.reshape(len(counts), -1), axis=0, return_inverse=True, return_counts=True)
    em = _Em(rows, times.astype(np.float64), counts.shape[2])
    at = em.start()
    steps, converged = 1, False
    while steps < max_steps and not converged:
        first = em.step(at)
        steps += 1
        converged = float(np.abs(first.posterior - at.posterior).max()) < tolerance
        if converged or steps == max_steps:
            at = first
            break
        second = em.step(first)
        at, tried = em.leap(at, first, second, most=max_steps - steps - 1)
        steps += 1 + tried
    return DawidSkene(at.posterior[of_pair.reshape(-1)], *em.apart(at.parameters), at.log_likelihood, steps, converged)


class _State(NamedTuple):
    parameters: Array
    """Prevalence, then the errors by class, assessor and grade, in one row."""
    posterior: Array
    """By pattern, under these parameters."""
    log_likelihood: float


class _Em:
    """The EM on patterns: rows, shape (P, M * G), each seen `times`."""

    def __init__(self, rows: Array, times: Array, g: int) -> None:
        self.rows, self.times, self.g = rows, times, g

    def start(self) -> _State:
        votes = self.rows.reshape(len(self.rows), -1, self.g).sum(axis=1)
        return self.at(self._fitted(votes / votes.sum(axis=1, keepdims=True)))

    def step(self, state: _State) -> _State:
        return self.at(self._fitted(state.posterior))

    def leap(self, state: _State, first: _State, second: _State, *, most: int) -> tuple[_State, int]:
        """Beyond two steps as far as the likelihood does not fall, and how many places were tried, up to `most`."""
        rise = first.parameters - state.parameters
        bend = second.parameters - first.parameters - rise
        size = float(np.linalg.norm(bend))
        length = float(np.linalg.norm(rise)) / size if size > 0 else 1.0
        for tried in range(1, most + 1):
            if length <= SHORTEST_LEAP:
                return second, tried - 1
            there = self.at(self._allowed(state.parameters + 2 * length * rise + length**2 * bend, second.parameters))
            if there.log_likelihood >= second.log_likelihood:
                return there, tried
            length = length / 4 if length > 4 else (length + 1) / 2
        return second, max(0, most)

    def at(self, parameters: Array) -> _State:
        prevalence, errors = parameters[: self.g], parameters[self.g :].reshape(self.g, -1)
        # The logarithm of 0 is kept finite, so that 0 times it is 0: what was never said tells nothing.
        joint = np.log(np.maximum(prevalence, TINY)) + self.rows @ np.log(np.maximum(errors, TINY)).T
        top = joint.max(axis=1, keepdims=True)
        likelihood = np.exp(joint - top)
        total = likelihood.sum(axis=1, keepdims=True)
        return _State(parameters, likelihood / total, float(self.times @ (np.log(total[:, 0]) + top[:, 0])))

    def apart(self, parameters: Array) -> tuple[Array, Array]:
        """Prevalence and errors as `DawidSkene` has them."""
        return parameters[: self.g], parameters[self.g :].reshape(self.g, -1, self.g).swapaxes(0, 1)

    def _fitted(self, posterior: Array) -> Array:
        weighted = posterior * self.times[:, None]
        errors = (weighted.T @ self.rows).reshape(self.g, -1, self.g)
        return self._whole(weighted.sum(axis=0), errors)

    def _allowed(self, leapt: Array, fallback: Array) -> Array:
        """Shares below 0 take the fallback's value, and all sum to 1 again."""
        leapt = np.where(leapt > 0, leapt, fallback)
        return self._whole(leapt[: self.g], leapt[self.g :].reshape(self.g, -1, self.g))

    def _whole(self, prevalence: Array, errors: Array) -> Array:
        total = errors.sum(axis=2, keepdims=True)
        # An assessor who met no pair of a class has no error rates there: all alike, which moves no posterior.
        errors = np.divide(errors, total, out=np.full_like(errors, 1 / self.g), where=total > 0)
        return np.concatenate([prevalence / prevalence.sum(), errors.reshape(-1)])


def compare_with_final(panel: Panel, *, tolerance: float, max_steps: int, level: float) -> ModelAgainstFinal:
    """Fit the model to the panel and set its most likely grades beside the final ones (ties: the lower grade).

    Raises UndefinedStatistic when nothing was judged.
    """
    if not len(panel.doc_ids):
        raise UndefinedStatistic("nothing was judged")
    g = len(panel.scale)
    counts = (panel.grades[:, :, None] == np.arange(g)).astype(np.float64)
    fitted = dawid_skene(counts, tolerance=tolerance, max_steps=max_steps)
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
    facet, queries = np.array(panel.facets)[settled], np.array(panel.query_ids)[settled]
    right = model[settled] == panel.final[settled]
    waiting = int(panel.open.sum())
    pairs = "1 pair is" if waiting == 1 else f"{waiting} pairs are"
    reason = f"{pairs} disputed and not settled; until then only undisputed pairs have a final grade"
    return ModelAgainstFinal(
        same=no_share(reason) if waiting else share(right, queries, level=level),
        by_facet={
            name: no_share(reason) if waiting else share(right[facet == name], queries[facet == name], level=level)
            for name in sorted(set(panel.facets))
        },
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
