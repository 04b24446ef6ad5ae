"""Tables of the working state."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, starmap
from operator import attrgetter
from types import NoneType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args, get_origin, get_type_hints

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from annot.base import records
from annot.base.errors import InputError
from annot.base.names import counted
from annot.formats.input_files import is_constant, json_texts

# ----------------------------------------------------------------------------------------------------------------------
# Tables of judged and ranked objects, the parts that all tables share, and functions that write and read rows as
# records.
#
# A table has a column for each field of its record, so a field is declared once. The database checks the rules: each
# is a CHECK, a UNIQUE or a foreign key. A new database is made from these tables; once
# a version is released, a change needs a migration too. Rows never leave `annot.store`.
# ----------------------------------------------------------------------------------------------------------------------


GRADE_IN_RANGE = "grade IS NULL OR (grade >= 0 AND grade <= 9)"
HIGHEST_GRADE = 9
LINE = {
    "judgement": ("source", "server", "query_id", "doc_id", "assessor", "occasion", "annotation"),
    "adjudication": ("source", "server", "query_id", "doc_id", "adjudicator", "annotation"),
    "trial_judgement": ("source", "server", "query_id", "doc_id", "assessor", "occasion", "annotation"),
}
"""Columns that make a line of revisions, in the append-only tables."""
TABLES = sa.MetaData(naming_convention=dict.fromkeys(("fk", "uq", "ck", "ix"), "%(table_name)s_%(constraint_name)s"))
"""All tables; the name of a rule or an index begins with that of its table."""
T = TypeVar("T")


class Session(Protocol):
    """A transaction on the working state: all of it is kept or nothing. One that writes is sqlmodel's."""

    def connection(self) -> sa.Connection:
        """The connection that the transaction is on."""

    def rollback(self) -> None:
        """Give up what was written."""


class ReadingSession:
    """A transaction that only reads."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def connection(self) -> sa.Connection:
        """The connection that the transaction is on."""
        return self._connection

    def rollback(self) -> None:
        """Give up what was written."""
        self._connection.rollback()


AT_ONCE = 5_000
"""Rows in one statement; under every database's limit on parameters."""
FETCHED = 200
"""Rows fetched at once: so few that their values are still in the processor's cache when they go to their columns."""
MANY = 100
"""Rows from which values that all have are part of the statement."""
IN_STATEMENT = 25
"""Rows that SQLite inserts by one statement: each statement has a start and an end."""
UNKNOWN = {
    "query": ("query", "`annot query list` shows the queries"),
    "assessor": ("assessor", "add them with `annot assessor add`"),
}
"""Noun and remedy for a name that no row of the table has."""


class JsonList(sa.TypeDecorator[tuple[Any, ...]]):
    """A JSON list in the database, a tuple outside; the lists in it are tuples, too."""

    impl = sa.JSON
    cache_ok = True

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> tuple[Any, ...]:
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)

    def result_processor(self, dialect: sa.Dialect, coltype: Any) -> Callable[[Any], Any] | None:
        # Most lists are empty, as the flags of an answer, and their text needs no parser.
        process = super().result_processor(dialect, coltype)
        return process and (lambda value: () if value == "[]" else process(value))


