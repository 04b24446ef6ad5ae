"""A new workspace for each test, and the command line run in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from annot.cli.main import run
from annot.steps.init import init
from annot.workspace import Workspace


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


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """An empty workspace; intervals from few resamples, as no test here looks at their ends."""
    init(tmp_path / "study", name="small", dry_run=False)
    settings = tmp_path / "study" / "annot.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("resamples = 2000", "resamples = 100"))
    return Workspace.open(tmp_path / "study")


@pytest.fixture
def annot(ws: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `annot ARGUMENTS` on the workspace."""
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
