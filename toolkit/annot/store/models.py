"""Tables of judged and ranked objects, the parts that all tables share, and functions that write and read rows as
records.

A table has a column for each field of its record, so a field is declared once. The database checks the rules: each is a
CHECK, a UNIQUE or a foreign key. A new database is made from these tables and those of `judging_models`; once a version
is released, a change needs a migration too. Rows never leave `annot.store`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Connection,
    Constraint,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
    UniqueConstraint,
    func,
    insert,
    select,
)
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import counted
from annot.base.records import Addition, Draw, Pool, Query, Topic

GRADE_IN_RANGE = "grade IS NULL OR (grade >= 0 AND grade <= 9)"
HIGHEST_GRADE = 9
LINE = {
    "judgement": ("source", "server", "query_id", "doc_id", "assessor", "occasion", "annotation"),
    "adjudication": ("source", "server", "query_id", "doc_id", "adjudicator", "annotation"),
    "trial_judgement": ("source", "server", "query_id", "doc_id", "assessor", "occasion", "annotation"),
}
"""Columns that make a line of revisions, in the append-only tables."""
TABLES = MetaData(naming_convention=dict.fromkeys(("fk", "uq", "ck", "ix"), "%(table_name)s_%(constraint_name)s"))
"""All tables; the name of a rule or an index begins with that of its table."""
T = TypeVar("T")

AT_ONCE = 5_000
"""Rows in one statement; under every database's limit on parameters."""
UNKNOWN = {
    "query": ("query", "`annot query list` shows the queries"),
    "assessor": ("assessor", "add them with `annot assessor add`"),
}
"""Noun and remedy for a name that no row of the table has."""


class JsonList(TypeDecorator[tuple[Any, ...]]):
    """A JSON list in the database, a tuple outside."""

    impl = JSON
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[Any, ...]:
        return tuple(value)


KINDS: dict[Any, Any] = {
    **{str: String, Literal: String, int: Integer, bool: Boolean, float: Float},
    **{tuple: JsonList, Mapping: JSON},
}
"""The type of the column by that of the field."""
BIG = ("seed", "account", "account_id", "remote_id")
"""Columns of numbers that others choose: of 64 bits."""


def field_names(record: type) -> tuple[str, ...]:
    """The fields of a dataclass or NamedTuple, in order."""
    names: tuple[str, ...] = record.__match_args__  # type: ignore[attr-defined]
    return names


def columns_of(record: type, *, key: Sequence[str] = (), without: Sequence[str] = ()) -> list[Column[Any]]:
    """A column for each field of a record, but for those in `without`; `key` is the primary key."""
    hints = get_type_hints(record)
    return [column(name, hints[name], key=name in key) for name in field_names(record) if name not in without]


def column(name: str, kind: Any, *, key: bool = False) -> Column[Any]:
    """A column for values of this kind; it may be empty if None is one of them."""
    kinds = [part for part in get_args(kind) if part is not NoneType] if NoneType in get_args(kind) else [kind]
    sql_type = BigInteger if name in BIG and kinds == [int] else KINDS[get_origin(kinds[0]) or kinds[0]]
    return Column(name, sql_type, primary_key=key, nullable=kinds != [kind], autoincrement=False)


def to(**places: str) -> ForeignKeyConstraint:
    """The columns name a row of another table: each with its place there, such as `query.query_id`."""
    (name, place), *_ = places.items()
    table_name = place.partition(".")[0]
    return ForeignKeyConstraint([*places], [*places.values()], name=name if table_name == "assessor" else table_name)


def check(name: str, rule: str) -> CheckConstraint:
    return CheckConstraint(rule, name=name)


def unique(name: str, *columns: str) -> UniqueConstraint:
    return UniqueConstraint(*columns, name=name)


def from_1(name: str) -> CheckConstraint:
    """The column counts from 1."""
    return check(f"{name}_from_1", f"{name} >= 1")


def numbered() -> Column[Any]:
    """A column in which the database numbers the rows."""
    return Column("id", Integer, Identity(), primary_key=True)


def made(name: str, columns: Iterable[Column[Any]], *rules: Constraint | Index) -> Table:
    """A table of this store."""
    return Table(name, TABLES, *columns, *rules)


class StoredRun(NamedTuple):
    """A run: its tag, the kind of engine that made it, its settings and inputs, and the hash of its file."""

    tag: str
    kind: str
    facts: Mapping[str, Any]
    sha256: str

    @property
    def system(self) -> str:
        """System that made it; several runs of one system differ by their seed."""
        return str(self.facts.get("system", self.tag))

    @property
    def seed(self) -> int | None:
        """Seed that distinguishes it from the system's other runs; None if that is not on record."""
        return self.facts.get("seed")


class Imported(NamedTuple):
    """An imported source: its kind, its hash, and the facts found in it."""

    what: str
    source_sha256: str
    facts: Mapping[str, Any]


