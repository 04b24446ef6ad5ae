"""Making the tables of a new database: those of `annot.store.models`, and what makes two of them append-only."""

from __future__ import annotations

from sqlalchemy import Connection

from annot.store.models import LINE, TABLES

TRIGGERS = {
    "sqlite": (
        *(
            f"""
            CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
            BEGIN SELECT RAISE(ABORT, '{table} is append-only: {verb} refused'); END
            """
            for table in LINE
            for verb in ("UPDATE", "DELETE")
        ),
        # INSERT OR REPLACE deletes a row without the trigger above.
        *(
            f"""
            CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
            WHEN EXISTS (
                SELECT 1 FROM {table} AS old WHERE old.id = NEW.id OR (
                    {" AND ".join(f"old.{column} = NEW.{column}" for column in (*line, "revision"))}
                )
            )
            BEGIN SELECT RAISE(ABORT, '{table} is append-only: a row with this key is there'); END
            """
            for table, line in LINE.items()
        ),
    ),
    "postgresql": (
        """
        CREATE FUNCTION annot_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION USING
                MESSAGE = TG_TABLE_NAME || ' is append-only: ' || TG_OP || ' refused',
                ERRCODE = 'integrity_constraint_violation';
        END
        $$
        """,
        *(
            f"""
            CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION annot_append_only()
            """
            for table in LINE
        ),
    ),
}
"""What makes the two tables append-only for everyone, whatever program writes."""


def make_tables(connection: Connection) -> None:
    """Make every table, index and trigger in the caller's transaction."""
    TABLES.create_all(connection)
    for statement in TRIGGERS[connection.dialect.name]:
        # As the driver takes it: a colon begins no parameter.
        connection.exec_driver_sql(statement)
