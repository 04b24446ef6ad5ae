"""The runs that were made or read in, the sources that were imported, and the splits of the queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sqlalchemy import select

from annot.base.records import Source
from annot.store import models
from annot.store.models import ImportedSource, Session, StoredRun


def put_runs(session: Session, runs: Iterable[StoredRun]) -> None:
    """Add these runs, or write over those of the same tag; others stay."""
    runs = list(runs)
    models.delete_where(session, models.RUN_TABLE, "tag", (run.tag for run in runs))
    models.insert_records(session, models.RUN_TABLE, runs)


def read_runs(session: Session) -> tuple[StoredRun, ...]:
    """All runs, by tag."""
    return models.read_in_order(session, models.RUN_TABLE, StoredRun, ["tag"])


def put_import(session: Session, imported: ImportedSource) -> None:
    """Record an import; the same source again replaces its facts."""
    rows = models.IMPORTED_TABLE
    of_source = (rows.c.what == imported.what) & (rows.c.source_sha256 == imported.source_sha256)
    session.connection().execute(rows.delete().where(of_source))
    models.insert_records(session, models.IMPORTED_TABLE, [imported])


def read_imports(session: Session) -> tuple[ImportedSource, ...]:
    """Imports on record, by kind and hash."""
    return models.read_in_order(session, models.IMPORTED_TABLE, ImportedSource, ["what", "source_sha256"])


def judgements_imported(session: Session) -> bool:
    """True if judgements were made elsewhere: the plan is then the imported one, with as many assessors per pair."""
    return any(record.what in (Source.CSFCUBE, Source.FILE) for record in read_imports(session))


def put_split(session: Session, name: str, folds: Mapping[str, Iterable[str]]) -> None:
    """Make these the folds of the split `name`, each with its query ids; other splits stay.

    Folds may share queries: a development fold is often another's test fold. Raises InputError for an unknown query.
    """
    members = [(fold, query_id) for fold, query_ids in folds.items() for query_id in query_ids]
    models.check_known(session, models.QUERY_TABLE, {query_id for _fold, query_id in members}, what=f"split {name}")
    models.delete_where(session, models.SPLIT_TABLE, "name", [name])
    models.insert_rows(
        session, models.SPLIT_TABLE, ({"name": name, "fold": fold, "query_id": query_id} for fold, query_id in members)
    )


def read_splits(session: Session) -> dict[str, dict[str, tuple[str, ...]]]:
    """Query ids of each fold of each split, all in the order of their names."""
    rows = models.SPLIT_TABLE
    splits: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, fold, query_id in sorted(session.connection().execute(select(rows.c.name, rows.c.fold, rows.c.query_id))):
        folds = splits.setdefault(name, {})
        folds[fold] = (*folds.get(fold, ()), query_id)
    return splits


def rejected(session: Session) -> Counter[str]:
    """Papers that were left out of the corpus, by reason."""
    added = [record.facts for record in read_imports(session) if record.what == Source.CORPUS]
    return sum((Counter(facts.get("rejected")) for facts in added), Counter[str]())
