"""Many rows at once, written and counted; what every subject's module here is built from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import JSON, Connection, Table, insert, select
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, SQLModel

from annot.errors import InputError
from annot.store.models import QueryRow, table

T = TypeVar("T")

AT_ONCE = 5_000
"""Rows in one statement; under every database's limit on parameters."""


class Change(NamedTuple):
    """What a write did; all zero but `unchanged` when it found its content there already."""

    added: int
    changed: int
    removed: int
    unchanged: int


def in_chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists of at most `AT_ONCE`."""
    source = iter(items)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk


def insert_rows(session: Session, model: type[SQLModel], rows: Iterable[Mapping[str, Any]]) -> int:
    """Insert the rows, which all name the same columns; returns how many they were."""
    connection = session.connection()
    # Rows go to PostgreSQL as statements at about a fifth of the speed of its COPY.
    insert_many = _copy if connection.dialect.name == "postgresql" else _insert
    count = 0
    for chunk in in_chunks(rows):
        insert_many(connection, table(model), chunk)
        count += len(chunk)
    return count


def _insert(connection: Connection, rows: Table, chunk: list[Mapping[str, Any]]) -> None:
    connection.execute(insert(rows), chunk)


def _copy(connection: Connection, rows: Table, chunk: list[Mapping[str, Any]]) -> None:
    columns = list(chunk[0])
    as_json = [isinstance(rows.c[name].type, JSON) for name in columns]
    quoted = ", ".join(f'"{name}"' for name in columns)
    driver: Any = connection.connection.driver_connection
    base_error: Any = connection.dialect.loaded_dbapi.Error
    statement = f'COPY "{rows.name}" ({quoted}) FROM STDIN'
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in chunk:
                copy.write_row(
                    [json.dumps(row[name]) if dump else row[name] for name, dump in zip(columns, as_json, strict=True)]
                )
    except base_error as error:
        raise DBAPIError.instance(
            statement, None, error, base_error, hide_parameters=True, dialect=connection.dialect
        ) from None


def delete_where(session: Session, model: type[SQLModel], column: str, values: Iterable[Any]) -> None:
    """Delete the rows whose `column` has one of the values."""
    rows = table(model)
    for chunk in in_chunks(values):
        session.connection().execute(rows.delete().where(rows.c[column].in_(chunk)))


def check_queries_known(session: Session, query_ids: Iterable[str], *, what: str) -> None:
    """Raise InputError that lists the ids which are no query of the study."""
    known = set(session.connection().execute(select(table(QueryRow).c.query_id)).scalars())
    unknown = sorted(set(query_ids) - known)
    if unknown:
        raise InputError(
            f"{what}: {len(unknown)} unknown query id(s)",
            faults=[f"{query_id}: no such query" for query_id in unknown],
            hint="`annot query list` shows the queries there are",
        )


def check_distinct(keys: Sequence[Any], *, what: str) -> None:
    """Raise InputError that lists the keys given twice."""
    seen: set[Any] = set()
    twice: dict[Any, None] = {}
    for key in keys:
        if key in seen:
            twice[key] = None
        seen.add(key)
    if twice:
        shown = [" ".join(key) if isinstance(key, tuple) else str(key) for key in twice]
        raise InputError(f"{what}: {len(twice)} given twice", faults=[f"{key}: given twice" for key in shown])
