"""The tables of what is judged and ranked, and what all tables share: their collection, and the columns of revisions.

A SQLModel table class does not check values, so each rule is a CHECK, a UNIQUE or a foreign key. A new database is made
from these classes and those of `judging_models`; once a version is released, a change needs a migration too. Rows never
leave `annot.store`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Dialect,
    ForeignKeyConstraint,
    Identity,
    MetaData,
    Table,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

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
