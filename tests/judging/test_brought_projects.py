"""A person's project is made or brought up to date, and what somebody changed on the server is found and set back."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from annot.judging.exchange.servers import bring_project
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import ProjectSpec
from annot.study.workspace import Workspace
from small_study import Small, sent_to
from studio_in_memory import StudioInMemory
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
