"""Pools drawn from rankings, and samples of their pairs with known probabilities."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.records import (
    CITED,
    GROWN,
    MANUAL,
    Addition,
    Draw,
    PlacedDoc,
    Pool,
    PoolEntry,
    Ranking,
    ScoredDoc,
    grouped,
    in_order,
    nested,
    ranked,
)

# ----------------------------------------------------------------------------------------------------------------------
# Drawing the pool of a topic from rankings, and later additions to it.
#
# `round-robin` is team-draft multileaving used for pooling: turn by turn, every method brings one document that is
# not in the pool yet. `blocks` is CSFCube's way: each method brings its whole quota before the next begins. In both a
# document already pooled is passed over and the method draws further down. `depth` is TREC's way (Voorhees and
# Harman, TREC, 2005, chapter 2): the union of every method's best, so that the pool is the smaller the more the
# methods agree. In all three, cited papers come first and have no quota.
#
# Later, candidates found by hand are added, and the best papers of a method that came later. What was in the pool
# stays, with its place and the draw that brought it in; what is added comes after it.
# ----------------------------------------------------------------------------------------------------------------------


class MethodShare(NamedTuple):
    """Part of one method in a pool: documents drawn, documents it also had, the rank of its deepest draw (None if it
    drew nothing or the ranks are not known), and True if it ran dry."""

    method: str
    drawn: int
    also: int
    deepest: int | None
    dry: bool


def draw(
    rankings: Mapping[str, Ranking],
    *,
    topic_id: str,
    cited: Iterable[str] | None,
    cited_outside: int | None,
    mode: str,
    per_method: int,
    ranking_depth: int,
    seed: int,
    without: Collection[str],
    excluded: Collection[str],
) -> Pool:
    """The pool of one topic. It depends on nothing but the arguments, and on no other topic's pool.

    rankings: each method's ranking for this topic; only the first `ranking_depth` are looked at, and the rank of a
    draw is the place there. cited: the papers it cites that are in the corpus, None if the arm takes no part;
    cited_outside: how many more it cites. per_method: the quota of each ranking; in mode `depth` how
    many of its best, new or not. without: methods left out, passed
    over here and recorded. excluded: ids that never enter; no ranking for a paper has the paper itself.
    Raises InputError with every fault: an unknown mode, a quota or depth below 1, a ranking that is not in the order
    of `annot.base.records` or has a document twice.
    """
    taking_part = {name: ranking[:ranking_depth] for name, ranking in rankings.items() if name not in without}
    _check(taking_part, mode=mode, per_method=per_method, ranking_depth=ranking_depth)
    order = method_order(taking_part, seed=seed, topic_id=topic_id)
    banned = set(excluded)
    cited_documents = (
        None if cited is None or CITED in without else sorted({doc_id for doc_id in cited if doc_id not in banned})
    )
    draws: dict[str, Draw] = {}
    for rank, doc_id in enumerate(cited_documents or (), start=1):
        draws[doc_id] = Draw(CITED, rank, None, len(draws) + 1)
    dry = _MODES[mode](draws, taking_part, order, per_method, banned)
    places = _places(taking_part)
    entries = (
        PoolEntry(
            doc_id,
            drawing,
            tuple(places[name][doc_id] for name in order if name != drawing.method and doc_id in places[name]),
        )
        for doc_id, drawing in draws.items()
    )
    return Pool(
        topic_id=topic_id,
        mode=mode,
        per_method=per_method,
        ranking_depth=ranking_depth,
        seed=seed,
        methods=(*([] if cited_documents is None else [CITED]), *order),
        without=tuple(sorted(without)),
        dry=dry,
        cited_outside=None if cited_documents is None else cited_outside,
        entries=tuple(entries),
    )


def _places(rankings: Mapping[str, Ranking]) -> dict[str, dict[str, Draw]]:
    """Draws of each method's documents, without a turn."""
    return {
        name: {doc.doc_id: Draw(name, rank, doc.score, None) for rank, doc in enumerate(ranking, start=1)}
        for name, ranking in rankings.items()
    }


