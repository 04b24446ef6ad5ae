"""The same tests on SQLite and on a real PostgreSQL server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.store.database import Store, open_store
from annot.store.people import put_assessors
from annot.store.pools import put_queries
from stored import PEOPLE, QUERIES


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that is not there yet, or empty."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'annot.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An open, empty store."""
    with open_store(url) as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Store:
    """A store with three queries of two papers, two assessors and an adjudicator."""
    with store.begin() as session:
        put_queries(session, QUERIES)
        put_assessors(session, PEOPLE)
    return store
