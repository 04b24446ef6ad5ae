"""The runs that were made or read in, the sources that were imported, and the splits of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlmodel import Session

from annot.store.models import ImportRow, RunRow, SplitRow, table
from annot.store.rows import Change, check_distinct, check_queries_known, delete_where, insert_rows


class StoredRun(NamedTuple):
    """A run: its tag, what kind of engine made it, with which settings and inputs, and the hash of its file."""

    tag: str
    kind: str
    facts: Mapping[str, Any]
    sha256: str


class Imported(NamedTuple):
    """A source that was read in: what it was, the hash of it, and what was found there."""

    what: str
    source_sha256: str
    facts: Mapping[str, Any]


def put_runs(session: Session, runs: Iterable[StoredRun]) -> Change:
    """Add these runs, or write over those of the same tag; others stay."""
    runs = list(runs)
    check_distinct([run.tag for run in runs], what="runs")
    given = {run.tag: run for run in runs}
    standing = {run.tag: run for run in read_runs(session)}
    added = given.keys() - standing.keys()
    changed = [tag for tag in given.keys() & standing.keys() if given[tag] != standing[tag]]
    delete_where(session, RunRow, "tag", changed)
    insert_rows(
        session, RunRow, ({**run._asdict(), "facts": dict(run.facts)} for run in runs if run.tag in {*added, *changed})
    )
    return Change(len(added), len(changed), 0, len(given) - len(added) - len(changed))


def read_runs(session: Session) -> tuple[StoredRun, ...]:
    """All runs, by tag."""
    rows = table(RunRow)
    found = session.connection().execute(select(rows.c.tag, rows.c.kind, rows.c.facts, rows.c.sha256))
    return tuple(sorted((StoredRun(*row) for row in found), key=lambda run: run.tag))


def put_import(session: Session, imported: Imported) -> None:
    """Note down what was read in; the same source again replaces its facts."""
    rows = table(ImportRow)
    same = (rows.c.what == imported.what) & (rows.c.source_sha256 == imported.source_sha256)
    session.connection().execute(rows.delete().where(same))
    insert_rows(session, ImportRow, [{**imported._asdict(), "facts": dict(imported.facts)}])


def read_imports(session: Session) -> tuple[Imported, ...]:
    """Everything that was read in, by what and hash."""
    rows = table(ImportRow)
    found = session.connection().execute(select(rows.c.what, rows.c.source_sha256, rows.c.facts))
    return tuple(sorted((Imported(*row) for row in found), key=lambda one: (one.what, one.source_sha256)))


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
