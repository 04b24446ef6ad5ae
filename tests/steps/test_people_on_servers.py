"""A person's account on a server: what is said of it when they join, whose server an address is, and who leaves it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from annot.base.errors import InputError, StudioError
from annot.base.records import Assignment, PairKey
from annot.judging.exchange import servers
from annot.steps import people
from annot.steps.changes import leave
from annot.store import trials
from annot.study.workspace import Workspace
from memory_studio import studio_of_memory
from small_study import Small, sent_to
from studio_in_memory import StudioInMemory
from study_stages import copied

NOT_THERE = "the server does not have this account yet; the person signs up at"


@pytest.fixture
def served() -> Iterator[StudioInMemory]:
    with StudioInMemory().served() as studio:
        yield studio


@pytest.fixture
def ws(tmp_path: Path, served: StudioInMemory) -> Workspace:
    """On a server that everyone shares."""
    made = copied(Small(), "planned", tmp_path / "study")
    return replace(made, studio_url=served.url, studio_token=served.token)


def notes(ws: Workspace, name: str, account: str) -> tuple[str, ...]:
    return people.add(ws, name, account=account, adjudicator=False, dry_run=False)[1]


def test_who_joins_signs_up_unless_the_server_has_the_account(ws: Workspace, served: StudioInMemory) -> None:
    (note,) = notes(ws, "a3", "Cy@example.org")
    assert note.startswith(f"{NOT_THERE} {served.url}/user/signup")
    served.sign_up("cy@example.org")
    assert notes(ws, "a3", "Cy@example.org") == ()


def test_without_a_server_nothing_is_said_of_the_account(ws: Workspace) -> None:
    assert notes(replace(ws, studio_url=None), "a3", "cy@example.org") == ()


def test_on_a_server_of_the_study_the_account_is_made(ws: Workspace) -> None:
    folder = servers.studio_folder(ws)
    folder.mkdir(parents=True)
    with studio_of_memory(folder) as studio:
        (note,) = notes(replace(ws, studio_url=None), "a3", "cy@example.org")
        assert studio.server.account("cy@example.org")
    assert note.startswith(f"a3: the password is in {servers.passwords_file(ws)}")


@pytest.fixture
def apart(ws: Workspace, served: StudioInMemory) -> Workspace:
    """Each person has a server of their own; the token is that of the one that is served."""
    return replace(ws, studio_url=None).replaced("judging", isolation="server")


def test_an_address_becomes_a_persons_own_server(apart: Workspace, served: StudioInMemory) -> None:
    url, notes = people.own_server(apart, "a1", url=f"{served.url}/", dry_run=False)
    assert url == served.url
    assert notes[0].startswith(NOT_THERE)
    assert servers.place_of(apart, "a1") == servers.Place(served.url, served.token, local=False)
    assert people.own_server(apart, "a1", url=None, dry_run=False) == (served.url, ())
    assert people.own_server(apart, "a1", url=served.url, dry_run=True) == (served.url, ()), "it may be named again"
    with pytest.raises(InputError, match=f"{served.url} is the server of a1, expected one that only a2 uses"):
        people.own_server(apart, "a2", url=served.url, dry_run=False)
    with pytest.raises(InputError, match="assessor"):
        people.own_server(apart, "a9", url=served.url, dry_run=False)


def test_who_joins_with_a_server_of_their_own_is_looked_for_there(apart: Workspace, served: StudioInMemory) -> None:
    assert notes(apart, "a3", "cy@example.org") == ()
    servers.keep_address(apart, "a3", url=served.url, token=served.token)
    (note,) = notes(apart, "a3", "cy@example.org")
    assert note.startswith(NOT_THERE)
    served.sign_up("cy@example.org")
    assert notes(apart, "a3", "cy@example.org") == ()


# -- who leaves --------------------------------------------------------------------------------------------------------


def test_who_leaves_while_their_tasks_are_on_another_server_is_kept_until_that_is_named(
    ws: Workspace, served: StudioInMemory
) -> None:
    sent_to(ws, "a2", PairKey("p1-method", "d00"), url="http://other")
    leave(ws, "a1", successor=None, contest=False, offline=False, dry_run=True)
    sent_to(ws, "a1", PairKey("p1-method", "d00"), url="http://other")
    with pytest.raises(InputError, match=f"the tasks of a1 are on http://other, not on {served.url}") as error:
        leave(ws, "a1", successor=None, contest=False, offline=False, dry_run=False)
    assert error.value.hint is not None
    assert error.value.hint.startswith("name that server with --url; --offline continues without asking")
    leave(ws, "a1", successor=None, contest=False, offline=True, dry_run=True)
    with pytest.raises(StudioError, match="no Label Studio is running here") as away:
        leave(replace(ws, studio_url=None), "a1", successor=None, contest=False, offline=False, dry_run=False)
    assert away.value.hint is not None
    assert "--offline continues without asking" in away.value.hint


def test_answers_that_are_not_pulled_stop_who_leaves_and_hidden_gold_does_not(
    ws: Workspace, served: StudioInMemory
) -> None:
    first, gold = PairKey("p1-method", "d00"), PairKey("p2-method", "d99")
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", [Assignment(*gold.pair, "a1", 1)])
    with servers.connect(ws) as gateway:
        sent_to(ws, "a1", first, gold, server=gateway.identity())
    told: list[dict[PairKey, int]] = []

    def unpulled(
        _gateway: object, _project: object, tasks: dict[PairKey, int], recorded: set[PairKey]
    ) -> list[PairKey]:
        told.append(tasks)
        assert recorded == set()
        return [first]

    with (
        mock.patch("annot.steps.changes.unpulled", unpulled),
        pytest.raises(InputError, match="1 answer of a1 not pulled yet"),
    ):
        leave(ws, "a1", successor=None, contest=False, offline=False, dry_run=False)
    assert told == [{first: 1}]
