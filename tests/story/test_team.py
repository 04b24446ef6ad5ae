"""A team's servers below one domain: a real Caddy in front of real servers, on the loopback device alone."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from annot.judging.exchange.servers import front_folder, studio_folder
from annot.labelstudio import front, server
from annot.labelstudio.accounts import read_passwords
from annot.steps import setup
from command_line import annot_done
from fixtures_studio import CHROMIUM_ARGUMENTS, GUARD, Studio, chromium_program
from studies import PEOPLE, address_of, ready
from test_servers_started import meminfo, with_template

DOMAIN = "study.example.org"
NAMES = tuple(name for name, _ in PEOPLE)


@pytest.fixture(autouse=True)
def resolved_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the domain lead to the loopback device, and all others nowhere."""
    real = socket.getaddrinfo

    def here(host: Any, *arguments: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return real("127.0.0.1" if str(name).endswith(DOMAIN) else host, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", here)


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium that finds the names of the domain at the loopback device."""
    from playwright.sync_api import sync_playwright

    arguments = [*CHROMIUM_ARGUMENTS, f"--host-resolver-rules=MAP *.{DOMAIN} 127.0.0.1"]
    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=chromium_program(), args=arguments, timeout=1000 * GUARD)
        yield window.new_context(ignore_https_errors=True)
        window.close()


@pytest.mark.studio
@pytest.mark.browser
@pytest.mark.long
def test_a_team_of_four_judges_on_servers_that_nobody_else_can_open(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MEMINFO", meminfo(tmp_path, available=16_000_000))
    ws = ready(tmp_path / "study", name="team", per_method=1, more_settings="")
    for day, name in enumerate(NAMES, start=1):
        with_template(studio_folder(ws, name), day)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    up = ("studio", "up", "--domain", DOMAIN, "--internal-certificates", "--port", port)
    try:
        started = annot_done(*up, folder=ws.root)
        assert f"*.{DOMAIN}" in started.stderr
        annot_done("push", folder=ws.root)
        letters = annot_done("invite", "a1", folder=ws.root).stdout
        (link,) = re.findall(r"https://a1\S+/projects/\S+", letters)
        with browser() as window:
            page = window.new_page()
            page.goto(link)
            page.fill("input[name=email]", address_of("a1"))
            page.fill(
                "input[name=password]", read_passwords(studio_folder(ws, "a1") / "passwords.tsv")[address_of("a1")]
            )
            page.keyboard.press("Enter")
            page.wait_for_selector(".a-cand .a-text")
            cookies = {cookie["name"]: cookie for cookie in window.cookies()}
            assert all(cookies[name]["secure"] and cookies[name]["httpOnly"] for name in ("sessionid", "csrftoken"))
    finally:
        setup.down(ws)
    assert front.running(front_folder(ws)) is None
