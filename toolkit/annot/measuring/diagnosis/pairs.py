"""Single pairs: those that are hard to judge, grades that a facet confuses, and Dawid and Skene's model of them.

The model has the most likely grade of each pair and each assessor's error rates, without adjudication: Dawid and Skene
1979, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics 28(1), 20-28,
equations 2.3 to 2.5, start 3.1. Tested on the paper's own data. It is a comparison and judges nobody: it takes grades
as names without order, and with two judgements a pair it leans on few equations, so that a frequent error of everybody
is taken for the truth. So it is next to a plain rule that knows nothing of assessors, the lower median of a pair's
grades.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.clustered import no_share, share
from annot.base.stats.significance import holm
from annot.base.stats.values import Share, significant
from annot.measuring.diagnosis.contrasts import ALPHA, higher
from annot.measuring.diagnosis.panel import Panel, SharedPairs, sums

PER_QUERY, EXAMPLES = 3, 5
"""So many hard pairs of each query, and of each gap."""
SHOWN = 2
"""Significant digits of a figure on a page: what is equal at these is ordered by what else is known of it."""


@dataclass(frozen=True, slots=True)
class HardPair:
    """A pair on which the assessors differ."""

    query_id: str
    doc_id: str
    facet: str
    grades: dict[str, int]
    """By assessor."""
    spread: int
    """The highest grade's place in the scale less the lowest's."""
    share: float
    """Of the query's pairs with two grades or more, those with a spread so large or larger."""


@dataclass(frozen=True, slots=True)
class GuidelineGap:
    """Two grades that meet on the same pair more often in one facet than in the others."""

    facet: str
    low: int
    high: int
    observed: int
    """Pairs with both grades among their judgements."""
    expected: float
    """The same at the rate of the other facets."""
    of: int
    """Pairs of the facet with one of the two grades among their judgements, of two or more."""
    p_value: float
    """One-sided, over whole papers, corrected over all facets and grade pairs."""
    examples: tuple[HardPair, ...]
    """The hardest first."""


def hardest_pairs(panel: Panel) -> tuple[HardPair, ...]:
    """The hardest pairs of each query, by query, widest apart first; never a pair on which all agree."""
    everywhere = np.ones(len(panel.query_ids), dtype=np.bool_)
    by_query = itertools.groupby(_hard(panel, everywhere), key=lambda pair: pair.query_id)
    return tuple(pair for _, of_query in by_query for pair in itertools.islice(of_query, PER_QUERY))


def order_of_hard(pair: HardPair) -> tuple[int, float, str, str]:
    """Widest apart first; then what is rare in its query, as printed; then by id."""
    return -pair.spread, significant(pair.share, SHOWN), pair.query_id, pair.doc_id


def guideline_gaps(compared: SharedPairs) -> tuple[GuidelineGap, ...]:
    """Facet by facet the grades that are confused more than elsewhere, corrected by Holm, the clearest first.

    In each query: of the pairs that someone gave one of two grades, the share that someone else gave the other one. The
    facet's queries are compared with those of the other facets, which may be of the same papers; with one facet alone
    there is nothing to compare.
    compared: without those who differ from the others, so that the facet that they judged most is not blamed.
    """
    panel = compared.panel
    has = np.zeros((len(panel.query_ids), len(panel.scale)), dtype=np.bool_)
    has[compared.pair, compared.grade] = True
    facets, n_queries = np.array(panel.facets), int(panel.query[-1]) + 1
    found = []
    for low, high in itertools.combinations(range(len(panel.scale)), 2):
        both, either = has[:, low] & has[:, high], has[:, low] | has[:, high]
        hits, times = (np.bincount(panel.query[part], minlength=n_queries) for part in (both, either))
        asked = np.flatnonzero(times)
        for facet in sorted(set(panel.facets)):
            here = facets == facet
            inside = np.isin(asked, panel.query[here])
            shares = hits[asked] / times[asked]
            test = higher(shares, ~inside, compared.paper_of[asked])
            if test is None:
                continue
            of = int((either & here).sum())
            expected = of * float(hits[asked[~inside]].sum() / times[asked[~inside]].sum())
            gap = GuidelineGap(
                facet, panel.scale[low], panel.scale[high], int((both & here).sum()), expected, of, test.p, ()
            )
            found.append((gap, max(test.p, test.least), both & here))
    corrected = holm([p for _, p, _ in found])
    clear = [
        replace(gap, p_value=p, examples=tuple(sorted(_hard(panel, among), key=order_of_hard)[:EXAMPLES]))
        for (gap, _, among), p in zip(found, corrected, strict=True)
        if p <= ALPHA
    ]
    return tuple(
        sorted(clear, key=lambda gap: (significant(gap.p_value, SHOWN), -gap.observed, gap.facet, gap.low, gap.high))
    )


def _hard(panel: Panel, among: Mask) -> list[HardPair]:
    """Every pair of these on which not all agree, by query, the hardest first. among: shape (N,)."""
    starts = np.searchsorted(panel.pair, np.arange(len(panel.query_ids) + 1))
    spread = np.maximum.reduceat(panel.grade, starts[:-1]) - np.minimum.reduceat(panel.grade, starts[:-1])
    twice = panel.n_judged > 1
    of_query = np.bincount(panel.query[twice], minlength=panel.query[-1] + 1)
    as_wide = [
        np.bincount(panel.query[twice & (spread >= s)], minlength=len(of_query)) for s in range(len(panel.scale))
    ]
    found = []
    for row in np.flatnonzero((spread > 0) & among):
        at = slice(starts[row], starts[row + 1])
        grades = zip(panel.who[at].tolist(), panel.grade[at].tolist(), strict=True)
        query, distance = panel.query[row], int(spread[row])
        found.append(
            HardPair(
                query_id=panel.query_ids[row],
                doc_id=panel.doc_ids[row],
                facet=panel.facets[row],
                grades={panel.assessors[who]: panel.scale[grade] for who, grade in grades},
                spread=distance,
                share=float(as_wide[distance][query] / of_query[query]),
            )
        )
    return sorted(found, key=lambda pair: (pair.query_id, order_of_hard(pair)))


TINY = 1e-300
TOLERANCE, MAX_STEPS = 1e-7, 2_000
BEARS, PRINTED = 6, 2
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
    """Most certain first, at `PRINTED` digits; then by id."""
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
            sorted(departures, key=lambda pair: (-round(pair.probability, PRINTED), pair.query_id, pair.doc_id))
        ),
        converged=fitted.converged,
    )


def _lower_median(panel: Panel) -> Integers:
    """Shape (N,), the place of the grade below or at which half of a pair's judgements lie."""
    ordered = panel.grade[np.lexsort((panel.grade, panel.pair))]
    first = np.searchsorted(panel.pair, np.arange(len(panel.query_ids)))
    return np.asarray(ordered[first + (panel.n_judged - 1) // 2])
