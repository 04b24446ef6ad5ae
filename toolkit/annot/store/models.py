"""The tables of what is judged and ranked, what all tables share, and how many rows are written and read as records.

A SQLModel table class does not check values, so each rule is a CHECK, a UNIQUE or a foreign key. A new database is made
from these classes and those of `judging_models`; once a version is released, a change needs a migration too. Rows never
leave `annot.store`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ColumnElement,
    Connection,
    Dialect,
    ForeignKeyConstraint,
    Identity,
    MetaData,
    Table,
    TypeDecorator,
    UniqueConstraint,
    insert,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlmodel import Field, Session, SQLModel

from annot.base.errors import InputError

GRADE_IN_RANGE = "grade IS NULL OR (grade >= 0 AND grade <= 9)"
HIGHEST_GRADE = 9
LINE = {
    "judgement": ("source", "server", "query_id", "doc_id", "assessor", "occasion", "annotation"),
    "adjudication": ("source", "server", "query_id", "doc_id", "adjudicator", "annotation"),
    "trial_judgement": ("source", "server", "query_id", "doc_id", "assessor", "occasion", "annotation"),
}
"""Of the append-only tables, the columns that make a line of revisions."""
TABLES = MetaData()
"""All tables. Not SQLModel's own collection, so that another user of SQLModel stays apart."""
T = TypeVar("T")

AT_ONCE = 5_000
"""Rows in one statement; under every database's limit on parameters."""
UNKNOWN = {
    "query": ("query id(s)", "query", "`annot query list` shows the queries there are"),
    "assessor": ("assessor(s)", "assessor", "add them with `annot assessor add`"),
}
"""What is said of a name that no row of the table has: several of them, one of them, the remedy."""


class JsonList(TypeDecorator[tuple[Any, ...]]):
    """A JSON list in the database, a tuple outside."""

    impl = JSON
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[Any, ...]:
        return tuple(value)


class Row(SQLModel):
    """A table of this store."""

    metadata = TABLES


class RevisionRow(Row):
    """What the append-only tables share. Triggers refuse every UPDATE and DELETE.

    Later versions brought `account` and `changed_at` (whose account the answer came from and when it was last changed,
    both as the server has them), `ruling` (`withdrawn` or `restored` where the lead has spoken), and the hash of the
    guidelines by which it was given; and `chain_sha256`, the row's link of `annot.store.hashes`.
    """

    id: int | None = Field(default=None, primary_key=True, sa_column_args=[Identity()])
    source: str
    server: str
    query_id: str
    doc_id: str
    annotation: str
    revision: int
    grade: int | None
    cannot_judge: str | None
    comment: str | None
    judged_at: str | None
    lead_time: float | None
    flags: tuple[str, ...] = Field(sa_type=JsonList)
    payload: Any = Field(sa_type=JSON)
    content_sha256: str
    recorded_at: str
    account: int | None = Field(sa_type=BigInteger)
    changed_at: str | None
    ruling: str | None
    guidelines_sha256: str | None
    chain_sha256: str = Field(sa_column_kwargs={"server_default": text("''")})


def table(model: type[SQLModel]) -> Table:
    """The table of a row class, for statements over many rows."""
    return TABLES.tables[str(model.__tablename__)]


class FacetLabelsRow(Row, table=True):
    """The sentence labels of a paper, joined by commas, and where they come from."""

    __tablename__ = "facet_labels"
    __table_args__ = (
        CheckConstraint("origin IN ('carried', 'corrected') OR origin LIKE 'predicted:_%'", name="facet_labels_origin"),
    )
    paper_id: str = Field(primary_key=True)
    labels: str
    origin: str
    corrected_at: str | None


class QueryRow(Row, table=True):
    """A paper and one facet of it."""

    __tablename__ = "query"
    __table_args__ = (UniqueConstraint("paper_id", "facet", name="query_paper_facet"),)
    query_id: str = Field(primary_key=True)
    paper_id: str
    facet: str
    sentences: tuple[int, ...] = Field(sa_type=JsonList)
    paper_type: str | None


