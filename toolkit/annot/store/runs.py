"""The runs that were made or read in, the sources that were imported, and the splits of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlmodel import Session

from annot.base.records import Source
from annot.store.models import (
    ImportRow,
    QueryRow,
    RunRow,
    SplitRow,
    check_distinct,
    check_known,
    delete_where,
    insert_records,
    insert_rows,
    read_records,
    table,
)


class StoredRun(NamedTuple):
    """A run: its tag, what kind of engine made it, with which settings and inputs, and the hash of its file."""

    tag: str
    kind: str
    facts: Mapping[str, Any]
    sha256: str

    @property
    def system(self) -> str:
        """What made it; several runs of one system differ by their seed."""
        return str(self.facts.get("system", self.tag))

    @property
    def seed(self) -> int | None:
        """Which of its system's runs it is; None where that is not on record."""
        return self.facts.get("seed")


class Imported(NamedTuple):
    """A source that was read in: what it was, the hash of it, and what was found there."""

    what: str
    source_sha256: str
    facts: Mapping[str, Any]


def put_runs(session: Session, runs: Iterable[StoredRun]) -> None:
    """Add these runs, or write over those of the same tag; others stay."""
    runs = list(runs)
    tags = [run.tag for run in runs]
    check_distinct(tags, what="runs")
    delete_where(session, RunRow, "tag", tags)
    insert_records(session, RunRow, runs)


def read_runs(session: Session) -> tuple[StoredRun, ...]:
    """All runs, by tag."""
    return tuple(sorted(read_records(session, RunRow, StoredRun), key=lambda run: run.tag))


def put_import(session: Session, imported: Imported) -> None:
    """Note down what was read in; the same source again replaces its facts."""
    rows = table(ImportRow)
    same = (rows.c.what == imported.what) & (rows.c.source_sha256 == imported.source_sha256)
    session.connection().execute(rows.delete().where(same))
    insert_records(session, ImportRow, [imported])


def read_imports(session: Session) -> tuple[Imported, ...]:
    """Everything that was read in, by what and hash."""
    return tuple(sorted(read_records(session, ImportRow, Imported), key=lambda one: (one.what, one.source_sha256)))


def judgements_imported(session: Session) -> bool:
    """Whether judgements were made elsewhere: the plan is then what was read in, with as many assessors a pair."""
    return any(one.what in (Source.CSFCUBE, Source.FILE) for one in read_imports(session))


def put_split(session: Session, name: str, folds: Mapping[str, Iterable[str]]) -> None:
    """Make these the folds of the split `name`, each with its query ids; other splits stay.

    Folds may share queries: a development fold is often another's test fold. Raises InputError for a query twice in
    one fold, and for one that is unknown.
    """
    given = [(fold, query_id) for fold, query_ids in folds.items() for query_id in query_ids]
    check_distinct(given, what=f"split {name}")
    check_known(session, QueryRow, {query_id for _fold, query_id in given}, what=f"split {name}")
    delete_where(session, SplitRow, "name", [name])
    insert_rows(session, SplitRow, ({"name": name, "fold": fold, "query_id": query_id} for fold, query_id in given))


def read_splits(session: Session) -> dict[str, dict[str, tuple[str, ...]]]:
    """For each split the query ids of each fold, all in the order of their names."""
    rows = table(SplitRow)
    splits: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, fold, query_id in sorted(session.connection().execute(select(rows.c.name, rows.c.fold, rows.c.query_id))):
        folds = splits.setdefault(name, {})
        folds[fold] = (*folds.get(fold, ()), query_id)
    return splits
