"""The local Label Studio of a study: up, down, status."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annot.exchange.connection import connect, open_accounts, passwords_file, studio_folder
from annot.labelstudio import installing, server
from annot.report.terminal import told
from annot.store import people
from annot.store.database import open_store
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class State:
    """The local server as it is now. Nothing in here opens it."""

    running: bool
    healthy: bool
    installed: bool
    url: str
    """Empty when it does not run."""
    data: Path
    administrator: Path
    """The private file with the administrator's account."""
    passwords: Path
    """The private file with the assessors' accounts."""


def up(ws: Workspace, *, port: int | None, tell: Callable[[str], None]) -> State:
    """Install it where it is missing, start it where it is down, and make the accounts of everyone in the study."""
    with open_store(ws.database_url, create=False) as store:
        server.up(studio_folder(ws), environ=os.environ, port=port, say=tell)
        with store.read() as session:
            accounts = [person.account for person in people.read_assessors(session) if person.account]
        if accounts:
            with connect(ws, url=None, api_key=None) as gateway:
                open_accounts(ws, gateway, accounts)
    return status(ws)


def down(ws: Workspace) -> State:
    """Stop the server that this study started; its data stays."""
    server.down(studio_folder(ws))
    return status(ws)


def status(ws: Workspace) -> State:
    """Whether it runs, and where."""
    folder = studio_folder(ws)
    running = server.status(folder)
    return State(
        running=running is not None,
        healthy=running is not None and running.healthy,
        installed=installing.installed(os.environ) is not None,
        url="" if running is None else running.url,
        data=folder / "data",
        administrator=folder / "admin.json",
        passwords=passwords_file(ws),
    )


def describe(state: State, *, stopped: bool = False) -> str:
    """The state in words."""
    return told("studio", state=state, stopped=stopped)
