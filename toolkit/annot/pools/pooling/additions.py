"""What is added to a pool that was drawn: candidates found by hand, and the best papers of a method that came later.

What was in the pool stays, with its place and the draw that brought it in; what is added stands behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from annot.base.records import MANUAL, Addition, Draw, Pool, PoolEntry, Ranking


class Version(NamedTuple):
    """What was added to the pools at once."""

    number: int
    """From 2, the pools as they were drawn being 1."""
    method: str
    depth: int | None
    pools: int
    documents: int
    """Over all these pools."""
    reason: str | None
    made_by: str | None
    made_at: str | None


def extended(pool: Pool, addition: Addition, rankings: Mapping[str, Ranking], *, excluded: Collection[str]) -> Pool:
    """The pool with the addition behind it.

    rankings: of the addition's method, and of the others as far as they are known: they tell which of them had the new
    documents, too. Those that the pool has already get the method as one more that had them. What a person found is
    named by the addition, and was not in the pool when they found it. excluded: ids that never enter, besides the paper
    itself. The addition that the pool carries names what came with it; what it named before stays in it.
    """
    banned = {pool.paper_id, *excluded}
    places = {
        name: {doc.doc_id: Draw(name, rank, doc.score, None) for rank, doc in enumerate(ranking, start=1)}
        for name, ranking in ((name, ranking[: pool.ranking_depth]) for name, ranking in rankings.items())
    }
    if addition.method == MANUAL:
        had = {doc_id: Draw(MANUAL, None, None, None) for doc_id in addition.documents}
        wanted = [doc_id for doc_id in addition.documents if doc_id not in banned]
        dry = False
    else:
        had = places[addition.method]
        wanted = [doc_id for doc_id in had if doc_id not in banned][: addition.depth]
        dry = len(wanted) < (addition.depth or 0)
    entries = [_also_had(entry, had.get(entry.doc_id)) for entry in pool.entries]
    standing = {entry.doc_id for entry in entries}
    new = [doc_id for doc_id in wanted if doc_id not in standing]
    for doc_id in new:
        others = (places[name][doc_id] for name in pool.methods if doc_id in places.get(name, ()))
        also = tuple(draw for draw in others if draw.method != addition.method)
        entries.append(PoolEntry(doc_id, replace(had[doc_id], turn=len(entries) + 1), also))
    pooled = {*standing, *new}
    brought = dict.fromkeys((*(doc_id for doc_id in addition.documents if doc_id in pooled), *new))
    return replace(
        pool,
        methods=tuple(dict.fromkeys((*pool.methods, addition.method))),
        dry=tuple(dict.fromkeys((*pool.dry, addition.method))) if dry else pool.dry,
        entries=tuple(entries),
        additions=(*pool.additions, replace(addition, documents=tuple(brought))),
    )


def as_of(pool: Pool, version: int) -> Pool:
    """The pool as it was in this version, 1 being as it was drawn; which methods ran dry is not undone."""
    kept = tuple(addition for addition in pool.additions if addition.version <= version)
    later = [addition for addition in pool.additions if addition.version > version]
    if not later:
        return pool
    brought = {(addition.method, doc_id) for addition in later for doc_id in addition.documents}
    gone = {addition.method for addition in later} - {addition.method for addition in kept}
    # What a hand found is known by the document alone.
    by_hand = {doc_id for addition in kept if addition.method == MANUAL for doc_id in addition.documents}

    def stayed(draw: Draw, doc_id: str) -> bool:
        return draw.method not in gone and (draw.method != MANUAL or doc_id in by_hand)

    return replace(
        pool,
        methods=tuple(name for name in pool.methods if name not in gone),
        dry=tuple(name for name in pool.dry if name not in gone),
        entries=tuple(
            replace(entry, also=tuple(draw for draw in entry.also if stayed(draw, entry.doc_id)))
            for entry in pool.entries
            if (entry.drawn.method, entry.doc_id) not in brought
        ),
        additions=kept,
    )


def came_in(pool: Pool) -> dict[str, int]:
    """The version with which each document came in that was added; one that came twice, with the first."""
    return {
        doc_id: addition.version
        for addition in sorted(pool.additions, key=lambda one: -one.version)
        for doc_id in addition.documents
    }


def versions_of(pools: Iterable[Pool]) -> tuple[Version, ...]:
    """What was added to these pools, the oldest first."""
    by_number: dict[int, list[Addition]] = {}
    for pool in pools:
        for addition in pool.additions:
            by_number.setdefault(addition.version, []).append(addition)
    return tuple(
        Version(
            number,
            of[0].method,
            max((one.depth for one in of if one.depth is not None), default=None),
            pools=len(of),
            documents=sum(len(one.documents) for one in of),
            reason=of[0].reason,
            made_by=of[0].made_by,
            made_at=of[0].made_at,
        )
        for number, of in sorted(by_number.items())
    )


def _also_had(entry: PoolEntry, draw: Draw | None) -> PoolEntry:
    known = {other.method for other in (entry.drawn, *entry.also)}
    return entry if draw is None or draw.method in known else replace(entry, also=(*entry.also, draw))
