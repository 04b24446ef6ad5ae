"""The sentence labels of the papers, and where each paper's come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import func, select
from sqlmodel import Session

from annot.errors import InputError
from annot.records import Source
from annot.store.models import FacetLabelsRow, table
from annot.store.rows import Change, delete_where, in_chunks, insert_rows


class FacetLabels(NamedTuple):
    """The label of each sentence of a paper; `origin` is `carried`, `predicted:<model sha prefix>` or `corrected`."""

    paper_id: str
    labels: tuple[str, ...]
    origin: str


def replace_labels(session: Session, labels: Iterable[FacetLabels]) -> Change:
    """Make these the labels of the study: others go, except that corrected ones stay as they are.

    A label given for a paper whose labels a person corrected is passed over, and counted as unchanged.
    """
    standing = {label.paper_id: label for label in read_labels(session)}
    seen: set[str] = set()
    added = changed = unchanged = 0
    for chunk in in_chunks(_checked(labels, seen)):
        write = []
        for one in chunk:
            old = standing.get(one.paper_id)
            if old == one or (old is not None and old.origin == Source.CORRECTED and one.origin != Source.CORRECTED):
                unchanged += 1
            else:
                write.append(one)
                added += old is None
                changed += old is not None
        _write(session, write)
    gone = [paper_id for paper_id, old in standing.items() if paper_id not in seen and old.origin != Source.CORRECTED]
    delete_where(session, FacetLabelsRow, "paper_id", gone)
    return Change(added, changed, len(gone), unchanged)


def read_labels(session: Session, paper_ids: Iterable[str] | None = None) -> Iterator[FacetLabels]:
    """The labels of the papers named, or of all; in no order. A paper without labels is left out."""
    rows = table(FacetLabelsRow)
    every = select(rows.c.paper_id, rows.c.labels, rows.c.origin)
    chunks = [None] if paper_ids is None else in_chunks(dict.fromkeys(paper_ids))
    for chunk in chunks:
        statement = every if chunk is None else every.where(rows.c.paper_id.in_(chunk))
        for paper_id, joined, origin in session.connection().execute(statement):
            yield FacetLabels(paper_id, tuple(joined.split(",")) if joined else (), origin)


def count_by_origin(session: Session) -> dict[str, int]:
    """How many papers have labels of each origin."""
    rows = table(FacetLabelsRow)
    found = session.connection().execute(select(rows.c.origin, func.count()).group_by(rows.c.origin))
    return dict(sorted((origin, count) for origin, count in found))


def _write(session: Session, labels: list[FacetLabels]) -> None:
    delete_where(session, FacetLabelsRow, "paper_id", (label.paper_id for label in labels))
    insert_rows(
        session,
        FacetLabelsRow,
        ({"paper_id": label.paper_id, "labels": ",".join(label.labels), "origin": label.origin} for label in labels),
    )


def _checked(labels: Iterable[FacetLabels], seen: set[str]) -> Iterator[FacetLabels]:
    for one in labels:
        if one.paper_id in seen:
            raise InputError(f"paper {one.paper_id}: labels given twice")
        for label in one.labels:
            if not label or "," in label:
                raise InputError(f"paper {one.paper_id}: {label!r} is no sentence label")
        seen.add(one.paper_id)
        yield one
