"""What people decided and no other file of the study holds, as plain values: out of one database and into another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, SQLModel

from annot.base.records import Source
from annot.store.base import table
from annot.store.chained import append_revisions
from annot.store.judging_models import (
    AcceptedRow,
    AdjudicationRow,
    AssessorRow,
    GoldRow,
    GuidelinesRow,
    JudgementRow,
    ReturnedRow,
    ToldRow,
    TrialAssignmentRow,
    TrialJudgementRow,
    TrialRow,
)
from annot.store.models import FacetLabelsRow, ImportRow, PoolAdditionRow, QueryRow, RunRow, SplitRow
from annot.store.rows import insert_rows

Ledger = dict[str, list[dict[str, Any]]]
"""Rows by table. Labels are the corrected ones alone; people have no account, which is an identity."""

ASKED_FOR: tuple[type[SQLModel], ...] = (QueryRow, FacetLabelsRow, AssessorRow, PoolAdditionRow)
AS_IT_WAS: tuple[type[SQLModel], ...] = (
    *(GuidelinesRow, ReturnedRow, AcceptedRow, ToldRow, TrialRow, TrialAssignmentRow, GoldRow),
    *(SplitRow, RunRow, ImportRow),
)
REVISIONS: tuple[type[SQLModel], ...] = (JudgementRow, AdjudicationRow, TrialJudgementRow)


def read_ledger(session: Session) -> Ledger:
    """What is on record, by primary key; tables that hold nothing are left out."""
    found: Ledger = {}
    for model in (*ASKED_FOR, *AS_IT_WAS):
        rows = table(model)
        statement = select(*(column for column in rows.c if column.name != "account"))
        if model is FacetLabelsRow:
            statement = statement.where(rows.c.origin == Source.CORRECTED)
        listed = session.connection().execute(statement.order_by(*rows.primary_key.columns))
        if of_table := [dict(row._mapping) for row in listed]:
            found[rows.name] = of_table
    return found


def put_ledger(session: Session, ledger: Ledger) -> None:
    """Put back what is neither query, label nor person into the tables that hold nothing. Values may be younger."""
    for model in AS_IT_WAS:
        rows = table(model)
        given = ledger.get(rows.name)
        if given and session.connection().execute(select(rows).limit(1)).first() is None:
            insert_rows(session, model, ({name: row[name] for name in row if name in rows.c} for row in given))


def count_revisions(session: Session) -> int:
    """How many revisions of answers are on record, those that never count among them."""
    counted = (select(func.count()).select_from(table(model)) for model in REVISIONS)
    return sum(session.connection().execute(statement).scalar_one() for statement in counted)


def copy_revisions(source: Session, target: Session) -> int:
    """Append every revision of `source` whose query and person `target` knows, unchanged; how many there were."""
    copied = 0
    queries, people = (
        set(target.connection().execute(select(key)).scalars())
        for key in (table(QueryRow).c.query_id, table(AssessorRow).c.assessor)
    )
    for model in REVISIONS:
        rows = list(_revisions(source, model, queries, people))
        append_revisions(target, model, rows)
        copied += len(rows)
    return copied


def _revisions(source: Session, model: type[SQLModel], queries: set[str], people: set[str]) -> Iterator[dict[str, Any]]:
    rows = table(model)
    person = "assessor" if "assessor" in rows.c else "adjudicator"
    columns = [column for column in rows.c if column.name not in ("id", "chain_sha256")]
    for row in source.connection().execute(select(*columns).order_by(rows.c.id)).mappings():
        if row["query_id"] in queries and row[person] in people:
            yield dict(row)
