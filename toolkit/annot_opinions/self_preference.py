"""Runs that gain under a model's grades more than the model's own errors explain.

The plain gain of a run is its NDCG by the model's grades less that by the people's. Every noisy judge moves all runs,
the weak ones up and the good ones down, so the plain gain names a favoured run of a fair judge nearly always. Here the
gain is compared with opinions that change places among pairs that are alike (`alike`): those of one query and one final
grade that the other runs rank about as high and whose documents are about as long. For a judge whose errors depend on
the final grade, the topic, the length, or on properties on which all runs agree, such an exchange changes nothing on
average. NDCG is linear in the grades and its ideal stays the same, so the mean over all exchanges needs no drawing:
each opinion is replaced by the mean of its like.

The rest, less the average rest of the other runs, is `beyond`: the gain of the run in excess of theirs and of the
model's errors. A run is favoured if this is shown to be above `least`, by the step-down maximum of t over whole topics
(`annot.base.stats.inference.max_t_tests`), which corrects for the number of runs and allows for errors that go
together within a topic. A run that is shown to be below -`least` loses. The report names it, but that alone does not
make a judge unfair. `benchmarks/opinion_judges.py` counts how often planted judges are told apart.

The absence of a favoured run is evidence only if a favour would have been found. `visible` is the favour that this many
topics show with 80% power, the mean over the runs that may have it. A run is suspected if the interval of its own rest
is above `least`, but not after correction. No favour is established (`none`) if one of `tolerance` is visible and no
run is suspected; `topics_needed` is about the number of topics that it takes.

A judge who sees more within a grade than people noted down rewards the runs that see the same. The common part of the
runs is taken out; if one run alone shares it with the judge it is favour by this definition, whoever is right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from annot.base.libraries import special
from annot.base.stats import inference
from annot.base.stats.arrays import Array, Integers
from annot.base.stats.values import Interval, Undefined
from annot.measuring.evaluation.measures import Family

ALIKE = 8
"""Approximate number of pairs in a group of pairs that are alike."""
LEAST = 0.015
"""Least gain beyond the others' of a run that is named. Matching never removes all of a fair judge's errors, and with
many topics even a trace of them would be significant.
"""
FEWEST_TOPICS = 6
"""Least number of topics with a p below .05: there are 2^(n - 1) ways to turn signs."""
FEWEST_TO_SPREAD = 2
"""Least number of topics from which their spread is known."""
FUSED_AT = 60
"""Constant k of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009) over the other runs."""
UNRANKED = 1e-4
"""Fusion score of a document that no other run has: below the last of a long list."""


class OpinedPair(NamedTuple):
    """Pair that people and the model graded."""

    query_id: str
    doc_id: str
    final: int
    opinion: int
    weight: float
    """Weight 1 / pi if a sample was drawn, else 1."""
    length: int
    """Length of the document, in characters or words."""


@dataclass(frozen=True, slots=True)
class FavourRule:
    """Settings of the figures."""

    name: str
    """Name of the measure, a kind of NDCG."""
    family: Family
    k: int
    """Cut of the measure."""
    least: float
    """Least gain beyond the others' of a run that is named."""
    tolerance: float
    """Favour that must be visible before a judge is said to favour no run."""
    level: float
    permutations: int
    seed: int


@dataclass(frozen=True, slots=True)
class RunUnderOpinion:
    """Values of one run, on the pairs that people and the model graded; means over queries."""

    run: str
    by_people: float
    by_model: float
    beyond: float
    """Gain in excess of that of the other runs and of the model's errors."""
    interval: Interval | Undefined
    p_gains: float
    """Corrected p of the hypothesis that `beyond` is not above `least`."""
    p_loses: float
    gains: bool
    suspected: bool
    """True if its interval alone is above `least`, without correction for the number of runs."""
    loses: bool

    @property
    def gain(self) -> float:
        """Plain difference."""
        return self.by_model - self.by_people

    @property
    def explained(self) -> float:
        """Part of the plain difference that the model's errors explain, together with the gain of all runs."""
        return self.gain - self.beyond


