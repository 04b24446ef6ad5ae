"""What a person's tasks say of their place, which sentences they mark, and what is read before them."""

import re
from pathlib import Path

import pytest
from annot.base.records import Assessor, PairKey
from annot.base.words import ENGLISH
from annot.judging.exchange.outgoing import TaskMaterial, form_of, private_words, tasks_of
from annot.judging.exchange.servers import PARTS
from annot.store import facet_labels, people
from annot.study import guidelines
from annot.study.workspace import Workspace
from small_study import Small
from study_stages import copied

P1, P2 = "p1-method", "p2-method"
ORDER = [PairKey(P2, "d05"), PairKey(P1, "d01"), PairKey(P2, "d03")]


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return copied(Small(), "planned", tmp_path_factory.mktemp("tasks") / "study")


def places(ws: Workspace, *, more: bool = False) -> list[str]:
    material = TaskMaterial(ws, {asked.pair for asked in ORDER})
    tasks = tasks_of(ws, material, ORDER, words=ENGLISH, more=more)
    assert list(tasks) == ORDER
    return [task["data"]["progress"] for task in tasks.values()]


def test_each_task_says_where_it_is_in_all_and_in_its_query(ws: Workspace) -> None:
    assert places(ws) == [
        "1 of 3 · query 1, candidate 1 of 2",
        "2 of 3 · query 2, candidate 1 of 1",
        "3 of 3, the last for now · query 1, candidate 2 of 2",
    ]
    assert places(ws, more=True)[-1] == "3 of 3 · query 1, candidate 2 of 2"


@pytest.mark.parametrize(
    ("named", "wanted"),
    [(["method"], ["method"]), (["result", "method"], ["method", "result"])],
    ids=["one", "two in the order of the labels"],
)
def test_the_sentences_of_a_facet_are_marked(ws: Workspace, named: list[str], wanted: list[str]) -> None:
    asked = PairKey(P1, "d01")
    changed = ws.replaced(facets={"method": named})
    (task,) = tasks_of(changed, TaskMaterial(ws, {asked.pair}), [asked], words=ENGLISH).values()
    found = re.findall(r"a-wants-(\w+)", task["data"]["pair_html"])
    assert found[-len(wanted) :] == wanted, "of the candidate"


def test_a_paper_that_is_judged_whole_is_shown_in_plain_paragraphs_without_labels(tmp_path: Path) -> None:
    asked = PairKey(P1, "d01")
    whole = copied(Small(), "planned", tmp_path / "study").replaced(facets={"method": []})
    with whole.writing() as session:
        facet_labels.replace_labels(session, [])
    (task,) = tasks_of(whole, TaskMaterial(whole, {asked.pair}), [asked], words=ENGLISH).values()
    texts = [f"<h2><span>{word}</span> Title of {name}</h2>" for word, name in (("Query", "p1"), ("Candidate", "d01"))]
    assert all(text in task["data"]["pair_html"] for text in texts)
    assert re.findall(r"<p[^>]*>[^<]*</p>", task["data"]["pair_html"]) == [
        f'<p class="a-s">{word} {name}.</p>' for name in ("p1", "d01") for word in ("Why", "How", "What")
    ]
    assert task["predictions"] == []


def first_words(ws: Workspace, name: str) -> str:
    return guidelines.page(ws, name).splitlines()[0].removeprefix("# ")


def test_before_judging_the_general_page_and_those_of_the_facets_are_read(ws: Workspace) -> None:
    material = TaskMaterial(ws, {(P1, "d01")})
    judging = form_of(ws, PARTS["judge"], material, ENGLISH).instructions
    settling = form_of(ws, PARTS["adjudicate"], material, ENGLISH).instructions
    labelling = form_of(ws, PARTS["labels"], None, ENGLISH).instructions
    general, method, settle, correct = (
        first_words(ws, name) for name in ("general", "method", "adjudication", "labels")
    )
    for text, has in (
        (judging, (True, True, False, False)),
        (settling, (True, True, True, False)),
        (labelling, (False, False, False, True)),
    ):
        headings = re.findall(r"<h[1-6][^>]*>(.*?)</h[1-6]>", text)
        assert tuple(heading in headings for heading in (general, method, settle, correct)) == has


def test_methods_people_and_their_accounts_are_private(tmp_path: Path) -> None:
    ws = copied(Small(), "planned", tmp_path / "study")
    with ws.writing() as session:
        people.put_assessors(session, [Assessor("a3", None, False)])
        found = private_words(ws, session)
    assert {"a1", "a2", "a3", "j1", "ann@example.org", "title_tfidf", "abs_tfidf"} <= found
    assert not found & {None, "", "manual"}
