"""Every table of the working state, with the rules that must hold as constraints in the database.

A SQLModel table class does not check values, so each rule is a CHECK, a UNIQUE or a foreign key. A new database is made
from these classes; once a version is released, a change here needs a migration too. Rows never leave `annot.store`.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKeyConstraint,
    Identity,
    Index,
    Text,
    UniqueConstraint,
    text,
)
from sqlmodel import Field

from annot.store.base import GRADE_IN_RANGE, LINE, Listed, RevisionRow, Row


class FacetLabelsRow(Row, table=True):
    """The sentence labels of a paper, joined by commas, and where they come from."""

    __tablename__ = "facet_labels"
    __table_args__ = (
        CheckConstraint("origin IN ('carried', 'corrected') OR origin LIKE 'predicted:_%'", name="facet_labels_origin"),
    )
    paper_id: str = Field(primary_key=True, sa_type=Text)
    labels: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)


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


class AssessorRow(Row, table=True):
    """A person. The account is an identity and never leaves the database unasked.

    `left_on` and `share` came with the third version.
    """

    __tablename__ = "assessor"
    __table_args__ = (
        UniqueConstraint("account", name="assessor_account"),
        CheckConstraint("assessor <> ''", name="assessor_named"),
    )
    assessor: str = Field(primary_key=True, sa_type=Text)
    account: str | None = Field(sa_type=Text)
    adjudicator: bool
    left_on: str | None = Field(sa_type=Text)
    share: float | None = Field(sa_type=Float)


class AssignmentRow(Row, table=True):
    """One pair given to one assessor on one occasion; `position` is its place in that assessor's sequence, from 1."""

    __tablename__ = "assignment"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="assignment_query"),
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="assignment_assessor"),
        UniqueConstraint("assessor", "position", name="assignment_position"),
        CheckConstraint("occasion >= 1", name="assignment_occasion_from_1"),
        CheckConstraint("position >= 1", name="assignment_position_from_1"),
    )
    query_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
    assessor: str = Field(primary_key=True, sa_type=Text)
    occasion: int = Field(primary_key=True)
    position: int


class GuidelinesRow(Row, table=True):
    """The guidelines of a facet as they were sent from one moment on."""

    __tablename__ = "guidelines"
    facet: str = Field(primary_key=True, sa_type=Text)
    sent_at: str = Field(primary_key=True, sa_type=Text)
    sha256: str = Field(sa_type=Text)
    text: str = Field(sa_type=Text)
    why: str | None = Field(sa_type=Text)


class ReturnedRow(Row, table=True):
    """A pair that was put before its assessor again; it came with the third version."""

    __tablename__ = "returned"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="returned_query"),
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="returned_assessor"),
        CheckConstraint("occasion >= 2", name="returned_occasion_from_2"),
        CheckConstraint("why <> ''", name="returned_why"),
    )
    query_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
    assessor: str = Field(primary_key=True, sa_type=Text)
    occasion: int = Field(primary_key=True)
    why: str = Field(sa_type=Text)
    returned_at: str = Field(sa_type=Text)
    withdrawn_at: str | None = Field(sa_type=Text)


class PlanRow(Row, table=True):
    """The plan that the assignments make; there is one."""

    __tablename__ = "plan"
    __table_args__ = (CheckConstraint("id = 1", name="plan_one"),)
    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    sha256: str = Field(sa_type=Text)
    seed: int = Field(sa_type=BigInteger)
    created: str = Field(sa_type=Text)


class ProjectRow(Row, table=True):
    """One assessor's project of one round on one server; `remote_id` is None until the server has made it.

    `server` tells servers apart and outlives a change of the address, which is `url`. `version` is its
    program's, at the last push, and `account_id` its id of the assessor's account. `created` is when the server made
    the project (a server that was restored gives an id twice), `sent_on` when it was first noted down; both came with
    later versions.
    """

    __tablename__ = "project"
    __table_args__ = (
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="project_assessor"),
        UniqueConstraint("round", "assessor", "server", name="project_round_assessor_server"),
        UniqueConstraint("server", "remote_id", name="project_remote_id"),
    )
    id: int | None = Field(default=None, primary_key=True, sa_column_args=[Identity()])
    round: str = Field(sa_type=Text)
    assessor: str = Field(sa_type=Text)
    server: str = Field(sa_type=Text)
    url: str = Field(sa_type=Text)
    version: str = Field(sa_type=Text)
    account_id: int | None = Field(sa_type=BigInteger)
    remote_id: int | None = Field(sa_type=BigInteger)
    created: str | None = Field(sa_type=Text)
    sent_on: str | None = Field(sa_type=Text)


