"""Makes `version-1.sqlite.sql` and `version-1.postgresql.sql`: a small study in a database of the first version.

Run with the program as it was before the second version (commit f2bd8d2), its `toolkit/` on PYTHONPATH:

    python make_version_1.py FOLDER

The two files are frozen: they are what old studies look like, and nothing here is ever made again from newer code.
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from annot.base.records import Adjudication, Asked, Assessor, Assignment, Draw, Judgement, Pool, PoolEntry, Query
from annot.store import adjudications, facet_labels, judgements, people, pools, projects, queries, runs
from annot.store.base import TABLES
from annot.store.database import open_store
from annot.store.migrations import MIGRATIONS
from annot.store.schema import TRIGGERS
from sqlalchemy import Boolean, create_mock_engine
from sqlalchemy.dialects import postgresql

WHEN = "2026-03-01T10:00:00+00:00"
LATER = "2026-03-02T10:00:00+00:00"
SERVER = "1 of 2026-02-01T00:00:00+00:00"
LABEL_STUDIO = "label-studio"


def judged(doc_id: str, who: str, grade: int | None, number: int, **more: object) -> judgements.SourcedJudgement:
    record = Judgement("p1-method", doc_id, who, grade, judged_at=WHEN, lead_time=4.5, **more)  # type: ignore[arg-type]
    payload = {"id": number, "result": [{"value": {"choices": [str(grade)]}}], "draft": None, "said": "naïve 𝛼 \u2028"}
    return judgements.SourcedJudgement(record, LABEL_STUDIO, str(number), payload, server=SERVER)


def fill(url: str) -> None:
    documents = ("d1", "d2", "d3")
    entries = tuple(PoolEntry(name, Draw("abs_tfidf", at, 1 / at, at)) for at, name in enumerate(documents, 1))
    pool = Pool("p1", "round-robin", 3, 500, 13, ("abs_tfidf",), (), (), None, entries)
    plan = [
        Assignment("p1-method", name, who, at) for who in ("a1", "a2") for at, name in enumerate(documents, start=1)
    ]
    plan.append(Assignment("p1-method", "d1", "a1", 4, occasion=2))
    with open_store(url) as store, store.begin() as session:
        facet_labels.replace_labels(session, [facet_labels.FacetLabels("p1", ("method", "result"), "carried")])
        queries.put_queries(
            session, [Query("p1-method", "p1", "method", (0,)), Query("p1-result", "p1", "result", (1,))]
        )
        pools.replace_pools(session, [pool], rankings_sha256={"p1": "0123"})
        people.put_assessors(
            session,
            [
                Assessor("a1", "ada@example.org", False),
                Assessor("a2", "bob@example.org", False),
                Assessor("e1", None, True),
            ],
        )
        people.replace_plan(session, plan, plan=people.Plan("4567", 13, WHEN))
        for at, who in enumerate(("a1", "a2"), start=1):
            project = projects.open_project(
                session,
                round="judge",
                assessor=who,
                server=SERVER,
                url="https://ls.example.org",
                version="1.23.2",
                account_id=at,
            )
            projects.set_remote_project(session, project.project, at)
            asked = [Asked(one.query_id, one.doc_id, one.occasion) for one in plan if one.assessor == who]
            projects.record_tasks(session, project.project, {one: 10 * at + n for n, one in enumerate(asked)})
        first = [
            judged("d1", "a1", 3, 1),
            judged("d1", "a1", 2, 2, occasion=2),
            judged("d2", "a1", 0, 3, comment="far from it"),
            judged("d3", "a1", None, 4, cannot_judge="outside my field"),
            judged("d1", "a2", 1, 5),
            judged("d2", "a2", 0, 6),
            judged("d3", "a2", 1, 7, flags=("the account 9 answered, expected 2",)),
        ]
        judgements.record_judgements(session, first, recorded_at=WHEN)
        judgements.record_judgements(session, [judged("d2", "a2", 1, 6)], recorded_at=LATER)
        decision = Adjudication("p1-method", "d1", "e1", 2, "shown", ("a2", "a1"), reason="the same model")
        adjudications.record_adjudications(
            session,
            [adjudications.SourcedAdjudication(decision, LABEL_STUDIO, "8", {"id": 8}, server=SERVER)],
            recorded_at=LATER,
        )
        runs.put_split(session, "folds", {"test": ["p1-method"]})
        runs.put_runs(session, [runs.StoredRun("fabs_bm25", "baseline", {"k1": 1.2}, "89ab")])
        runs.put_import(session, runs.Imported("corpus", "cdef", {"read": 3, "kept": 3}))


def postgresql_text(database: Path) -> str:
    """The same tables and rows as PostgreSQL's statements."""
    made: list[str] = []
    dialect = postgresql.dialect(paramstyle="named")
    mock = create_mock_engine(
        "postgresql://", lambda sql, *_, **__: made.append(str(sql.compile(dialect=dialect)).strip())
    )
    TABLES.create_all(mock, checkfirst=False)
    made.append("CREATE TABLE annot_schema (version INTEGER PRIMARY KEY NOT NULL)")
    made += [statement.strip() for statement in TRIGGERS["postgresql"]]
    booleans = {
        (table.name, column.name)
        for table in TABLES.sorted_tables
        for column in table.c
        if isinstance(column.type, Boolean)
    }
    with closing(sqlite3.connect(database)) as connection:
        for name in (*(table.name for table in TABLES.sorted_tables), "annot_schema"):
            found = connection.execute(f'SELECT * FROM "{name}"')
            columns = [column[0] for column in found.description]
            for row in found:
                values = (
                    str(bool(value)) if (name, column) in booleans else literal(value)
                    for column, value in zip(columns, row, strict=True)
                )
                quoted = ", ".join(f'"{column}"' for column in columns)
                made.append(f'INSERT INTO "{name}" ({quoted}) VALUES ({", ".join(values)})')
    made += [
        f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), 100)"
        for name in ("judgement", "adjudication", "project")
    ]
    return ";\n".join(made) + ";\n"


def literal(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def main(folder: Path) -> None:
    assert len(MIGRATIONS) == 1, "this is not the first version"
    database = folder / "version-1.db"
    fill(f"sqlite:///{database}")
    with closing(sqlite3.connect(database)) as connection:
        (folder / "version-1.sqlite.sql").write_text("\n".join(connection.iterdump()) + "\n", encoding="utf-8")
    (folder / "version-1.postgresql.sql").write_text(postgresql_text(database), encoding="utf-8")
    database.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
