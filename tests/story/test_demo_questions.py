"""The demonstration of questions, the whole way on a server in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annot.base.records import WHOLE, Advance
from annot.store.papers import known_ids
from annot.store.pools import read_queries, read_topics
from annot.study.workspace import Workspace
from annot_demo import simulated_people, whole_way
from memory_studio import studio_of_memory
from study_stages import quietly


@contextmanager
def watch(_name: str) -> Iterator[Advance]:
    yield quietly


def test_questions_are_topics_and_no_papers_and_everything_is_judged(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    (folder / ".annot" / "studio").mkdir(parents=True)
    with studio_of_memory(folder / ".annot" / "studio"):
        whole_way.go(folder, kind="questions", tell=lambda _: None, watch=watch)
    ws = Workspace.open(folder)
    with ws.reading() as session:
        topics, queries = read_topics(session), read_queries(session)
    assert list(topics.values()) == [one.topic for one in simulated_people.questions()]
    assert {query.facet for query in queries} == {WHOLE}
    assert not known_ids(ws.corpus, topics)
    qrels = [line.split() for line in (ws.exports / "qrels.txt").read_text(encoding="utf-8").splitlines()]
    assert {row[0] for row in qrels} == topics.keys()
    assert {row[3] for row in qrels} == {"0", "1", "2", "3"}