class Digest(sa.TypeDecorator[str]):
    """The bytes of a hash in the database, its hexadecimal text outside."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> bytes | None:
        return None if value is None else bytes.fromhex(value)

    def result_processor(self, dialect: sa.Dialect, coltype: Any) -> Callable[[Any], Any] | None:
        # Both drivers give bytes, and a hash is read for each answer.
        return lambda value: None if value is None else value.hex()


KINDS: dict[Any, Any] = {
    **{str: sa.String, Literal: sa.String, int: sa.Integer, bool: sa.Boolean, float: sa.Float},
    **{tuple: JsonList, Mapping: sa.JSON},
}
"""The type of the column by that of the field."""
BIG = ("seed", "account", "account_id", "remote_id")
"""Columns of numbers that others choose: of 64 bits."""


def field_names(record: type) -> tuple[str, ...]:
    """The fields of a dataclass or NamedTuple, in order."""
    names: tuple[str, ...] = record.__match_args__  # type: ignore[attr-defined]
    return names


def columns_of(record: type, *, key: Sequence[str] = (), without: Sequence[str] = ()) -> list[sa.Column[Any]]:
    """A column for each field of a record, but for those in `without`; `key` is the primary key."""
    hints = get_type_hints(record)
    return [column(name, hints[name], key=name in key) for name in field_names(record) if name not in without]


def column(name: str, kind: Any, *, key: bool = False) -> sa.Column[Any]:
    """A column for values of this kind; it may be empty if None is one of them."""
    kinds = [part for part in get_args(kind) if part is not NoneType] if NoneType in get_args(kind) else [kind]
    sql_type = sa.BigInteger if name in BIG and kinds == [int] else KINDS[get_origin(kinds[0]) or kinds[0]]
    return sa.Column(name, sql_type, primary_key=key, nullable=kinds != [kind], autoincrement=False)


def to(**places: str) -> sa.ForeignKeyConstraint:
    """The columns name a row of another table: each with its place there, such as `query.query_id`."""
    (name, place), *_ = places.items()
    table_name = place.partition(".")[0]
    return sa.ForeignKeyConstraint([*places], [*places.values()], name=name if table_name == "assessor" else table_name)


def check(name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=name)


def unique(name: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=name)


def from_1(name: str) -> sa.CheckConstraint:
    """The column counts from 1."""
    return check(f"{name}_from_1", f"{name} >= 1")


def numbered() -> sa.Column[Any]:
    """A column in which the database numbers the rows."""
    return sa.Column("id", sa.Integer, sa.Identity(), primary_key=True)


def define_table(name: str, columns: Iterable[sa.Column[Any]], *rules: sa.Constraint | sa.Index) -> sa.Table:
    """A table of this store."""
    return sa.Table(name, TABLES, *columns, *rules)


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


class ImportedSource(NamedTuple):
    """An imported source: its kind, its hash, and the facts found in it."""

    what: str
    source_sha256: str
    facts: Mapping[str, Any]


class CorpusVersion(NamedTuple):
    """Version of the corpus. A study whose corpus never grew after its pools were drawn has none on record."""

    version: str
    number: int
    """Place among the versions, from 1."""
    after: str
    """Name of the last file of the corpus before this version; empty for the first."""
    reason: str | None
    made_by: str | None
    made_at: str
    """Moment in ISO 8601, UTC."""
    qrels: str | None = None
    """Text of its qrels, which never change once all its pairs had grades and a later version was there."""


class WithdrawnDocument(NamedTuple):
    """Document that versions of the corpus no longer have from one on."""

    doc_id: str
    version: str
    reason: str
    made_by: str | None
    withdrawn_at: str
    """Moment in ISO 8601, UTC."""


FACET_LABELS_TABLE = define_table(
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
TOPIC_TABLE = define_table("topic", columns_of(records.Topic, key=["topic_id"]), check("title", "title <> ''"))
"""The topics that are texts."""
QUERY_TABLE = define_table(
    "query", columns_of(records.Query, key=["query_id"]), unique("topic_facet", "topic_id", "facet")
)
POOL_TABLE = define_table(
    "pool",
    [*columns_of(records.Pool, key=["topic_id"], without=("entries", "additions")), column("rankings_sha256", str)],
    check("per_method", "per_method IS NULL OR per_method >= 1"),
    check("ranking_depth", "ranking_depth IS NULL OR ranking_depth >= 1"),
    check("cited_outside", "cited_outside IS NULL OR cited_outside >= 0"),
)
"""Draw of the pool of one topic; all queries of the topic share it."""
POOL_ENTRY_TABLE = define_table(
    "pool_entry",
    [column("topic_id", str, key=True), column("doc_id", str, key=True), column("position", int)],
    to(topic_id="pool.topic_id"),
    unique("position", "topic_id", "position"),
    from_1("position"),
)
"""One document of a pool; `position` is its place in the order drawn, from 1."""
DRAW_TABLE = define_table(
    "draw",
    [
        *(column("topic_id", str, key=True), column("doc_id", str, key=True)),
        *columns_of(records.Draw, key=["method"]),
        column("place", int),
    ],
    to(topic_id="pool_entry.topic_id", doc_id="pool_entry.doc_id"),
    check("rank", "rank IS NULL OR rank >= 1"),
    unique("place", "topic_id", "doc_id", "place"),
    check("place_from_0", "place >= 0"),
    check("turn", "turn IS NULL OR (place = 0 AND turn >= 1)"),
)
"""A method that had the document. `place` 0 is the one that drew it; the others follow in their order."""
POOL_ADDITION_TABLE = define_table(
    "pool_addition",
    [column("topic_id", str, key=True), *columns_of(records.Addition, key=["version"])],
    to(topic_id="pool.topic_id"),
    check("version_from_2", "version >= 2"),
    check("depth", "depth IS NULL OR depth >= 1"),
    check("depth_of_ranking", "(method = 'manual') = (depth IS NULL)"),
    check("reason", "method <> 'manual' OR COALESCE(reason, '') <> ''"),
)
CORPUS_VERSION_TABLE = define_table(
    "corpus_version", columns_of(CorpusVersion, key=["version"]), unique("number", "number"), from_1("number")
)
WITHDRAWN_TABLE = define_table(
    "withdrawn_document",
    columns_of(WithdrawnDocument, key=["doc_id"]),
    to(version="corpus_version.version"),
    check("reason", "reason <> ''"),
)
SPLIT_TABLE = define_table(
    "split", [column(name, str, key=True) for name in ("name", "query_id", "fold")], to(query_id="query.query_id")
)
"""A query in a fold of a named split; folds may share queries, as development and test folds do."""
RUN_TABLE = define_table("run", columns_of(StoredRun, key=["tag"]))
IMPORTED_TABLE = define_table("imported", columns_of(ImportedSource, key=["what", "source_sha256"]))


def in_chunks(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists of at most `AT_ONCE`."""
    source = iter(items)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk


def read_records(
    session: Session, table: sa.Table, record: type[T], *conditions: sa.ColumnElement[bool]
) -> Iterator[T]:
    """Rows as records, whose fields are columns of the same names; in no order."""
    columns = [table.c[name] for name in field_names(record)]
    return starmap(record, read_rows(session, sa.select(*columns).where(*conditions)))


def read_rows(session: Session, statement: sa.Select[Any]) -> Iterable[tuple[Any, ...]]:
    """Rows of a query, as `read_columns` has their values."""
    return zip(*read_columns(session, statement), strict=True)


def read_columns(session: Session, statement: sa.Select[Any], *, shared: bool = True) -> list[Sequence[Any]]:
    """Columns of a query's rows, as the driver gives them: sqlalchemy's rows take longer to make than to read. None
    if there is no row.

    shared: equal texts become one object, as most ids are many times in a table.
    """
    connection, texts = session.connection(), dict[Any, Any]()
    columns: list[Sequence[Any]] = []
    with connection.execute(statement) as result:
        described = list(zip(statement.selected_columns, result.cursor.description, strict=True))
        values: list[list[Any]] = [[] for _ in described]
        of_texts = [shared and isinstance(column.type, sa.String) for column, _ in described]
        while lot := result.cursor.fetchmany(FETCHED):
            for is_text, of_column, of_lot in zip(of_texts, values, zip(*lot, strict=True), strict=True):
                of_column += map(texts.setdefault, of_lot, of_lot) if is_text else of_lot
    # Without a row there is no column either.
    for (column, (_, code, *_)), of_column in zip(described, values, strict=True) if values[0] else ():
        process = column.type.dialect_impl(connection.dialect).result_processor(connection.dialect, code)
        if of_column[0] is None and set(of_column) == {None}:
            columns.append(of_column)
        elif type(column.type) is Digest and None not in of_column:
            columns.append(list(map(bytes.hex, of_column)))
        elif process is None:
            columns.append(of_column)
        else:
            parsed = _parsed(of_column) if type(column.type) is sa.JSON else None
            columns.append(parsed or list(map(process, of_column)))
    return columns


def _parsed(texts: Sequence[str | None]) -> list[Any] | None:
    """Values of JSON texts, all by one call of the parser; None if one of them is no JSON."""
    try:
        values = json.loads(f"[{', '.join([text or 'null' for text in texts])}]")
    except ValueError:
        return None
    return values if len(values) == len(texts) else None