def method_order(methods: Iterable[str], *, seed: int, topic_id: str) -> tuple[str, ...]:
    """The order in which methods draw for a topic: a shuffle keyed by seed and topic.

    Methods are sorted by a hash of (seed, topic, method): the order is uniform, the same on every machine and in every
    version, and leaving one method out does not reorder the rest.
    """

    def key(method: str) -> tuple[bytes, str]:
        return hashlib.sha256("\0".join((str(seed), topic_id, method)).encode()).digest(), method

    return tuple(sorted(methods, key=key))


def shares(pool: Pool) -> tuple[MethodShare, ...]:
    """Part of each method, in the order in which they drew."""
    rows = []
    for method in pool.methods:
        draws = [entry.drawn for entry in pool.entries if entry.drawn.method == method]
        also = sum(draw.method == method for entry in pool.entries for draw in entry.also)
        deepest = max((drawing.new_rank or drawing.rank or 0 for drawing in draws), default=0) or None
        rows.append(MethodShare(method, len(draws), also, deepest, method in pool.dry))
    return tuple(rows)


def _new_documents(method: str, ranking: Ranking, draws: dict[str, Draw], banned: Collection[str]) -> Iterator[bool]:
    """Enter the method's next new document into `draws` at each step, yielding True; ends with the ranking."""
    for rank, doc in enumerate(ranking, start=1):
        if doc.doc_id not in draws and doc.doc_id not in banned:
            draws[doc.doc_id] = Draw(method, rank, doc.score, len(draws) + 1)
            yield True


def _round_robin(
    draws: dict[str, Draw], rankings: Mapping[str, Ranking], order: Sequence[str], quota: int, banned: Collection[str]
) -> tuple[str, ...]:
    drawing = {name: _new_documents(name, rankings[name], draws, banned) for name in order}
    for _ in takewhile(lambda _: drawing, range(quota)):
        for name in tuple(drawing):
            if not next(drawing[name], False):
                del drawing[name]
    return tuple(name for name in order if name not in drawing)


def _blocks(
    draws: dict[str, Draw], rankings: Mapping[str, Ranking], order: Sequence[str], quota: int, banned: Collection[str]
) -> tuple[str, ...]:
    dry = []
    for name in order:
        drawing = _new_documents(name, rankings[name], draws, banned)
        if not all(next(drawing, False) for _ in range(quota)):
            dry.append(name)
    return tuple(dry)


def _depth(
    draws: dict[str, Draw], rankings: Mapping[str, Ranking], order: Sequence[str], quota: int, banned: Collection[str]
) -> tuple[str, ...]:
    best = {
        name: [(rank, doc) for rank, doc in enumerate(rankings[name], start=1) if doc.doc_id not in banned][:quota]
        for name in order
    }
    for place in range(max(map(len, best.values()), default=0)):
        for name in order:
            for rank, doc in best[name][place : place + 1]:
                draws.setdefault(doc.doc_id, Draw(name, rank, doc.score, len(draws) + 1))
    return tuple(name for name in order if len(best[name]) < quota)


_MODES = {"round-robin": _round_robin, "blocks": _blocks, "depth": _depth}


def _check(rankings: Mapping[str, Ranking], *, mode: str, per_method: int, ranking_depth: int) -> None:
    faults = []
    if mode not in _MODES:
        faults.append(f"mode: found {mode!r}, expected one of {', '.join(_MODES)}")
    faults += [
        f"{name}: found {value}, expected at least 1"
        for name, value in (("per_method", per_method), ("ranking_depth", ranking_depth))
        if value < 1
    ]
    for name, ranking in rankings.items():
        if name in (CITED, MANUAL):
            faults.append(f"{name}: found a ranking, but this way of drawing has none")
        if len({doc.doc_id for doc in ranking}) < len(ranking):
            faults.append(f"{name}: a document is in the ranking twice")
        elif in_order(ranking) != tuple(ranking):
            faults.append(f"{name}: expected the documents in the order of their scores, then of their ids")
    if faults:
        raise InputError("the pool cannot be drawn", faults=faults)


class Version(NamedTuple):
    """Version of the pools: documents added together."""

    number: int
    """Number of the version, from 2; the pools as drawn are 1."""
    method: str
    depth: int | None
    pools: int
    documents: int
    """Number of documents that were added to these pools."""
    reason: str | None
    made_by: str | None
    made_at: str | None


