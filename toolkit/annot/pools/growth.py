"""What a redraw adds and takes away, and the rule that a study under way grows only when somebody says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.records import Pool, Query
from annot.store import projects
from annot.store.judgements import is_judged


class PoolChange(NamedTuple):
    """What a new pool makes of the old one, for one query."""

    query_id: str
    added: tuple[str, ...]
    leaving: tuple[str, ...]


def pool_changes(
    standing: Mapping[str, Pool], drawn: Iterable[Pool], queries: Iterable[Query]
) -> dict[str, PoolChange]:
    """By query, the documents that a pool did not have before, and those that it has no more."""
    before = {paper_id: [entry.doc_id for entry in pool.entries] for paper_id, pool in standing.items()}
    after = {pool.paper_id: [entry.doc_id for entry in pool.entries] for pool in drawn}
    changes = {}
    for query in queries:
        old, new = before.get(query.paper_id, []), after.get(query.paper_id, [])
        added = tuple(doc_id for doc_id in new if doc_id not in set(old))
        leaving = tuple(doc_id for doc_id in old if doc_id not in set(new))
        changes[query.query_id] = PoolChange(query.query_id, added, leaving)
    return changes


def refuse_growth(session: Session, added: Mapping[str, int], *, grow: bool, judged: bool = False) -> None:
    """Raise InputError where pairs would be added, by query, to a study of which tasks were sent; not with `grow`.

    judged: also to one that was judged elsewhere.
    """
    growing = {query_id: count for query_id, count in sorted(added.items()) if count}
    if not growing or grow:
        return
    was = "sent" if projects.was_sent(session) else "judged" if judged and is_judged(session) else None
    if was:
        raise InputError(
            f"{sum(growing.values())} pair(s) would be added to a study that was {was}",
            faults=[f"{query_id}: {count} more" for query_id, count in growing.items()],
            hint="say --grow to add them; --dry-run shows what would change",
        )