@dataclass(frozen=True, slots=True)
class Favour:
    """Favour among all runs, best by the people's grades first."""

    measure: str
    least: float
    tolerance: float
    n_topics: int
    visible: float | None
    """Favour of a run that this many topics show with 80% power, the mean over the runs that may have it; None if they
    show none of any size.
    """
    topics_needed: int | None
    """Approximate number of topics that show a favour of `tolerance`, and that of a suspected run; None if no number
    does.
    """
    runs: tuple[RunUnderOpinion, ...]

    @property
    def none(self) -> bool:
        """True if no run is favoured, and a favour of `tolerance` would have been found."""
        visible = self.visible is not None and self.visible <= self.tolerance
        return visible and not self.gaining and not self.suspected

    @property
    def gaining(self) -> tuple[str, ...]:
        """Favoured runs, the one that gains most first."""
        return tuple(run.run for run in self._by_gain if run.gains)

    @property
    def suspected(self) -> tuple[str, ...]:
        """Runs that would be called favoured without correction for the number of runs."""
        return tuple(run.run for run in self._by_gain if run.suspected)

    @property
    def _by_gain(self) -> list[RunUnderOpinion]:
        return sorted(self.runs, key=lambda run: (-run.beyond, run.run))

    @property
    def losing(self) -> tuple[str, ...]:
        """Runs that lose, the one that loses most first."""
        return tuple(run.run for run in sorted(self.runs, key=lambda run: (run.beyond, run.run)) if run.loses)


def favour(
    pairs: Sequence[OpinedPair],
    runs: Mapping[str, Mapping[str, Sequence[str]]],
    rule: FavourRule,
    *,
    topics: Mapping[str, str] | None,
) -> Favour | Undefined:
    """Compare every run under the model's grades and the people's, or give the reason why that is impossible.

    runs: by tag and query, the documents best first. topics: the topic of each query; None takes the queries as
    independent.
    """
    if len(runs) < 2:
        return Undefined("there are no runs" if not runs else "there is one run, and none to compare it with")
    if not pairs:
        return Undefined("no pair has both a final grade and an opinion")
    ranked = RankedPairs(pairs, runs, rule, topics=topics)
    return ranked.favour(np.array([pair.opinion for pair in pairs], dtype=np.float64), rule)


