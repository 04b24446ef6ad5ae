"""The database as lines of JSON: it comes back unchanged, on the same kind of database and on the other."""

import json
from pathlib import Path

import pytest
from annot.base.errors import InputError, StoreError
from annot.base.records import Adjudication, Judgement, Query
from annot.store import facet_labels, pools, schema
from annot.store.answers import ADJUDICATIONS, JUDGEMENTS, SourcedAdjudication, SourcedJudgement, unsound_revisions
from annot.store.database import DumpFacts, Store, connect_store, drop_tables, dump, load, open_store, row_counts
from sqlalchemy import text

NOW = "2026-03-01T10:00:00+00:00"
PAYLOAD = {"said": "naïve 𝛼 \u2028 tab\t", "n": 1.5, "none": None, "b": True, "a": [1, "é"]}


@pytest.fixture
def filled(study: Store) -> Store:
    """Judgements with every kind of value, two of them revised."""
    with study.begin() as session:
        facet_labels.replace_labels(session, [facet_labels.FacetLabels("p1", ("method", "other"), "carried")])
        records = [
            Judgement("p1-method", "d1", "a1", 3, judged_at=NOW, lead_time=4, comment='a "word", \\ and\nlines'),
            Judgement("p1-method", "d2", "a1", None, cannot_judge="outside my field", lead_time=0.1),
            Judgement("p1-method", "d1", "a2", 0, flags=("empty",), occasion=2),
        ]
        for at in range(2):
            JUDGEMENTS.record(
                session,
                [
                    SourcedJudgement(one, "label-studio", str(n), {**PAYLOAD, "at": min(at, n)}, server="s")
                    for n, one in enumerate(records)
                ],
                recorded_at=NOW,
            )
        decision = Adjudication("p1-method", "d1", "z1", 2, "shown", ("a2", "a1"), reason="because")
        ADJUDICATIONS.record(session, [SourcedAdjudication(decision, "label-studio", "9", None)], recorded_at=NOW)
    return study


