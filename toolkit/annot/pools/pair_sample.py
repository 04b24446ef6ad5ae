"""Drawing a share of the pairs of the pools for judgement, each with a probability that is known.

The pair at rank r of the fused rankings is drawn with probability pi = min(1, c / (r + 9)): the best ten or so of a
large share for certain, the others more and more rarely, but each of them can be drawn. Ranks are frozen: they count
from 1 in the reciprocal-rank fusion (k = 60; Cormack, Clarke and Buettcher 2009, Reciprocal Rank Fusion Outperforms
Condorcet and Individual Rank Learning Methods, SIGIR) of the rankings that were there. c makes the expected number of
pairs the share that was asked for. Pairs are drawn independently (Poisson sampling): each has one permanent random
number, which follows from the seed and the pair alone (Ohlsson 1995, Coordination of Samples Using Permanent Random
Numbers). So a larger share only adds pairs, and two ways to the same share give the same pairs.

`probabilities` is the design, `drawn` the draw, `share_within` the share that a number of hours allows. Documents that
come later make a batch of their own, with ranks among themselves and a c of their own: pairs drawn before keep their
probability. Pairs that were planned whole before the first sample have probability 1.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.records import CITED, Pool, ScoredDoc, grouped, nested, ranked

WHOLE = 0
"""The batch of the pairs that were planned whole before the first sample."""
FUSION = 60
"""k of the fusion."""
OFFSET = 9
"""Number added to a rank: the probability of rank 11 is half that of rank 1."""
LEAST = 8
"""Fewest expected pairs of a query; all if its pool has fewer."""
DIGITS = 6
"""Decimals of a probability. The rounded number is the one that is used."""
ACROSS = ("query", "study")
"""The share is of every query's pool, or of all pools together."""
SHARES = 10_000
"""The search for a share tries multiples of 1 / this."""

Ranks = Mapping[str, Mapping[str, int]]
"""Ranks of each method's documents, from 1."""
Probabilities = dict[str, dict[str, float]]
"""Probabilities by query, then document."""


class FrozenRank(NamedTuple):
    """Rank of a document of a pool in the fusion."""

    rank: int | None
    """Rank from 1; None if no method ranked it, as a paper that is cited or was found by hand."""
    batch: int = 1
    """1 for the first sample, a higher number for documents that came later together; or WHOLE."""


Frozen = Mapping[str, Mapping[str, FrozenRank]]
"""Ranks by query, then document."""


@dataclass(frozen=True, slots=True)
class SampleRule:
    """The part of a design that never changes after the first sample, whatever the share."""

    seed: int
    across: str
    """One of ACROSS."""
    floor: float
    """Smallest probability of a pair."""
    unranked: float
    """The probability of a document without a rank, in a pool that has ranks."""

    def __post_init__(self) -> None:
        faults = [f"across: found {self.across!r}, expected query or study"] if self.across not in ACROSS else []
        for name in ("floor", "unranked"):
            if not 10**-DIGITS <= getattr(self, name) <= 1:
                faults.append(f"{name}: found {getattr(self, name)}, expected 0.000001 to 1")
        if faults:
            raise InputError("the pairs cannot be sampled", faults=faults)


def ranks_on_record(pool: Pool) -> dict[str, dict[str, int]]:
    """The ranks that the pool's methods gave its documents, by method; citing is no ranking."""
    ranks = nested(
        (draw.method, entry.doc_id, draw.rank)
        for entry in pool.entries
        for draw in (entry.drawn, *entry.also)
        if draw.method != CITED and draw.rank is not None
    )
    return dict(sorted(ranks.items()))


def frozen_ranks(ranks: Ranks, documents: Collection[str], *, batch: int = 1) -> dict[str, FrozenRank]:
    """The places of `documents` in the fusion of the rankings, among themselves. Ties by the one tie rule.

    ranks: of documents in their methods' own rankings; others than `documents` may be among them. For documents that
    came later these are only the new ones: they get ranks of their own.
    """
    scores = {
        doc_id: math.fsum(1 / (FUSION + rank_of[doc_id]) for rank_of in ranks.values() if doc_id in rank_of)
        for doc_id in documents
    }
    order = ranked(ScoredDoc(doc_id, score) for doc_id, score in scores.items() if score)
    places = {doc.doc_id: rank for rank, doc in enumerate(order, start=1)}
    return {doc_id: FrozenRank(places.get(doc_id), batch) for doc_id in sorted(documents)}


