"""Before a push, the order of what is new to each person is checked: it must not follow how the pool was drawn."""

from pathlib import Path

import pytest
from annot.base.errors import LeakError
from annot.base.records import PairKey
from annot.base.stats.inference import generator
from annot.base.words import ENGLISH
from annot.judging.exchange.outgoing import (
    OutgoingProject,
    TaskMaterial,
    check_outgoing,
    check_spec,
    form_of,
    spec_of,
    tasks_of,
)
from annot.judging.exchange.servers import PARTS
from annot.labelstudio.studio_records import ProjectSpec
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, Small, sent_to
from study_stages import copied

PAPERS = tuple(f"p{at}" for at in range(1, 10))
SHALLOW, DEEP = DOCUMENTS[:5], DOCUMENTS[5:]
"""The pool of each query as it was, and what it grew by."""


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
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


def outgoing(ws: Workspace, order: list[PairKey], *, new: list[PairKey] | None = None) -> OutgoingProject:
    """What a1 is to find; new: the last of it, the rest was sent before."""
    part, own = PARTS["judge"], order if new is None else new
    material = TaskMaterial(ws, {asked.pair for asked in order})
    return OutgoingProject(
        form_of(ws, part, material, ENGLISH), "a1", tasks_of(ws, material, own, words=ENGLISH), order if new else ()
    )


def test_an_order_that_was_drawn_passes(ws: Workspace) -> None:
    check_outgoing(ws, [outgoing(ws, mixed(DOCUMENTS))])


@pytest.mark.parametrize("turned", [False, True], ids=["as drawn", "from the last"])
def test_the_order_of_the_pool_is_refused_with_the_name_and_the_way_out(ws: Workspace, turned: bool) -> None:
    order = as_drawn()[::-1] if turned else as_drawn()
    with pytest.raises(LeakError, match="order of the tasks of a1 reveals the order in which the pool was drawn") as it:
        check_outgoing(ws, [outgoing(ws, mixed(DOCUMENTS)), outgoing(ws, order)])
    assert "annot plan --seed NUMBER" in str(it.value.hint)


def test_what_is_asked_again_follows_an_order_that_the_person_has_seen(ws: Workspace) -> None:
    check_outgoing(ws, [outgoing(ws, [*mixed(DOCUMENTS), *as_drawn(occasion=2)])])


def test_of_a_plan_that_grew_only_what_was_not_sent_to_this_person_has_to_be_mixed(
    ws: Workspace, tmp_path: Path
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


def test_a_title_that_would_be_cut_goes_without_the_name_of_the_study(ws: Workspace) -> None:
    """Label Studio refuses a title of more than 50 letters."""
    room = 50 - len(" · judging · a1")
    title = {
        length: spec_of(ws.replaced("collection", name="n" * length), outgoing(ws, mixed(DOCUMENTS))).title
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
