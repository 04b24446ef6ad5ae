"""The chain over the rows of the append-only tables: each is hashed with the one before it, so that a lost one is seen.

The last link stands in a table of its own, which tells that the last rows are gone, too. Whoever writes into the
database by hand can make the whole chain anew; what is left out by mistake, or by a tool that knows nothing of it, is
found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select
from sqlmodel import Session, SQLModel

from annot.store.base import LINE, TABLES, table
from annot.store.judging_models import ChainRow
from annot.store.rows import insert_rows

LINKED = ("content_sha256", "revision", "account", "changed_at", "ruling", "guidelines_sha256", "recorded_at")
"""What a link is made of, beside the one before: the hash of what was read, and what that leaves out."""


def append_revisions(session: Session, model: type[SQLModel], rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows behind those that are there."""
    connection, name = session.connection(), str(model.__tablename__)
    length, last = _end(connection, name)
    chained = []
    for row in rows:
        last = _link(last, row)
        chained.append({**row, "chain_sha256": last})
    insert_rows(session, model, chained)
    if chained:
        _put_end(connection, name, length + len(chained), last)


def broken_chains(connection: Connection) -> Iterator[str]:
    """Where rows of the append-only tables are gone."""
    for name in LINE:
        before, length = "", 0
        for row in map(dict, connection.execute(_in_order(name).execution_options(yield_per=1_000)).mappings()):
            if row["chain_sha256"] != _link(before, row):
                place = f"{name} {row['id']} ({row['query_id']} {row['doc_id']}, revision {row['revision']})"
                yield f"{place}: the row before it is not the one that it was recorded behind, or it was changed"
            before, length = row["chain_sha256"], length + 1
        recorded, last = _end(connection, name)
        if length != recorded:
            yield f"{name}: found {length} rows, {recorded} were recorded"
        elif before != last:
            yield f"{name}: its last row is not the one that was recorded last"


def _link(before: str, row: Mapping[str, Any]) -> str:
    said = json.dumps([before, *(row[name] for name in LINKED)])
    return hashlib.sha256(said.encode("ascii")).hexdigest()


def _in_order(name: str) -> Any:
    rows = TABLES.tables[name]
    shown = ("id", "query_id", "doc_id", *LINKED, "chain_sha256")
    return select(*(rows.c[column] for column in shown)).order_by(rows.c.id)


def _end(connection: Connection, name: str) -> tuple[int, str]:
    """How many rows were recorded, and the last link."""
    ends = table(ChainRow)
    found = connection.execute(select(ends.c.length, ends.c.last_sha256).where(ends.c.name == name)).first()
    return (0, "") if found is None else (found[0], found[1])


def _put_end(connection: Connection, name: str, length: int, last: str) -> None:
    ends = table(ChainRow)
    connection.execute(ends.delete().where(ends.c.name == name))
    connection.execute(ends.insert().values(name=name, length=length, last_sha256=last))
