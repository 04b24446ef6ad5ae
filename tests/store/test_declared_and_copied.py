"""Columns made from the fields of a record, and rows copied to PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from annot.store import models
from annot.store.models import column
from sqlalchemy import MetaData, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import DBAPIError


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