def read_in_order(
    session: Session, table: sa.Table, record: type[T], order: Sequence[str], *conditions: sa.ColumnElement[bool]
) -> tuple[T, ...]:
    """Rows as records, in the order of these fields."""
    return tuple(sorted(read_records(session, table, record, *conditions), key=attrgetter(*order)))


def insert_records(session: Session, table: sa.Table, new: Iterable[Any], **shared: Any) -> None:
    """Insert a row for each record: the table's columns from the fields of the same names, or from `shared`."""
    names = [column.name for column in table.c if column.name not in shared]
    for chunk in in_chunks(new):
        columns = {name: list(map(attrgetter(name), chunk)) for name in names}
        columns |= {name: [value] * len(chunk) for name, value in shared.items()}
        insert_columns(session.connection(), table, columns)


def insert_rows(session: Session, table: sa.Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows, which all name the same columns."""
    for chunk in in_chunks(rows):
        insert_chunk(session.connection(), table, chunk)


def insert_chunk(
    connection: sa.Connection,
    table: sa.Table,
    chunk: Sequence[Mapping[str, Any]],
    *,
    as_text: bool = False,
) -> None:
    """Insert the rows by one statement of the driver. as_text: the rows hold JSON as text."""
    columns = {name: [row[name] for row in chunk] for name in chunk[0]}
    insert_columns(connection, table, columns, as_text=as_text)


def insert_columns(
    connection: sa.Connection, table: sa.Table, columns: Mapping[str, Sequence[Any]], *, as_text: bool = False
) -> None:
    """Insert the rows that these columns make, as `insert_chunk` does."""
    on_server, values, marks = connection.dialect.name == "postgresql", [], []
    for name, of_column in columns.items():
        kind = table.c[name].type
        if not as_text and isinstance(kind, sa.JSON | JsonList):
            of_column = json_texts(of_column)
        elif isinstance(kind, Digest | sa.LargeBinary):
            of_column = list(map(bytes.fromhex, of_column))
        # Most columns of answers have one value: in the statement, it is not bound again for each row.
        constant = _literal(of_column) if len(of_column) >= MANY and not on_server else None
        marks.append(constant or "?")
        if constant is None:
            values.append(of_column)
    rows = list(zip(*values, strict=True)) or [()] * len(of_column)
    if on_server:
        # Rows go to PostgreSQL as statements at about a fifth of the speed of its COPY.
        copy_rows(connection, table.name, [*columns], rows)
        return
    quoted = ", ".join(f'"{name}"' for name in columns)
    whole = len(rows) // IN_STATEMENT * IN_STATEMENT
    for size, some in ((IN_STATEMENT, rows[:whole]), (1, rows[whole:])):
        if some:
            lots = [(*chain.from_iterable(some[start : start + size]),) for start in range(0, len(some), size)]
            of_rows = ", ".join([f"({', '.join(marks)})"] * size)
            connection.exec_driver_sql(f'INSERT INTO "{table.name}" ({quoted}) VALUES {of_rows}', lots)


def _literal(values: Sequence[Any]) -> str | None:
    """The value that all rows share, as an SQL literal of SQLite; None if they differ or if it has no literal."""
    if type(value := values[0]) not in (str, int, NoneType) or not is_constant(values) or "\0" in str(value):
        return None
    return "NULL" if value is None else "'{}'".format(value.replace("'", "''")) if type(value) is str else str(value)


def copy_rows(connection: sa.Connection, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
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


def delete_where(session: Session, table: sa.Table, column: str, values: Iterable[Any]) -> None:
    """Delete the rows whose `column` has one of the values."""
    for chunk in in_chunks(values):
        session.connection().execute(table.delete().where(table.c[column].in_(chunk)))


def change_where(session: Session, table: sa.Table, values: Mapping[str, Any], **key: Any) -> None:
    """Change these values in the rows with this key, given as columns and their contents."""
    rows = [table.c[name] == value for name, value in key.items()]
    session.connection().execute(table.update().where(*rows).values(values))


def check_known(session: Session, table: sa.Table, names: Iterable[str], *, what: str) -> None:
    """Raise InputError that lists the ids of no query of the study, or the names of no assessor."""
    (key,) = table.primary_key
    unknown = sorted(set(names) - set(session.connection().execute(sa.select(key)).scalars()))
    if unknown:
        noun, hint = UNKNOWN[table.name]
        raise InputError(
            f"{what}: {counted(len(unknown), f'unknown {noun}')}",
            faults=[f"{name}: no such {noun}" for name in unknown],
            hint=hint,
        )


def check_distinct(names: Iterable[str], *, what: str) -> None:
    """Raise InputError that lists repeated names, one of which would silently replace the other."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"{what}: {len(twice)} given twice", faults=[f"{name}: given twice" for name in twice])


def refuse_in_use(
    session: Session, tables: Mapping[sa.Table, str], leaving: Collection[tuple[Any, ...]], *, what: str, hint: str
) -> None:
    """Raise InputError when rows of these tables depend on queries, pairs or assignments that would be removed.

    tables: the noun for a row of each. leaving: (query,), (query, document), or with person and occasion.
    """
    in_use: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    columns = (*PAIR_OF_PERSON, "occasion")[: max(map(len, leaving), default=0)]
    for table, words in tables.items() if leaving else ():
        key = [table.c[name] for name in columns]
        for *values, count in session.connection().execute(sa.select(*key, sa.func.count()).group_by(*key)):
            if (*values,) in leaving:
                in_use[(*values,)][words] += count
    if in_use:
        total = sum(in_use.values(), Counter[str]())
        raise InputError(
            f"{counted(len(in_use), 'pair' if len(columns) > 1 else 'query')} would {what}, with {_uses(total)}",
            faults=[f"{' '.join(key[:3])}: {_uses(counts)}" for key, counts in sorted(in_use.items())],
            hint=hint,
        )


def _uses(counts: Counter[str]) -> str:
    return ", ".join(counted(count, words) for words, count in counts.items())


# ----------------------------------------------------------------------------------------------------------------------
# The tables of judging: people, their plan, projects and tasks on servers, and all their answers.
# ----------------------------------------------------------------------------------------------------------------------


PAIR = ("query_id", "doc_id")
PAIR_OF_PERSON = (*PAIR, "assessor")


def to_query() -> sa.Constraint:
    return to(query_id="query.query_id")


def to_person() -> sa.Constraint:
    return to(assessor="assessor.assessor")


class Plan(NamedTuple):
    """Facts about the current plan besides its assignments; `created` is ISO 8601, UTC."""

    sha256: str
    seed: int
    created: str
    per_pair: int | None = None
    """Judgements that each pair is to have; None if the judgements were imported."""
    vacant: tuple[tuple[str, str], ...] = ()
    """Pairs that no assignment names any longer, since their assessors left, as (query_id, doc_id)."""


class SampleDesign(NamedTuple):
    """Rule by which pairs are drawn; fixed with the first sample but for `share`, which may rise."""

    share: float
    """Share of the pairs of the pools that is expected to be drawn."""
    across: str
    """Base of the share: `query`, every query's pool, or `study`, all of them together."""
    floor: float
    """The smallest probability of a pair."""
    unranked: float
    """The probability of a document that no method ranked: cited, or found by hand."""
    seed: int
    created: str
    """ISO 8601, UTC."""
    cheap_label: str | None = None
    """The opinion that predicts grades besides the rankings; it may change until a drawn pair is judged."""

    def faults_of_label(self, label_in_file: str | None) -> tuple[str, ...]:
        """Faults if annot.toml has another label in its place, in words; none if they are the same."""
        if label_in_file == self.cheap_label:
            return ()
        return (f"sample.cheap_label: found {label_in_file or 'none'}, planned with {self.cheap_label or 'none'}",)


@dataclass(frozen=True, slots=True)
class SampledPair(records.OfPair):
    """One pair of a pool under the sample."""

    query_id: str
    doc_id: str
    rank: int | None
    """Rank in the fusion of the rankings, from 1, at the time when the pair came under the sample; None without a
    rank."""
    batch: int
    """Batch: 1 for pairs of the first sample, a higher number for pairs that came later together; 0 for pairs of pools
    that were planned whole before."""
    probability: float
    """Inclusion probability at the share on record, as rounded: above 0, at most 1."""
    drawn: bool
    ranks: Mapping[str, int]
    """Ranks by method, from which `rank` was made."""


class PoolSample(NamedTuple):
    """The sample on record."""

    design: SampleDesign
    pairs: Mapping[tuple[str, str], SampledPair]
    """Pairs of the pools under the sample, drawn or not, by (query_id, doc_id)."""

    @property
    def weights(self) -> dict[tuple[str, str], float]:
        """Number of pairs of the pools that each drawn one represents."""
        return {pair: 1 / sampled.probability for pair, sampled in self.pairs.items() if sampled.drawn}

    def drawn(self, query_id: str, doc_id: str) -> bool:
        """True if the pair is to be judged; so is a pair that is not under the sample."""
        sampled_pair = self.pairs.get((query_id, doc_id))
        return sampled_pair is None or sampled_pair.drawn


Kind = Literal["comments", "reasons"]
"""Texts of assessors next to their grades, and of adjudicators next to the final ones."""
How = Literal["letter", "screen", "consent"]


class Notice(NamedTuple):
    """Notice that a person has from one moment on."""

    assessor: str
    kind: Kind
    how: How
    """Way of the notice: a letter of `annot invite` or the screen they work on; `consent` is to all that they wrote
    until then."""
    at: str
    """ISO 8601, UTC."""
    published: bool
    """True if it announces that their words are published."""
    words: str = ""
    """Evidence of the consent, in the lead's words."""


StoredRound = Literal[
    "judge", "adjudicate", "train", "train-feedback", "substudy-abstract", "substudy-full", "hidden-gold", "labels"
]
"""Purpose of a project. The answers of the first two make the collection; those of the others never count there.

Hidden gold has no project: its pairs are in those of the round `judge`. The tasks of `labels` ask about a query paper
each, and none of them is on record.
"""


class Project(NamedTuple):
    """One person's project of one round on one server; `remote_id` is None until the server is known to have it."""

    project: int
    round: StoredRound
    assessor: str
    server: str
    """Identity of the server, independent of its address."""
    url: str
    """The address at which it was met the last time."""
    version: str
    """The release of Label Studio that it was then."""
    account_id: int | None
    """The server's id of the person's account; None after the account was changed."""
    remote_id: int | None
    created: str | None = None
    """Time when the server made it; None in older records."""
    sent_on: str | None = None
    """Time of its first record (ISO 8601, UTC); None if that is not known."""
    shows: Mapping[str, Any] | None = None
    """Screen, title, instructions and settings after the last push; None in older records."""
    set_back: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Changes by hand that pushes found: the moment, and the parts with their changed values."""
    language: str | None = None
    """Language of its words since the last push."""

    @property
    def number(self) -> int:
        """The server's number of a project that a server is known to have."""
        assert self.remote_id is not None
        return self.remote_id

    def __hash__(self) -> int:
        """Hash of its number, because `shows` cannot be hashed."""
        return hash(self.project)


ShownOpinion = tuple[str, int | None, str | None, str | None]
"""Assessor, grade, why they could not judge, comment."""


class ShownOpinions(NamedTuple):
    """Opinions that one adjudicator's task showed from `sent_at` (ISO 8601, UTC) on, in the order shown."""

    query_id: str
    doc_id: str
    adjudicator: str
    sent_at: str
    opinions: tuple[ShownOpinion, ...]


class AskedModel(NamedTuple):
    """One model with one prompt, asked for opinions under a name that the lead gives."""

    name: str
    url: str
    model: str
    settings: Mapping[str, Any]
    """Settings of `annot.toml` that an answer depends on."""
    prompts: Mapping[str, str]
    """Prompt of each facet without its pair."""
    examples: tuple[tuple[str, str], ...]
    """(query_id, doc_id) of the gold pairs that the prompts show: they are never asked."""
    since: str
    """ISO 8601, UTC."""
    early: tuple[tuple[str, str, str], ...] = ()
    """Steps before people had judged: the moment, `asked` or `shown`, and the lead's reason."""


class ModelCall(NamedTuple):
    """One request to a model's server, recorded before it is sent and completed by the answer."""

    name: str
    query_id: str
    doc_id: str
    repeat: int
    """Number of the opinion on the pair, from 1."""
    attempt: int
    """Number of the request for this opinion, from 1."""
    state: Literal["sent", "read", "cannot_judge", "unreadable", "failed"]
    """`sent`: nothing came back before the program ended. `cannot_judge`: read, but without a grade."""
    prompt_sha256: str
    sent_at: str
    """ISO 8601, UTC."""
    cost: float
    """The most that it can cost, until it is known; then that."""
    estimated: bool = True
    """True if cost and tokens are not the server's."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    status: int | None = None
    """HTTP's; None if no answer came."""
    served: str | None = None
    """The model's name as the server gave it."""
    version: str | None = None
    """Version of the model that the server names (`system_fingerprint`)."""
    answer: str | None = None
    """The complete answer as it came, or the error."""
    grade: int | None = None
    reason: str | None = None
    shown_sha256: str | None = None
    """Hash of the display of its prompt (`annot.store.shown`): like a task's, with `prompt` instead of `screen`."""

    @property
    def cannot_judge(self) -> bool:
        """True if the model answered that it cannot judge the pair."""
        return self.state == "cannot_judge"

    @property
    def pair(self) -> tuple[str, str]:
        """(query_id, doc_id)."""
        return self.query_id, self.doc_id


def answers_table(name: str, record: type, person: str) -> sa.Table:
    """An append-only table of revisions: triggers refuse every UPDATE and DELETE.

    Besides the record it has the origin of the answer (`annot.store.answers.SourcedAnswer`), the hash of its content,
    and `chain_sha256`, the row's link of `annot.store.answers`.
    """
    counted = [column_name for column_name in ("occasion", "revision") if column_name in (*LINE[name], "revision")]
    columns: list[sa.Column[Any]] = [numbered(), *columns_of(record)]
    columns += [column(column_name, str) for column_name in ("source", "server", "annotation", "recorded_at")]
    columns += [column(column_name, str | None) for column_name in ("changed_at", "ruling", "shown_sha256")]
    columns += [column("account", int | None), column("payload", Mapping)]
    columns += [sa.Column(column_name, Digest, nullable=False) for column_name in ("content_sha256", "chain_sha256")]
    return define_table(
        name,
        columns,
        *(to_query(), to(**{person: "assessor.assessor"})),
        unique("line", *LINE[name], "revision"),
        check("grade", GRADE_IN_RANGE),
        *map(from_1, counted),
        sa.Index("query_doc", *PAIR),
    )


ASSESSOR_TABLE = define_table(
    "assessor",
    columns_of(records.Assessor, key=["assessor"]),
    unique("account", "account"),
    check("named", "assessor <> ''"),
)
"""A person. The account is an identity and never leaves the database unasked."""
ASSIGNMENT_TABLE = define_table(
    "assignment",
    columns_of(records.Assignment, key=(*PAIR_OF_PERSON, "occasion")),
    *(to_query(), to_person()),
    unique("position", "assessor", "position"),
    *(from_1("occasion"), from_1("position")),
)
RETURNED_TABLE = define_table(
    "returned",
    columns_of(records.PairReturn, key=(*PAIR_OF_PERSON, "occasion")),
    *(to_query(), to_person()),
    check("occasion_from_2", "occasion >= 2"),
    check("why", "why <> ''"),
)
PLAN_TABLE = define_table("plan", [column("id", int, key=True), *columns_of(Plan)], check("one", "id = 1"))
"""Facts about the plan that the assignments make; there is one."""
SAMPLE_TABLE = define_table(
    "sample",
    [column("id", int, key=True), *columns_of(SampleDesign)],
    check("one", "id = 1"),
    check("share", "share > 0 AND share <= 1"),
)
"""Rule by which pairs are drawn from the pools; there is one at most."""
SAMPLED_TABLE = define_table(
    "sampled_pair",
    columns_of(SampledPair, key=PAIR),
    to_query(),
    *(from_1("rank"), check("batch_from_0", "batch >= 0")),
    check("probability", "probability > 0 AND probability <= 1"),
)
"""Every pair that is under the sample, drawn or not."""
ACCEPTED_TABLE = define_table(
    "accepted",
    [column(name, str, key=name in PAIR) for name in (*PAIR, "why", "accepted_at")],
    to_query(),
    check("why", "why <> ''"),
)
"""A pair whose final grade may rest on fewer judgements than were planned."""
PROJECT_TABLE = define_table(
    "project",
    [numbered(), *columns_of(Project, without=["project"])],
    to_person(),
    unique("round_assessor_server", "round", "assessor", "server"),
    unique("remote_id", "server", "remote_id"),
)
"""One assessor's project of one round on one server."""
TASK_TABLE = define_table(
    "task",
    [
        *(column(name, kind, key=True) for name, kind in (("project_id", int), *dict.fromkeys(PAIR, str).items())),
        *(column("occasion", int, key=True), column("remote_id", int)),
        column("shown", tuple),
    ],
    *(to(project_id="project.id"), to_query()),
    unique("remote_id", "project_id", "remote_id"),
)
"""The server's task for one pair in one project.

shown: `[moment, SHA-256]` of each display (`annot.store.shown`) that it had, from that moment on, the oldest first.
"""
TASK_SECRET_TABLE = define_table(
    "task_secret", [column("id", int, key=True), column("secret", str)], check("one", "id = 1")
)
"""Secret that seals the keys of tasks; there is one, from the first push on."""
CHAIN_TABLE = define_table("chain", [column("name", str, key=True), column("length", int), column("last_sha256", str)])
"""The end of the chain over the rows of one append-only table: how many were recorded, and the last link."""
JUDGEMENT_TABLE = answers_table("judgement", records.Judgement, "assessor")
ADJUDICATION_TABLE = answers_table("adjudication", records.Adjudication, "adjudicator")
SHOWN_OPINIONS_TABLE = define_table(
    "shown_opinions",
    columns_of(ShownOpinions, key=(*PAIR, "adjudicator", "sent_at")),
    *(to_query(), to(adjudicator="assessor.assessor")),
)
NOTICE_TABLE = define_table(
    "told",
    columns_of(Notice, key=["assessor", "kind", "how", "at"]),
    to_person(),
    check("kind", "kind IN ('comments', 'reasons')"),
    check("how", "how IN ('letter', 'screen', 'consent')"),
    check("words", "how <> 'consent' OR words <> ''"),
)
TRIAL_TABLE = define_table("trial", [column("name", str, key=True), column("facts", Mapping)])
"""Facts of a sub-study, or of one assessor's training, by `name`."""
TRIAL_ASSIGNMENT_TABLE = define_table(
    "trial_assignment",
    [*(column(name, str, key=True) for name in ("round", "assessor", *PAIR)), column("position", int)],
    *(to_query(), to_person()),
    unique("position", "round", "assessor", "position"),
    from_1("position"),
)
"""One pair given to one assessor in a round whose answers never count as judgements of the collection."""
TRIAL_JUDGEMENT_TABLE = answers_table("trial_judgement", records.Judgement, "assessor")
"""Answers in such a round, which is their `source`; a table of its own, so that none can count."""
GOLD_TABLE = define_table(
    "gold",
    columns_of(records.Gold, key=PAIR),
    to_query(),
    unique("position", "position"),
    check("grade", "grade >= 0 AND grade <= 9"),
    from_1("position"),
)
OPINION_TABLE = define_table("opinion", columns_of(AskedModel, key=["name"]), check("named", "name <> ''"))
"""Models that are asked, by name. Judgements are people's: no model's opinion is ever among them."""
OPINION_CALL_TABLE = define_table(
    "opinion_call",
    columns_of(ModelCall, key=["name", *PAIR, "repeat", "attempt"]),
    *(to(name="opinion.name"), to_query(), from_1("repeat"), from_1("attempt")),
    check("state", "state IN ('sent', 'read', 'cannot_judge', 'unreadable', 'failed')"),
    check("grade", GRADE_IN_RANGE),
    check("grade_if_read", "(state = 'read') = (grade IS NOT NULL)"),
    check("cost", "cost >= 0"),
)
