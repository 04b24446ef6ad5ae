"""The demonstration of questions, the whole way on a server in memory, and once more."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from annot.base.records import WHOLE, Advance
from annot.store.papers import known_ids
from annot.store.pools import read_queries, read_topics
from annot.study.workspace import Workspace
from annot_demo import simulated_people, whole_way
from memory_studio import StudioOfMemory, studio_of_memory
from study_stages import files_of, quietly


@contextmanager
def watch(_name: str) -> Iterator[Advance]:
    yield quietly


def go(folder: Path) -> list[str]:
    told: list[str] = []
    whole_way.go(folder, kind="questions", tell=told.append, watch=watch)
    return told


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, StudioOfMemory, list[str]]]:
    folder = tmp_path_factory.mktemp("questions") / "study"
    (folder / ".annot" / "studio").mkdir(parents=True)
    with studio_of_memory(folder / ".annot" / "studio") as studio:
        told = go(folder)
        yield Workspace.open(folder), studio, told


Demonstration = tuple[Workspace, StudioOfMemory, list[str]]


def test_questions_are_topics_and_no_papers_and_everything_is_judged(demonstration: Demonstration) -> None:
    ws, _, _ = demonstration
    with ws.reading() as session:
        topics, queries = read_topics(session), read_queries(session)
    assert list(topics.values()) == [one.topic for one in simulated_people.questions()]
    assert {query.facet for query in queries} == {WHOLE}
    assert not known_ids(ws.corpus, topics)
    qrels = [line.split() for line in (ws.exports / "qrels.txt").read_text(encoding="utf-8").splitlines()]
    assert {row[0] for row in qrels} == topics.keys()
    assert {row[3] for row in qrels} == {"0", "1", "2", "3"}


def test_run_again_it_changes_nothing(demonstration: Demonstration) -> None:
    ws, studio, told = demonstration
    before, there = (files_of(ws.root / "pools"), files_of(ws.exports)), studio.server.kept()
    assert go(ws.root) == told
    assert (files_of(ws.root / "pools"), files_of(ws.exports)) == before
    assert studio.server.kept() == there
