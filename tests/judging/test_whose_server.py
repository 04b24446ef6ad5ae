"""Which server is whose: addresses and tokens that are kept, people at an address, and who waits for one away."""

import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from annot.base.errors import InputError, StudioError
from annot.judging.exchange import servers
from annot.judging.exchange.servers import Place, Unreachable
from annot.labelstudio import server
from annot.labelstudio.gateway import Gateway
from annot.store import people
from annot.study.workspace import Workspace
from small_study import RECORDED, Small
from studio_in_memory import StudioInMemory
from study_stages import copied

URL = "https://ann.example.org"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Each person has a server of their own."""
    return copied(Small(), "planned", tmp_path / "study").replaced("judging", isolation="server")


@pytest.fixture
def served() -> Iterator[StudioInMemory]:
    with StudioInMemory().served() as studio:
        yield studio


def test_a_server_elsewhere_is_kept_for_the_owner_alone(ws: Workspace) -> None:
    assert servers.is_elsewhere(ws, "a1") is False
    for token in ("first", "second"):
        servers.keep_address(ws, "a1", url=URL, token=token)
        assert servers.place_of(ws, "a1") == Place(URL, token, local=False)
    path = servers.address_file(ws, "a1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["elsewhere.json"]
    assert servers.people_with_servers(ws) == ("a1",)
    assert servers.studio_folders(ws) == (ws.cache / "studios" / "a1",)
    path.write_text('{"url": "x"}', encoding="utf-8")
    with pytest.raises(StudioError, match="cannot be read"):
        servers.place_of(ws, "a1")


def test_a_server_that_this_study_has_started_comes_with_its_own_token(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StudioError, match="no Label Studio is running here"):
        servers.place_of(ws, None)
    with pytest.raises(StudioError, match="no server is known for a1"):
        servers.place_of(ws, "a1")
    servers.studio_folder(ws, "a1").mkdir(parents=True)
    with pytest.raises(StudioError, match="the server of a1 is not running") as caught:
        servers.place_of(ws, "a1")
    assert "annot assessor change a1 --server ADDRESS" in (caught.value.hint or "")
    monkeypatch.setattr(server, "status", lambda folder: server.Server(f"http://{folder.name}", 1, 2, True))
    token = server.credentials(servers.studio_folder(ws, "a1")).token
    assert servers.place_of(ws, "a1") == Place("http://a1", token, local=True)
    assert servers.place_of(ws, None).url == "http://studio"


def test_of_an_address_the_people_are_known_and_an_address_of_nobody_is_refused(ws: Workspace) -> None:
    servers.keep_address(ws, "a1", url=URL, token="t")
    servers.keep_address(ws, "a2", url="https://bob.example.org", token="t")
    assert servers.owners_of(ws, f"{URL}/", ["a1", "a2", "j1"]) == ["a1"]
    assert servers.people_at(ws, URL, ["a1", "a2"]) == ["a1"]
    assert servers.people_at(ws, URL, ["a2"]) == [], "it is somebody's who has nothing to do now"
    with pytest.raises(InputError, match="does not belong to anyone"):
        servers.people_at(ws, "https://who.example.org", ["a1", "a2"])


def worked(ws: Workspace, *names: str) -> tuple[list[tuple[str, ...]], tuple[Unreachable, ...]]:
    """For whom the work was done, and who could not be reached."""
    done: list[tuple[str, ...]] = []
    return done, servers.on_servers(ws, names, lambda gateway, people: done.append(tuple(people)))


def test_each_server_is_asked_for_its_own_person_and_one_that_is_away_holds_up_nobody(
    ws: Workspace, served: StudioInMemory
) -> None:
    servers.keep_address(ws, "a1", url=served.url, token=served.token)
    done, away = worked(ws, "a1", "a2")
    assert done == [("a1",)]
    assert [(one.assessor, one.left) for one in away] == [("a2", False)]
    assert "no server is known for a2; start one here" in away[0].why
    with pytest.raises(StudioError, match="none of 1 server could be reached") as caught:
        worked(ws, "a2")
    assert len(caught.value.faults) == 1
    assert worked(ws) == ([], ())


def test_nobody_waits_for_the_server_of_who_left(ws: Workspace) -> None:
    with ws.writing() as session:
        people.set_left(session, "a2", RECORDED)
    done, away = worked(ws, "a2")
    assert (done, [(one.assessor, one.left) for one in away]) == ([], [("a2", True)])
    assert servers.unreachable_finding(away, "annot push") is None
    assert [note.startswith("a2 has left") for note in servers.unreachable_notes(away)] == [True]
    waited = Unreachable("a1", "away", False)
    finding = servers.unreachable_finding([*away, waited], "annot push")
    assert finding is not None
    assert finding.message == "could not reach 1 server; the work on the others is done"
    assert finding.faults == ("a1: away",)
    assert servers.unreachable_notes([waited]) == ()
    with pytest.raises(StudioError, match="none of 2 servers") as caught:
        worked(ws, "a2", "a1")
    assert len(caught.value.faults) == 1


def test_two_people_on_one_server_are_refused(ws: Workspace, served: StudioInMemory) -> None:
    for name in ("a1", "a2"):
        servers.keep_address(ws, name, url=served.url, token=served.token)
    done, away = worked(ws, "a1", "a2")
    assert done == [("a1",)]
    assert "is also the server of a1, expected one that only a2 uses" in away[0].why


def test_a_server_that_is_named_must_be_of_the_person_who_is_asked_for(ws: Workspace, served: StudioInMemory) -> None:
    servers.keep_address(ws, "a1", url=served.url, token=served.token)
    servers.keep_address(ws, "a2", url=URL, token="t")
    named = replace(ws, studio_url=served.url)
    with servers.connect(named, person="a1") as gateway:
        assert gateway.whoami() == 1
    with pytest.raises(InputError, match="not the server of a2"), servers.connect(named, person="a2"):
        pytest.fail("it is another's")
    assert worked(named, "a1", "a2") == ([("a1",)], ())


def test_one_server_for_all_is_asked_for_all_and_needs_a_token(ws: Workspace, served: StudioInMemory) -> None:
    ws = ws.replaced("judging", isolation="project")
    named = replace(ws, studio_url=served.url, studio_token=served.token)
    assert worked(named, "a1", "a2") == ([("a1", "a2")], ())
    with pytest.raises(StudioError, match="no token for"), servers.connect(replace(named, studio_token=None)):
        pytest.fail("there is no token")
    with pytest.raises(StudioError, match="no Label Studio is running here"), servers.connect(ws):
        pytest.fail("none is known")


@pytest.mark.parametrize("mode", ["project", "server"])
def test_a_mode_that_was_changed_after_a_push_leads_back(
    ws: Workspace, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = mode == "project"
    sent = [SimpleNamespace(assessor=name, server="one" if shared else name, url=URL) for name in ("a1", "a2")]
    monkeypatch.setattr(servers.projects, "sent_projects", lambda _session: sent)
    servers.studio_folder(ws, None if shared else "a1").mkdir(parents=True)
    servers.refuse_changed_mode(ws.replaced("judging", isolation=mode))
    with pytest.raises(InputError, match="tasks were sent to") as caught:
        worked(ws.replaced("judging", isolation="server" if shared else "project"), "a1", "a2")
    assert f'isolation = "{mode}"' in (caught.value.hint or "")


def test_the_secret_of_the_keys_is_made_once_and_a_copy_is_kept_for_the_owner(ws: Workspace) -> None:
    keys, again = servers.task_keys(ws), servers.task_keys(ws)
    task = {"data": {"pair_id": "p1-method/d01"}}
    assert keys.sealed(7, task) == again.sealed(7, task)
    data = keys.sealed(7, task)["data"]
    assert isinstance(data, dict)
    assert again.opened(7, data["pair_id"]) == "p1-method/d01"
    copy = ws.cache / "task-keys"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    (secret,) = copy.read_text(encoding="ascii").split()
    assert len(bytes.fromhex(secret)) == 32
    copy.write_text(f"{'0f' * 32}\n", encoding="ascii")
    assert servers.task_keys(ws).sealed(7, task) == keys.sealed(7, task)
    assert copy.read_text(encoding="ascii").split() == ["0f" * 32, secret]


def test_a_gateway_of_a_known_server_is_the_one_that_was_kept(ws: Workspace, served: StudioInMemory) -> None:
    servers.keep_address(ws, "a1", url=served.url, token="wrong")
    with pytest.raises(StudioError, match="refuses checking the token"), servers.connect(ws, person="a1"):
        pytest.fail("the token is wrong")
    servers.keep_address(ws, "a1", url=served.url, token=served.token)
    with servers.connect(ws, person="a1") as gateway:
        assert isinstance(gateway, Gateway)
        servers.refuse_shared(ws, gateway, "a1", {})
        with pytest.raises(StudioError, match="is also the server of a2"):
            servers.refuse_shared(ws, gateway, "a1", {gateway.identity(): "a2"})


def test_of_two_commands_at_once_one_makes_an_account_and_the_other_finds_it(
    ws: Workspace, served: StudioInMemory
) -> None:
    def slow(request: httpx.Request) -> None:
        if request.method == "POST" and request.url.path.startswith("/user/signup"):
            time.sleep(0.3)

    def opened(_: int) -> tuple[str, ...]:
        with Gateway(served.url, served.token) as gateway:
            return servers.open_accounts(ws, gateway, {"a1": "new@example.org"}, person="a1")

    served.faults.append(slow)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(opened, range(2))
    assert first == second
    assert [path for method, path in served.requests if method == "POST"].count("/user/signup/") == 1


def test_a_server_that_is_new_has_none_of_a_persons_tasks(ws: Workspace) -> None:
    sent = [
        SimpleNamespace(assessor=name, server="1 of 2031", url="https://a1.study.example.org") for name in ("a1", "j1")
    ]
    for name, identity in (("a1", "1 of 2031"), ("a2", "1 of 2032"), ("j1", "1 of 2032")):
        servers.studio_folder(ws, name).mkdir(parents=True, exist_ok=True)
        (servers.studio_folder(ws, name) / servers.IDENTITY).write_text(identity, encoding="utf-8")
    servers.keep_address(ws, "j1", url=URL, token="t")
    assert servers.without_their_tasks(ws, ["a1", "a2", "j1"], sent) == {"a2"}  # type: ignore[arg-type]
    assert servers.domain_on_record(ws, sent) == "study.example.org"  # type: ignore[arg-type]
    assert servers.without_their_tasks(ws.replaced("judging", isolation="project"), ["a2"], ()) == set()
