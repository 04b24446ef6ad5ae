"""Mark of the rows in a database on a server: any changed row gives another mark."""

import pytest
from annot.store.database import Store, open_store
from annot.study.provenance import read_states, written_mark
from sqlalchemy import text
from stored import PEOPLE, QUERIES

pytestmark = pytest.mark.postgres


def mark(store: Store) -> str:
    with store.read() as session:
        return written_mark(session)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE query SET facet = facet WHERE query_id = 'p1-method'",
        "DELETE FROM assessor WHERE assessor = 'a2'",
        "INSERT INTO assessor SELECT 'a9', account, adjudicator FROM assessor WHERE assessor = 'z1'",
    ],
)
def test_a_row_that_is_written_by_hand_changes_the_mark(postgres_url: str, change: str) -> None:
    from annot.store.people import put_assessors
    from annot.store.pools import put_queries

    with open_store(postgres_url) as store:
        with store.begin() as session:
            put_queries(session, QUERIES)
            put_assessors(session, PEOPLE)
        first = mark(store)
        with open_store(postgres_url) as other:
            assert mark(other) == first
        assert mark(store) == first, "reading writes nothing"
        with store.read() as session:
            states = read_states(session)
        with store.begin() as session:
            session.connection().execute(text(change))
        assert mark(store) != first
        with store.read() as session:
            assert (read_states(session) == states) is change.startswith("UPDATE")


def test_a_file_has_its_date(tmp_path: object) -> None:
    with open_store(f"sqlite:///{tmp_path}/annot.db") as store:
        assert mark(store) == ""
