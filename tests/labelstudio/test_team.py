"""A team's servers below one domain: a real Caddy in front of real servers, on the loopback device alone."""

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from annot.judging.exchange.servers import front_folder, studio_folder
from annot.labelstudio import front, server
from annot.labelstudio.accounts import local_secrets
from annot.steps import setup
from annot.study.workspace import Workspace
from browsing import Screen
from command_line import annot, annot_done
from fixtures_studio import CHROMIUM_ARGUMENTS, GUARD, Studio, chromium_program
from studies import PEOPLE, Study, add_people, address_of, ready
from study_stages import COLLECTION
from test_next import Lead, sets
from test_servers_started import meminfo, with_template

DOMAIN = "study.example.org"
FOUR = (*(name for name, _ in PEOPLE), "j2")

HERE = f"""
import socket
real = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: real(
    "127.0.0.1" if str(host).strip("b'").endswith("{DOMAIN}") else host, *more, **named
)
"""
"""Python that leads the names of the domain to the loopback device."""


@pytest.fixture(autouse=True)
def resolved_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", socket.getaddrinfo)
    exec(HERE, {})


class Team:
    """A study with a domain, and what its machine shows of it."""

    def __init__(self, ws: Workspace, port: int) -> None:
        self.ws, self.port = ws, port
        self.up = ("studio", "up", "--domain", DOMAIN, "--internal-certificates", "--port", str(port))

    def done(self, *typed: str, next: str = "") -> str:
        """Run a command; it has to succeed, and to name the next one."""
        result = annot_done(*typed, folder=self.ws.root)
        assert f"next: annot {next}" in result.stderr
        return result.stdout

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """`annot studio up` in a process of its own."""
        code = f"{HERE}\nfrom annot.cli.main import run\nrun()"
        arguments = [sys.executable, "-c", code, *self.up, *more]
        return subprocess.Popen(arguments, cwd=self.ws.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def process(self, name: str) -> int | None:
        return server.number_in(studio_folder(self.ws, name) / "server.pid")

    def study_at(self, name: str) -> Study:
        """The study as the server of this person shows it."""
        folder = studio_folder(self.ws, name)
        running = server.status(folder)
        assert running is not None
        return Study(self.ws.root, Studio(running.url, server.credentials(folder).token, folder))

    def answer(self, name: str, path: str = "/user/login/") -> httpx.Response:
        """The answer by https, its certificate checked."""
        root = front_folder(self.ws) / "certificates/pki/authorities/local/root.crt"
        trusted = ssl.create_default_context(cafile=root)
        with httpx.Client(verify=trusted, trust_env=False, timeout=GUARD) as client:
            return client.get(f"https://{name}.{DOMAIN}:{self.port}{path}")

    def open_ports(self) -> set[str]:
        """Addresses and ports at which programs of this study listen, as `ss` lists them."""
        listed = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout
        ours = {*map(self.process, FOUR), front.running(front_folder(self.ws))}
        return {line.split()[3] for line in listed.splitlines() if {*map(int, re.findall(r"pid=(\d+)", line))} & ours}


def waited_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + GUARD
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@contextmanager
def browser(playwright: Any) -> Iterator[Any]:
    """A Chromium that finds the names of the domain at the loopback device."""
    arguments = [*CHROMIUM_ARGUMENTS, f"--host-resolver-rules=MAP *.{DOMAIN} 127.0.0.1"]
    window = playwright.chromium.launch(executable_path=chromium_program(), args=arguments, timeout=1000 * GUARD)
    context = window.new_context(ignore_https_errors=True)
    context.set_default_timeout(1000 * GUARD)
    yield context
    window.close()


def sign_in(page: Any, address: str, account: str, password: str) -> None:
    page.goto(address)
    page.fill("input[name=email]", account)
    page.fill("input[name=password]", password)
    page.keyboard.press("Enter")


def judges_three_pairs(team: Team, letter: str, playwright: Any) -> None:
    """The person signs in by the letter alone, grades by keyboard, and is let into no other server."""
    (link,), (password,) = re.findall(r"https://a1\S+/projects/\S+", letter), re.findall(r"Password: (\S+)", letter)
    assert link.startswith(f"https://a1.{DOMAIN}:{team.port}/")
    with browser(playwright) as window:
        page = window.new_page()
        sign_in(page, link, address_of("a1"), password)
        screen = Screen(page, link, ".a-cand")
        screen.close_instructions()
        screen.settle()
        for key in "123":
            screen.choose(key, key)
            screen.submit()
        cookies = {cookie["name"]: cookie for cookie in window.cookies()}
        assert all(cookies[name]["secure"] and cookies[name]["httpOnly"] for name in ("sessionid", "csrftoken"))
        sign_in(page, f"https://a2.{DOMAIN}:{team.port}/user/login/", address_of("a1"), password)
        page.wait_for_selector("text=The email and password you entered don't match")
        page.goto(f"https://a2.{DOMAIN}:{team.port}/projects/1/data?labeling=1")
        assert "/user/login" in page.url


@pytest.mark.studio
@pytest.mark.browser
@pytest.mark.long
def test_a_team_of_four_judges_on_servers_that_nobody_else_can_open(
    studio: Studio, playwright: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MEMINFO", meminfo(tmp_path, available=16_000_000))
    ws = ready(tmp_path / "study", name="team", per_method=1, more_settings="")
    add_people(ws, [("j2", True)])
    for day, name in enumerate(FOUR, start=1):
        with_template(studio_folder(ws, name), day)
    with socket.create_server(("127.0.0.1", 0)) as free:
        team = Team(ws, free.getsockname()[1])
    team.done("check", "guidelines", next="studio up")
    keeper = team.start()
    try:
        # The command is killed while it starts the servers, and typed again.
        waited_for(lambda: team.process("a1"))
        keeper.kill()
        keeper.wait()
        first = team.process("a1")
        team.done(*team.up, next="push")
        assert team.process("a1") == first, "a server that runs is left alone"
        assert 'isolation = "server"' in ws.settings_file.read_text()
        ws = team.ws = Workspace.open(ws.root)
        team.done("push", next="invite")
        team.done("invite", "--out", "letters", next="studio nightly")
        assert team.answer("a1").headers["strict-transport-security"]
        assert all(port.startswith("127.0.0.1:") for port in team.open_ports())
        assert len(team.open_ports()) == 5
        judges_three_pairs(team, (ws.root / "letters" / "a1.txt").read_text(), playwright)

        # What dies is started again.
        keeper = team.start("--stay")
        dead = [team.process("a2"), front.running(front_folder(ws))]
        for process in dead:
            assert process is not None
            os.kill(process, signal.SIGKILL)
        waited_for(lambda: team.process("a2") != dead[0] and front.running(front_folder(ws)) not in (None, dead[1]))
        waited_for(lambda: _is_well(team, "a2"))

        # A fifth person comes, another leaves.
        team.done("assessor", "add", "a3", "--account", address_of("a3"))
        with_template(studio_folder(ws, "a3"), 5)
        team.done("studio", "up")
        team.done("pull")
        team.done("assessor", "leave", "a2", "--to", "a3")
        assert "a2 has left" in annot_done("studio", "up", folder=ws.root).stderr
        assert team.answer("a3").status_code == 200
        assert not _is_well(team, "a2")
        examined = annot("doctor", "--json", folder=ws.root).data
        assert not [finding for finding in examined["findings"] if DOMAIN in finding["what"]], examined["findings"]
        assert all(f"{name}.{DOMAIN}" in examined["server"] for name in ("a1", "a3", "j1", "j2"))

        team.done("push", next="invite")
        team.done("invite", "a3", "--out", "letters", next="studio nightly")
        team.done("studio", "nightly", next="pull")

        # Nothing secret is in a list of processes, in a log or in a backup.
        secrets = set().union(*(local_secrets(studio_folder(ws, name)).tokens for name in FOUR))
        assert len(secrets) > 2 * len(FOUR)
        assert (ws.root / "letters" / "a3.txt").is_file()
        (backup,) = (ws.root / "backups" / "nightly").iterdir()
        shown = "".join(log.read_text() for log in ws.cache.glob("**/*.log"))
        shown += "".join(_command_line(path) for path in Path("/proc").glob("[0-9]*"))
        with tarfile.open(backup) as tar:
            files = [tar.extractfile(member) for member in tar if member.isfile()]
            shown += "".join(file.read().decode(errors="replace") for file in files if file is not None)
        assert not [secret for secret in secrets if secret in shown]
    finally:
        setup.down(Workspace.open(ws.root))
        keeper.wait(GUARD)
    assert front.running(front_folder(ws)) is None


class TeamLead(Lead):
    """Types what is next for a team at other places, and decides on the options of the domain."""

    def __init__(self, team: Team) -> None:
        super().__init__(team.ws.root, None)  # type: ignore[arg-type]
        self.team = team

    def state(self) -> tuple[str, str]:
        records, _ = super().state()
        return records, f"{front.running(front_folder(self.team.ws))} {list(self.team.ws.cache.glob('*.json'))}"

    def decided(self, command: str) -> str:
        if command == "annot invite":
            return f"{command} --out letters"
        if not command.startswith("annot studio up"):
            return super().decided(command)
        domain = "" if "--domain" in command else f" --domain {DOMAIN}"
        return f"{command}{domain} --internal-certificates --port {self.team.port}"

    def acts(self, command: str) -> None:
        self.team.ws = Workspace.open(self.team.ws.root)
        if command.startswith("annot studio nightly"):
            self.answers("a1", at_most=2)
        elif command in ("annot pull", "annot pull adjudication"):
            for name in ("a1", "a2") if command == "annot pull" else ("j1",):
                self.answers(name)
        else:
            super().acts(command)

    def answers(self, name: str, *, at_most: int | None = None) -> None:
        """The person answers what is open."""
        study, round = self.team.study_at(name), "adjudicate" if name == "j1" else "judge"
        tasks = [task for task in study.on_server(name, round) if not task["annotations"]]
        pairs = [tuple(task["data"]["pair_id"].split("/"))[:2] for task in tasks[:at_most]]
        study.judge(name, {pair: {"a1": 1, "a2": 3, "j1": 2}[name] for pair in pairs}, round)

    def open_pairs(self, name: str) -> set[str]:
        tasks = self.team.study_at(name).on_server(name)
        return {task["data"]["pair_id"] for task in tasks if not task["annotations"]}

    def letters(self) -> dict[str, str]:
        """The address of each person's server, as their letter has it."""
        files = (self.team.ws.root / "letters").glob("*.txt")
        return {file.stem: re.findall(r"https://[^\s/]+", file.read_text(encoding="utf-8"))[0] for file in files}


@pytest.mark.studio
@pytest.mark.long
def test_what_is_next_leads_a_team_from_its_servers_to_the_release_and_over_a_move(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MEMINFO", meminfo(tmp_path, available=16_000_000))
    ws = ready(tmp_path / "study", name="journey", per_method=1, more_settings="")
    sets(ws.root, "collection", **COLLECTION)
    with socket.create_server(("127.0.0.1", 0)) as free:
        team = Team(ws, free.getsockname()[1])
    lead, secrets = TeamLead(team), set[str]()
    names = [name for name, _ in PEOPLE]
    try:
        for day, name in enumerate(names, start=1):
            with_template(studio_folder(ws, name), day)
        lead.follows(lead.types("annot check guidelines"), to="annot pull (")
        way = [" ".join(line.split()[1:3]) for line in lead.typed[1:]]
        assert way == ["studio up", "push", "invite --out", "studio nightly"]
        still_open, first = lead.open_pairs("a1"), lead.letters()

        # The study moves to another machine.
        lead.types("annot backup ../moved.tar.gz")
        secrets |= _secrets(ws, names)
        setup.down(Workspace.open(ws.root))
        lead.types("annot restore moved.tar.gz moved", folder=tmp_path)
        team.ws = Workspace.open(tmp_path / "moved")
        lead = TeamLead(team)
        for day, name in enumerate(names, start=11):
            with_template(studio_folder(team.ws, name), day)
        lead.follows(lead.types("annot check guidelines"), to="annot studio nightly (")
        assert [" ".join(line.split()[1:5]) for line in lead.typed[1:]] == [
            f"studio up --domain {DOMAIN}",
            "push",
            "invite --out letters",
        ]
        assert lead.letters() == first
        assert lead.open_pairs("a1") == still_open
        assert len(still_open) > 1
        lead.follows(lead.types("annot check guidelines"))
        secrets |= _secrets(team.ws, names)
        # Answers of a1 are on record from two servers, and on this one are no others.
        lead.types("annot assessor leave a1")
        assert "a1 has left and all answers are pulled" in lead.types("annot studio up").stderr
    finally:
        for folder in (ws.root, team.ws.root):
            setup.down(Workspace.open(folder))
    released = "".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in (tmp_path / "release").rglob("*")
        if path.is_file()
    )
    assert "server of their own" in released
    assert not [secret for secret in secrets if secret in released]


def _secrets(ws: Workspace, names: Iterable[str]) -> set[str]:
    """Passwords and tokens of the servers of these people, and their addresses."""
    found = [local_secrets(studio_folder(ws, name)) for name in names]
    return set().union(*(secrets.tokens | secrets.addresses for secrets in found))


def _command_line(process: Path) -> str:
    with suppress(OSError):
        return (process / "cmdline").read_text(errors="replace")
    return ""


def _is_well(team: Team, name: str) -> bool:
    try:
        return team.answer(name).status_code == 200
    except httpx.HTTPError:
        return False
