"""Drawing the pool of a topic from rankings, and later additions to it.

`round-robin` is team-draft multileaving used for pooling: turn by turn, every method brings one document that is not
in the pool yet. `blocks` is CSFCube's way: each method brings its whole quota before the next begins. In both a
document already pooled is passed over and the method draws further down. `depth` is TREC's way (Voorhees and Harman,
TREC, 2005, chapter 2): the union of every method's best, so that the pool is the smaller the more the methods agree.
In all three, cited papers come first and have no quota.

Later, candidates found by hand are added, and the best papers of a method that came later. What was in the pool stays,
with its place and the draw that brought it in; what is added comes after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.records import CITED, MANUAL, Addition, Draw, Pool, PoolEntry, Ranking, grouped
from annot.base.scored import in_order


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
        deepest = max((drawing.rank for drawing in draws if drawing.rank is not None), default=None)
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
    """Over all these pools."""
    reason: str | None
    made_by: str | None
    made_at: str | None


def extended(pool: Pool, addition: Addition, rankings: Mapping[str, Ranking], *, excluded: Collection[str]) -> Pool:
    """Pool with the addition at its end.

    rankings: of the addition's method, and of the others as far as they are known: the others show which of them had
    the new documents, too. Documents that the pool already has get the method as one more that had them. The addition
    names a person's documents, which were not in the pool when the person found them. excluded: ids that never enter.
    The pool's copy of the addition names the documents that came with it, after those it named before.
    """
    banned = set(excluded)
    places = _places({name: ranking[: pool.ranking_depth] for name, ranking in rankings.items()})
    if addition.method == MANUAL:
        had = {doc_id: Draw(MANUAL, None, None, None) for doc_id in addition.documents}
        documents = [doc_id for doc_id in addition.documents if doc_id not in banned]
        dry = False
    else:
        had = places[addition.method]
        documents = [doc_id for doc_id in had if doc_id not in banned][: addition.depth]
        dry = len(documents) < (addition.depth or 0)
    entries = [_also_had(entry, had.get(entry.doc_id)) for entry in pool.entries]
    current = {entry.doc_id for entry in entries}
    new = [doc_id for doc_id in documents if doc_id not in current]
    for doc_id in new:
        draws = (places[name][doc_id] for name in pool.methods if doc_id in places.get(name, ()))
        also = tuple(draw for draw in draws if draw.method != addition.method)
        entries.append(PoolEntry(doc_id, replace(had[doc_id], turn=len(entries) + 1), also))
    pooled = {*current, *new}
    brought = dict.fromkeys((*(doc_id for doc_id in addition.documents if doc_id in pooled), *new))
    return replace(
        pool,
        methods=tuple(dict.fromkeys((*pool.methods, addition.method))),
        dry=tuple(dict.fromkeys((*pool.dry, addition.method))) if dry else pool.dry,
        entries=tuple(entries),
        additions=(*pool.additions, replace(addition, documents=tuple(brought))),
    )


def as_of(pool: Pool, version: int) -> Pool:
    """The pool in this version, 1 being the draw; methods that ran dry later stay listed as dry."""
    earlier = tuple(addition for addition in pool.additions if addition.version <= version)
    later = [addition for addition in pool.additions if addition.version > version]
    if not later:
        return pool
    brought = {(addition.method, doc_id) for addition in later for doc_id in addition.documents}
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
            if (entry.drawn.method, entry.doc_id) not in brought
        ),
        additions=earlier,
    )


def came_in(pool: Pool) -> dict[str, int]:
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
