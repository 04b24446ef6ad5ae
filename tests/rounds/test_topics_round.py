"""Topics that are texts, from the plan to the grades, on a server in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from annot.base.records import Assessor
from annot.judging.exchange.audit import audit
from annot.labelstudio.tasks import split_key
from annot.steps import plan
from annot.store import people
from small_study import DOCUMENTS, Small
from study_stages import copied, quietly
from topic_study import TOPICS, UNTITLED, OfTopics
from worlds import Pair, World, served

RECIPE = OfTopics()


@pytest.fixture
def pooled(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Four topics with a pool, and people to judge them."""
    ws = copied(RECIPE, "pooled", tmp_path / "study")
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, account, name == "j1") for name, account in Small().people])
    with served(ws) as made:
        yield made


def planned(world: World, *topics: str) -> list[Pair]:
    """Draw the plan of these topics; the pairs."""
    plan.make(world.ws, queries=topics, shares={}, seed=None, grow=False, dry_run=False)
    return [(topic, doc_id) for topic in topics for doc_id in DOCUMENTS]


def shown(world: World, name: str, round: str = "judge") -> dict[Pair, dict[str, str]]:
    """What each task shows, in the person's order."""
    numbers = {task_id: key for key, task_id in world.tasks(name, round).items()}
    tasks = world.studio.tasks_of(world.project(name, round))
    return {split_key(numbers[task["id"]]).pair: task["data"] for task in tasks}


def test_two_topics_are_judged_settled_and_have_their_grades(pooled: World) -> None:
    pairs = planned(pooled, "T1", "T3")
    pooled.push()
    pooled.judge("a1", dict.fromkeys(pairs, 0))
    pooled.judge("a2", {pair: int(pair == pairs[-1]) for pair in pairs})
    pooled.pull()
    assert pooled.outcome.settlement.disputed[0].pair == pairs[-1]
    assert audit(pooled.ws, advance=quietly).findings == ()
    pooled.push("adjudication")
    (task,) = shown(pooled, "j1", "adjudicate").values()
    assert {task["rating_a"], task["rating_b"]} == {"0 Not relevant", "1 Relevant"}
    pooled.judge("j1", {pairs[-1]: 1}, "adjudicate")
    pooled.pull("adjudication")
    assert pooled.grades() == {pair: int(pair == pairs[-1]) for pair in pairs}
    for round in ("judging", "adjudication"):
        assert [(one.sent, one.updated) for one in pooled.push(round).projects] == [(0, 0)] * (2 - (round != "judging"))
        assert pooled.pull(round).finding("annot pull") is None


def test_a_task_shows_the_topic_and_the_document_in_plain_paragraphs(pooled: World) -> None:
    planned(pooled, "T1", "T4")
    pooled.push()
    for name in ("a1", "a2"):
        tasks = shown(pooled, name)
        assert len(tasks) == 20
        opened = [
            pair for pair, data in tasks.items() if "<details" in data["pair_html"] and " open>" in data["pair_html"]
        ]
        assert opened == [next(pair for pair in tasks if pair[0] == "T1")], "the narrative, the first time alone"
        for number, ((topic_id, doc_id), data) in enumerate(tasks.items(), start=1):
            topic = next(one for one in TOPICS if one.topic_id == topic_id)
            texts = [text for text in re.split(r"<[^<>]*>", data["pair_html"]) if text.strip()]
            title = [] if doc_id == UNTITLED else [f" Title of {doc_id}"]
            asked = [f" {topic.title}", topic.description]
            asked += ["Narrative", topic.narrative] if topic.narrative else []
            said = [f"{word} {doc_id}." for word in ("Why", "How", "What")]
            assert texts == ["Topic", *asked, "Document", *title, *said]
            assert re.fullmatch(rf"{number} of 20.* · topic \d, document \d+ of 10", data["progress"])
            assert "buildings" not in str(data), "fields of its own are not shown"
    ids = [task["id"] for name in ("a1", "a2") for task in pooled.studio.tasks_of(pooled.project(name))]
    assert not [one for one in pooled.studio.predictions.values() if one["task"] in ids]