def probabilities(frozen: Frozen, *, share: float, rule: SampleRule) -> Probabilities:
    """pi of every pair when `share` of the pools is asked for; never smaller with a larger share.

    Of a query's first batch at least `LEAST` pairs are expected. A first batch without any rank has equal
    probabilities. Raises InputError for a share that is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise InputError(f"share {share:g}: expected more than 0, at most 1")
    strata = {query_id: _strata(places, share, rule) for query_id, places in frozen.items()}
    over_study: dict[int, float] = {}
    if rule.across == "study":
        by_batch = grouped(
            (batch, stratum) for batches in strata.values() for batch, stratum in batches.items() if batch != WHOLE
        )
        over_study = {batch: _solved(group, share) for batch, group in by_batch.items()}
    probability_of: Probabilities = {}
    for query_id, batches in strata.items():
        pi = {
            batch: stratum.by_rank(over_study[batch] if over_study else _solved([stratum], share))
            for batch, stratum in batches.items()
            if batch != WHOLE
        }
        probability_of[query_id] = {
            doc_id: 1.0 if place.batch == WHOLE else pi[place.batch][place.rank]
            for doc_id, place in frozen[query_id].items()
        }
    return probability_of


def number_of(seed: int, query_id: str, doc_id: str) -> float:
    """The permanent random number of a pair, from 0 to below 1: the same on every machine."""
    digest = hashlib.sha256("\x1f".join((str(seed), "pair", query_id, doc_id)).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def drawn(pi: Mapping[str, Mapping[str, float]], *, seed: int) -> dict[str, tuple[str, ...]]:
    """Documents of each query to judge, by id: those whose number is below their probability."""
    return {
        query_id: tuple(sorted(doc_id for doc_id, p in documents.items() if number_of(seed, query_id, doc_id) < p))
        for query_id, documents in pi.items()
    }


class ExpectedPairs(NamedTuple):
    """Size of a draw."""

    mean: float
    deviation: float
    """The standard deviation over draws."""
    of: int
    """Pairs of the pools."""


def expected_pairs(pi: Mapping[str, Mapping[str, float]]) -> ExpectedPairs:
    """Expected number of pairs with these probabilities."""
    values = [p for documents in pi.values() for p in documents.values()]
    variance = math.fsum(p * (1 - p) for p in values)
    return ExpectedPairs(math.fsum(values), math.sqrt(variance), len(values))


def share_within(frozen: Frozen, *, limit: float, acts: Callable[[Probabilities], float], rule: SampleRule) -> float:
    """The largest share whose expected acts are within the limit: hours, money or judgements.

    acts: the expected acts of a design; they must not fall as probabilities rise. Raises InputError if not even the
    smallest share is within the limit.
    """
    low, high = 0, SHARES
    while low < high:
        middle = (low + high + 1) // 2
        if acts(probabilities(frozen, share=middle / SHARES, rule=rule)) <= limit:
            low = middle
        else:
            high = middle - 1
    if not low:
        smallest = acts(probabilities(frozen, share=1 / SHARES, rule=rule))
        raise InputError(f"the smallest sample takes {smallest:,.1f}, expected at most {limit:,.1f}")
    return low / SHARES


def refuse_zero(missing: str) -> None:
    """Raise InputError if missing judgements are to count as grade 0: a sample cannot be measured like that."""
    if missing == "zero":
        raise InputError(
            'judging.missing: found "zero", expected "drop", because a sample of the pools is judged',
            faults=["a missing judgement and a pair that was not drawn are different things, and neither is grade 0"],
            hint='set judging.missing = "drop" in annot.toml, or use --missing drop',
        )


class _Stratum:
    """Documents of one query that came together, ranked among themselves from 1."""

    def __init__(self, places: Sequence[FrozenRank], first: bool, share: float, rule: SampleRule) -> None:
        self.size = len(places)
        self._ranked = sum(place.rank is not None for place in places)
        self._floor = rule.floor
        self._least = min(LEAST, self.size) if first else 0
        equal = first and not self._ranked
        self._unranked = max(share, rule.floor, self._least / self.size) if equal else max(share, rule.unranked)
        self.top = float(OFFSET + self._ranked)
        # Of no rank, of rank 1, of ranks 1 and 2, ...: what c is divided by.
        self._inverses = [0.0, *accumulate(1 / (rank + OFFSET) for rank in range(1, self._ranked + 1))]
        self._lowest = _bisected(self.expected, self._least, self.top) if self.expected(0.0) < self._least else 0.0

    def expected(self, c: float) -> float:
        """Pairs drawn with this c."""
        certain = min(self._ranked, max(0, int(c) - OFFSET))
        above = min(self._ranked, max(certain, int(c / self._floor) - OFFSET))
        between = c * (self._inverses[above] - self._inverses[certain])
        return (self.size - self._ranked) * self._unranked + certain + between + (self._ranked - above) * self._floor

    def raised(self, c: float) -> float:
        """The c with which enough pairs are expected."""
        return max(c, self._lowest)

    def by_rank(self, c: float) -> dict[int | None, float]:
        """The probability of each rank as it is written, and that of no rank."""
        c = self.raised(c)
        of_rank = ((rank, max(self._floor, min(1.0, c / (rank + OFFSET)))) for rank in range(1, self._ranked + 1))
        return {None: round(self._unranked, DIGITS)} | {rank: round(pi, DIGITS) for rank, pi in of_rank}


def _strata(places: Mapping[str, FrozenRank], share: float, rule: SampleRule) -> dict[int, _Stratum]:
    """Strata of one query's documents by batch."""
    by_batch = sorted(grouped((place.batch, place) for place in places.values()).items())
    return {batch: _Stratum(group, number == 0, share, rule) for number, (batch, group) in enumerate(by_batch)}


def _solved(strata: Collection[_Stratum], share: float) -> float:
    """The c with which the share is expected of these together."""
    size, top = sum(stratum.size for stratum in strata), max(stratum.top for stratum in strata)
    if share == 1:
        return top
    return _bisected(lambda c: math.fsum(stratum.expected(stratum.raised(c)) for stratum in strata), share * size, top)


def _bisected(rising: Callable[[float], float], target: float, top: float) -> float:
    """Point where the function reaches the target; a higher target never gives a lower point."""
    low, high = 0.0, top
    for _ in range(60):
        middle = (low + high) / 2
        if rising(middle) < target:
            low = middle
        else:
            high = middle
    return high
