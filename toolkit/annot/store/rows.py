"""Many rows at once, written and read as records; what every subject's module here is built from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import JSON, ColumnElement, Connection, Table, insert, select
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, SQLModel

from annot.base.errors import InputError
from annot.store.judging_models import AssessorRow
from annot.store.models import JsonList, QueryRow, table

T = TypeVar("T")

AT_ONCE = 5_000
"""Rows in one statement; under every database's limit on parameters."""
UNKNOWN: dict[type[SQLModel], tuple[str, str, str]] = {
    QueryRow: ("query id(s)", "query", "`annot query list` shows the queries there are"),
    AssessorRow: ("assessor(s)", "assessor", "add them with `annot assessor add`"),
}
"""What is said of a name that none of the rows has: several of them, one of them, the remedy."""


def in_chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists of at most `AT_ONCE`."""
    source = iter(items)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk


def read_records(session: Session, model: type[SQLModel], record: type[T], *wanted: ColumnElement[bool]) -> Iterator[T]:
    """The rows as records, whose fields are columns of the same names; in no order."""
    rows = table(model)
    columns = [rows.c[name] for name in field_names(record)]
    return (record(*row) for row in session.connection().execute(select(*columns).where(*wanted)))


def insert_records(session: Session, model: type[SQLModel], records: Iterable[Any], **shared: Any) -> None:
    """Insert a row for each record: the table's columns from the fields of the same names, or from `shared`."""
    names = [column.name for column in table(model).c if column.name not in shared]
    insert_rows(session, model, ({name: getattr(one, name) for name in names} | shared for one in records))


def field_names(record: type) -> tuple[str, ...]:
    """The fields of a dataclass or NamedTuple, in order."""
    names: tuple[str, ...] = record.__match_args__  # type: ignore[attr-defined]
    return names


def insert_rows(session: Session, model: type[SQLModel], rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows, which all name the same columns."""
    connection = session.connection()
    # Rows go to PostgreSQL as statements at about a fifth of the speed of its COPY.
    insert_many = _copy if connection.dialect.name == "postgresql" else _insert
    for chunk in in_chunks(rows):
        insert_many(connection, table(model), chunk)


def _insert(connection: Connection, rows: Table, chunk: list[Mapping[str, Any]]) -> None:
    connection.execute(insert(rows), chunk)


def _copy(connection: Connection, rows: Table, chunk: list[Mapping[str, Any]]) -> None:
    columns = list(chunk[0])
    as_json = [isinstance(rows.c[name].type, JSON | JsonList) for name in columns]
    values = (
        [json.dumps(row[name]) if dump else row[name] for name, dump in zip(columns, as_json, strict=True)]
        for row in chunk
    )
    copy_rows(connection, rows.name, columns, values)


def copy_rows(connection: Connection, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert the rows into the table `name` by PostgreSQL's COPY; JSON is given as text."""
    quoted = ", ".join(f'"{column}"' for column in columns)
    driver: Any = connection.connection.driver_connection
    base_error: Any = connection.dialect.loaded_dbapi.Error
    statement = f'COPY "{name}" ({quoted}) FROM STDIN'
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    except base_error as error:
        raise DBAPIError.instance(
            statement, None, error, base_error, hide_parameters=True, dialect=connection.dialect
        ) from None


def delete_where(session: Session, model: type[SQLModel], column: str, values: Iterable[Any]) -> None:
    """Delete the rows whose `column` has one of the values."""
    rows = table(model)
    for chunk in in_chunks(values):
        session.connection().execute(rows.delete().where(rows.c[column].in_(chunk)))


def check_known(session: Session, model: type[SQLModel], names: Iterable[str], *, what: str) -> None:
    """Raise InputError that lists the ids of no query of the study, or the names of no assessor."""
    (key,) = table(model).primary_key
    unknown = sorted(set(names) - set(session.connection().execute(select(key)).scalars()))
    if unknown:
        several, one, hint = UNKNOWN[model]
        raise InputError(
            f"{what}: {len(unknown)} unknown {several}",
            faults=[f"{name}: no such {one}" for name in unknown],
            hint=hint,
        )


def check_distinct(keys: Iterable[Any], *, what: str) -> None:
    """Raise InputError that lists the keys given twice."""
    twice = [key for key, times in Counter(keys).items() if times > 1]
    if twice:
        shown = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in twice]
        raise InputError(f"{what}: {len(twice)} given twice", faults=[f"{key}: given twice" for key in shown])


def refuse_judged(
    session: Session,
    models: Iterable[type[SQLModel]],
    columns: Sequence[str],
    leaving: set[tuple[Any, ...]],
    *,
    what: str,
    hint: str,
) -> None:
    """Raise InputError when rows of these tables stand on what would leave.

    leaving: values of `columns`, which begin with the pair and, where it is in them, the person.
    """
    standing: Counter[tuple[Any, ...]] = Counter()
    for model in models if leaving else ():
        rows = table(model)
        found = session.connection().execute(select(*(rows.c[name] for name in columns)))
        standing.update(key for key in map(tuple, found) if key in leaving)
    if standing:
        raise InputError(
            f"{len(standing)} judged {what}; {standing.total()} judgement(s) stand on them",
            faults=[f"{' '.join(key[:3])}: {count} judgement(s)" for key, count in sorted(standing.items())],
            hint=hint,
        )
