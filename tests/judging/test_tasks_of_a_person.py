"""What a person's tasks say of their place, which sentences they mark, and what is read before them."""

import re
from pathlib import Path

import pytest
from annot.base.errors import LeakError
from annot.base.records import Assessor, PairKey
from annot.base.stats.inference import generator
from annot.base.words import ENGLISH
from annot.judging.exchange.outgoing import (
    OutgoingProject,
    TaskMaterial,
    check_outgoing,
    check_spec,
    form_of,
    private_words,
    spec_of,
    tasks_of,
)
from annot.judging.exchange.servers import PARTS
from annot.labelstudio.studio_records import ProjectSpec
from annot.store import facet_labels, people
from annot.study import guidelines
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, Small, sent_to
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


# -- before a push, the order of what is new to each person is checked -------------------------------------------------


PAPERS = tuple(f"p{at}" for at in range(1, 10))
SHALLOW, DEEP = DOCUMENTS[:5], DOCUMENTS[5:]
"""The pool of each query as it was, and what it grew by."""


@pytest.fixture(scope="module")
def nine(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    recipe = Small(queries=tuple((paper, ("method",)) for paper in PAPERS))
    return copied(recipe, "planned", tmp_path_factory.mktemp("outgoing") / "study")


def mixed(documents: tuple[str, ...]) -> list[PairKey]:
    """These documents of each query in an order that was drawn."""
    return [
        PairKey(f"{paper}-method", str(doc))
        for paper in PAPERS
        for doc in generator(1, paper, documents[0]).permutation(documents)
    ]


def as_drawn(*, occasion: int = 1) -> list[PairKey]:
    return [PairKey(f"{paper}-method", doc, occasion) for paper in PAPERS for doc in DOCUMENTS]


def outgoing(nine: Workspace, order: list[PairKey], *, new: list[PairKey] | None = None) -> OutgoingProject:
    """What a1 is to find; new: the last of it, the rest was sent before."""
    part, own = PARTS["judge"], order if new is None else new
    material = TaskMaterial(nine, {asked.pair for asked in order})
    return OutgoingProject(
        form_of(nine, part, material, ENGLISH),
        "a1",
        tasks_of(nine, material, own, words=ENGLISH),
        order if new else (),
    )


def test_an_order_that_was_drawn_passes(nine: Workspace) -> None:
    check_outgoing(nine, [outgoing(nine, mixed(DOCUMENTS))])


@pytest.mark.parametrize("turned", [False, True], ids=["as drawn", "from the last"])
def test_the_order_of_the_pool_is_refused_with_the_name_and_the_way_out(nine: Workspace, turned: bool) -> None:
    order = as_drawn()[::-1] if turned else as_drawn()
    with pytest.raises(LeakError, match="order of the tasks of a1 reveals the order in which the pool was drawn") as it:
        check_outgoing(nine, [outgoing(nine, mixed(DOCUMENTS)), outgoing(nine, order)])
    assert "annot plan --seed NUMBER" in str(it.value.hint)


def test_what_is_asked_again_follows_an_order_that_the_person_has_seen(nine: Workspace) -> None:
    check_outgoing(nine, [outgoing(nine, [*mixed(DOCUMENTS), *as_drawn(occasion=2)])])


def test_of_a_plan_that_grew_only_what_was_not_sent_to_this_person_has_to_be_mixed(
    nine: Workspace, tmp_path: Path
) -> None:
    """Deeper papers come after the shallow ones in the whole order, in which they could not be hidden."""
    grown = copied(Small(queries=tuple((paper, ("method",)) for paper in PAPERS)), "planned", tmp_path / "study")
    before, new = mixed(SHALLOW), mixed(DEEP)
    sent_to(grown, "a2", *before)
    with pytest.raises(LeakError, match="reveals the order"):
        check_outgoing(grown, [outgoing(grown, [*before, *new], new=new)])
    sent_to(grown, "a1", *before)
    check_outgoing(grown, [outgoing(grown, [*before, *new], new=new)])
    told = [PairKey(f"{paper}-method", doc) for paper in PAPERS for doc in DEEP]
    with pytest.raises(LeakError, match="reveals the order"):
        check_outgoing(grown, [outgoing(grown, [*before, *told], new=told)])


def test_a_title_that_would_be_cut_goes_without_the_name_of_the_study(nine: Workspace) -> None:
    """Label Studio refuses a title of more than 50 letters."""
    room = 50 - len(" · judging · a1")
    title = {
        length: spec_of(nine.replaced("collection", name="n" * length), outgoing(nine, mixed(DOCUMENTS))).title
        for length in (room, room + 1)
    }
    assert title == {room: f"{'n' * room} · judging · a1", room + 1: "judging · a1"}


@pytest.mark.parametrize(
    ("title", "refused"),
    [
        ("Judging, a1", False),
        ("Judging, not a2", True),
        ("Found by title_tfidf", True),
        ("Ask bob@example.org", True),
        ("Citations that were cited", False),
    ],
)
def test_a_project_names_its_own_person_and_no_other_and_no_method_or_account(title: str, refused: bool) -> None:
    private = {"a1", "a2", "title_tfidf", "bob@example.org", "cited"}
    spec = ProjectSpec(
        marker="m", title=title, description="For a1 alone.", label_config="", instructions="", color="#000000"
    )
    if not refused:
        check_spec(spec, "a1", private)
        return
    with pytest.raises(LeakError, match="private words") as it:
        check_spec(spec, "a1", private)
    assert len(it.value.faults) == 1
    assert it.value.faults[0].startswith("a1: the project's title names ")