class TaskRow(Row, table=True):
    """The server's task for one pair in one project.

    guidelines: `[moment, SHA-256]` of each version that stood beside it, from that moment on, the oldest first.
    """

    __tablename__ = "task"
    __table_args__ = (
        ForeignKeyConstraint(["project_id"], ["project.id"], name="task_project"),
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="task_query"),
        UniqueConstraint("project_id", "remote_id", name="task_remote_id"),
    )
    project_id: int = Field(primary_key=True)
    query_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
    occasion: int = Field(primary_key=True)
    remote_id: int = Field(sa_type=BigInteger)
    guidelines: tuple[tuple[str, str], ...] = Field(
        default=(), sa_type=Listed, sa_column_kwargs={"server_default": text("'[]'")}
    )


class TaskSecretRow(Row, table=True):
    """With what the keys of tasks are sealed; there is one, from the first push on."""

    __tablename__ = "task_secret"
    __table_args__ = (CheckConstraint("id = 1", name="task_secret_one"),)
    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    secret: str = Field(sa_type=Text)


class JudgementRow(RevisionRow, table=True):
    """One revision of one judgement."""

    __tablename__ = "judgement"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="judgement_query"),
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="judgement_assessor"),
        UniqueConstraint(*LINE["judgement"], "revision", name="judgement_line"),
        CheckConstraint(GRADE_IN_RANGE, name="judgement_grade"),
        CheckConstraint("occasion >= 1", name="judgement_occasion_from_1"),
        CheckConstraint("revision >= 1", name="judgement_revision_from_1"),
        Index("judgement_query_doc", "query_id", "doc_id"),
    )
    assessor: str = Field(sa_type=Text)
    occasion: int


class AdjudicationRow(RevisionRow, table=True):
    """One revision of one adjudication."""

    __tablename__ = "adjudication"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="adjudication_query"),
        ForeignKeyConstraint(["adjudicator"], ["assessor.assessor"], name="adjudication_adjudicator"),
        UniqueConstraint(*LINE["adjudication"], "revision", name="adjudication_line"),
        CheckConstraint(GRADE_IN_RANGE, name="adjudication_grade"),
        CheckConstraint("revision >= 1", name="adjudication_revision_from_1"),
        Index("adjudication_query_doc", "query_id", "doc_id"),
    )
    adjudicator: str = Field(sa_type=Text)
    reason: str | None = Field(sa_type=Text)
    ratings: str = Field(sa_type=Text)
    shown: tuple[str, ...] = Field(sa_type=Listed)


class TrialRow(Row, table=True):
    """What is on record of a sub-study, or of one assessor's training; `name` says which."""

    __tablename__ = "trial"
    name: str = Field(primary_key=True, sa_type=Text)
    facts: dict[str, Any] = Field(sa_type=JSON)


class TrialAssignmentRow(Row, table=True):
    """One pair given to one assessor in a round whose answers never count as judgements of the collection."""

    __tablename__ = "trial_assignment"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="trial_assignment_query"),
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="trial_assignment_assessor"),
        UniqueConstraint("round", "assessor", "position", name="trial_assignment_position"),
        CheckConstraint("position >= 1", name="trial_assignment_position_from_1"),
    )
    round: str = Field(primary_key=True, sa_type=Text)
    assessor: str = Field(primary_key=True, sa_type=Text)
    query_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
    position: int


class TrialJudgementRow(RevisionRow, table=True):
    """One revision of one answer in such a round, which is its `source`; a table of its own, so that none can count."""

    __tablename__ = "trial_judgement"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="trial_judgement_query"),
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="trial_judgement_assessor"),
        UniqueConstraint(*LINE["trial_judgement"], "revision", name="trial_judgement_line"),
        CheckConstraint(GRADE_IN_RANGE, name="trial_judgement_grade"),
        CheckConstraint("occasion >= 1", name="trial_judgement_occasion_from_1"),
        CheckConstraint("revision >= 1", name="trial_judgement_revision_from_1"),
        Index("trial_judgement_query_doc", "query_id", "doc_id"),
    )
    assessor: str = Field(sa_type=Text)
    occasion: int


class GoldRow(Row, table=True):
    """A pair with the grade that assessors in training are to learn, and why; `position` is its place, from 1."""

    __tablename__ = "gold"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="gold_query"),
        UniqueConstraint("position", name="gold_position"),
        CheckConstraint("grade >= 0 AND grade <= 9", name="gold_grade"),
        CheckConstraint("position >= 1", name="gold_position_from_1"),
    )
    query_id: str = Field(primary_key=True, sa_type=Text)
    doc_id: str = Field(primary_key=True, sa_type=Text)
    grade: int
    why: str = Field(sa_type=Text)
    position: int


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