class RankedPairs:
    """Pairs with their places in the runs: Q queries, N pairs, R runs."""

    def __init__(
        self,
        pairs: Sequence[OpinedPair],
        runs: Mapping[str, Mapping[str, Sequence[str]]],
        rule: FavourRule,
        *,
        topics: Mapping[str, str] | None,
    ) -> None:
        """Place the pairs in the runs; the opinions in `pairs` are not used."""
        names = sorted({pair.query_id for pair in pairs})
        row_of = {query_id: position for position, query_id in enumerate(names)}
        self.tags = tuple(runs)
        self.topics = tuple(topics[query_id] if topics else query_id for query_id in names)
        """Topic of each query."""
        self.query = np.array([row_of[pair.query_id] for pair in pairs], dtype=np.int64)
        """Shape (N,)."""
        self.final = np.array([pair.final for pair in pairs], dtype=np.float64)
        self.weights = np.array([pair.weight for pair in pairs], dtype=np.float64)
        self.length = np.log1p(np.array([pair.length for pair in pairs], dtype=np.float64))
        """Logarithm of the length, shape (N,)."""
        self.same: Integers = np.unique(self.query * (self.final.max() + 1) + self.final, return_inverse=True)[1]
        """Number of each pair's query and final grade, shape (N,)."""
        self.discount, self.own = np.zeros((2, len(runs), len(pairs)))
        """Discount at the pair's rank, shape (R, N), 0 beyond the cut and if the run does not have it; part of each run
        in `fused`, shape (R, N).
        """
        self.submitted = np.zeros((len(runs), len(pairs)), dtype=np.bool_)
        """Shape (R, N)."""
        self.cut = np.zeros((len(runs), len(names)), dtype=np.int64)
        """Number of ranks of each run that count, shape (R, Q)."""
        for row, run in enumerate(runs.values()):
            lists = [run.get(query_id, ()) for query_id in names]
            self.cut[row] = [rule.family.cut(len(docs), rule.k) for docs in lists]
            ranks = [{doc_id: position for position, doc_id in enumerate(docs)} for docs in lists]
            discounts = [rule.family.discount(max(1, n)) for n in self.cut[row]]
            for position, (query, pair) in enumerate(zip(self.query.tolist(), pairs, strict=True)):
                rank = ranks[query].get(pair.doc_id)
                if rank is not None:
                    self.submitted[row, position], self.own[row, position] = True, 1 / (FUSED_AT + rank + 1)
                    if rank < self.cut[row, query]:
                        self.discount[row, position] = discounts[query][rank]
        self.fused = self.own.sum(axis=0)
        """Sum over the runs, shape (N,)."""

    def favour(self, opinion: Array, rule: FavourRule) -> Favour | Undefined:
        """Test for favour with these opinions, shape (N,)."""
        n_topics = len({*self.topics})
        if n_topics < FEWEST_TO_SPREAD:
            return Undefined(f"{n_topics} topic, and the test needs at least {FEWEST_TOPICS}")
        ideal = self._ideals(opinion, rule)
        beyond = np.stack(
            [self._summed(row, opinion - means_of_like(opinion, self.alike(row, opinion))) for row in range(len(ideal))]
        )
        rests = np.divide(beyond, ideal, out=np.zeros_like(beyond), where=ideal > 0)
        excess = (rests - rests.mean(axis=0)) * len(rests) / (len(rests) - 1)
        p_values, critical = [], math.inf
        for sign in (-1, 1):
            parts = inference.parts_of_mean(sign * excess - rule.least, self.topics)
            tests = inference.max_t_tests(parts, alpha=1 - rule.level, permutations=rule.permutations, seed=rule.seed)
            p_values.append(np.where(parts.mean(axis=1) > 0, tests.p_values, 1.0).tolist())
            critical = tests.critical
        by_people, by_model = self._means(self.final, rule), self._means(opinion, rule)
        topics = self.topics if n_topics < len(self.topics) else None
        runs = []
        for row, (tag, p_loses, p_gains) in enumerate(zip(self.tags, *p_values, strict=True)):
            interval = inference.mean_interval(excess[row], level=rule.level, least=-2, most=2, topics=topics)
            gains, loses = (p <= 1 - rule.level + _ROUNDING for p in (p_gains, p_loses))
            runs.append(
                RunUnderOpinion(
                    run=tag,
                    by_people=by_people[row],
                    by_model=by_model[row],
                    beyond=float(excess[row].mean()),
                    interval=interval,
                    p_gains=p_gains,
                    p_loses=p_loses,
                    gains=gains,
                    suspected=not gains and isinstance(interval, Interval) and interval.low > rule.least,
                    loses=loses,
                )
            )
        visible, topics_needed = _visible(runs, parts.std(axis=1, ddof=1), n_topics, critical, rule)
        runs.sort(key=lambda run: (-run.by_people, run.run))
        return Favour(rule.name, rule.least, rule.tolerance, n_topics, visible, topics_needed, tuple(runs))

    def alike(self, row: int, opinion: Array) -> Integers:
        """Group of about `ALIKE` pairs that each pair is in, shape (N,).

        A group has pairs of one query and final grade whose expected opinions are nearest. The expected opinion follows
        from the rank of the document in the other runs and from its length, by least squares within queries, for each
        final grade on its own.
        """
        others = np.log(UNRANKED + (self.fused - self.own[row]) / (len(self.own) - 1))
        same = self.same
        x = np.stack([feature - means_of_like(feature, same) for feature in _curved(others, self.length)])
        y, expected = opinion - means_of_like(opinion, same), np.zeros(len(opinion))
        for grade in np.unique(self.final):
            members = self.final == grade
            x_of_grade = x[:, members]
            coefficients = np.linalg.pinv(x_of_grade @ x_of_grade.T, hermitian=True) @ (x_of_grade @ y[members])
            expected[members] = coefficients @ x_of_grade
        order = np.lexsort((others, np.round(expected, _DIGITS), same))
        sizes = np.bincount(same)
        place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        groups = np.maximum(1, np.round(sizes / ALIKE).astype(np.int64))
        within = place * np.repeat(groups, sizes) // np.repeat(sizes, sizes)
        group_of = np.empty(len(order), dtype=np.int64)
        group_of[order] = np.repeat(np.cumsum(groups) - groups, sizes) + within
        return group_of

    def _summed(self, row: int, values: Array) -> Array:
        """Sum of the values at their places in a run, by query: shape (Q,)."""
        return np.bincount(self.query, self.discount[row] * self.weights * values, len(self.topics)).astype(np.float64)

    def _means(self, grades: Array, rule: FavourRule) -> list[float]:
        """Measure of each run under these grades."""
        ideal = self._ideals(grades, rule)
        gains = np.stack([self._summed(row, grades) for row in range(len(ideal))])
        return np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0).mean(axis=1).tolist()  # type: ignore[no-any-return]

    def _ideals(self, grades: Array, rule: FavourRule) -> Array:
        """Best value of any order, shape (R, Q). A weighted pair takes as many ranks as it represents."""
        ideals = np.zeros(self.cut.shape)
        members = [np.flatnonzero(self.query == position) for position in range(len(self.topics))]
        for query, pairs in enumerate(members):
            best = pairs[np.argsort(-grades[pairs], kind="stable")]
            cut_of_all = rule.family.cut(math.ceil(self.weights[pairs].sum() - _ROUNDING), rule.k)
            by_documents: dict[tuple[int, bytes], float] = {}
            for row, cut_of_run in enumerate(self.cut[:, query].tolist()):
                documents, cut = best, cut_of_all
                if rule.family.of_submitted:
                    documents, cut = best[self.submitted[row, best]], cut_of_run
                key = cut, documents.tobytes()
                if key not in by_documents:
                    ends = np.minimum(cut, np.concatenate([[0.0], np.cumsum(self.weights[documents])]))
                    sums = np.concatenate([[0.0], np.cumsum(rule.family.discount(cut))])
                    by_documents[key] = float(grades[documents] @ np.diff(np.interp(ends, np.arange(cut + 1), sums)))
                ideals[row, query] = by_documents[key]
        return ideals