def rankings_behind(pool: Pool, addition: Addition) -> tuple[str, ...]:
    """Names of the rankings that an addition follows from."""
    if addition.method == GROWN:
        return tuple(of_version(addition.corpus, method) for method in pool_in_version(pool, 1).methods)
    return () if addition.method == MANUAL else (addition.method,)


def of_version(corpus: str | None, method: str) -> str:
    """Name of a method's ranking of the documents that came with a version of the corpus."""
    return f"{corpus}/{method}"


def _grown(pool: Pool, addition: Addition, rankings: Mapping[str, Ranking], *, excluded: Collection[str]) -> Pool:
    """The pool with the documents that its rule draws from the new ones alone, at the depth of the addition."""
    first = pool_in_version(pool, 1)
    new = {name: rankings[of_version(addition.corpus, name)] for name in first.methods}
    cited = new.pop(CITED, None)
    numbers = first.ranking_depth, first.seed, addition.depth
    depth, seed, per_method = (number for number in numbers if number is not None)
    drawing = draw(
        new,
        topic_id=pool.topic_id,
        cited=None if cited is None else [doc.doc_id for doc in cited],
        cited_outside=None,
        mode=first.mode,
        per_method=per_method,
        ranking_depth=depth,
        seed=seed,
        without=(),
        excluded={*excluded, *(entry.doc_id for entry in pool.entries)},
    )
    places = {name: {doc.doc_id: doc.rank for doc in docs if isinstance(doc, PlacedDoc)} for name, docs in new.items()}

    def among_all(draw: Draw, doc_id: str) -> Draw:
        turn = None if draw.turn is None else draw.turn + len(pool.entries)
        if draw.method == CITED:
            return replace(draw, turn=turn)
        return replace(draw, rank=places[draw.method].get(doc_id, draw.rank), turn=turn, new_rank=draw.rank)

    entries = tuple(
        PoolEntry(
            entry.doc_id,
            among_all(entry.drawn, entry.doc_id),
            tuple(among_all(also, entry.doc_id) for also in entry.also),
        )
        for entry in drawing.entries
    )
    brought = replace(addition, documents=tuple(entry.doc_id for entry in entries))
    return replace(pool, entries=(*pool.entries, *entries), additions=(*pool.additions, brought))


def extend(pool: Pool, addition: Addition, rankings: Mapping[str, Ranking], *, excluded: Collection[str]) -> Pool:
    """Pool with the addition at its end.

    rankings: of the addition's method, and of the others as far as they are known: the others show which of them had
    the new documents, too. Documents that the pool already has get the method as one more that had them. The addition
    names a person's documents, which were not in the pool when the person found them. excluded: ids that never enter.
    The pool's copy of the addition names the documents that came with it, after those it named before. An addition of
    new documents follows from the rankings of its version of the corpus (`rankings_behind`).
    """
    if addition.method == GROWN:
        return _grown(pool, addition, rankings, excluded=excluded)
    banned = set(excluded)
    places = _places({name: ranking[: pool.ranking_depth] for name, ranking in rankings.items()})
    by_hand = {doc_id: Draw(MANUAL, None, None, None) for doc_id in addition.documents}
    ranks = by_hand if addition.method == MANUAL else places[addition.method]
    # A person's addition has no depth, and never runs dry.
    documents = [doc_id for doc_id in ranks if doc_id not in banned][: addition.depth]
    dry = len(documents) < (addition.depth or 0)
    entries = [_also_had(entry, ranks.get(entry.doc_id)) for entry in pool.entries]
    current = {entry.doc_id for entry in entries}
    new = [doc_id for doc_id in documents if doc_id not in current]
    for doc_id in new:
        draws = (places[name][doc_id] for name in pool.methods if doc_id in places.get(name, ()))
        also = tuple(draw for draw in draws if draw.method != addition.method)
        entries.append(PoolEntry(doc_id, replace(ranks[doc_id], turn=len(entries) + 1), also))
    pooled = {*current, *new}
    brought = dict.fromkeys((*(doc_id for doc_id in addition.documents if doc_id in pooled), *new))
    return replace(
        pool,
        methods=tuple(dict.fromkeys((*pool.methods, addition.method))),
        dry=tuple(dict.fromkeys((*pool.dry, addition.method))) if dry else pool.dry,
        entries=tuple(entries),
        additions=(*pool.additions, replace(addition, documents=tuple(brought))),
    )


