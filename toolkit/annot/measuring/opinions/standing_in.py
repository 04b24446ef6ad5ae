"""Alternative annotator test: may a model replace one of the people of a study?

Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
Replacing Human Annotators with LLMs, ACL, 16051-16081 (https://aclanthology.org/2025.acl-long.782). Each person is left
out in turn. On each pair the model and this person are held against the other people who judged it: the score is the
root of the mean squared distance to their grades; smaller is better. W_model is 1 if the model is at least as near as
the person, W_person is 1 if the person is at least as near as the model. The model wins against this person if the mean
of W_person - W_model is shown to be below epsilon: a handicap, because people are slower and cost more. The paper
advises 0.2 against experts, 0.15 against skilled and 0.1 against crowd workers. The p-values are corrected by Benjamini
and Yekutieli 2001 (Annals of Statistics 29, 1165-1188). The winning rate omega is the share of people it wins against;
at 0.5 or more it may replace one.

The paper's t test assumes that pairs are independent. Pairs of one topic are not, so here whole topics are the units of
chance (`standing_in`). `plain` is the published test, for comparison. In a sampled study each pair counts 1 / pi.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.stats.arrays import Array, Mask
from annot.base.stats.clustered import FEWEST_QUERIES, clusters_of, plural
from annot.base.stats.values import Undefined, Value
from annot.measuring.agreement.per_query import QueryRatings

Pair = tuple[str, str]

ENOUGH = 0.5
"""Winning rate from which a model may replace one person."""
FEWEST_PAIRS = 30
"""Pairs that a person must share with others: the paper's bound for its t test."""
ALONE = Undefined(
    "no pair with an opinion has two assessors, and the test compares the model with the others of a pair"
)


@dataclass(frozen=True, slots=True)
class AgainstOne:
    """Comparison of the model with one person."""

    assessor: str
    n_pairs: int
    n_units: int
    """Topics, the units of chance; in the published test, pairs."""
    behind: float
    """Share of pairs on which the person is nearer, less that on which the model is. Below epsilon it wins."""
    model_as_near: float
    """Share of pairs on which the model is at least as near: the paper's advantage probability rho."""
    p: float
    """p-value of the hypothesis that the model is behind by epsilon or more."""
    wins: bool
    """True if the model wins, after correction for the number of people."""


@dataclass(frozen=True, slots=True)
class StandingIn:
    """Result of the test against all people."""

    epsilon: float
    against: tuple[AgainstOne, ...]
    left_out: dict[str, str]
    """Reason why a person could not be compared, by pseudonym."""
    omega: Value
    """Winning rate, or why the test cannot be run."""
    rho: Value
    """Mean of the advantage probabilities."""

    @property
    def may(self) -> bool | None:
        """True if the model may replace one person; None if that is not known."""
        return None if isinstance(self.omega, Undefined) else self.omega >= ENOUGH


