"""Pools that grow: additions of a redraw, versions after the draw, and a guard for studies under way."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted, known_query, moment_now
from annot.base.records import CITED, MANUAL, Pool, Query
from annot.formats.trec import rankings_sha256
from annot.pools.drawn_pools import write_pools
from annot.pools.frozen_rankings import Rankings, lines_of
from annot.store import pools, projects
from annot.store.judgements import is_judged
from annot.store.queries import read_queries
from annot.study.workspace import Workspace


def topics_named(queries: Sequence[Query], names: Iterable[str]) -> set[str]:
    """The topics of these ids of queries or topics. Raises InputError, with the near name, for others."""
    query_of = {query.query_id: query for query in queries}
    topics = {query.topic_id for query in queries}
    return {name if name in topics and name not in query_of else known_query(query_of, name).topic_id for name in names}


class PoolChange(NamedTuple):
    """Changes of a new pool against the old one, for one query."""

    query_id: str
    added: tuple[str, ...]
    leaving: tuple[str, ...]


def pool_changes(
    current: Mapping[str, Pool], new_pools: Iterable[Pool], queries: Iterable[Query]
) -> dict[str, PoolChange]:
    """Documents that a pool gains and loses, by query."""
    old_documents = {topic_id: [entry.doc_id for entry in pool.entries] for topic_id, pool in current.items()}
    new_documents = {pool.topic_id: [entry.doc_id for entry in pool.entries] for pool in new_pools}
    changes = {}
    for query in queries:
        old, new = old_documents.get(query.topic_id, []), new_documents.get(query.topic_id, [])
        added = tuple(doc_id for doc_id in new if doc_id not in set(old))
        leaving = tuple(doc_id for doc_id in old if doc_id not in set(new))
        changes[query.query_id] = PoolChange(query.query_id, added, leaving)
    return changes


def refuse_growth(session: Session, added: Mapping[str, int], *, grow: bool, judged: bool = False) -> None:
    """Raise InputError if pairs would be added, by query, to a study after tasks were sent; not with `grow`.

    judged: also to one that was judged elsewhere.
    """
    growing = {query_id: count for query_id, count in sorted(added.items()) if count}
    if not growing or grow:
        return
    was = "sent" if projects.was_sent(session) else "judged" if judged and is_judged(session) else None
    if was:
        raise InputError(
            f"{counted(sum(growing.values()), 'pair')} would be added to a study that was {was}",
            faults=[f"{query_id}: {count} more" for query_id, count in growing.items()],
            hint="add them with --grow; --dry-run shows what would change",
        )


@dataclass(frozen=True, slots=True)
class GrownPool:
    """A pool that was added to, in figures."""

    topic_id: str
    queries: tuple[str, ...]
    added: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Grown:
    """Documents added as one version of the pools."""

    version: int | None
    """Number of the version; None if nothing was added."""
    method: str
    depth: int | None
    pools: tuple[GrownPool, ...]
    guarded: bool
    """True if tasks of the study were sent or judged: then pairs are added only with `--grow`."""
    notes: tuple[str, ...]

    @property
    def pairs(self) -> int:
        """Pairs of a query and a document that were added."""
        return sum(len(pool.queries) * len(pool.added) for pool in self.pools)


def next_version(current: Mapping[str, Pool]) -> int:
    """The number of the version that is to come."""
    return 1 + max((addition.version for pool in current.values() for addition in pool.additions), default=1)


def made_now(by: str | None) -> dict[str, str]:
    """Author and time of an addition; by: None takes the account of this machine."""
    return {"made_by": by or getpass.getuser(), "made_at": moment_now()}


def queries_of(queries: Iterable[Query], topic_id: str) -> tuple[str, ...]:
    """The queries that share the pool of this topic."""
    return tuple(query.query_id for query in queries if query.topic_id == topic_id)


def grown_pools(recorded: Mapping[str, Pool], grown: Mapping[str, Pool], queries: tuple[Query, ...]) -> list[GrownPool]:
    """The pools that have an addition more than before, by topic."""
    return [
        GrownPool(
            topic_id,
            queries_of(queries, topic_id),
            tuple(entry.doc_id for entry in pool.entries[len(recorded[topic_id].entries) :]),
            len(pool.entries),
        )
        for topic_id, pool in sorted(grown.items())
        if len(pool.additions) > len(recorded[topic_id].additions)
    ]


def is_guarded(session: Session) -> bool:
    """True if tasks of the study were sent or judged: then pairs are added only with `--grow`."""
    return projects.was_sent(session) or is_judged(session)


def refuse_unasked(session: Session, grown: Iterable[GrownPool], *, grow: bool) -> None:
    """Raise InputError if these pools would make a study grow that was sent or judged; not with `grow`."""
    refuse_growth(session, {name: len(pool.added) for pool in grown for name in pool.queries}, grow=grow, judged=True)


def record_version(ws: Workspace, changed_pools: Mapping[str, Pool], *, rankings: Rankings, grow: bool) -> None:
    """Record the pools, write their files, and leave all others unchanged.

    rankings: of the pools, as far as they are known. Raises InputError as `refuse_unasked` does.
    """
    with ws.writing() as session:
        queries, current = read_queries(session), pools.read_pools(session)
        grown = grown_pools(current, changed_pools, queries)
        refuse_unasked(session, grown, grow=grow)
        hashes = pools.read_rankings_sha256(session)
        for topic_id, pool in changed_pools.items():
            methods = [name for name in pool.methods if name not in (CITED, MANUAL)]
            if all(topic_id in rankings.get(name, ()) for name in methods):
                hashes[topic_id] = rankings_sha256(
                    lines_of({name: {topic_id: rankings[name][topic_id]} for name in methods}), topic_id
                )
        changed = {**current, **changed_pools}
        pools.replace_pools(session, changed.values(), rankings_sha256=hashes)
    write_pools(ws, list(changed.values()))