_ROUNDING = 1e-9
_DIGITS = 9


def _visible(
    runs: Sequence[RunUnderOpinion], spreads: Array, n_topics: int, critical: float, rule: FavourRule
) -> tuple[float | None, int | None]:
    """Favour that the topics show with 80% power, and approximate number of topics that are needed.

    spreads: shape (R,), the standard deviation over topics of each run, any of which may be the favoured one: the power
    is the mean over them. critical: the |t| that a run must exceed. For another number of topics the level of one run's
    test stays; without a critical t it is that of Bonferroni's correction.
    """
    spreads = np.maximum(spreads, _ROUNDING)
    alpha, visible = (1 - rule.level) / len(spreads), None
    if math.isfinite(critical):
        alpha = 2 * float(special.stdtr(n_topics - 1, -critical))
        low, high = 0.0, float(spreads.max()) * inference.least_effect(n_topics, critical=critical)
        while high - low > _ROUNDING:
            middle = (low + high) / 2
            enough = inference.power_of(n_topics, middle / spreads, critical=critical) >= inference.POWER
            low, high = (low, middle) if enough else (middle, high)
        visible = rule.least + high
    favours = [max(0.0, rule.tolerance - rule.least) / spreads]
    favours += [
        np.array([(run.beyond - rule.least) / spread])
        for run, spread in zip(runs, spreads.tolist(), strict=True)
        if run.suspected
    ]
    at_least = n_topics + 1 if len(favours) > 1 else 0
    needed = [inference.units_needed(effects, alpha=alpha, fewest=max(at_least, FEWEST_TOPICS)) for effects in favours]
    return visible, None if None in needed else max(number for number in needed if number is not None)


def _curved(*features: Array) -> list[Array]:
    """Values, and the squares of their deviations."""
    return [power for feature in features for power in (feature, (feature - feature.mean()) ** 2)]


def means_of_like(values: Array, group: Integers) -> Array:
    """Mean of each pair's group, shape (N,)."""
    return np.asarray((np.bincount(group, values) / np.bincount(group))[group], dtype=np.float64)