class _Compared(NamedTuple):
    """Comparisons of one person with the model, by pair."""

    behind: Array
    """Difference W_person - W_model: 1, 0 or -1."""
    as_near: Mask
    query: npt.NDArray[np.str_]
    weights: Array

    @classmethod
    def joined(cls, parts: Sequence[_Compared]) -> _Compared:
        """Comparisons on several queries together."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


def standing_in(
    queries: Sequence[QueryRatings],
    opinion: Mapping[Pair, int],
    *,
    epsilon: float,
    level: float,
    topics: Mapping[str, str] | None,
) -> StandingIn:
    """Run the test with whole topics as the units of chance. level: .95 keeps the false discovery rate at .05.

    topics: the topic of each query; None takes the queries as independent.
    """

    def p_of(person: _Compared) -> tuple[float, int] | Undefined:
        clusters = clusters_of(person.query, None if topics is None else [topics[name] for name in person.query])
        if clusters.n < FEWEST_QUERIES:
            return Undefined(f"{clusters.n} {plural(clusters.unit)}, expected {FEWEST_QUERIES} or more")
        mean = _mean(person.behind, person.weights)
        parts = clusters.summed(person.weights * (person.behind - mean)) / person.weights.sum()
        variance = float((parts**2).sum()) * clusters.n / (clusters.n - 1)
        return _below(mean - epsilon, variance, clusters.n), clusters.n

    return _tested(queries, opinion, p_of, epsilon=epsilon, level=level)


def plain(queries: Sequence[QueryRatings], opinion: Mapping[Pair, int], *, epsilon: float, level: float) -> StandingIn:
    """Run the test as published: pairs are taken as independent, and all count the same."""

    def p_of(person: _Compared) -> tuple[float, int]:
        n = len(person.behind)
        return _below(float(person.behind.mean()) - epsilon, float(person.behind.var(ddof=1)) / n, n), n

    return _tested(queries, opinion, p_of, epsilon=epsilon, level=level)


def _tested(
    queries: Sequence[QueryRatings],
    opinion: Mapping[Pair, int],
    p_of: Callable[[_Compared], tuple[float, int] | Undefined],
    *,
    epsilon: float,
    level: float,
) -> StandingIn:
    compared = _compared(queries, opinion)
    if not compared:
        return StandingIn(epsilon, (), {}, ALONE, ALONE)
    left_out: dict[str, str] = {}
    tested: dict[str, tuple[float, int]] = {}
    for assessor, person in compared.items():
        n = len(person.behind)
        few = Undefined(f"{n} pairs shared with others, expected {FEWEST_PAIRS} or more")
        result = p_of(person) if n >= FEWEST_PAIRS else few
        if isinstance(result, Undefined):
            left_out[assessor] = result.reason
        else:
            tested[assessor] = result
    if not tested:
        why = Undefined(f"no assessor can be compared: {next(iter(left_out.values()))}")
        return StandingIn(epsilon, (), left_out, why, why)
    corrected = benjamini_yekutieli([p for p, _ in tested.values()])
    against = tuple(
        AgainstOne(
            assessor=assessor,
            n_pairs=len(compared[assessor].behind),
            n_units=n,
            behind=_mean(compared[assessor].behind, compared[assessor].weights),
            model_as_near=_mean(compared[assessor].as_near.astype(np.float64), compared[assessor].weights),
            p=p,
            wins=corrected_p <= 1 - level + 1e-12,
        )
        for (assessor, (p, n)), corrected_p in zip(tested.items(), corrected, strict=True)
    )
    omega = float(np.mean([person.wins for person in against]))
    rho = float(np.mean([person.model_as_near for person in against]))
    return StandingIn(epsilon, against, left_out, omega, rho)


def _compared(queries: Sequence[QueryRatings], opinion: Mapping[Pair, int]) -> dict[str, _Compared]:
    """Pairs by person that another person judged too and on which the model has an opinion."""
    by_assessor: dict[str, list[_Compared]] = {}
    for query in queries:
        opinions = np.array([opinion.get((query.query_id, doc_id), np.nan) for doc_id in query.doc_ids])
        weights = np.ones(len(opinions)) if query.weights is None else query.weights
        graded = ~np.isnan(query.ratings)
        for row, assessor in enumerate(query.assessors):
            others = graded.copy()
            others[row] = False
            comparable = graded[row] & others.any(axis=0) & ~np.isnan(opinions)
            model = _off(opinions, query.ratings, others)[comparable]
            person = _off(query.ratings[row], query.ratings, others)[comparable]
            nearer, as_near = person <= model + _SAME, model <= person + _SAME
            query_ids = np.full(len(nearer), query.query_id)
            on_query = _Compared(nearer.astype(np.float64) - as_near, as_near, query_ids, weights[comparable])
            by_assessor.setdefault(assessor, []).append(on_query)
    compared = {assessor: _Compared.joined(parts) for assessor, parts in sorted(by_assessor.items())}
    return {assessor: person for assessor, person in compared.items() if len(person.behind)}


_SAME = 1e-9


def _off(grades: Array, ratings: Array, others: Mask) -> Array:
    """Root of the mean squared distance of each grade to those of the others, shape (N,)."""
    square = np.where(others, (ratings - grades) ** 2, 0.0).sum(axis=0)
    return np.asarray(np.sqrt(square / np.maximum(1, others.sum(axis=0))))


def _mean(values: Array, weights: Array) -> float:
    return float((values * weights).sum() / weights.sum())


def _below(off: float, variance: float, n: int) -> float:
    """Probability of a mean so far below its bound, by Student's t with n - 1 degrees of freedom; without variation 0
    or 1.
    """
    from scipy.special import stdtr

    if variance <= 0:
        return float(off >= 0)
    return float(stdtr(n - 1, off / math.sqrt(variance)))


def benjamini_yekutieli(p_values: Sequence[float]) -> tuple[float, ...]:
    """Correct p-values, in their order, so that the share of false findings stays below the level, however the tests
    depend on each other.

    Of the i-th smallest of m it is the least of p m (1 + 1/2 + ... + 1/m) / i from i on.
    """
    m = len(p_values)
    harmonic = math.fsum(1 / i for i in range(1, m + 1))
    corrected, least = [1.0] * m, 1.0
    for rank, index in reversed(list(enumerate(sorted(range(m), key=lambda index: p_values[index]), start=1))):
        least = min(least, p_values[index] * m * harmonic / rank)
        corrected[index] = least
    return tuple(corrected)
