"""The tables of judging: people, their plan, projects and tasks on servers, and all that they answered.

`annot.store.models` says how rules are declared.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Identity,
    Index,
    UniqueConstraint,
    text,
)
from sqlmodel import Field

from annot.store.models import GRADE_IN_RANGE, LINE, JsonList, RevisionRow, Row

EMPTY = {"server_default": text("'[]'")}


def rules_of_answers(table: str, *, person: str) -> tuple[Any, ...]:
    """What holds for each revision of an answer by the `person`, the name of its column."""
    return (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name=f"{table}_query"),
        ForeignKeyConstraint([person], ["assessor.assessor"], name=f"{table}_{person}"),
        UniqueConstraint(*LINE[table], "revision", name=f"{table}_line"),
        CheckConstraint(GRADE_IN_RANGE, name=f"{table}_grade"),
        *(
            CheckConstraint(f"{one} >= 1", name=f"{table}_{one}_from_1")
            for one in ("occasion", "revision")
            if one in (*LINE[table], "revision")
        ),
        Index(f"{table}_query_doc", "query_id", "doc_id"),
    )


class AssessorRow(Row, table=True):
    """A person. The account is an identity and never leaves the database unasked."""

    __tablename__ = "assessor"
    __table_args__ = (
        UniqueConstraint("account", name="assessor_account"),
        CheckConstraint("assessor <> ''", name="assessor_named"),
    )
    assessor: str = Field(primary_key=True)
    account: str | None
    adjudicator: bool
    left_on: str | None
    share: float | None


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
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    assessor: str = Field(primary_key=True)
    occasion: int = Field(primary_key=True)
    position: int


class GuidelinesRow(Row, table=True):
    """The guidelines of a facet as they were sent from one moment on."""

    __tablename__ = "guidelines"
    facet: str = Field(primary_key=True)
    sent_at: str = Field(primary_key=True)
    sha256: str
    text: str
    why: str | None


class ReturnedRow(Row, table=True):
    """A pair that was put before its assessor again."""

    __tablename__ = "returned"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="returned_query"),
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="returned_assessor"),
        CheckConstraint("occasion >= 2", name="returned_occasion_from_2"),
        CheckConstraint("why <> ''", name="returned_why"),
    )
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    assessor: str = Field(primary_key=True)
    occasion: int = Field(primary_key=True)
    why: str
    returned_at: str
    withdrawn_at: str | None
    contested: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})


class PlanRow(Row, table=True):
    """The plan that the assignments make; there is one.

    per_pair: how many judgements each pair is to have; NULL where the judgements were imported. vacant: pairs that no
    assignment names any more, since their assessors left.
    """

    __tablename__ = "plan"
    __table_args__ = (CheckConstraint("id = 1", name="plan_one"),)
    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    sha256: str
    seed: int = Field(sa_type=BigInteger)
    created: str
    per_pair: int | None
    vacant: tuple[tuple[str, str], ...] = Field(default=(), sa_type=JsonList, sa_column_kwargs=EMPTY)


class AcceptedRow(Row, table=True):
    """A pair whose final grade may rest on fewer judgements than were planned."""

    __tablename__ = "accepted"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="accepted_query"),
        CheckConstraint("why <> ''", name="accepted_why"),
    )
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    why: str
    accepted_at: str


class ProjectRow(Row, table=True):
    """One assessor's project of one round on one server; `remote_id` is None until the server has made it.

    `server` tells servers apart and outlives a change of the address, which is `url`. `version` is its
    program's, at the last push, and `account_id` its id of the assessor's account. `created` is when the server made
    the project (a server that was restored gives an id twice), `sent_on` when it was first noted down. `shows` is the
    project's screen, title, instructions and settings as they were after the last push, and `set_back` what a push
    found changed by hand: `[moment, {name: what was found}]` each.
    """

    __tablename__ = "project"
    __table_args__ = (
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="project_assessor"),
        UniqueConstraint("round", "assessor", "server", name="project_round_assessor_server"),
        UniqueConstraint("server", "remote_id", name="project_remote_id"),
    )
    id: int | None = Field(default=None, primary_key=True, sa_column_args=[Identity()])
    round: str
    assessor: str
    server: str
    url: str
    version: str
    account_id: int | None = Field(sa_type=BigInteger)
    remote_id: int | None = Field(sa_type=BigInteger)
    created: str | None
    sent_on: str | None
    shows: dict[str, Any] | None = Field(sa_type=JSON)
    set_back: tuple[tuple[str, dict[str, Any]], ...] = Field(default=(), sa_type=JsonList, sa_column_kwargs=EMPTY)


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
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    occasion: int = Field(primary_key=True)
    remote_id: int = Field(sa_type=BigInteger)
    guidelines: tuple[tuple[str, str], ...] = Field(default=(), sa_type=JsonList, sa_column_kwargs=EMPTY)


class TaskSecretRow(Row, table=True):
    """With what the keys of tasks are sealed; there is one, from the first push on."""

    __tablename__ = "task_secret"
    __table_args__ = (CheckConstraint("id = 1", name="task_secret_one"),)
    id: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    secret: str


class ChainRow(Row, table=True):
    """The end of the chain over the rows of one append-only table: how many were recorded, and the last link."""

    __tablename__ = "chain"
    name: str = Field(primary_key=True)
    length: int
    last_sha256: str


class JudgementRow(RevisionRow, table=True):
    """One revision of one judgement."""

    __tablename__ = "judgement"
    __table_args__ = rules_of_answers("judgement", person="assessor")
    assessor: str
    occasion: int


class AdjudicationRow(RevisionRow, table=True):
    """One revision of one adjudication."""

    __tablename__ = "adjudication"
    __table_args__ = rules_of_answers("adjudication", person="adjudicator")
    adjudicator: str
    reason: str | None
    ratings: str
    shown: tuple[str, ...] = Field(sa_type=JsonList)


class ShownOpinionsRow(Row, table=True):
    """What an adjudicator's task showed of the assessors' answers from one moment on.

    opinions: `[assessor, grade, why they could not judge, comment]`, in the order shown.
    """

    __tablename__ = "shown_opinions"
    __table_args__ = (
        ForeignKeyConstraint(["query_id"], ["query.query_id"], name="shown_opinions_query"),
        ForeignKeyConstraint(["adjudicator"], ["assessor.assessor"], name="shown_opinions_adjudicator"),
    )
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    adjudicator: str = Field(primary_key=True)
    sent_at: str = Field(primary_key=True)
    opinions: tuple[tuple[Any, ...], ...] = Field(sa_type=JsonList)


class ToldRow(Row, table=True):
    """What a person was told of the publication of their words, from one moment on."""

    __tablename__ = "told"
    __table_args__ = (
        ForeignKeyConstraint(["assessor"], ["assessor.assessor"], name="told_assessor"),
        CheckConstraint("kind IN ('comments', 'reasons')", name="told_kind"),
        CheckConstraint("how IN ('letter', 'screen', 'consent')", name="told_how"),
        CheckConstraint("how <> 'consent' OR words <> ''", name="told_words"),
    )
    assessor: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    how: str = Field(primary_key=True)
    at: str = Field(primary_key=True)
    published: bool
    words: str


class TrialRow(Row, table=True):
    """What is on record of a sub-study, or of one assessor's training; `name` says which."""

    __tablename__ = "trial"
    name: str = Field(primary_key=True)
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
    round: str = Field(primary_key=True)
    assessor: str = Field(primary_key=True)
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    position: int


class TrialJudgementRow(RevisionRow, table=True):
    """One revision of one answer in such a round, which is its `source`; a table of its own, so that none can count."""

    __tablename__ = "trial_judgement"
    __table_args__ = rules_of_answers("trial_judgement", person="assessor")
    assessor: str
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
    query_id: str = Field(primary_key=True)
    doc_id: str = Field(primary_key=True)
    grade: int
    why: str
    position: int