FACET_LABELS_TABLE = made(
    "facet_labels",
    [
        column("paper_id", str, key=True),
        column("labels", str),
        column("origin", str),
        column("corrected_at", str | None),
    ],
    check("origin", "origin IN ('carried', 'corrected') OR origin LIKE 'predicted:_%'"),
)
"""The sentence labels of a paper, joined by commas, and their origin."""
TOPIC_TABLE = made("topic", columns_of(Topic, key=["topic_id"]), check("title", "title <> ''"))
"""The topics that are texts."""
QUERY_TABLE = made("query", columns_of(Query, key=["query_id"]), unique("topic_facet", "topic_id", "facet"))
POOL_TABLE = made(
    "pool",
    [
        *columns_of(Pool, key=["topic_id"], without=("entries", "additions")),
        column("rankings_sha256", str),
    ],
    check("per_method", "per_method IS NULL OR per_method >= 1"),
    check("ranking_depth", "ranking_depth IS NULL OR ranking_depth >= 1"),
    check("cited_outside", "cited_outside IS NULL OR cited_outside >= 0"),
)
"""Draw of the pool of one topic; all queries of the topic share it."""
POOL_ENTRY_TABLE = made(
    "pool_entry",
    [column("topic_id", str, key=True), column("doc_id", str, key=True), column("position", int)],
    to(topic_id="pool.topic_id"),
    unique("position", "topic_id", "position"),
    from_1("position"),
)
"""One document of a pool; `position` is its place in the order drawn, from 1."""
DRAW_TABLE = made(
    "draw",
    [
        *(column("topic_id", str, key=True), column("doc_id", str, key=True)),
        *columns_of(Draw, key=["method"]),
        column("place", int),
    ],
    to(topic_id="pool_entry.topic_id", doc_id="pool_entry.doc_id"),
    check("rank", "rank IS NULL OR rank >= 1"),
    unique("place", "topic_id", "doc_id", "place"),
    check("place_from_0", "place >= 0"),
    check("turn", "turn IS NULL OR (place = 0 AND turn >= 1)"),
)
"""A method that had the document. `place` 0 is the one that drew it; the others follow in their order."""
POOL_ADDITION_TABLE = made(
    "pool_addition",
    [column("topic_id", str, key=True), *columns_of(Addition, key=["version"])],
    to(topic_id="pool.topic_id"),
    check("version_from_2", "version >= 2"),
    check("depth", "depth IS NULL OR depth >= 1"),
    check("depth_of_ranking", "(method = 'manual') = (depth IS NULL)"),
    check("reason", "method <> 'manual' OR COALESCE(reason, '') <> ''"),
)
SPLIT_TABLE = made(
    "split",
    [column(name, str, key=True) for name in ("name", "query_id", "fold")],
    to(query_id="query.query_id"),
)
"""A query in a fold of a named split; folds may share queries, as development and test folds do."""
RUN_TABLE = made("run", columns_of(StoredRun, key=["tag"]))
IMPORTED_TABLE = made("imported", columns_of(Imported, key=["what", "source_sha256"]))


def in_chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists of at most `AT_ONCE`."""
    source = iter(items)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk


def read_records(session: Session, table: Table, record: type[T], *conditions: ColumnElement[bool]) -> Iterator[T]:
    """Rows as records, whose fields are columns of the same names; in no order."""
    columns = [table.c[name] for name in field_names(record)]
    return (record(*row) for row in session.connection().execute(select(*columns).where(*conditions)))


def read_in_order(
    session: Session, table: Table, record: type[T], order: Sequence[str], *conditions: ColumnElement[bool]
) -> tuple[T, ...]:
    """Rows as records, in the order of these fields."""
    return tuple(sorted(read_records(session, table, record, *conditions), key=attrgetter(*order)))


def insert_records(session: Session, table: Table, records: Iterable[Any], **shared: Any) -> None:
    """Insert a row for each record: the table's columns from the fields of the same names, or from `shared`."""
    names = [column.name for column in table.c if column.name not in shared]
    insert_rows(session, table, ({name: getattr(record, name) for name in names} | shared for record in records))


def insert_rows(session: Session, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows, which all name the same columns."""
    connection = session.connection()
    # Rows go to PostgreSQL as statements at about a fifth of the speed of its COPY.
    insert_many = _copy if connection.dialect.name == "postgresql" else _insert
    for chunk in in_chunks(rows):
        insert_many(connection, table, chunk)


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


def delete_where(session: Session, table: Table, column: str, values: Iterable[Any]) -> None:
    """Delete the rows whose `column` has one of the values."""
    for chunk in in_chunks(values):
        session.connection().execute(table.delete().where(table.c[column].in_(chunk)))


def check_known(session: Session, table: Table, names: Iterable[str], *, what: str) -> None:
    """Raise InputError that lists the ids of no query of the study, or the names of no assessor."""
    (key,) = table.primary_key
    unknown = sorted(set(names) - set(session.connection().execute(select(key)).scalars()))
    if unknown:
        noun, hint = UNKNOWN[table.name]
        raise InputError(
            f"{what}: {counted(len(unknown), f'unknown {noun}')}",
            faults=[f"{name}: no such {noun}" for name in unknown],
            hint=hint,
        )


def check_distinct(keys: Iterable[Any], *, what: str) -> None:
    """Raise InputError that lists the keys given twice."""
    twice = [key for key, times in Counter(keys).items() if times > 1]
    if twice:
        shown = [" ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in twice]
        raise InputError(f"{what}: {len(twice)} given twice", faults=[f"{key}: given twice" for key in shown])


def refuse_in_use(
    session: Session,
    tables: Mapping[Table, str],
    columns: Sequence[str],
    leaving: set[tuple[Any, ...]],
    *,
    noun: str,
    what: str,
    hint: str,
) -> None:
    """Raise InputError when rows of these tables depend on rows that would leave.

    tables: the noun for a row of each. noun: for one that leaves. leaving: values of `columns`, which begin with the
    query or the pair and, if they include it, the person.
    """
    in_use: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for table, words in tables.items() if leaving else ():
        key = [table.c[name] for name in columns]
        for *values, count in session.connection().execute(select(*key, func.count()).group_by(*key)):
            if (*values,) in leaving:
                in_use[(*values,)][words] += count
    if in_use:
        total = sum(in_use.values(), Counter[str]())
        raise InputError(
            f"{counted(len(in_use), noun)} would {what}, with {_in_words(total)}",
            faults=[f"{' '.join(key[:3])}: {_in_words(counts)}" for key, counts in sorted(in_use.items())],
            hint=hint,
        )


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(counted(count, words) for words, count in counts.items())
