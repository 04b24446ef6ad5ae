"""What leaves this machine, and what does not: texts with the lead's word alone, the key never."""

import io
import logging
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from annot.base.errors import InputError, ModelError
from annot.steps import backup
from annot.study.workspace import VARIABLE, Workspace
from annot_opinions import commands as cli
from annot_opinions import stored
from annot_opinions.steps import Selection
from asked_study import Hurried, ask, calls_of, made, with_model
from command_line import TREE, annot
from scripted_server import Scripted, serving
from study_stages import quietly

KEY = "sk-a-key-that-nobody-may-see-0123456789"
ELSEWHERE = "http://model.example/v1"
ONE_QUERY = Selection(queries=("p1-method",))


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return made(tmp_path)


class Elsewhere(httpx.AsyncBaseTransport):
    """Stands in for the network."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, stream=httpx.ByteStream(Scripted().content))


def test_texts_leave_this_machine_with_the_leads_word_alone_and_it_is_asked_for_once(ws: Workspace) -> None:
    network, questions = Elsewhere(), list[str]()

    def say(word: bool) -> bool:
        questions.append("asked")
        return word

    ws = with_model(ws, ELSEWHERE)
    with pytest.raises(InputError, match="may not leave this machine") as error:
        ask(ws, selection=ONE_QUERY, transport=network)
    assert "may_leave_this_machine = true" in (error.value.hint or "")
    before = ws.settings_file.read_text(encoding="utf-8")
    assert network.requests == []
    done = ask(ws, selection=ONE_QUERY, transport=network, may_leave=lambda url: say(url == ELSEWHERE))
    assert (done.settled, questions) == (10, ["asked"])
    after = ws.settings_file.read_text(encoding="utf-8")
    assert after.replace("may_leave_this_machine = true\n", "") == before
    ask(Workspace.open(ws.root), transport=network, may_leave=lambda url: say(False))
    assert questions == ["asked"]
    assert len(network.requests) == 40


@pytest.mark.parametrize(("typed", "word"), [("y", True), ("n", False), ("", False)])
def test_the_lead_is_asked_on_the_terminal(
    typed: str, word: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    assert cli._may_leave(ELSEWHERE) is word
    assert ELSEWHERE in "".join(capsys.readouterr())


def test_a_no_is_noted_and_not_asked_again(ws: Workspace) -> None:
    network = Elsewhere()
    for may_leave in (lambda url: False, lambda url: True):
        with pytest.raises(InputError, match="may not leave this machine"):
            ask(Workspace.open(with_model(ws, ELSEWHERE).root), transport=network, may_leave=may_leave)
    assert "may_leave_this_machine = false" in ws.settings_file.read_text(encoding="utf-8")
    assert (network.requests, calls_of(ws)) == ([], ())


def test_a_study_of_someone_else_cannot_give_the_word_for_this_machines_owner(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = Elsewhere()
    text = ws.settings_file.read_text(encoding="utf-8")
    ws.settings_file.write_text(text.replace("[corpus]", "[corpus]\nmay_leave_this_machine = true"), encoding="utf-8")
    ws = with_model(ws, ELSEWHERE)
    with pytest.raises(InputError, match=r"\[opinions\.small\] url asks for http://model\.example/v1"):
        ask(ws, transport=network)
    assert network.requests == []
    monkeypatch.setenv(VARIABLE, ELSEWHERE)
    assert ask(ws, selection=ONE_QUERY, transport=network).settled == 10


def test_a_proxy_of_the_environment_does_not_get_what_stays_on_this_machine(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with serving() as server:
        assert ask(with_model(ws, server.url), selection=ONE_QUERY).settled == 10


def everything_in(folder: Path) -> bytes:
    """Every file, and the rows of the database as text."""
    found = b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    with closing(sqlite3.connect(folder / "annot.db")) as database:
        return found + "\n".join(database.iterdump()).encode()


def test_the_key_is_sent_in_its_header_and_is_nowhere_else(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A server that gives back all that it got, in an answer and in a refusal."""
    monkeypatch.setenv("ANNOT_OPINION_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    leaky = Scripted(f'{{"grade": 1, "reason": "You sent Bearer {KEY}."}}', model=f"tiny {KEY}", version=KEY)
    with serving(lambda request, number: leaky) as server:
        ws = with_model(ws, server.url, requests_at_once=2)
        done = annot("opinion", "ask", "small", "--query", "p1-method", folder=ws.root)
        assert done.exit_code == 0, done.stderr
        assert {header["Authorization"] for header in server.headers} == {f"Bearer {KEY}"}
        assert KEY not in str(server.requests)
        listed = annot("opinion", "list", "--json", folder=ws.root)
        server.script = lambda request, number: Scripted(None, status=401, body=f"Bearer {KEY} is wrong")
        refused = annot("opinion", "ask", "small", folder=ws.root)
    assert refused.exit_code == 3
    assert "Bearer [the key] is wrong" in refused.message()
    backup.backup(ws, tmp_path / "backup.tar.gz", dry_run=False, advance=quietly)
    with ws.reading() as session:
        assert next(stored.opinions_from(stored.read_calls(session, "small"))).reason == "You sent Bearer [the key]."
    printed = "".join(one.stdout + one.stderr for one in (done, listed, refused)) + caplog.text
    assert KEY not in printed
    assert KEY.encode() not in everything_in(ws.root)
    assert KEY.encode() not in (tmp_path / "backup.tar.gz").read_bytes()
    options = {name for parameter in TREE.at("opinion ask").params for name in parameter.opts}
    assert not {name for name in options if "key" in name or "token" in name}


def of_process(pid: str, name: str) -> bytes:
    """A file of the system on a process; nothing if it has ended or is somebody else's."""
    try:
        return (Path("/proc") / pid / name).read_bytes()
    except OSError:
        return b""


@pytest.mark.skipif(not Path("/proc/self/cmdline").is_file(), reason="the system keeps no list of processes there")
def test_the_key_is_in_no_command_line_and_in_no_process_that_asking_starts(ws: Workspace) -> None:
    """All processes of the machine are looked at, while a question is under way; a failure shows none of them."""
    seen: list[tuple[bool, bool, bool]] = []

    def look(request: dict[str, Any], number: int) -> Scripted:
        pids = [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]
        parents = {pid: of_process(pid, "stat").rpartition(b") ")[2].split() for pid in pids}
        own = {str(program.pid)}
        while new := {pid for pid, of in parents.items() if len(of) > 1 and of[1].decode() in own} - own:
            own |= new
        lines = b"\n".join(of_process(pid, "cmdline") for pid in pids)
        inherited = any(KEY.encode() in of_process(pid, "environ") for pid in own - {str(program.pid)})
        seen.append((b"ask\0small" in lines, KEY.encode() in lines, inherited))
        return Scripted()

    with serving(lambda request, number: Scripted()) as server:
        ws = with_model(ws, server.url, requests_at_once=1)
        command = [sys.executable, "-c", "from annot.cli.main import run; run()", "opinion", "ask", "small"]
        command += ["--query", "p1-method"]
        server.script = look
        given = {"cwd": ws.root, "env": {**os.environ, "ANNOT_OPINION_KEY": KEY}}
        with subprocess.Popen(command, **given, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            _, errors = program.communicate(timeout=60)
    assert program.returncode == 0, errors
    assert {header["Authorization"] for header in server.headers} == {f"Bearer {KEY}"}
    assert seen == [(True, False, False)] * 10


@pytest.mark.parametrize("key", ["two words", "new\nline", "schlüssel"])
def test_what_is_no_key_is_refused_and_not_shown(ws: Workspace, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOT_OPINION_KEY", key)
    with pytest.raises(InputError, match="ANNOT_OPINION_KEY is not a key") as error:
        ask(with_model(ws, "http://127.0.0.1:9/v1"))
    assert key not in str(error.value)


def test_without_a_key_none_is_sent(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANNOT_OPINION_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as server:
        ask(with_model(ws, server.url), selection=ONE_QUERY)
    assert not any("Authorization" in header for header in server.headers)


def test_an_error_of_the_network_shows_the_address_alone(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOT_OPINION_KEY", KEY)
    with serving() as server:
        url = server.url
    with pytest.raises(ModelError) as error:
        ask(with_model(ws, url, requests_at_once=1, timeout=0.1), selection=ONE_QUERY, clock=Hurried())
    assert KEY not in f"{error.value} {error.value.hint} {error.getrepr(style='long', showlocals=False)}"
