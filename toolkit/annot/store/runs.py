"""The runs that were made or read in, the sources that were imported, and the splits of the queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sqlalchemy import select
from sqlmodel import Session

from annot.base.records import Source
from annot.store.models import (
    IMPORTED_TABLE,
    QUERY_TABLE,
    RUN_TABLE,
    SPLIT_TABLE,
    check_distinct,
    check_known,
    delete_where,
    insert_records,
    insert_rows,
    read_records,
)
from annot.store.models import Imported as Imported
from annot.store.models import StoredRun as StoredRun


def put_runs(session: Session, runs: Iterable[StoredRun]) -> None:
    """Add these runs, or write over those of the same tag; others stay."""
    runs = list(runs)
    tags = [run.tag for run in runs]
    check_distinct(tags, what="runs")
    delete_where(session, RUN_TABLE, "tag", tags)
    insert_records(session, RUN_TABLE, runs)


def read_runs(session: Session) -> tuple[StoredRun, ...]:
    """All runs, by tag."""
    return tuple(sorted(read_records(session, RUN_TABLE, StoredRun), key=lambda run: run.tag))


def put_import(session: Session, imported: Imported) -> None:
    """Note down what was read in; the same source again replaces its facts."""
    rows = IMPORTED_TABLE
    same = (rows.c.what == imported.what) & (rows.c.source_sha256 == imported.source_sha256)
    session.connection().execute(rows.delete().where(same))
    insert_records(session, IMPORTED_TABLE, [imported])


def read_imports(session: Session) -> tuple[Imported, ...]:
    """Everything that was read in, by what and hash."""
    return tuple(sorted(read_records(session, IMPORTED_TABLE, Imported), key=lambda one: (one.what, one.source_sha256)))


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
    check_known(session, QUERY_TABLE, {query_id for _fold, query_id in given}, what=f"split {name}")
    delete_where(session, SPLIT_TABLE, "name", [name])
    insert_rows(session, SPLIT_TABLE, ({"name": name, "fold": fold, "query_id": query_id} for fold, query_id in given))


def read_splits(session: Session) -> dict[str, dict[str, tuple[str, ...]]]:
    """For each split the query ids of each fold, all in the order of their names."""
    rows = SPLIT_TABLE
    splits: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, fold, query_id in sorted(session.connection().execute(select(rows.c.name, rows.c.fold, rows.c.query_id))):
        folds = splits.setdefault(name, {})
        folds[fold] = (*folds.get(fold, ()), query_id)
    return splits


def rejected(session: Session) -> Counter[str]:
    """Papers that were left out of the corpus, by reason."""
    added = [one.facts for one in read_imports(session) if one.what == Source.CORPUS]
    return sum((Counter(facts.get("rejected")) for facts in added), Counter[str]())
