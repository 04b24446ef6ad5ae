"""What of a study is not where a command looks for it: its database beside its files, or its files beside its database.

A command that finds nothing would otherwise say that nothing was ever made.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import select

from annot.base.errors import AnnotError, MissingInput
from annot.store.base import table
from annot.store.database import Store, open_store
from annot.store.models import FacetLabelsRow, PoolRow
from annot.study.backups import backups, is_whole
from annot.study.workspace import Workspace

SHARED = "annot.toml, corpus/, guidelines/, pools/, exports/, training/, substudy/ and made.json"
"""What of a study's folder is not in its database."""


def missing_part(ws: Workspace) -> MissingInput | None:
    """What is missing, and the way back; None where nothing is, or nothing was there."""
    return _lost_database(ws) if ws.database_file else _folders_elsewhere(ws)


def _lost_database(ws: Workspace) -> MissingInput | None:
    """The file of the database is gone from beside the rest of the study."""
    path = ws.database_file
    if path is None or path.exists():
        return None
    kept = backups(ws)
    beside = [name for name, there in (("corpus/", _has_corpus(ws)), ("pools/", any(ws.pools.rglob("*.*")))) if there]
    if not (beside or kept):
        return None
    beside += [f"{len(kept)} backup(s)"] if kept else []
    hint = "`annot restore FILE --replace` brings the study back from a backup"
    if kept:
        day = datetime.fromtimestamp(kept[-1].stat().st_mtime, UTC)
        newest = f"the newest backup, of {day:%Y-%m-%d %H:%M} UTC"
        name = kept[-1].relative_to(ws.root)
        whole = is_whole(kept[-1])
        hint = f"`annot restore {name}{' --replace' if whole else ''}` brings back "
        hint += f"the study from {newest}" if whole else f"the database from {newest}; then `annot push`, `annot pull`"
    return MissingInput(f"{path}: no database there, but {' and '.join(beside)} of a study", hint=hint)


def _folders_elsewhere(ws: Workspace) -> MissingInput | None:
    """The database on a server knows of folders that are not here."""
    has_pools = (ws.pools / "manifest.json").is_file()
    if _has_corpus(ws) and has_pools:
        return None
    try:
        with open_store(ws.database_url, create=False) as store:
            place, known = store.place, dict(_known(store))
    except AnnotError:
        return None
    absent = [f"{name}/" for name, there in (("corpus", _has_corpus(ws)), ("pools", has_pools)) if known[name] > there]
    if not absent:
        return None
    return MissingInput(
        f"{place}: holds a study whose {' and '.join(absent)} are not in this folder ({ws.root.resolve()})",
        hint="work in the study's own folder, or share it with everyone who leads the study, on a network drive say: "
        f"the database does not hold {SHARED}",
    )


def _known(store: Store) -> Iterator[tuple[str, bool]]:
    """Whether the database tells of a corpus, and of pools that were drawn from it."""
    labels, pools = table(FacetLabelsRow), table(PoolRow)
    with store.read() as session:
        for name, statement in (
            ("corpus", select(labels.c.paper_id)),
            ("pools", select(pools.c.paper_id).where(pools.c.per_method.is_not(None))),
        ):
            yield name, session.connection().execute(statement.limit(1)).first() is not None


def _has_corpus(ws: Workspace) -> bool:
    return (ws.corpus / "manifest.json").is_file()
