"""The folds of the queries, under the name of each split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import select
from sqlmodel import Session

from annot.store.models import SplitRow, table
from annot.store.rows import Change, check_distinct, check_queries_known, delete_where, insert_rows

Folds = Mapping[str, Iterable[str]]
"""The query ids of each fold."""


def put_split(session: Session, name: str, folds: Folds) -> Change:
    """Make these the folds of the split `name`; other splits stay.

    Folds may share queries: a development fold is often another's test fold. Raises InputError for a query twice in
    one fold, and for one that is unknown.
    """
    given = [(fold, query_id) for fold, query_ids in folds.items() for query_id in query_ids]
    check_distinct(given, what=f"split {name}")
    check_queries_known(session, {query_id for _fold, query_id in given}, what=f"split {name}")
    standing = {
        (fold, query_id) for fold, query_ids in read_splits(session).get(name, {}).items() for query_id in query_ids
    }
    new = set(given)
    if new != standing:
        delete_where(session, SplitRow, "name", [name])
        rows = ({"name": name, "fold": fold, "query_id": query_id} for fold, query_id in sorted(new))
        insert_rows(session, SplitRow, rows)
    return Change(len(new - standing), 0, len(standing - new), len(new & standing))


def read_splits(session: Session) -> dict[str, dict[str, tuple[str, ...]]]:
    """For each split the query ids of each fold, all in the order of their names."""
    rows = table(SplitRow)
    splits: dict[str, dict[str, list[str]]] = {}
    found = session.connection().execute(select(rows.c.name, rows.c.fold, rows.c.query_id))
    for name, fold, query_id in sorted(found):
        splits.setdefault(name, {}).setdefault(fold, []).append(query_id)
    return {name: {fold: tuple(ids) for fold, ids in folds.items()} for name, folds in splits.items()}
