"""The tables of what is judged and ranked: sentence labels, queries, pools, folds, runs, imports.

A SQLModel table class does not check values, so each rule is a CHECK, a UNIQUE or a foreign key. A new database is made
from these classes and those of `judging_models`; once a version is released, a change needs a migration too. Rows never
leave `annot.store`.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKeyConstraint,
    Text,
    UniqueConstraint,
)
from sqlmodel import Field

from annot.store.base import Listed, Row


class FacetLabelsRow(Row, table=True):
    """The sentence labels of a paper, joined by commas, and where they come from; `corrected_at` is of version 11."""

    __tablename__ = "facet_labels"
    __table_args__ = (
        CheckConstraint("origin IN ('carried', 'corrected') OR origin LIKE 'predicted:_%'", name="facet_labels_origin"),
    )
    paper_id: str = Field(primary_key=True, sa_type=Text)
    labels: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)
    corrected_at: str | None = Field(sa_type=Text)


class QueryRow(Row, table=True):
    """A paper and one facet of it; `paper_type` came with the second version."""

    __tablename__ = "query"
    __table_args__ = (UniqueConstraint("paper_id", "facet", name="query_paper_facet"),)
    query_id: str = Field(primary_key=True, sa_type=Text)
    paper_id: str = Field(sa_type=Text)
    facet: str = Field(sa_type=Text)
    sentences: tuple[int, ...] = Field(sa_type=Listed)
    paper_type: str | None = Field(sa_type=Text)


class PoolRow(Row, table=True):
    """How the pool of one query paper was drawn; all facets of the paper share it."""

    __tablename__ = "pool"
    __table_args__ = (
        CheckConstraint("per_method IS NULL OR per_method >= 1", name="pool_per_method"),
        CheckConstraint("ranking_depth IS NULL OR ranking_depth >= 1", name="pool_ranking_depth"),
        CheckConstraint("cited_outside IS NULL OR cited_outside >= 0", name="pool_cited_outside"),
    )
    paper_id: str = Field(primary_key=True, sa_type=Text)
    mode: str = Field(sa_type=Text)
    per_method: int | None
    ranking_depth: int | None
    seed: int | None = Field(sa_type=BigInteger)
    methods: tuple[str, ...] = Field(sa_type=Listed)
    without: tuple[str, ...] = Field(sa_type=Listed)
    dry: tuple[str, ...] = Field(sa_type=Listed)
    cited_outside: int | None
    rankings_sha256: str = Field(sa_type=Text)


class PoolEntryRow(Row, table=True):
    """One document of a pool; `position` is its place in the order drawn, from 1."""

    __tablename__ = "pool_entry"
    __table_args__ = (
        ForeignKeyConstraint(["paper_id"], ["pool.paper_id"], name="pool_entry_pool"),
        UniqueConstraint("paper_id", "position", name="pool_entry_position"),
        CheckConstraint("position >= 1", name="pool_entry_position_from_1"),
    )
    paper_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
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
    paper_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
    method: str = Field(primary_key=True, sa_type=Text)
    rank: int | None
    score: float | None = Field(sa_type=Float)
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
    paper_id: str = Field(primary_key=True, sa_type=Text)
    version: int = Field(primary_key=True)
    method: str = Field(sa_type=Text)
    depth: int | None
    documents: tuple[str, ...] = Field(sa_type=Listed)
    reason: str | None = Field(sa_type=Text)
    made_by: str | None = Field(sa_type=Text)
    made_at: str | None = Field(sa_type=Text)


class SplitRow(Row, table=True):
    """A query in a fold of a named split; folds may share queries, as development and test folds do."""

    __tablename__ = "split"
    __table_args__ = (ForeignKeyConstraint(["query_id"], ["query.query_id"], name="split_query"),)
    name: str = Field(primary_key=True, sa_type=Text)
    query_id: str = Field(primary_key=True, sa_type=Text)
    fold: str = Field(primary_key=True, sa_type=Text)


class RunRow(Row, table=True):
    """A run: what made it, and the hash of its file."""

    __tablename__ = "run"
    tag: str = Field(primary_key=True, sa_type=Text)
    kind: str = Field(sa_type=Text)
    facts: dict[str, Any] = Field(sa_type=JSON)
    sha256: str = Field(sa_type=Text)


class ImportRow(Row, table=True):
    """A source that was read in, and what was found there."""

    __tablename__ = "imported"
    what: str = Field(primary_key=True, sa_type=Text)
    source_sha256: str = Field(primary_key=True, sa_type=Text)
    facts: dict[str, Any] = Field(sa_type=JSON)
