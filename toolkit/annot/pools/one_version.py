"""The study as one version of its corpus has it: its queries, pools, answers and runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from annot.base.errors import InputError
from annot.base.records import Pool
from annot.pools.pooling import pool_in_version
from annot.store.models import Session, StoredRun
from annot.study.snapshot import OneVersion, Snapshot, documents_in, snapshot_of, version_of
from annot.study.workspace import Workspace

Key = TypeVar("Key")
Value = TypeVar("Value")


def read_version(ws: Workspace, corpus: str) -> Snapshot:
    """Read the study as one version of the corpus has it, in one transaction.

    Raises InputError for a version that is not on record.
    """
    return ws.read(snapshot_in, ws, corpus)


def snapshot_in(session: Session, ws: Workspace, corpus: str) -> Snapshot:
    """The study as one version of the corpus has it. Raises InputError for one that is not on record.

    Queries without documents in an earlier version are not among its queries, and leave its folds.
    """
    version = version_of(session, ws, corpus)
    whole, documents = snapshot_of(session, ws, version.has), documents_in(session, version)
    queries = tuple(query for query in whole.queries if query.query_id in documents or not version.last)
    topics, names = {query.topic_id for query in queries}, {query.query_id for query in queries}
    runs, files = _runs(whole, corpus, earlier=version.last is not None)
    # The papers of queries are papers of the collection in any case.
    version = version._replace(outside=version.outside - topics, run_files=files)
    sample = whole.sample
    return replace(
        whole,
        queries=queries,
        pools={name: _pool_in(pool, version) for name, pool in _among(whole.pools, topics).items()},
        rankings_sha256=_among(whole.rankings_sha256, topics),
        splits={
            facet: {fold: tuple(filter(names.__contains__, of_fold)) for fold, of_fold in folds.items()}
            for facet, folds in whole.splits.items()
        },
        runs=runs,
        texts=_among(whole.texts, topics),
        sample=sample and sample._replace(pairs=_among(sample.pairs, set(filter(version.has, sample.pairs)))),
        corpora=tuple(name for name in whole.corpora if name in version.names),
        version=version,
    )


def _among(values: Mapping[Key, Value], keys: Collection[Key]) -> dict[Key, Value]:
    """The values of these keys."""
    return {key: value for key, value in values.items() if key in keys}


def recorded_run(path: Path, *, hint: str) -> StoredRun | None:
    """The record next to a run file; None if there is none, as for a file that was put there by hand.

    Raises InputError if it is not the record of a run.
    """
    about = path.with_suffix(".json")
    if not (path.is_file() and about.is_file()):
        return None
    try:
        record = json.loads(about.read_text(encoding="utf-8"))
        return StoredRun(record["tag"], record["kind"], {**record["settings"]}, record["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{about}: not the record of a run: {error!r}", hint=hint) from None


def _runs(whole: Snapshot, corpus: str, *, earlier: bool) -> tuple[tuple[StoredRun, ...], tuple[Path, ...]]:
    """The runs that rank this version, and their files: of an earlier one those kept in a folder of its name, and those
    of its time that no later run has replaced."""
    known = {run.tag: run for run in whole.runs}
    runs = {tag: run for tag, run in known.items() if run.facts.get("corpus", whole.corpora[0]) == corpus}
    files = {path.stem: path for path in whole.run_files if path.stem in runs or path.stem not in known}
    if earlier:
        kept = {path.stem: path for path in whole.ws.inside(whole.ws.runs, corpus).glob("*.run")}
        records = [recorded_run(path, hint=f"`annot run --corpus {corpus}` makes it again") for path in kept.values()]
        files = {tag: path for tag, path in files.items() if tag in known} | kept
        runs |= {run.tag: run for run in records if run}
    return tuple(run for _, run in sorted(runs.items())), tuple(path for _, path in sorted(files.items()))


def _pool_in(pool: Pool, version: OneVersion) -> Pool:
    """The pool as it was drawn from a version of the corpus and those before, without documents outside of it."""
    numbers = (addition.version for addition in pool.additions if addition.corpus in version.names)
    earlier = pool_in_version(pool, max(numbers, default=1))
    return replace(
        earlier,
        entries=tuple(entry for entry in earlier.entries if entry.doc_id not in version.outside),
        additions=tuple(
            replace(addition, documents=tuple(doc for doc in addition.documents if doc not in version.outside))
            for addition in earlier.additions
        ),
    )
