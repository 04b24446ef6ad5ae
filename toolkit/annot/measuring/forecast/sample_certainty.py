"""What judging a sample of the pools costs in certainty: seen on queries that are judged, or assumed.

The pairs of the judged queries are drawn again many times, with the probabilities that a share gives them. Each draw is
estimated as an evaluation would (`annot.measuring.sampled`). Intervals over topics hold the sample's part already: that
of whole pools has variance T / U for U topics, that of a sample (T + D) / U, D being the design variance of a topic. So
an interval is wider by sqrt(1 + D / T), however many topics a study has. The bias of a level does not shrink with
topics, and its interval does: which share is too small for a study depends on its own number of topics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array
from annot.base.stats.seeding import generator
from annot.base.stats.values import Undefined, Value
from annot.measuring.evaluation.gradings import Family
from annot.measuring.forecast.redrawing import papers_by_number
from annot.measuring.sampled.grades import PoolGrades, Predicted, pool_grades
from annot.measuring.sampled.lists import Estimates, Lists
from annot.measuring.sampled.predicting import Features, predicted
from annot.pools.pair_sample import Probabilities

HALF_AGAIN = 0.5
"""More than this, and intervals are as wide as those of fewer than half of the topics, judged whole."""
QUARTER = 0.25
"""The part of an interval's half width that a bias may have."""
ONE_RUN = Undefined("there is one run, so there is no difference between two")
ALIKE = Undefined("all runs are equally good on every topic")

Grades = Mapping[str, Mapping[str, int]]
"""By query, then document."""


class Certainty(NamedTuple):
    """What a share of the pools does to the mean of a measure over topics, and to its difference between two runs."""

    level: Value
    """By how much the interval of a run's mean is wider, as a fraction of that of whole pools; the median run."""
    difference: Value
    """The same of the difference between two runs; the median pair."""
    bias: float
    """How far a run's mean is expected to be off; the mean over runs."""
    half_width: Value
    """Of the interval of a run's mean in the whole study; the median run."""

    @property
    def too_small(self) -> bool:
        """Whether the bias is too large beside the interval."""
        return not isinstance(self.half_width, Undefined) and abs(self.bias) > QUARTER * self.half_width

    @property
    def too_wide(self) -> bool:
        """Whether intervals widen too much: of a difference, or of a run's mean where there is one run."""
        found = self.level if isinstance(self.difference, Undefined) else self.difference
        return not isinstance(found, Undefined) and found > HALF_AGAIN


@dataclass(frozen=True)
class JudgedQueries:
    """Queries of which all pairs are judged, or all that were drawn. Everything is by query."""

    grades: Grades
    """Those that are known."""
    lists: Mapping[str, Sequence[Sequence[Sequence[str]]]]
    """Of each of S runs, the documents, best first; those that tie together."""
    features: Features
    """Of all documents of the pools."""
    topics: Mapping[str, str]


@dataclass(frozen=True)
class Measured:
    """What is measured, and of which study."""

    family: Family
    k: int
    relevant_from: int
    highest: int
    """The highest grade."""
    predict: bool
    """Whether estimates use predictions of grades."""
    topics: int
    """Of the whole study."""
    level: float
    """Of its intervals."""
    redraws: int
    seed: int


def certainty(judged: JudgedQueries, pi: Probabilities, measured: Measured) -> Certainty:
    """Draw the pairs of the judged queries many times with these probabilities, which are of all their documents.

    Grades that are not known are filled in anew for each draw, by chance, as the rankings predict them.
    """
    names = tuple(sorted(judged.grades))
    whole = _Whole(judged, measured.highest, measured.seed)
    paper = papers_by_number(names, judged.topics)
    first = whole.grades(0)
    lists = {
        name: Lists.of(judged.lists[name], _of_pool(name, dict.fromkeys(first[name], 1.0), first[name], None, measured))
        for name in names
    }
    truth = _values(lists, first, measured)
    guesses: Mapping[str, Predicted] | None = None
    off, design = np.zeros(truth.shape[1]), np.zeros((truth.shape[1],) * 2)
    for at in range(measured.redraws):
        grades = whole.grades(at) if whole.incomplete else first
        drawn = {name: _drawn(grades[name], pi[name], measured.seed, name, at) for name in names}
        if measured.predict and guesses is None:
            # Learned from the first draw alone: the next would teach nearly the same, and learning takes longest.
            guesses = predicted(drawn, judged.features, judged.topics, highest=measured.highest)
        true = _values(lists, grades, measured) if whole.incomplete else truth
        for row, name in enumerate(names):
            pool = _of_pool(name, pi[name], drawn[name], None if guesses is None else guesses[name], measured)
            found = _measured(replace(lists[name], grades=pool), measured)
            off += (found.values - true[row]) / (len(names) * measured.redraws)
            design += found.effects @ found.effects.T / (len(names) ** 2 * measured.redraws)
    of_topics = np.zeros((int(paper.max()) + 1, len(off)))
    np.add.at(of_topics, paper, (truth - truth.mean(axis=0)) / len(names))
    return _told(off, design, of_topics, measured)