class PoolRow(Row, table=True):
    """How the pool of one query paper was drawn; all facets of the paper share it."""

    __tablename__ = "pool"
    __table_args__ = (
        CheckConstraint("per_method IS NULL OR per_method >= 1", name="pool_per_method"),
        CheckConstraint("ranking_depth IS NULL OR ranking_depth >= 1", name="pool_ranking_depth"),
        CheckConstraint("cited_outside IS NULL OR cited_outside >= 0", name="pool_cited_outside"),
    )
    paper_id: str = Field(primary_key=True)
    mode: str
    per_method: int | None
    ranking_depth: int | None
    seed: int | None = Field(sa_type=BigInteger)
    methods: tuple[str, ...] = Field(sa_type=JsonList)
    without: tuple[str, ...] = Field(sa_type=JsonList)
    dry: tuple[str, ...] = Field(sa_type=JsonList)
    cited_outside: int | None
    rankings_sha256: str


class PoolEntryRow(Row, table=True):
    """One document of a pool; `position` is its place in the order drawn, from 1."""

    __tablename__ = "pool_entry"
    __table_args__ = (
        ForeignKeyConstraint(["paper_id"], ["pool.paper_id"], name="pool_entry_pool"),
        UniqueConstraint("paper_id", "position", name="pool_entry_position"),
        CheckConstraint("position >= 1", name="pool_entry_position_from_1"),
    )
    paper_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    position: int


class DrawRow(Row, table=True):
    """A method that had the document. `place` 0 is the one that brought it in; the others follow in their order."""

    __tablename__ = "draw"
    __table_args__ = (
        ForeignKeyConstraint(
            ["paper_id", "doc_id"], ["pool_entry.paper_id", "pool_entry.doc_id"], name="draw_pool_entry"
        ),
        CheckConstraint("rank IS NULL OR rank >= 1", name="draw_rank"),
        UniqueConstraint("paper_id", "doc_id", "place", name="draw_place"),
        CheckConstraint("place >= 0", name="draw_place_from_0"),
        CheckConstraint("turn IS NULL OR (place = 0 AND turn >= 1)", name="draw_turn"),
    )
    paper_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    method: str = Field(primary_key=True)
    rank: int | None
    score: float | None
    turn: int | None
    place: int


class PoolAdditionRow(Row, table=True):
    """What was added to a drawn pool, as one version of it; pools that were added to at once share the number."""

    __tablename__ = "pool_addition"
    __table_args__ = (
        ForeignKeyConstraint(["paper_id"], ["pool.paper_id"], name="pool_addition_pool"),
        CheckConstraint("version >= 2", name="pool_addition_version_from_2"),
        CheckConstraint("depth IS NULL OR depth >= 1", name="pool_addition_depth"),
        CheckConstraint("(method = 'manual') = (depth IS NULL)", name="pool_addition_depth_of_ranking"),
        CheckConstraint("method <> 'manual' OR COALESCE(reason, '') <> ''", name="pool_addition_reason"),
    )
    paper_id: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    method: str
    depth: int | None
    documents: tuple[str, ...] = Field(sa_type=JsonList)
    reason: str | None
    made_by: str | None
    made_at: str | None


class SplitRow(Row, table=True):
    """A query in a fold of a named split; folds may share queries, as development and test folds do."""

    __tablename__ = "split"
    __table_args__ = (ForeignKeyConstraint(["query_id"], ["query.query_id"], name="split_query"),)
    name: str = Field(primary_key=True)
    query_id: str = Field(primary_key=True)
    fold: str = Field(primary_key=True)


class RunRow(Row, table=True):
    """A run: what made it, and the hash of its file."""

    __tablename__ = "run"
    tag: str = Field(primary_key=True)
    kind: str
    facts: dict[str, Any] = Field(sa_type=JSON)
    sha256: str


class ImportRow(Row, table=True):
    """A source that was read in, and what was found there."""

    __tablename__ = "imported"
    what: str = Field(primary_key=True)
    source_sha256: str = Field(primary_key=True)
    facts: dict[str, Any] = Field(sa_type=JSON)


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
        several, one, hint = UNKNOWN[str(model.__tablename__)]
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
