"""A person's project is made or brought up to date, and what somebody changed on the server is found and set back."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from annot.base.errors import StudioError
from annot.judging.exchange.servers import bring_project, locate, marker_of, remove_duplicates
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import Payload, ProjectSpec
from annot.store.models import Project
from annot.study.workspace import Workspace
from small_study import Small, sent_to
from studio_in_memory import StudioInMemory, once
from study_stages import copied

SPEC = ProjectSpec(
    marker="annot:small/judge/a1", title="Title", description="x", label_config="<View/>", instructions="Read.",
    color="#000000",
)  # fmt: skip


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return copied(Small(), "planned", tmp_path / "study")


@pytest.fixture
def fake() -> StudioInMemory:
    return StudioInMemory()


@pytest.fixture
def gateway(fake: StudioInMemory) -> Iterator[Gateway]:
    with Gateway("http://studio.example", fake.token, transport=fake.transport) as made:
        yield made


def brought(ws: Workspace, gateway: Gateway, spec: ProjectSpec = SPEC) -> tuple[int, list[str]]:
    return bring_project(ws, gateway, spec, sent_to(ws, "a1", remote=None), set())


def opens(fake: StudioInMemory, number: int) -> bool:
    return bool(fake.projects[number]["show_instruction"])


def test_a_project_is_made_once_and_what_it_shows_is_on_record(
    ws: Workspace, fake: StudioInMemory, gateway: Gateway
) -> None:
    first, notes = brought(ws, gateway)
    assert (notes, len(fake.projects)) == ([], 1)
    on_record = sent_to(ws, "a1", remote=None)
    assert (on_record.remote_id, on_record.set_back) == (first, ())
    assert on_record.shows is not None
    assert on_record.shows["title"] == "Title"
    assert brought(ws, gateway) == (first, [])


def test_what_was_changed_by_hand_is_set_back_and_noted(ws: Workspace, fake: StudioInMemory, gateway: Gateway) -> None:
    number, _ = brought(ws, gateway)
    fake.projects[number]["title"] = "Another"
    _, notes = brought(ws, gateway)
    assert fake.projects[number]["title"] == "Title"
    assert notes[0].startswith("a1: changed on the server by hand, and changed back now: the title;")
    assert [what for _, what in sent_to(ws, "a1", remote=None).set_back] == [{"title": "Another"}]


def test_a_change_that_a_killed_push_made_is_none_by_hand(
    ws: Workspace, fake: StudioInMemory, gateway: Gateway
) -> None:
    number, _ = brought(ws, gateway)
    fake.projects[number]["title"] = "Later"
    assert brought(ws, gateway, replace(SPEC, title="Later")) == (number, [])


@pytest.mark.parametrize(("instructions", "open_again"), [("Read.", False), ("Read this.", True)])
def test_instructions_open_again_only_if_they_are_others(
    ws: Workspace, fake: StudioInMemory, gateway: Gateway, instructions: str, open_again: bool
) -> None:
    number, _ = brought(ws, gateway)
    assert opens(fake, number)
    gateway.open_instructions(number, False)
    brought(ws, gateway, replace(SPEC, instructions=instructions))
    assert opens(fake, number) is open_again


# -- which project is a person's ---------------------------------------------------------------------------------------


MARKER = marker_of("study", "judge", "a1")
OWN = {"q/d1", "q/d2"}


def make(gateway: Gateway, marker: str) -> int:
    return gateway.create_project(
        ProjectSpec(marker=marker, title="Title", description="x", label_config="<View/>", instructions="", color="#0")
    )


def task(key: str) -> Payload:
    return {"data": {"pair_id": key}}


def known(remote_id: int | None, created: str | None = None) -> Project:
    return Project(1, "judge", "a1", "one", "http://studio.example", "1.23.2", 7, remote_id, created)


def located(gateway: Gateway, project: Project) -> int | None:
    found = locate(gateway, project, marker=MARKER, known_keys=OWN)
    return None if found is None else found.project_id


def test_the_id_on_record_comes_before_the_marker(fake: StudioInMemory, gateway: Gateway) -> None:
    ours, marked = make(gateway, "study/before/a1"), make(gateway, MARKER)
    created = fake.projects[ours]["created_at"]
    assert located(gateway, known(ours, created)) == ours
    assert located(gateway, known(None)) == marked
    del fake.projects[ours]
    assert located(gateway, known(ours, created)) == marked
    del fake.projects[marked]
    assert located(gateway, known(ours, created)) is None


def not_found(request: httpx.Request) -> httpx.Response:
    return httpx.Response(404, json={"detail": "Not found."})


def test_a_project_that_is_not_found_once_is_there(fake: StudioInMemory, gateway: Gateway) -> None:
    ours = make(gateway, "study/before/a1")
    project = known(ours, fake.projects[ours]["created_at"])
    fake.faults.append(once("GET", rf"projects/{ours}/?$", not_found))
    assert located(gateway, project) == ours
    # Before its id was noted down.
    marked = make(gateway, MARKER)
    fake.faults.append(once("GET", rf"projects/{marked}/?$", not_found))
    assert located(gateway, known(None)) == marked
    fake.faults += [once("GET", rf"projects/{ours}/?$", not_found) for _ in range(2)]
    with pytest.raises(StudioError, match=r"lists project 1, but answers 404"):
        located(gateway, project)


def test_an_id_that_the_server_gave_again_is_another_project(gateway: Gateway) -> None:
    again = make(gateway, "somebody/else")
    assert located(gateway, known(again, "2026-10-01T10:00:00.000000Z")) is None
    marked = make(gateway, MARKER)
    assert located(gateway, known(again, "2026-10-01T10:00:00.000000Z")) == marked


def test_without_its_time_on_record_a_project_is_known_by_its_tasks(fake: StudioInMemory, gateway: Gateway) -> None:
    project = make(gateway, "study/before/a1")
    assert located(gateway, known(project)) == project
    ours, _ = gateway.send_tasks(project, [task("q/d1"), task("theirs")])
    assert located(gateway, known(project)) == project
    fake.delete_task(ours)
    assert located(gateway, known(project)) is None


def test_a_marked_project_with_a_strangers_tasks_is_left_alone(fake: StudioInMemory, gateway: Gateway) -> None:
    gateway.send_tasks(make(gateway, MARKER), [task("q/d1"), task("theirs")])
    with pytest.raises(StudioError, match=r"has this collection's name, but 1 task"):
        located(gateway, known(None))


def test_only_empty_twins_of_the_same_marker_are_removed(fake: StudioInMemory, gateway: Gateway) -> None:
    kept, empty, full, judged = (make(gateway, MARKER) for _ in range(4))
    other = make(gateway, marker_of("study", "judge", "a11"))
    gateway.send_tasks(full, [task("q/d1")])
    gateway.annotate(*gateway.send_tasks(judged, [task("q/d1")]), [])
    notes = remove_duplicates(gateway, kept, marker=MARKER, person="a1")
    assert [note.partition(" is a duplicate")[0] for note in notes] == [
        "a1: removed 1 empty project that the server had created twice",
        f"a1: project {full}",
        f"a1: project {judged}",
    ]
    assert sorted(fake.projects) == [kept, full, judged, other]
    assert empty not in fake.projects
    assert len(remove_duplicates(gateway, kept, marker=MARKER, person="a1")) == 2


def test_two_collections_whose_names_lose_letters_have_two_markers() -> None:
    assert marker_of("my study", "judge", "a1") != marker_of("my/study", "judge", "a1")
    assert " " not in marker_of("my study", "judge", "a1")
