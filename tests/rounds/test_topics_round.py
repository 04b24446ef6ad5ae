"""Topics that are texts, from the plan to the grades, on a server in memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from annot.base.records import Assessor, Topic
from annot.judging.exchange.audit import audit
from annot.labelstudio.tasks import split_key
from annot.steps import plan, training
from annot.store import people
from annot.study.workspace import Workspace
from corrections import correct, decide, listed
from small_study import DOCUMENTS, Small
from study_stages import copied, quietly
from topic_study import TOPICS, UNTITLED, OfTopics
from worlds import Pair, World, served


def unplanned(folder: Path, *, mixed: bool) -> Workspace:
    """Topics with a pool, and people to judge them."""
    ws = copied(OfTopics(mixed=mixed), "pooled", folder)
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, account, name == "j1") for name, account in Small().people])
    return ws


@pytest.fixture
def pooled(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Four topics that are texts."""
    with served(unplanned(tmp_path / "study", mixed=False)) as made:
        yield made


def planned(world: World, *topics: str, grow: bool = False) -> list[Pair]:
    """Draw the plan of these topics; the pairs."""
    plan.make(world.ws, queries=topics, shares={}, seed=None, grow=grow, dry_run=False)
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
    assert pooled.outcome.disputed[0][0].pair == pairs[-1]
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
            columns = data["pair_html"].split('<details class="a-criteria">')[0]
            texts = [text for text in re.split(r"<[^<>]*>", columns) if text.strip()]
            title = [] if doc_id == UNTITLED else [f" Title of {doc_id}"]
            asked = [f" {topic.title}", topic.description]
            asked += ["Narrative", topic.narrative] if topic.narrative else []
            said = [f"{word} {doc_id}." for word in ("Why", "How", "What")]
            assert texts == ["Topic", *asked, "Document", *title, *said]
            assert re.fullmatch(rf"{number} of 20.* · topic \d, document \d+ of 10", data["progress"])
            assert "buildings" not in str(data), "fields of its own are not shown"
    ids = [task["id"] for name in ("a1", "a2") for task in pooled.studio.tasks_of(pooled.project(name))]
    assert not [one for one in pooled.studio.predictions.values() if one["task"] in ids]


def test_a_text_stays_where_full_texts_are_judged_and_only_documents_need_a_place(settled: World) -> None:
    training.draw(settled.ws, assessor="j1", queries=1, candidates=2, dry_run=False)
    table = settled.ws.substudy / "full-texts.tsv"
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    assert [row.split("\t")[0] in DOCUMENTS for row in rows] == [True] * 2
    filled = [f"{row.split(chr(9))[0]}\tFolder {at}\t" for at, row in enumerate(rows)]
    table.write_text("\n".join([header, *filled, ""]), encoding="utf-8")
    settled.push("substudy", view="abstract")
    pairs = list(shown(settled, "j1", "substudy-abstract"))
    settled.judge("j1", dict.fromkeys(pairs, 1), "substudy-abstract")
    settled.pull("substudy")
    settled.push("substudy", view="full")
    for (topic_id, _), data in shown(settled, "j1", "substudy-full").items():
        topic = next(one for one in TOPICS if one.topic_id == topic_id)
        assert f"<span>Topic</span> {topic.title}" in data["pair_html"]
        assert "Folder" in data["pair_html"].split("a-cand")[1]
    assert audit(settled.ws, advance=quietly).findings == ()


@pytest.fixture
def settled(pooled: World) -> World:
    """One topic, on whose documents both agree."""
    pairs = planned(pooled, "T2")
    pooled.push()
    for name in ("a1", "a2"):
        pooled.judge(name, {pair: at % 2 for at, pair in enumerate(pairs)})
    pooled.pull()
    return pooled


def test_facets_of_papers_and_texts_are_judged_in_one_project(tmp_path: Path, no_waiting: None) -> None:
    with served(unplanned(tmp_path / "study", mixed=True)) as world:
        planned(world)
        world.push()
        tasks = shown(world, "a1")
        labelled = {pair for pair, data in tasks.items() if "a-wants-method" in data["pair_html"]}
        assert labelled == {("p4-method", doc_id) for doc_id in DOCUMENTS}
        assert {pair for pair, data in tasks.items() if "a-whole" in data["pair_html"]} == tasks.keys() - labelled
        assert {data["progress"].split(" · ")[1].split()[0] for data in tasks.values()} == {"query", "topic"}
        world.judge("a1", dict.fromkeys(tasks, 1))
        world.judge("a2", dict.fromkeys(tasks, 1))
        world.pull()
        assert world.grades() == dict.fromkeys(tasks, 1)
        assert audit(world.ws, advance=quietly).findings == ()
        world.push("labels", assessor=("a1",))
        assert list(shown(world, "a1", "labels")) == [("p4", "labels")]


@dataclass(frozen=True)
class Numbered(OfTopics):
    """As in Cranfield, topics and documents have the same numbers."""

    @property
    def texts(self) -> tuple[Topic, ...]:
        return (replace(TOPICS[0], topic_id="d03"), *TOPICS[1:])


def test_a_corrected_document_does_not_touch_the_topic_of_the_same_id(tmp_path: Path, no_waiting: None) -> None:
    ws = copied(Numbered(), "pooled", tmp_path / "study")
    with ws.writing() as session:
        people.put_assessors(session, [Assessor(name, account, name == "j1") for name, account in Small().people])
    with served(ws) as made:
        pairs = planned(made, "d03", "T2")
        made.push()
        for name in ("a1", "a2"):
            made.judge(name, dict.fromkeys(pairs, 1))
        made.pull()
        correct(made, "d03")
        assert listed(made).keys() == {("d03", "d03"), ("T2", "d03")}
        decide(made, ("d03", "d03"), "stays")
        decide(made, ("T2", "d03"), "again")
        made.push()
        assert len(made.grades()) == len(pairs) - 1
        assert audit(made.ws, advance=quietly).findings == ()
