"""What all tables of the working state share: their collection, what makes a line of revisions, and their columns."""

from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, Float, Identity, MetaData, Table, Text, TypeDecorator, text
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


class Listed(TypeDecorator[tuple[Any, ...]]):
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
    guidelines by which it was given; and `chain_sha256`, the row's link of `annot.store.chained`.
    """

    id: int | None = Field(default=None, primary_key=True, sa_column_args=[Identity()])
    source: str = Field(sa_type=Text)
    server: str = Field(sa_type=Text)
    query_id: str = Field(sa_type=Text)
    doc_id: str = Field(sa_type=Text)
    annotation: str = Field(sa_type=Text)
    revision: int
    grade: int | None
    cannot_judge: str | None = Field(sa_type=Text)
    comment: str | None = Field(sa_type=Text)
    judged_at: str | None = Field(sa_type=Text)
    lead_time: float | None = Field(sa_type=Float)
    flags: tuple[str, ...] = Field(sa_type=Listed)
    payload: Any = Field(sa_type=JSON)
    content_sha256: str = Field(sa_type=Text)
    recorded_at: str = Field(sa_type=Text)
    account: int | None = Field(sa_type=BigInteger)
    changed_at: str | None = Field(sa_type=Text)
    ruling: str | None = Field(sa_type=Text)
    guidelines_sha256: str | None = Field(sa_type=Text)
    chain_sha256: str = Field(sa_type=Text, sa_column_kwargs={"server_default": text("''")})


def table(model: type[SQLModel]) -> Table:
    """The table of a row class, for statements over many rows."""
    return TABLES.tables[str(model.__tablename__)]
