"""A judged study for each test, and the command line run in this process."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from annot.cli.main import run
from annot.workspace import Workspace
from judged_study import judged_study

QUERY_PAPERS = 3
"""Enough for every facet; agreement on all nine takes three times as long."""


@dataclass(frozen=True)
class Ran:
    """What one command gave."""

    exit_code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What `--json` carries."""
        return json.loads(self.out)["data"]


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The study that tests copy; nobody writes into it."""
    return judged_study(tmp_path_factory.mktemp("finished") / "study", query_papers=QUERY_PAPERS)


@pytest.fixture
def ws(finished: Workspace, tmp_path: Path) -> Workspace:
    """A study that can be released."""
    return Workspace.open(Path(shutil.copytree(finished.root, tmp_path / "study")))


@pytest.fixture
def annot(ws: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `annot ARGUMENTS` on the study."""
    monkeypatch.setenv("ANNOT_WORKSPACE", str(ws.root))

    def command(*arguments: object) -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["annot", *map(str, arguments)])
        code = 0
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return command
