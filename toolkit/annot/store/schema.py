"""Making the tables of a new database: those of `annot.store.models`, and what makes some of them append-only."""

from __future__ import annotations

from sqlalchemy import Connection

from annot.store.models import LINE, TABLES

APPEND_ONLY_FUNCTION = """
    CREATE FUNCTION annot_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION USING
            MESSAGE = TG_TABLE_NAME || ' is append-only: ' || TG_OP || ' refused',
            ERRCODE = 'integrity_constraint_violation';
    END
    $$
    """


def make_tables(connection: Connection) -> None:
    """Make every table, index and trigger in the caller's transaction."""
    TABLES.create_all(connection)
    if connection.dialect.name == "postgresql":
        # As the driver takes it: a colon begins no parameter.
        connection.exec_driver_sql(APPEND_ONLY_FUNCTION)
    for table in LINE:
        make_append_only(connection, table)


def make_append_only(connection: Connection, table: str) -> None:
    """Make the table append-only for everyone, whatever program writes."""
    for statement in _triggers(table)[connection.dialect.name]:
        connection.exec_driver_sql(statement)


def _triggers(table: str) -> dict[str, tuple[str, ...]]:
    """The statements by the kind of database."""
    same_line = " AND ".join(f"old.{column} = NEW.{column}" for column in (*LINE[table], "revision"))
    return {
        "sqlite": (
            *(
                f"""
                CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
                BEGIN SELECT RAISE(ABORT, '{table} is append-only: {verb} refused'); END
                """
                for verb in ("UPDATE", "DELETE")
            ),
            # INSERT OR REPLACE deletes a row without the trigger above.
            f"""
            CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
            WHEN EXISTS (SELECT 1 FROM {table} AS old WHERE old.id = NEW.id OR ({same_line}))
            BEGIN SELECT RAISE(ABORT, '{table} is append-only: a row with this key is there'); END
            """,
        ),
        "postgresql": (
            f"""
            CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION annot_append_only()
            """,
        ),
    }