def content(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table as the database has it, JSON as text."""
    with store.read() as session:
        connection = session.connection()
        return {
            name: sorted(
                connection.execute(text(f'SELECT CAST(row_text AS TEXT) FROM (SELECT * FROM "{name}") AS row_text'))
                if connection.dialect.name == "postgresql"
                else connection.execute(text(f'SELECT * FROM "{name}"')),
                key=repr,
            )
            for name in row_counts(connection)
        }


def dumped_from(store: Store, folder: Path) -> DumpFacts:
    folder.mkdir()
    with store.read() as session:
        return dump(session.connection(), folder)


def loaded(dumped: DumpFacts, folder: Path, url: str) -> None:
    with connect_store(url, create=True) as store, store.begin() as session:
        load(session.connection(), dumped, folder)


def test_a_dump_put_back_is_the_same_database(filled: Store, url: str, tmp_path: Path) -> None:
    before = content(filled)
    dumped = dumped_from(filled, tmp_path / "dump")
    assert (dumped.rows["judgement"], dumped.rows["adjudication"], dumped.version) == (5, 1, len(schema.MIGRATIONS))
    with filled.begin() as session:
        drop_tables(session.connection())
    loaded(dumped, tmp_path / "dump", url)
    with open_store(url, create=False) as store:
        assert content(store) == before
        works_on(store)


@pytest.mark.postgres
def test_a_dump_fits_the_other_kind_of_database(filled: Store, url: str, tmp_path: Path, postgres_server) -> None:  # type: ignore[no-untyped-def]
    dumped = dumped_from(filled, tmp_path / "dump")
    other = f"sqlite:///{tmp_path / 'other.db'}" if "postgresql" in url else postgres_server.new_database()
    loaded(dumped, tmp_path / "dump", other)
    with open_store(other, create=False) as store:
        again = dumped_from(store, tmp_path / "again")
        assert again == dumped
        for name in dumped.rows:
            lines = [(tmp_path / folder / f"{name}.jsonl").read_text("utf-8") for folder in ("dump", "again")]
            assert lines[0] == lines[1]
        works_on(store)


def works_on(store: Store) -> None:
    """Check that recorded rows are known, numbers continue, and nothing can be changed."""
    record = Judgement("p1-method", "d3", "a1", 1)
    with store.begin() as session:
        assert not list(unsound_revisions(session))
        new = SourcedJudgement(record, "label-studio", "77", {})
        assert JUDGEMENTS.record(session, [new], recorded_at=NOW).added == 1
        standing = [one for one in JUDGEMENTS.read(session) if one.record.lead_time != 4]
        again = JUDGEMENTS.record(session, standing, recorded_at="2026-04-01T00:00:00+00:00")
        assert (again.added, again.revised) == (0, 0)
        pools.put_queries(session, [Query("p9-method", "p9", "method", (0,))])
    with pytest.raises(StoreError, match="append-only"), store.begin() as session:
        session.connection().execute(text("UPDATE judgement SET grade = 0"))


def test_tables_of_others_in_the_same_database_are_left_alone(store: Store, url: str, tmp_path: Path) -> None:
    with store.begin() as session:
        session.connection().execute(text("CREATE TABLE elsewhere (id INTEGER PRIMARY KEY, said TEXT)"))
        session.connection().execute(text("INSERT INTO elsewhere VALUES (1, 'kept')"))
    dumped = dumped_from(store, tmp_path / "dump")
    assert "elsewhere" not in dumped.rows
    with store.begin() as session:
        drop_tables(session.connection())
    loaded(dumped, tmp_path / "dump", url)
    with open_store(url, create=False) as again, again.read() as session:
        assert session.connection().execute(text("SELECT said FROM elsewhere")).scalar_one() == "kept"
        assert "elsewhere" not in row_counts(session.connection())


def test_a_dump_that_the_database_cannot_hold_is_refused(store: Store, url: str, tmp_path: Path) -> None:
    dumped = dumped_from(store, tmp_path / "dump")
    with store.begin() as session:
        drop_tables(session.connection())
    with pytest.raises(InputError, match="assessor: 0 rows in the backup, expected 3"):
        loaded(DumpFacts(dumped.version, {**dumped.rows, "assessor": 3}), tmp_path / "dump", url)
    with connect_store(url, create=True) as empty:
        assert empty.version() == 0, "a refused dump leaves nothing"


def test_an_unsound_revision_is_found(filled: Store, tmp_path: Path) -> None:
    """A person went around the triggers: a grade changed, a revision removed."""
    dumped = dumped_from(filled, tmp_path / "dump")
    path = tmp_path / "dump" / "judgement.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows[0]["grade"] = 1
    left = [row for row in rows if (row["doc_id"], row["assessor"], row["revision"]) != ("d2", "a1", 1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in left), encoding="utf-8")
    url = f"sqlite:///{tmp_path / 'spoilt.db'}"
    loaded(DumpFacts(dumped.version, {**dumped.rows, "judgement": len(left)}), tmp_path / "dump", url)
    with open_store(url, create=False) as store, store.read() as session:
        found = list(unsound_revisions(session))
    assert found == [
        "judgement 1 (p1-method d1, revision 1): its content has changed since it was recorded",
        "judgement 3 (p1-method d1, revision 1): it has changed, or the row before it was changed or removed",
        "judgement 4 (p1-method d2, revision 2): expected revision 1",
        "judgement: found 4 rows, 5 were recorded",
    ]


FORGED = {
    **{"account": 99, "changed_at": "2031-01-01T00:00:00Z", "ruling": "restored", "shown_sha256": "f" * 64},
    "recorded_at": "2031-01-01T00:00:00Z",
}


def test_a_change_of_what_is_recorded_with_an_answer_is_found(filled: Store, tmp_path: Path) -> None:
    """It is not hashed with the content, so that the chain alone tells."""
    dumped = dumped_from(filled, tmp_path / "dump")
    path = tmp_path / "dump" / "judgement.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for column, forged in FORGED.items():
        assert rows[0][column] != forged
        changed = [rows[0] | {column: forged}, *rows[1:]]
        path.write_text("".join(json.dumps(row) + "\n" for row in changed), encoding="utf-8")
        url = f"sqlite:///{tmp_path / column}.db"
        loaded(dumped, tmp_path / "dump", url)
        with open_store(url, create=False) as store, store.read() as session:
            (fault,) = unsound_revisions(session)
        assert fault.startswith("judgement 1 ")
        assert "it has changed" in fault
