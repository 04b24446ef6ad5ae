"""A new workspace for each test, and the command line run in this process."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import command_line
import pytest
from annot.study.workspace import Workspace
from command_line import Result
from small_study import Small
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """An empty workspace."""
    return copied(Small(), "made", tmp_path / "study")


@pytest.fixture
def annot(ws: Workspace) -> Callable[..., Result]:
    """Runs `annot ARGUMENTS` in the workspace."""
    return partial(command_line.annot, folder=ws.root)