def pool_in_version(pool: Pool, version: int) -> Pool:
    """The pool in this version, 1 being the draw; methods that ran dry later stay listed as dry."""
    earlier = tuple(addition for addition in pool.additions if addition.version <= version)
    later = [addition for addition in pool.additions if addition.version > version]
    if not later:
        return pool
    brought = {(addition.method, doc_id) for addition in later for doc_id in addition.documents}
    new = {doc_id for method, doc_id in brought if method == GROWN}
    later_methods = {addition.method for addition in later} - {addition.method for addition in earlier}
    # What a hand found is known by the document alone.
    by_hand = {doc_id for addition in earlier if addition.method == MANUAL for doc_id in addition.documents}

    def stayed(draw: Draw, doc_id: str) -> bool:
        return draw.method not in later_methods and (draw.method != MANUAL or doc_id in by_hand)

    return replace(
        pool,
        methods=tuple(name for name in pool.methods if name not in later_methods),
        dry=tuple(name for name in pool.dry if name not in later_methods),
        entries=tuple(
            replace(entry, also=tuple(draw for draw in entry.also if stayed(draw, entry.doc_id)))
            for entry in pool.entries
            if (entry.drawn.method, entry.doc_id) not in brought and entry.doc_id not in new
        ),
        additions=earlier,
    )


def versions_by_document(pool: Pool) -> dict[str, int]:
    """The version with which each document came in that was added; one that came twice, with the first."""
    return {
        doc_id: addition.version
        for addition in sorted(pool.additions, key=lambda addition: -addition.version)
        for doc_id in addition.documents
    }


def versions_of(pools: Iterable[Pool]) -> tuple[Version, ...]:
    """Additions to these pools, the oldest first."""
    by_number = grouped((addition.version, addition) for pool in pools for addition in pool.additions)
    return tuple(
        Version(
            number,
            additions[0].method,
            max((addition.depth for addition in additions if addition.depth is not None), default=None),
            pools=len(additions),
            documents=sum(len(addition.documents) for addition in additions),
            reason=additions[0].reason,
            made_by=additions[0].made_by,
            made_at=additions[0].made_at,
        )
        for number, additions in sorted(by_number.items())
    )


def _also_had(entry: PoolEntry, draw: Draw | None) -> PoolEntry:
    methods = {draw_of_entry.method for draw_of_entry in (entry.drawn, *entry.also)}
    return entry if draw is None or draw.method in methods else replace(entry, also=(*entry.also, draw))


# ----------------------------------------------------------------------------------------------------------------------
# Drawing a share of the pairs of the pools for judgement, each with a probability that is known.
#
# The pair at rank r of the fused rankings is drawn with probability pi = min(1, c / (r + 9)): the best ten or so of a
# large share for certain, the others more and more rarely, but each of them can be drawn. Ranks are frozen: they
# count from 1 in the reciprocal-rank fusion (k = 60; Cormack, Clarke and Buettcher 2009, Reciprocal Rank Fusion
# Outperforms Condorcet and Individual Rank Learning Methods, SIGIR) of the rankings that were there. c makes the
# expected number of pairs the share that was asked for. Pairs are drawn independently (Poisson sampling): each has
# one permanent random number, which follows from the seed and the pair alone (Ohlsson 1995, Coordination of Samples
# Using Permanent Random Numbers). So a larger share only adds pairs, and two ways to the same share give the same
# pairs.
#
# `probabilities` is the design, `drawn` the draw, `share_within` the share that a number of hours allows. Documents
# that come later make a batch of their own, with ranks among themselves and a c of their own: pairs drawn before keep
# their probability. Pairs that were planned whole before the first sample have probability 1.
# ----------------------------------------------------------------------------------------------------------------------


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
    """Way in which the sample is spread over queries, one of `ACROSS`."""
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
    """The places of `documents` in the fusion of the rankings, among themselves. Ties are broken by the tie rule.

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
