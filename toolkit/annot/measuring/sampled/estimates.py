"""Measures of runs estimated from sampled pools, and what a sample costs in certainty."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annot.base.errors import InputError
from annot.base.names import check_name
from annot.base.records import ScoredDoc
from annot.base.stats.arrays import Array, Integers, Mask
from annot.base.stats.inference import clusters_of, variance_of
from annot.base.templating import render
from annot.measuring.evaluation import measures
from annot.measuring.sampled.grades import Moving, PoolGrades, Predicted, Weights, counts_of, pool_grades, signs

# ----------------------------------------------------------------------------------------------------------------------
# Estimated measures of several ranked lists of one query, and the part of their scatter that is from the draw.
#
# Linear measures weigh the gain or the hit of each document by its rank: DCG, P@k, the hits of R@k. Average precision
# multiplies the hits of two documents, whose draws are independent; a document's product with itself is its hit. The
# ideal DCG and the number of relevant documents follow from the estimated number of documents at each grade. They are
# never below what was found, nor below one document of the lowest grade that counts. The ratio of two estimates is
# biased, and so is the ideal, because they are not linear. Replicates of the draw show by how much, and this is
# subtracted. A ratio stays from 0 to 1, before and after, and recall stays within what the known grades leave
# possible: a run that ranks a whole pool has R@k = 1. If none of the drawn documents counts, the ratio is the one
# that the predictions expect for one document that does, or for less than one, whatever their weight: 0 would be
# biased, because a relevant document may not have been drawn.
#
# `annot.measuring.evaluation.measures` has the measures and their conventions. If all pairs are judged, the figures
# here are the same.
# ----------------------------------------------------------------------------------------------------------------------


class Estimates(NamedTuple):
    """Estimates of one measure of S lists of a query."""

    values: Array
    """Shape (S,): values. A ratio is within the range of the measure; P@k may be outside, or its mean would be
    biased.
    """
    effects: Array
    """Shape (S, E): effects of the draw. The sum of squares is the design variance, and that of two lists' differences
    is that of their difference.
    """
    floored: Mask
    """Shape (S,), true if the ideal, or the number of relevant documents, was raised to the least it can be."""
    impossible: Mask
    """Shape (S,), true if the grades that are known leave no way for the measure to have this value."""


@dataclass(frozen=True)
class Lists:
    """S ranked lists of one query, over a pool of n documents of which U move in replicates."""

    grades: PoolGrades
    first: Integers
    """Shape (S, n): first rank that each document may have, from 1; 0 if it is not in the list."""
    ties: Integers
    """Shape (S, n): number of documents that share these ranks, in any order; 1 for a document in its place."""
    lengths: Integers
    """Shape (S,): number of documents of each list, including those outside the pool."""

    @classmethod
    def of(cls, lists: Sequence[Sequence[Sequence[str]]], grades: PoolGrades) -> Lists:
        """Build from the ids of each list, best first; documents that tie are together in a group."""
        place_of = {doc_id: place for place, doc_id in enumerate(grades.doc_ids)}
        first = np.zeros((len(lists), len(place_of)), dtype=np.int64)
        ties = np.ones_like(first)
        lengths = []
        for row, groups in enumerate(lists):
            sizes = np.array([len(group) for group in groups], dtype=np.int64)
            begin, size = np.repeat(1 + sizes.cumsum() - sizes, sizes), np.repeat(sizes, sizes)
            place = np.array([place_of.get(doc_id, -1) for group in groups for doc_id in group], dtype=np.int64)
            in_pool = place >= 0
            first[row, place[in_pool]], ties[row, place[in_pool]] = begin[in_pool], size[in_pool]
            lengths.append(len(place))
        return cls(grades, first, ties, np.array(lengths, dtype=np.int64))

    def under(self, grades: PoolGrades) -> Lists:
        """Copy with other grades of the same drawn pairs."""
        lists = replace(self, grades=grades)
        # What does not follow from the grades takes longer to make than the measure.
        lists.__dict__.update(_submitted=self._submitted, _signs=self._signs)
        return lists

    def measured(self, family: measures.Family, k: int, *, relevant_from: int) -> Estimates:
        """Measure a family that has an estimator. k, relevant_from: as in `annot.measuring.evaluation`."""
        if family.kind == measures.JUDGED:
            none = np.zeros(len(self.lengths), dtype=np.bool_)
            return Estimates(self.in_pool(k), np.zeros((len(none), 1)), none, none)
        weight = self.grades.weights[family.kind]
        lists = self if weight == 1 else self.under(self.grades.weighed(weight))
        if family.kind == "P":
            return lists._precision(k, relevant_from)
        top, divisor = lists._parts(family, k, relevant_from)
        ratio = lists._ratio(family, top, divisor, weight if self.grades.guessed else 1.0)
        nothing = divisor.least <= 0
        if self.grades.guessed and nothing.any():
            filled_in = self.grades.filled_in(1 if family.kind == "NDCG" else relevant_from)
            expected, number = self.under(filled_in)._parts(family, k, relevant_from)
            guess = _within(expected.value / np.maximum(number.value, 1.0))
            ratio = ratio._replace(values=np.where(nothing, guess, ratio.values))
        if family.kind == "R":
            least, most = self._possible(k, relevant_from, self._members(family))
            ratio = ratio._replace(values=np.clip(ratio.values, least, most))
        return ratio

    def _parts(self, family: measures.Family, k: int, relevant_from: int) -> tuple[Moving, Moving]:
        """Numerator and denominator of a measure."""
        hits = self.grades.relevant(relevant_from)
        if family.kind == "NDCG":
            cuts = np.array([family.cut(int(n), k) for n in self.lengths], dtype=np.int64)
            return self._linear(self.grades.gains, self._weights(family, cuts)), self._ideal(family, k, cuts)
        if family.kind == "AP":
            return self._precisions(hits), self._number(family, hits)
        return self._linear(hits, self._weights(None, np.minimum(k, self.lengths))), self._number(family, hits)

    def _precision(self, k: int, relevant_from: int) -> Estimates:
        weights = self._weights(None, np.minimum(k, self.lengths))
        top = self._linear(self.grades.relevant(relevant_from), weights)
        most = top.least + weights @ self.grades.unknown
        return Estimates(
            values=top.value / k,
            effects=top.moves / k / np.sqrt(len(self._signs)),
            floored=np.zeros(len(self.lengths), np.bool_),
            impossible=(top.value < top.least - ROUNDING) | (top.value > most + ROUNDING),
        )

    def _possible(self, k: int, relevant_from: int, members: tuple[Array, Integers]) -> tuple[Array, Array]:
        """Smallest and largest R@k that the grades that are known leave possible."""
        sets, set_of = members
        known, unknown = self.grades.relevant(relevant_from).least, self.grades.unknown.astype(np.float64)
        weights = self._weights(None, np.minimum(k, self.lengths))
        ranked, may_be_ranked = weights @ known, weights @ unknown
        missed, may_be_missed = (sets @ known)[set_of] - ranked, (sets @ unknown)[set_of] - may_be_ranked
        return _share(ranked, missed + may_be_missed), _share(ranked + may_be_ranked, missed)

    def in_pool(self, k: int) -> Array:
        """Share of the first k documents, or of all if there are fewer, that are in the pool: shape (S,)."""
        within = np.minimum(k, self.lengths)
        return np.asarray(self._weights(None, within).sum(axis=1) / np.maximum(1, within))

    @cached_property
    def _signs(self) -> Array:
        half = signs(len(self.grades.uncertain))
        return np.concatenate([half, -half])

    def _weights(self, family: measures.Family | None, cuts: Integers) -> Array:
        """Mean weight of each document over the ranks that it may have, shape (S, n)."""
        longest = int(max(cuts.max(initial=0), 1))
        weight = np.ones(longest) if family is None else family.discount(longest)
        to_rank = np.concatenate([[0.0], weight.cumsum()])
        first_cut = np.minimum(self.first - 1, cuts[:, None])
        last_cut = np.minimum(self.first - 1 + self.ties, cuts[:, None])
        # A single document has its own weight, not the rest of two sums.
        single = np.where(last_cut > first_cut, weight[np.maximum(last_cut, 1) - 1], 0.0)
        means = np.where(self.ties == 1, single, (to_rank[last_cut] - to_rank[first_cut]) / self.ties)
        return np.where(self.first > 0, means, 0.0)

    def _linear(self, scored: Moving, weights: Array) -> Moving:
        moving = self.grades.uncertain
        return Moving(
            weights @ scored.value, (weights[:, moving] * scored.moves[moving]) @ self._signs.T, weights @ scored.least
        )

    def _members(self, family: measures.Family) -> tuple[Array, Integers]:
        """Sets of documents whose grades make the ideal and the number of relevant ones, and the set of each list."""
        if family.of_submitted:
            return self._submitted
        return np.ones((1, self.first.shape[1])), np.zeros(len(self.first), dtype=np.int64)

    @cached_property
    def _submitted(self) -> tuple[Array, Integers]:
        sets, set_of = np.unique(self.first > 0, axis=0, return_inverse=True)
        return sets.astype(np.float64), set_of.reshape(-1)

    def _number(self, family: measures.Family, hits: Moving) -> Moving:
        sets, set_of = self._members(family)
        return Moving(*(part[set_of] for part in self._linear(hits, sets)))

    def _ideal(self, family: measures.Family, k: int, cuts: Integers) -> Moving:
        """DCG of the best order, from the number of documents with each grade or a higher one: each gains 1."""
        sets, set_of = self._members(family)
        if not family.of_submitted:
            cuts = np.full_like(cuts, family.cut(sets.shape[1], k))
        keys, key_of = np.unique(np.stack([set_of, cuts]), axis=1, return_inverse=True)
        moving, parts = self.grades.uncertain, []
        for chosen, cut in keys.T:
            member = sets[chosen]
            discounts = family.discount(max(int(cut), 1)) * (cut > 0)
            counts = member @ self.grades.at_least
            moved = counts + self._signs @ (member[moving, None] * self.grades.moves[moving])
            value = _gained(counts, discounts)
            parts.append((value, _gained(moved, discounts) - value, _gained(member @ self.grades.found, discounts)))
        return Moving(*(np.array(part)[key_of.reshape(-1)] for part in zip(*parts, strict=True)))

    def _precisions(self, hits: Moving) -> Moving:
        """Sum of the precisions at relevant documents, over all orders of those that tie.

        The document with hit h at rank i adds h / i (1 + the hits before it). In a tie of m documents from rank a on, a
        document is at each of its ranks with chance 1 / m, and each other one is before it with chance (rank - a) /
        (m - 1) (McSherry and Najork 2008, Computing Information Retrieval Performance Measures Efficiently in the
        Presence of Tied Scores, ECIR, section 2).
        """
        order = np.argsort(
            np.where(self.first > 0, self.first, int(self.lengths.max(initial=0)) + 1), axis=1, kind="stable"
        )
        first, ties = (np.take_along_axis(ranks, order, axis=1) for ranks in (self.first, self.ties))
        h, e = hits.value[order] * (first > 0), hits.moves[order] * (first > 0)
        inverse = np.concatenate([[0.0], 1 / np.arange(1, int(self.lengths.max(initial=0)) + 1)])
        sums, ahead = inverse.cumsum(), np.maximum(first - 1, 0)
        weight = np.where(ties == 1, inverse[first], (sums[np.where(first > 0, ahead + ties, 0)] - sums[ahead]) / ties)
        # Of every two of a tie: how often one is before the other, over the rank of the later one.
        mutual = np.where(ties > 1, (1 - first * weight) / np.maximum(1, ties - 1), 0.0)
        starts, ends = _bounds(first)
        hit_sums, weighed = (np.pad(values.cumsum(axis=1), ((0, 0), (1, 0))) for values in (h, h * weight))
        hits_before = np.take_along_axis(hit_sums, starts, axis=1)
        tied = np.take_along_axis(hit_sums, ends, axis=1) - hits_before
        # Hits behind the tie, each by its own weight.
        after = weighed[:, -1:] - np.take_along_axis(weighed, ends, axis=1)
        value = (h * (weight * (1 + hits_before) + mutual * (tied - h))).sum(axis=1)
        move = e * (weight * (1 + hits_before) + after + 2 * mutual * (tied - h))
        back = np.argsort(order, axis=1, kind="stable")[:, self.grades.uncertain]
        half = self._signs[: len(self._signs) // 2]
        moves = np.empty((len(value), len(self._signs)))
        for row, columns in enumerate(back):
            later = np.where(
                first[row, columns][:, None] > first[row, columns], weight[row, columns][:, None], weight[row, columns]
            )
            both = np.where(first[row, columns][:, None] == first[row, columns], 2 * mutual[row, columns], later)
            both *= np.outer(e[row, columns], e[row, columns]) * ~np.eye(len(columns), dtype=np.bool_)
            straight, curved = half @ move[row, columns], ((half @ both) * half).sum(axis=1) / 2
            moves[row] = np.concatenate([curved + straight, curved - straight])
        return Moving(value, moves, np.zeros(len(value)))

    def _ratio(self, family: measures.Family, top: Moving, divisor: Moving, hold: float) -> Estimates:
        """Ratio of `top` and `divisor`, from 0 to 1. If all pairs are certain, 0 over 0 is 0.

        hold: how much of the least that there can be holds up the replicates, from 0 to 1. With predictions these may
        come near to 0 over 0, the nearer the more predictions weigh. Without predictions that least makes up for the
        queries in which nothing was found, whose ratio is 0.
        """
        nothing = np.zeros(len(top.value), dtype=np.bool_)
        if self.grades.certain:
            values = np.divide(top.value, divisor.value, out=np.zeros(len(top.value)), where=divisor.value > 0)
            return Estimates(values, np.zeros((len(values), 1)), nothing, nothing)
        least = np.maximum(divisor.least, 1.0)
        value = _within(top.value / np.maximum(divisor.value, least))
        least_of_replicates = np.maximum(hold * least, ROUNDING)[:, None]
        ratios = _within(
            (top.value[:, None] + top.moves) / np.maximum(divisor.value[:, None] + divisor.moves, least_of_replicates)
        )
        effects = (ratios - value[:, None]) / np.sqrt(len(self._signs))
        sets, set_of = self._members(family)
        raised = (divisor.value < least - ROUNDING) & np.asarray(sets.any(axis=1))[set_of]
        return Estimates(_within(2 * value - ratios.mean(axis=1)), effects, raised, nothing)


ROUNDING = 1e-9
"""Largest difference between two sums of the same gains."""


def _within(values: Array) -> Array:
    return np.asarray(np.clip(values, 0.0, 1.0))


def _share(part: Array, rest: Array) -> Array:
    """Share of `part` in the sum of both; 0 if the sum is 0."""
    together = part + rest
    return np.divide(part, together, out=np.zeros(len(part)), where=together > ROUNDING)


def _gained(counts: Array, discounts: Array) -> Array:
    """Sum of this many discounts from the first on, over the last axis; linear between whole numbers and below 0."""
    sums = np.concatenate([[0.0], discounts.cumsum()])
    return np.asarray(
        (np.interp(counts, np.arange(len(sums)), sums) + np.minimum(counts, 0.0) * discounts[0]).sum(axis=-1)
    )


def _bounds(first: Integers) -> tuple[Integers, Integers]:
    """Place of the first document of the tie of each document, and the place behind the last, shape (S, n) each."""
    place = np.arange(first.shape[1])
    starts = np.maximum.accumulate(np.where(np.diff(first, axis=1, prepend=-1) != 0, place, 0), axis=1)
    closes = np.where(np.diff(first, axis=1, append=-1) != 0, place + 1, first.shape[1])
    return starts, np.minimum.accumulate(closes[:, ::-1], axis=1)[:, ::-1]


# ----------------------------------------------------------------------------------------------------------------------
# Runs measured on sampled pools: estimates for the whole pools, in the form of an evaluation.
# ----------------------------------------------------------------------------------------------------------------------


OTHERS = "ir_measures counts judged documents only, and there is no estimator for the pairs that were not drawn"


def pools_of(
    pi: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, Mapping[str, int]],
    predicted: Mapping[str, Predicted] | None,
    *,
    highest: int,
    weights: Mapping[str, Weights] | None = None,
) -> dict[str, PoolGrades]:
    """Pool of each query, for `estimates`. The arguments are those of `pool_grades`, by query.

    A pair that is closed without a grade counts as grade 0 here, as in pools that are judged completely.
    """
    faults: list[str] = []
    pools: dict[str, PoolGrades] = {}
    for query_id in sorted(pi):
        predictions = None if predicted is None else predicted.get(query_id, {})
        try:
            pools[query_id] = pool_grades(
                pi[query_id],
                judged.get(query_id, {}),
                predictions,
                highest=highest,
                query_id=query_id,
                weights=None if weights is None else weights[query_id],
            )
        except InputError as error:
            faults += [f"{query_id} {fault}" for fault in error.faults]
    if faults:
        raise InputError("the sample cannot be used", faults=faults)
    return pools


def so_far(
    pi: Mapping[str, Mapping[str, float]], drawn: Mapping[str, Sequence[str]], judged: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """Probabilities that pairs were drawn and are finished, as if chance had picked each query's finished pairs.

    Each is multiplied by the share of its query's drawn pairs that have a grade. Print this assumption with the
    figures.
    """
    probabilities: dict[str, dict[str, float]] = {}
    for query_id, pi_of_query in pi.items():
        doc_ids = drawn.get(query_id, ())
        rate = len(judged.get(query_id, {}).keys() & {*doc_ids}) / len(doc_ids) if doc_ids else 1.0
        if not rate:
            raise InputError(f"{query_id}: none of its {len(doc_ids)} drawn pairs has a grade yet")
        probabilities[query_id] = {doc_id: chance * rate for doc_id, chance in pi_of_query.items()}
    return probabilities


def columns(convention: str, wishes: Sequence[str] = ()) -> tuple[str, ...]:
    """Measures to show: those of the convention that have an estimator, and `wishes`.

    Raises InputError with a reason for each measure in `wishes` that has no estimator.
    """
    check_name(convention, measures.CONVENTIONS, what="convention")
    faults = []
    for name in (name for name in wishes if measures.knows(convention, name) and not has_estimator(convention, name)):
        member = measures.family_of(convention, name)
        faults.append(f"{name}: {member[0].not_estimated if member else OTHERS}")
    if faults:
        raise InputError(
            "measures that cannot be estimated from a sample",
            faults=faults,
            hint="measures that can: P@k, R@k, NDCG, AP",
        )
    shown = (name for name in measures.MEASURES[convention] if has_estimator(convention, name))
    return tuple(dict.fromkeys((*shown, *(name for name in wishes if measures.knows(convention, name)))))


def estimates(
    runs: Mapping[str, measures.Run],
    pools: Mapping[str, PoolGrades],
    selection: measures.MeasureSelection,
    *,
    ties: str,
) -> dict[str, measures.Evaluation]:
    """Measure runs on the queries of `pools` (`pools_of`); the other arguments are those of `JudgedWhole.measured`.

    `relevant` is rounded. `unjudged` and `judged_at_20` are about the pool, which includes pairs that were not drawn.

    Raises InputError as that does, and for measures without an estimator.
    """
    selection = selection._replace(names=columns(selection.convention, selection.names))
    for run in runs.values():
        measures.check_run(run)
    values: dict[tuple[str, str], Estimates] = {}
    for query_id, pool in pools.items():
        groups = [measures.groups_of(run.get(query_id, ()), selection.convention, ties) for run in runs.values()]
        lists = Lists.of(groups, pool)
        for name in selection.names:
            member = measures.family_of(selection.convention, name)
            assert member is not None, name
            values[query_id, name] = lists.measured(*member, relevant_from=selection.relevant_from)
    return {tag: _sampled_evaluation(row, run, pools, values, selection) for row, (tag, run) in enumerate(runs.items())}


def has_estimator(convention: str, name: str) -> bool:
    """True if there is an estimator of the measure."""
    member = measures.family_of(convention, name)
    return member is not None and not member[0].not_estimated


def _sampled_evaluation(
    row: int,
    run: measures.Run,
    pools: Mapping[str, PoolGrades],
    values: Mapping[tuple[str, str], Estimates],
    selection: measures.MeasureSelection,
) -> measures.Evaluation:
    names, relevant_from = selection.names, selection.relevant_from
    queries = []
    for query_id, pool in pools.items():
        counts = counts_of(pool)
        queries.append(
            measures.EstimatedMeasures.of(
                query_id,
                {name: float(values[query_id, name].values[row]) for name in names},
                run.get(query_id, ()),
                {*pool.doc_ids},
                round(float(counts.possible(counts.estimated)[relevant_from - 1])),
                impossible=tuple(name for name in names if values[query_id, name].impossible[row]),
            )
        )
    return measures.Evaluation(
        queries=tuple(queries),
        mean={
            name: min(1.0, max(0.0, math.fsum(query.values[name] for query in queries) / len(queries)))
            for name in names
            if queries
        },
        not_submitted=tuple(query.query_id for query in queries if not query.submitted),
        without_relevant=tuple(
            query_id for query_id, pool in pools.items() if not pool.relevant(relevant_from).least.any()
        ),
        floored={name: tuple(key for key in pools if values[key, name].floored[row]) for name in names},
    )


# ----------------------------------------------------------------------------------------------------------------------
# Sampled pools that measure runs (`annot.measuring.evaluation.measures`).
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampledPools:
    """Pools that measure runs by estimates for the whole pools."""

    pools: Mapping[str, PoolGrades]

    @property
    def whole(self) -> bool:
        return False

    @property
    def query_ids(self) -> Collection[str]:
        return self.pools.keys()

    @property
    def highest(self) -> int:
        # A column for each grade from 1: whether it, or a higher one, was given.
        return max((int(pool.found.any(axis=0).sum()) for pool in self.pools.values()), default=0)

    def columns(self, convention: str, wishes: tuple[str, ...]) -> tuple[str, ...]:
        return columns(convention, wishes)

    def measured(
        self, run: measures.Run, query_ids: Collection[str], selection: measures.MeasureSelection, *, ties: str
    ) -> measures.Evaluation:
        return estimates({"": run}, self.of(query_ids), selection, ties=ties)[""]

    def chance(
        self, documents: measures.Documents, cuts: Collection[measures.Cut], selection: measures.MeasureSelection
    ) -> dict[measures.Cut, measures.Values]:
        """Figures of a random order: all documents tie; if it is cut, some orders are drawn."""
        values: dict[measures.Cut, measures.Values] = {}
        for query_id, length in {*cuts}:
            doc_ids = sorted(documents.get(query_id, ()))
            lists = [[ScoredDoc(doc_id, 0.0) for doc_id in doc_ids]]
            if length < len(doc_ids):
                orders = measures.drawn_orders(query_id, doc_ids, length)
                lists = [[ScoredDoc(doc_id, float(-rank)) for rank, doc_id in enumerate(order)] for order in orders]
            runs = {str(number): {query_id: docs} for number, docs in enumerate(lists)}
            evaluations = estimates(runs, self.of([query_id]), selection, ties="expected").values()
            means = [evaluation.mean for evaluation in evaluations]
            values[query_id, length] = {name: fmean(mean[name] for mean in means) for name in selection.names}
        return values

    def one_assessor(self, selection: measures.MeasureSelection) -> dict[str, measures.Values]:
        """Values of one assessor: none, because no assessor graded the whole pool."""
        return {}

    def best_order(self, selection: measures.MeasureSelection) -> None:
        """Best order: None, because not all of the relevant documents are known."""

    def of(self, query_ids: Collection[str]) -> dict[str, PoolGrades]:
        """Pools of these queries."""
        return {query_id: pool for query_id, pool in self.pools.items() if query_id in query_ids}


Shares = Mapping[str, Mapping[str, tuple[float, ...]]]
"""Share of the answers with each grade from 1 up, or a higher one, by query, then document."""


class CheapLabel(NamedTuple):
    """Opinion that predicts."""

    name: str
    model: str
    """Name of the model; empty if no model was asked under this name."""
    shares: Shares
    """Answers on the pairs whose answers count."""
    other_texts: frozenset[tuple[str, str]]
    """Pairs of these that are judged on another version of a text than the model read. Their answers predict too: if an
    answer counted depending on how its pair is judged, predictions would follow from the draw.
    """


@dataclass(frozen=True, slots=True)
class DrawnPairs:
    """Data from which the grades of pools are estimated, by query. The first five are the arguments of `pools_of`."""

    pi: Mapping[str, Mapping[str, float]]
    judged: Mapping[str, Mapping[str, int]]
    """Final grades. They fill in the pairs that a grading does not have."""
    predicted: Mapping[str, Predicted] | None
    highest: int
    weights: Mapping[str, Weights] | None = None
    """Weights of the predictions with the final grades."""
    label: CheapLabel | None = None
    """Opinion that predicts, too."""
    by_rankings: Mapping[str, Predicted] | None = None
    """Predictions of the rankings alone; `predicted` itself unless an opinion predicts, too."""

    @property
    def opinion(self) -> str:
        """Name of the opinion that predicts besides the rankings; empty without one, or if too few of its answers
        count.
        """
        return "" if self.label is None or self.predicted is self.by_rankings else self.label.name

    @property
    def pools(self) -> SampledPools:
        """Pools that measure runs."""
        return SampledPools(pools_of(self.pi, self.judged, self.predicted, highest=self.highest, weights=self.weights))

    def measured(
        self,
        rankings: Sequence[Sequence[ScoredDoc]],
        query_id: str,
        doc_ids: Sequence[str],
        grades: npt.NDArray[np.int8],
        *,
        convention: str,
        measure: str,
        relevant_from: int,
    ) -> Array:
        """Measure each list under each row of `grades`, shape (gradings, N): shape (lists, gradings). Each measure is
        an estimate for the whole pool.

        Predictions and their weights are those of the final grades. They do not follow from the draw of their own
        topic, under other grades either, and two gradings differ only in their grades. doc_ids: the N documents.
        Raises InputError for a measure without an estimator.
        """
        columns(convention, (measure,))
        member = measures.family_of(convention, measure)
        assert member is not None, measure
        groups = [measures.groups_of(ranking, convention, "order") for ranking in rankings]
        lists: Lists | None = None
        pi, final = self.pi[query_id], self.judged[query_id]
        predicted = None if self.predicted is None else self.predicted[query_id]
        weights = None if self.weights is None else self.weights[query_id]
        values = np.zeros((len(rankings), len(grades)))
        for column, row in enumerate(grades.tolist()):
            judged = {**final, **{doc_id: grade for doc_id, grade in zip(doc_ids, row, strict=True) if doc_id in final}}
            pool = pool_grades(pi, judged, predicted, highest=self.highest, query_id=query_id, weights=weights)
            lists = Lists.of(groups, pool) if lists is None else lists.under(pool)
            values[:, column] = lists.measured(*member, relevant_from=relevant_from).values
        return values


GradedPools = measures.JudgedWhole | SampledPools
"""Pools on which runs can be measured, however they were judged."""


# ----------------------------------------------------------------------------------------------------------------------
# Cost of a sample in words, and the effect of an opinion on it.
# ----------------------------------------------------------------------------------------------------------------------


def scatter(estimates: Mapping[str, float], topics: Mapping[str, str]) -> float | None:
    """Variance of the mean of these estimates over topics; None if there is one topic only."""
    values = np.array(list(estimates.values()))
    clusters = clusters_of(range(len(values)), [topics[query_id] for query_id in estimates])
    return variance_of(clusters.summed((values - values.mean()) / len(values))) if clusters.n > 1 else None


def notes_of(cost: measures.SampleCost, measure: str, shown: Collection[str] = ()) -> list[str]:
    """Notes that a reader of figures from a sample needs. shown: the measures in the tables."""
    runs = () if cost.opinion is None else sorted(cost.opinion.means.items(), key=lambda run: (-run[1][0], run[0]))
    recall = sorted(name for name in shown if re.fullmatch(r"R@\d+", name))
    judged = sorted(name for name in shown if name.startswith(measures.JUDGED))
    values = {"cost": cost, "measure": measure, "runs": runs, "recall": recall, "judged": judged}
    return render("sample-notes.txt.j2", values, overrides=None).splitlines()
