"""The migrations of the database: a list of functions that only grows, one transaction each."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from annot.base.errors import StoreError
from annot.base.records import Source
from annot.store.base import LINE, table
from annot.store.chained import make_chain
from annot.store.guidelines import History, in_force
from annot.store.judging_models import (
    AcceptedRow,
    ChainRow,
    GoldRow,
    GuidelinesRow,
    ReturnedRow,
    ShownOpinionsRow,
    TaskRow,
    TaskSecretRow,
    ToldRow,
    TrialAssignmentRow,
    TrialJudgementRow,
    TrialRow,
)
from annot.store.models import PoolAdditionRow
from annot.store.schema import drop_triggers, make_append_only, make_tables, make_triggers

VERSION_TABLE = "annot_schema"


def add_paper_type(connection: Connection) -> None:
    """The type of a query's paper; the queries that stand have none on record."""
    connection.execute(text("ALTER TABLE query ADD COLUMN paper_type TEXT"))


def add_origin_of_answers(connection: Connection) -> None:
    """Whose account each answer came from, when it was last changed, and the lead's word on it; none is on record yet.

    Of projects, when the server made them.
    """
    for rows in ("judgement", "adjudication"):
        for column in ("account BIGINT", "changed_at TEXT", "ruling TEXT"):
            connection.execute(text(f"ALTER TABLE {rows} ADD COLUMN {column}"))
    connection.execute(text("ALTER TABLE project ADD COLUMN created TEXT"))


def add_guidelines(connection: Connection) -> None:
    """The guidelines that are sent; of those sent before none is on record."""
    table(GuidelinesRow).create(connection, checkfirst=True)


def add_leaving_and_shares(connection: Connection) -> None:
    """When a person left, the hours they have, and when they were first sent something; of those on record, unknown."""
    connection.execute(text("ALTER TABLE assessor ADD COLUMN left_on TEXT"))
    connection.execute(text("ALTER TABLE assessor ADD COLUMN share FLOAT"))
    connection.execute(text("ALTER TABLE project ADD COLUMN sent_on TEXT"))


def add_returned(connection: Connection) -> None:
    """The pairs that were put before their assessors again; none were before."""
    table(ReturnedRow).create(connection, checkfirst=True)


def add_task_secret(connection: Connection) -> None:
    """A place for the secret of the task keys; tasks on record were sent under plain keys, and stay so."""
    table(TaskSecretRow).create(connection, checkfirst=True)


def add_trials(connection: Connection) -> None:
    """Rounds whose answers never count: their own tables, and no list of rounds in the database.

    SQLite cannot drop a constraint: the table is made again, as it stands but for that line, with what is in it.
    """
    known = inspect(connection).get_table_names()
    for model in (TrialRow, TrialAssignmentRow, TrialJudgementRow, GoldRow):
        table(model).create(connection, checkfirst=True)
    if TrialJudgementRow.__tablename__ not in known:
        make_append_only(connection, "trial_judgement")
    if connection.dialect.name == "postgresql":
        connection.execute(text("ALTER TABLE project DROP CONSTRAINT IF EXISTS project_round"))
        return
    declared = connection.execute(text("SELECT sql FROM sqlite_master WHERE name = 'project'")).scalar_one()
    without = re.sub(r",\s*CONSTRAINT project_round CHECK \([^()]*\([^()]*\)\)", "", declared)
    if without == declared:
        return
    for name in ("project", "task"):
        connection.execute(text(f"CREATE TEMPORARY TABLE kept_{name} AS SELECT * FROM {name}"))
    # The tasks stand on the projects, so they go first and come back last.
    for statement in ("DELETE FROM task", "DROP TABLE project"):
        connection.execute(text(statement))
    connection.exec_driver_sql(without)
    for name in ("project", "task"):
        connection.execute(text(f"INSERT INTO {name} SELECT * FROM kept_{name}"))
        connection.execute(text(f"DROP TABLE kept_{name}"))


def add_guidelines_shown(connection: Connection) -> None:
    """The guidelines that stood beside each task and answer, by the moments on record; what was imported has none."""
    for rows in LINE:
        if "guidelines_sha256" not in {column["name"] for column in inspect(connection).get_columns(rows)}:
            connection.execute(text(f"ALTER TABLE {rows} ADD COLUMN guidelines_sha256 TEXT"))
    connection.execute(text("ALTER TABLE task ADD COLUMN guidelines JSON DEFAULT '[]' NOT NULL"))
    histories: dict[str, History] = {}
    sent = text("SELECT facet, sent_at, sha256 FROM guidelines ORDER BY facet, sent_at")
    for facet, sent_at, sha256 in connection.execute(sent):
        histories[facet] = (*histories.get(facet, ()), (sent_at, sha256))
    for facet, history in histories.items():
        of_facet = text("query_id IN (SELECT query_id FROM query WHERE facet = :facet)").bindparams(facet=facet)
        connection.execute(table(TaskRow).update().where(of_facet).values(guidelines=history))
        for rows in LINE:
            from_server = text(
                f"SELECT {rows}.id, COALESCE(changed_at, judged_at) FROM {rows} JOIN query USING (query_id) "
                "WHERE facet = :facet AND server <> '' AND COALESCE(changed_at, judged_at) IS NOT NULL"
            )
            for number, moment in connection.execute(from_server, {"facet": facet}).all():
                connection.execute(
                    text(f"UPDATE {rows} SET guidelines_sha256 = :sha256 WHERE id = :id"),
                    {"id": number, "sha256": in_force(history, moment)},
                )


