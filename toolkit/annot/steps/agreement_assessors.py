"""Assessors one by one and two by two: how they judge, whether they change, and why they disagree."""

from __future__ import annotations

from collections.abc import Collection

from annot.base.names import known_query
from annot.measuring.diagnosis.overview import Looked
from annot.measuring.measured import assessors_of
from annot.publishing.report.sections.assessors import method, tables, told
from annot.publishing.report.terminal import table_text, wrapped
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def look(ws: Workspace, *, queries: Collection[str]) -> Looked:
    """Look at everyone who judged. Raises MissingInput when nobody did, InputError for a query that is not known."""
    snapshot = read_snapshot(ws)
    known = {query.query_id: query for query in snapshot.queries}
    for name in queries:
        known_query(known, name)
    return assessors_of(snapshot)


def describe(looked: Looked, *, queries: Collection[str]) -> str:
    """What the report's section has, as text. queries: show hard candidates of these only, and all of them."""
    first, last = ("\n".join(map(wrapped, of)) for of in (told(looked), method(looked)))
    return "\n\n".join(part for part in (first, *map(table_text, tables(looked, queries)), last) if part)
