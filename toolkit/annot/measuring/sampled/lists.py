"""Estimated measures of several ranked lists of one query, and the part of their scatter that is from the draw.

Linear measures weigh the gain or the hit of each document by its rank: DCG, P@k, the hits of R@k. Average precision
multiplies the hits of two documents, whose draws are independent; a document's product with itself is its hit. The
ideal DCG and the number of relevant documents follow from the estimated number of documents at each grade. They are
never below what was found, nor below one document of the lowest grade that counts. The ratio of two estimates is
biased, and so is the ideal, because they are not linear. Replicates of the draw show by how much, and this is
subtracted. A ratio stays from 0 to 1, before and after, and recall stays within what the known grades leave possible:
a run that ranks a whole pool has R@k = 1. If none of the drawn documents counts, the ratio is the one that the
predictions expect for one document that does, or for less than one, whatever their weight: 0 would be biased, because a
relevant document may not have been drawn.

`annot.measuring.evaluation.gradings` has the measures and their conventions. If all pairs are judged, the figures here
are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from annot.base.stats.arrays import Array, Integers, Mask
from annot.measuring.evaluation.gradings import Family
from annot.measuring.sampled.grades import PoolGrades, Scored, signs


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


class _Moving(NamedTuple):
    """Estimate, and its changes in replicates of the draw."""

    value: Array
    """Shape (S,)."""
    moves: Array
    """Shape (S, 2 B): change in each replicate, first by the signs and then by their opposites."""
    least: Array
    """Shape (S,): least possible value."""


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

    def measured(self, family: Family, k: int, *, relevant_from: int) -> Estimates:
        """Measure a family of the KINDS. k, relevant_from: as in `annot.measuring.evaluation`."""
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

    def _parts(self, family: Family, k: int, relevant_from: int) -> tuple[_Moving, _Moving]:
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
        known, unknown = self.grades.relevant(relevant_from).found, self.grades.unknown.astype(np.float64)
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

    def _weights(self, family: Family | None, cuts: Integers) -> Array:
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

    def _linear(self, scored: Scored, weights: Array) -> _Moving:
        moving = self.grades.uncertain
        return _Moving(
            weights @ scored.estimate,
            (weights[:, moving] * scored.moves[moving]) @ self._signs.T,
            weights @ scored.found,
        )

    def _members(self, family: Family) -> tuple[Array, Integers]:
        """Sets of documents whose grades make the ideal and the number of relevant ones, and the set of each list."""
        if family.of_submitted:
            return self._submitted
        return np.ones((1, self.first.shape[1])), np.zeros(len(self.first), dtype=np.int64)

    @cached_property
    def _submitted(self) -> tuple[Array, Integers]:
        sets, set_of = np.unique(self.first > 0, axis=0, return_inverse=True)
        return sets.astype(np.float64), set_of.reshape(-1)

    def _number(self, family: Family, hits: Scored) -> _Moving:
        sets, set_of = self._members(family)
        return _Moving(*(part[set_of] for part in self._linear(hits, sets)))

    def _ideal(self, family: Family, k: int, cuts: Integers) -> _Moving:
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
        return _Moving(*(np.array(part)[key_of.reshape(-1)] for part in zip(*parts, strict=True)))

    def _precisions(self, hits: Scored) -> _Moving:
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
        h, e = hits.estimate[order] * (first > 0), hits.moves[order] * (first > 0)
        inverse = np.concatenate([[0.0], 1 / np.arange(1, int(self.lengths.max(initial=0)) + 1)])
        sums, ahead = inverse.cumsum(), np.maximum(first - 1, 0)
        weight = np.where(ties == 1, inverse[first], (sums[np.where(first > 0, ahead + ties, 0)] - sums[ahead]) / ties)
        # Of every two of a tie: how often one is before the other, over the rank of the later one.
        mutual = np.where(ties > 1, (1 - first * weight) / np.maximum(1, ties - 1), 0.0)
        hits_before, tied, after = _around(h, weight, first)
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
        return _Moving(value, moves, np.zeros(len(value)))

    def _ratio(self, family: Family, top: _Moving, divisor: _Moving, hold: float) -> Estimates:
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
    """Share of the part in part and rest together; 0 of nothing."""
    together = part + rest
    return np.divide(part, together, out=np.zeros(len(part)), where=together > ROUNDING)


def _gained(counts: Array, discounts: Array) -> Array:
    """Sum of the first so many discounts, over the last axis; linear between whole numbers and below 0."""
    sums = np.concatenate([[0.0], discounts.cumsum()])
    return np.asarray(
        (np.interp(counts, np.arange(len(sums)), sums) + np.minimum(counts, 0.0) * discounts[0]).sum(axis=-1)
    )


class _Around(NamedTuple):
    """Hits around each document of lists in order, shape (S, n)."""

    before: Array
    """Hits before its tie."""
    tied: Array
    """Hits of its tie."""
    after: Array
    """Hits behind its tie, each by its own weight."""


def _around(h: Array, weight: Array, first: Integers) -> _Around:
    place = np.arange(first.shape[1])
    starts = np.maximum.accumulate(np.where(np.diff(first, axis=1, prepend=-1) != 0, place, 0), axis=1)
    closes = np.where(np.diff(first, axis=1, append=-1) != 0, place + 1, first.shape[1])
    ends = np.minimum.accumulate(closes[:, ::-1], axis=1)[:, ::-1]
    hits, weighed = (np.pad(values.cumsum(axis=1), ((0, 0), (1, 0))) for values in (h, h * weight))
    hits_before, through = np.take_along_axis(hits, starts, axis=1), np.take_along_axis(hits, ends, axis=1)
    return _Around(hits_before, through - hits_before, weighed[:, -1:] - np.take_along_axis(weighed, ends, axis=1))
