"""Tasks that were sent and their people, the content of a project, and the one secret, on a database of its own."""

from pathlib import Path

import pytest
from annot.base.records import Assessor, PairKey, Query
from annot.store import people, pools, projects
from annot.store.database import Store, open_store
from annot.store.models import StoredRound


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_store(f"sqlite:///{tmp_path / 'annot.db'}")
    with opened.begin() as session:
        pools.put_queries(session, [Query("q1", "p1", "method", (0,))])
        people.put_assessors(session, [Assessor(name, None, False) for name in ("a1", "a2")])
    return opened


def sent(store: Store, round: StoredRound, assessor: str, *doc_ids: str) -> int:
    """The number of the project to which these documents were sent."""
    with store.begin() as session:
        project = projects.open_project(
            session, round=round, assessor=assessor, server="one", url="u", version="1", account_id=1
        ).project
        tasks = {PairKey("q1", doc_id): 10 * project + at for at, doc_id in enumerate(doc_ids)}
        projects.record_tasks(session, project, tasks)
    return project


@pytest.mark.parametrize(
    ("round", "documents", "is_sent"),
    [("judge", "d", True), ("adjudicate", "d", True), ("train", "d", False), ("judge", "", False)],
)
def test_only_tasks_that_count_hold_a_study(store: Store, round: StoredRound, documents: str, is_sent: bool) -> None:
    sent(store, "train", "a2", "d8")
    sent(store, round, "a1", *documents)
    with store.read() as session:
        assert projects.was_sent(session) is is_sent


def test_what_a_project_shows_is_its_own(store: Store) -> None:
    first, second = sent(store, "judge", "a1", "d1"), sent(store, "judge", "a2", "d1")
    with store.begin() as session:
        projects.note_shows(session, second, {"title": "other"}, changed={"title": "by hand"}, now="t0")
        projects.note_shows(session, first, {"title": "one"}, changed={}, now="t1")
        projects.note_shows(session, first, {"title": "two"}, changed={"title": "theirs"}, now="t2")
        found = {one.project: one for one in projects.read_projects(session)}
    assert (found[first].shows, found[second].shows) == ({"title": "two"}, {"title": "other"})
    assert [[list(one) for one in found[at].set_back] for at in (first, second)] == [
        [["t2", {"title": "theirs"}]],
        [["t0", {"title": "by hand"}]],
    ]