def add_pool_additions(connection: Connection) -> None:
    """What was added to pools after they had been drawn; nothing was before."""
    table(PoolAdditionRow).create(connection, checkfirst=True)


def add_correction_times(connection: Connection) -> None:
    """When labels were corrected, by the server's clock; of those on record nobody knows."""
    if "corrected_at" not in {column["name"] for column in inspect(connection).get_columns("facet_labels")}:
        connection.execute(text("ALTER TABLE facet_labels ADD COLUMN corrected_at TEXT"))


def add_completeness(connection: Connection) -> None:
    """How many judgements a pair is to have, by the plan on record: the most that one has; none where all are imported.

    Pairs that are taken with fewer: none were before.
    """
    table(AcceptedRow).create(connection, checkfirst=True)
    if "per_pair" in {column["name"] for column in inspect(connection).get_columns("plan")}:
        return
    connection.execute(text("ALTER TABLE plan ADD COLUMN per_pair INTEGER"))
    connection.execute(text("ALTER TABLE plan ADD COLUMN vacant JSON DEFAULT '[]' NOT NULL"))
    connection.execute(
        text(
            "UPDATE plan SET per_pair = (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM assignment WHERE occasion = 1 "
            "GROUP BY query_id, doc_id) AS teams) "
            f"WHERE NOT EXISTS (SELECT 1 FROM imported WHERE what IN ('{Source.CSFCUBE}', '{Source.FILE}'))"
        )
    )


def add_shown_opinions(connection: Connection) -> None:
    """What adjudicators' tasks showed; of those sent before none is on record."""
    table(ShownOpinionsRow).create(connection, checkfirst=True)


def add_contested(connection: Connection) -> None:
    """Whether an adjudicator decides on a returned pair that was taken back; none did."""
    if "contested" not in {column["name"] for column in inspect(connection).get_columns("returned")}:
        connection.execute(text("ALTER TABLE returned ADD COLUMN contested BOOLEAN DEFAULT false NOT NULL"))


def add_chains(connection: Connection) -> None:
    """The chains over the rows of answers, as these are now."""
    table(ChainRow).create(connection, checkfirst=True)
    for rows in LINE:
        if "chain_sha256" not in {column["name"] for column in inspect(connection).get_columns(rows)}:
            connection.execute(text(f"ALTER TABLE {rows} ADD COLUMN chain_sha256 TEXT DEFAULT '' NOT NULL"))
        make_chain(connection, rows)


def add_what_projects_show(connection: Connection) -> None:
    """What each project shows, and what was set back; of those sent before it is not known before the next push."""
    if "shows" in {column["name"] for column in inspect(connection).get_columns("project")}:
        return
    connection.execute(text("ALTER TABLE project ADD COLUMN shows JSON"))
    connection.execute(text("ALTER TABLE project ADD COLUMN set_back JSON DEFAULT '[]' NOT NULL"))


def add_told(connection: Connection) -> None:
    """What people were told of the publication of their words; of earlier letters and screens nothing is on record."""
    table(ToldRow).create(connection, checkfirst=True)


MIGRATIONS: list[Callable[[Connection], None]] = [
    make_tables,
    add_paper_type,
    add_origin_of_answers,
    add_guidelines,
    add_leaving_and_shares,
    add_returned,
    add_task_secret,
    add_trials,
    add_guidelines_shown,
    add_pool_additions,
    add_correction_times,
    add_completeness,
    add_shown_opinions,
    add_contested,
    add_chains,
    add_what_projects_show,
    add_told,
]
"""Migration n brings a database from version n - 1 to n. New ones go to the end.

The first makes the tables as they are declared now, so that a new database is at the last version at once.
"""


def version_of(connection: Connection) -> int:
    """The version of the database: how many migrations it has been through; 0 when it is empty.

    Raises StoreError when the tables in it are another program's, or a newer program's.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise StoreError(
                f"the database holds tables of another program ({', '.join(sorted(tables)[:3])}, ...)",
                hint="name another in ANNOT_DATABASE",
            )
        return 0
    version = int(connection.execute(text(f"SELECT COALESCE(MAX(version), 0) FROM {VERSION_TABLE}")).scalar_one())
    if version > len(MIGRATIONS):
        raise StoreError(f"the database has version {version}, expected {len(MIGRATIONS)} or less", hint="update annot")
    return version


def make_version_table() -> str:
    """The statement that makes the table of versions where it is not there."""
    return f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version INTEGER PRIMARY KEY NOT NULL)"


def migrate(connection: Connection, number: int) -> None:
    """Run migration `number` in the caller's transaction, unless another process has done so by now.

    The append-only tables can be changed by the migration, and by nothing else: the triggers that refuse it are made
    again before the transaction ends.
    The caller holds the one write lock, so two processes that open a new database do not meet here.
    """
    version = version_of(connection)
    if version >= number:
        return
    connection.execute(text(make_version_table()))
    drop_triggers(connection)
    MIGRATIONS[number - 1](connection)
    make_triggers(connection)
    reached = len(MIGRATIONS) if version == 0 else number
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} (version) VALUES (:version)"), {"version": reached})