def half_width(deviation: float, topics: int, level: float) -> Value:
    """Of the interval of a mean over so many topics that have this standard deviation."""
    from scipy.special import stdtrit

    if topics < 2:
        return Undefined("one topic has no interval")
    return float(stdtrit(topics - 1, 0.5 + level / 2)) * deviation / math.sqrt(topics)


def _told(off: Array, design: Array, of_topics: Array, measured: Measured) -> Certainty:
    """design: shape (S, S), the covariance of the runs' means over draws. of_topics: shape (U, S), by how much each
    topic moves them."""
    units = len(of_topics)
    topical = of_topics.T @ of_topics * units / max(1, units - 1)
    first, second = np.triu_indices(len(off), k=1)
    level = _wider(np.diag(design), np.diag(topical))
    between = _wider(_of_differences(design)[first, second], _of_differences(topical)[first, second])
    half = half_width(float(np.median(np.sqrt(np.diag(topical) * units))), measured.topics, measured.level)
    if not isinstance(half, Undefined) and not isinstance(level, Undefined):
        half *= 1 + level
    return Certainty(level, between if len(first) else ONE_RUN, float(off.mean()), half)


def _wider(design: Array, topical: Array) -> Value:
    differ = topical > 1e-12
    if not differ.any():
        return ALIKE
    return float(np.median(np.sqrt(1 + design[differ] / topical[differ]))) - 1


def _of_differences(covariance: Array) -> Array:
    """Variances of the differences between every two."""
    own = np.diag(covariance)
    return np.asarray(own[:, None] + own - 2 * covariance)


class _Whole:
    """The grades of whole pools."""

    def __init__(self, judged: JudgedQueries, highest: int, seed: int) -> None:
        self._known = judged.grades
        self._seed = seed
        self._open = {name: sorted(judged.features[name].keys() - of.keys()) for name, of in judged.grades.items()}
        self.incomplete = any(self._open.values())
        if self.incomplete:
            self._chances = predicted(judged.grades, judged.features, judged.topics, highest=highest)

    def grades(self, at: int) -> dict[str, dict[str, int]]:
        """Those of one draw, by document."""
        found = {name: dict(of) for name, of in self._known.items()}
        for name, missing in self._open.items():
            if missing:
                to = np.cumsum([self._chances[name][doc_id] for doc_id in missing], axis=1)[:, :-1]
                chance = generator(self._seed, "filled in", name, str(at)).random((len(missing), 1))
                found[name] |= dict(zip(missing, (chance >= to).sum(axis=1).tolist(), strict=True))
        return {name: dict(sorted(of.items())) for name, of in found.items()}


def _drawn(grades: Mapping[str, int], pi: Mapping[str, float], seed: int, name: str, at: int) -> dict[str, int]:
    chances = generator(seed, "drawn again", name, str(at)).random(len(grades)).tolist()
    return {doc_id: of for (doc_id, of), chance in zip(grades.items(), chances, strict=True) if chance < pi[doc_id]}


def _of_pool(
    name: str, pi: Mapping[str, float], drawn: Mapping[str, int], guesses: Predicted | None, measured: Measured
) -> PoolGrades:
    return pool_grades(pi, drawn, guesses, highest=measured.highest, query_id=name)


def _values(lists: Mapping[str, Lists], grades: Grades, measured: Measured) -> Array:
    """Of whole pools, shape (queries, S)."""
    pools = {name: _of_pool(name, dict.fromkeys(of, 1.0), of, None, measured) for name, of in grades.items()}
    return np.array([_measured(replace(of, grades=pools[name]), measured).values for name, of in lists.items()])


def _measured(lists: Lists, measured: Measured) -> Estimates:
    return lists.measured(measured.family, measured.k, relevant_from=measured.relevant_from)
