"""Columns made from the fields of a record, and rows copied to PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from annot.store import models
from annot.store.models import BIG, column, columns_of, numbered, to
from sqlalchemy import BigInteger, Column, MetaData, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError


class Record(NamedTuple):
    name: str
    size: float | None
    count: int
    facts: Mapping[str, Any]


def told(one: Column[Any]) -> tuple[str, str, bool | None, bool]:
    return one.name, type(one.type).__name__, one.nullable, one.primary_key


def test_a_record_has_a_column_for_each_field() -> None:
    made = columns_of(Record, key=["name"], without=["count"])
    assert [one.name for one in made] == ["name", "size", "facts"]
    assert [(one.nullable, one.primary_key) for one in made] == [(False, True), (True, False), (False, False)]
    assert {one.autoincrement for one in made} == {False}
    assert told(column("left_on", str | None)) == ("left_on", told(column("left_on", str))[1], True, False)
    assert not column("name", str).primary_key


def test_large_numbers_have_columns_of_their_own() -> None:
    name = next(iter(BIG))
    assert isinstance(column(name, int).type, BigInteger)
    assert isinstance(column(name, int | None).type, BigInteger)
    assert not isinstance(column(name, str).type, BigInteger)
    assert not isinstance(column("position", int).type, BigInteger)


def test_a_key_of_another_table_is_named_by_it_and_a_person_by_their_role() -> None:
    assert to(query_id="query.query_id").name == "query"
    assert to(adjudicator="assessor.assessor").name == "adjudicator"


def test_rows_that_the_database_numbers_are_known_by_their_number() -> None:
    assert numbered().primary_key
    assert numbered().identity is not None


def test_the_counts_of_an_answer_are_from_one_on() -> None:
    def rules(table: Table) -> set[str]:
        return {str(rule.name) for rule in table.constraints if str(rule.name).endswith("_from_1")}

    counts = {"judgement_occasion_from_1", "judgement_revision_from_1"}
    assert rules(models.JUDGEMENT_TABLE) == counts
    assert rules(models.ADJUDICATION_TABLE) == {"adjudication_revision_from_1"}


class Refused(Exception):
    """Error as the driver of PostgreSQL raises it."""


class Server:
    """Takes the rows that are copied to it, or refuses them."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses, self.statements, self.rows = refuses, list[str](), list[tuple[Any, ...]]()
        self.connection = SimpleNamespace(driver_connection=self)
        self.dialect = postgresql.dialect()
        self.dialect.loaded_dbapi = SimpleNamespace(Error=Refused)  # type: ignore[attr-defined,assignment]

    @contextmanager
    def cursor(self) -> Any:
        yield self

    @contextmanager
    def copy(self, statement: str) -> Any:
        self.statements.append(statement)
        yield self

    def write_row(self, row: tuple[Any, ...]) -> None:
        if self.refuses:
            raise Refused("no")
        self.rows.append(row)


TABLE = Table("made", MetaData(), column("name", str), column("facts", Mapping))


def test_rows_are_copied_with_json_as_text() -> None:
    server: Any = Server()
    models.insert_chunk(server, TABLE, [{"name": "a", "facts": {"x": 1}}, {"name": "b", "facts": {}}])
    assert server.statements == ['COPY "made" ("name", "facts") FROM STDIN']
    assert server.rows == [("a", '{"x": 1}'), ("b", "{}")]


def test_a_refused_copy_shows_no_value() -> None:
    server: Any = Server(refuses=True)
    with pytest.raises(DBAPIError) as caught:
        models.insert_chunk(server, TABLE, [{"name": "secret", "facts": {}}])
    assert caught.value.hide_parameters
    assert "secret" not in str(caught.value)
