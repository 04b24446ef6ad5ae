"""Versions of the corpus: the documents that came with each, and those that were withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import InputError
from annot.store import models, papers
from annot.store.models import Session

FIRST = "1"
"""Name of the first version if it was given none."""


class CorpusVersion(NamedTuple):
    """Version of the corpus. A study whose corpus never grew after its pools were drawn has none on record."""

    version: str
    number: int
    """Place among the versions, from 1."""
    after: str
    """Name of the last file of the corpus before this version; empty for the first."""
    reason: str | None
    made_by: str | None
    made_at: str
    """Moment in ISO 8601, UTC."""
    qrels: str | None = None
    """Text of its qrels, which never change once all its pairs had grades and a later version was there."""


class WithdrawnDocument(NamedTuple):
    """Document that versions of the corpus no longer have from one on."""

    doc_id: str
    version: str
    reason: str
    made_by: str | None
    withdrawn_at: str
    """Moment in ISO 8601, UTC."""


CORPUS_VERSION_TABLE = models.define_table(
    "corpus_version",
    models.columns_of(CorpusVersion, key=["version"]),
    models.unique("number", "number"),
    models.from_1("number"),
)
WITHDRAWN_TABLE = models.define_table(
    "withdrawn_document",
    models.columns_of(WithdrawnDocument, key=["doc_id"]),
    models.to(version="corpus_version.version"),
    models.check("reason", "reason <> ''"),
)


def read_corpus_versions(session: Session) -> tuple[CorpusVersion, ...]:
    """All versions, the oldest first; none if the corpus has only one."""
    return models.read_in_order(session, CORPUS_VERSION_TABLE, CorpusVersion, ["number"])


def newest_version(session: Session) -> str | None:
    """Name of the newest version; None if the corpus has only one."""
    versions = read_corpus_versions(session)
    return versions[-1].version if versions else None


def add_version(session: Session, version: CorpusVersion) -> None:
    """Put a new version on record."""
    models.insert_records(session, CORPUS_VERSION_TABLE, [version])


def read_withdrawn(session: Session) -> dict[str, WithdrawnDocument]:
    """The withdrawn documents, by id."""
    rows = models.read_in_order(session, WITHDRAWN_TABLE, WithdrawnDocument, ["doc_id"])
    return {row.doc_id: row for row in rows}


def is_after(versions: tuple[CorpusVersion, ...], version: str | None, other: str | None) -> bool:
    """True if a version is later than another; None is the first."""
    numbers: dict[str | None, int] = {one.version: one.number for one in versions}
    return numbers.get(version, 1) > numbers.get(other, 1)


def documents_since(folder: Path, versions: tuple[CorpusVersion, ...], version: str | None) -> Iterator[str]:
    """The ids of the documents that came after this version, in the order of the corpus; None is the first.

    Raises InputError if the next version begins with a file that the corpus does not have.
    """
    later = [one for one in versions if is_after(versions, one.version, version)]
    if not later:
        return
    files = papers.files_of(folder)
    if later[0].after not in {path.name for path in files}:
        raise InputError(
            f"{folder / later[0].after}: missing, but version {later[0].version} of the corpus begins after it",
            hint="restore the corpus from a backup",
        )
    for path in files:
        if path.name > later[0].after:
            yield from papers.open_papers(path).read(columns=["paper_id"]).column(0).to_pylist()
