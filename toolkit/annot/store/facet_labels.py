"""The sentence labels of the papers, and the origin of each paper's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import func, select

from annot.base.errors import InputError
from annot.base.records import Source
from annot.store.models import FACET_LABELS_TABLE, Session, delete_where, in_chunks, insert_rows


class FacetLabels(NamedTuple):
    """The label of each sentence of a paper; `origin` is `carried`, `predicted:<model sha prefix>` or `corrected`.

    corrected_at: when the correction was made, by the server's clock; None for all other labels.
    """

    paper_id: str
    labels: tuple[str, ...]
    origin: str
    corrected_at: str | None = None


def replace_labels(
    session: Session, labels: Iterable[FacetLabels], *, keep: Collection[str] | None = frozenset()
) -> None:
    """Make these the labels of the study: others are removed, except that corrected ones stay unchanged.

    keep: papers whose labels stay, too, if they have no new ones; None keeps those of all.

    A label given for a paper whose labels a person corrected is passed over, unless it is a correction itself. The
    database refuses two of one paper. A few thousand are in memory at a time.
    """
    rows = FACET_LABELS_TABLE
    corrected = rows.c.origin == Source.CORRECTED
    corrected_ids = set(session.connection().execute(select(rows.c.paper_id).where(corrected)).scalars())
    if keep is not None:
        delete_where(session, rows, "paper_id", labelled_ids(session) - corrected_ids - {*keep})
    for chunk in in_chunks(labels):
        new = [entry for entry in chunk if entry.paper_id not in corrected_ids or entry.origin == Source.CORRECTED]
        replaced = (entry.paper_id for entry in new if keep is None or entry.paper_id in corrected_ids)
        delete_where(session, FACET_LABELS_TABLE, "paper_id", replaced)
        _insert(session, new)


def put_corrections(session: Session, labels: Iterable[FacetLabels]) -> None:
    """Record labels that people corrected; those of all other papers stay."""
    new = list(labels)
    delete_where(session, FACET_LABELS_TABLE, "paper_id", (entry.paper_id for entry in new))
    _insert(session, new)


def remove_labels(session: Session, paper_ids: Iterable[str]) -> int:
    """Remove the labels of these papers, also corrected ones: their sentences have changed.

    Returns the number of papers that had labels.
    """
    labelled = [entry.paper_id for entry in read_labels(session, paper_ids)]
    delete_where(session, FACET_LABELS_TABLE, "paper_id", labelled)
    return len(labelled)


def read_labels(
    session: Session, paper_ids: Iterable[str] | None = None, *, origin: str | None = None
) -> Iterator[FacetLabels]:
    """The labels of the papers named, or of all; in no order. A paper without labels, or with labels of another
    origin, is left out."""
    rows = FACET_LABELS_TABLE
    all_labels = select(rows.c.paper_id, rows.c.labels, rows.c.origin, rows.c.corrected_at)
    all_labels = all_labels if origin is None else all_labels.where(rows.c.origin == origin)
    chunks = [None] if paper_ids is None else in_chunks(dict.fromkeys(paper_ids))
    for chunk in chunks:
        statement = all_labels if chunk is None else all_labels.where(rows.c.paper_id.in_(chunk))
        for paper_id, joined, origin, corrected_at in session.connection().execute(statement):
            yield FacetLabels(paper_id, tuple(joined.split(",")) if joined else (), origin, corrected_at)


def labelled_ids(session: Session) -> set[str]:
    """The papers that have labels."""
    return set(session.connection().execute(select(FACET_LABELS_TABLE.c.paper_id)).scalars())


def count_by_origin(session: Session) -> dict[str, int]:
    """Number of papers with labels of each origin."""
    rows = FACET_LABELS_TABLE
    counts = session.connection().execute(select(rows.c.origin, func.count()).group_by(rows.c.origin))
    return dict(sorted((origin, count) for origin, count in counts))


def _insert(session: Session, labels: Iterable[FacetLabels]) -> None:
    insert_rows(session, FACET_LABELS_TABLE, ({**entry._asdict(), "labels": _joined(entry)} for entry in labels))


def _joined(entry: FacetLabels) -> str:
    for label in entry.labels:
        if not label or "," in label:
            raise InputError(f"paper {entry.paper_id}: {label!r} is not a sentence label")
    return ",".join(entry.labels)
