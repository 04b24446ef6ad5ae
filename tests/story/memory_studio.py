"""A Label Studio in memory in place of the tests' real one, for stories that no real server has to tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from annot.labelstudio import server
from fixtures_studio import Studio
from studio_contents import LEAD
from studio_in_memory import StudioInMemory


@dataclass
class StudioOfMemory(Studio):
    """As `Studio`, with the server itself to look at and to break."""

    server: StudioInMemory = field(default_factory=StudioInMemory)

    def end_what_was_abandoned(self) -> None:
        """It goes on with nothing."""


@contextmanager
def studio_of_memory(folder: Path) -> Iterator[StudioOfMemory]:
    """The server with a folder that says it runs there. `labelstudio/test_contract.py` holds it against a real one."""
    made = StudioInMemory(in_time=True)
    administrator = {"email": LEAD, "password": made.account(LEAD)["password"], "token": made.token}
    (folder / "admin.json").write_text(json.dumps(administrator), encoding="utf-8")
    status = server.status

    def running(asked: Path) -> server.Server | None:
        return server.Server(made.url, 80, 1, True) if asked.resolve() == folder.resolve() else status(asked)

    with made.served(), mock.patch.object(server, "status", running):
        yield StudioOfMemory(made.url, made.token, folder, server=made)
