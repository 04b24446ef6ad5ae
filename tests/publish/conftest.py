"""A judged study for each test, and the command line run in this process."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import command_line
import pytest
import study_stages
from annot.study.workspace import Workspace
from command_line import Result

QUERY_PAPERS = 3
"""Enough for every facet; agreement on all nine takes three times as long."""


WITHOUT_LOGS = shutil.ignore_patterns("annot.db-*")
"""Files that SQLite has next to a database while another process reads it; the kept study is whole without them."""


@pytest.fixture(scope="session")
def finished() -> Workspace:
    """The study that tests copy; nobody writes into it."""
    return Workspace.open(study_stages.kept(study_stages.published(QUERY_PAPERS), "measured"))


@pytest.fixture
def ws(finished: Workspace, tmp_path: Path) -> Workspace:
    """A study that can be released."""
    return Workspace.open(Path(shutil.copytree(finished.root, tmp_path / "study", ignore=WITHOUT_LOGS)))


@pytest.fixture
def annot(ws: Workspace) -> Callable[..., Result]:
    """Runs `annot ARGUMENTS` in the study."""
    return partial(command_line.annot, folder=ws.root)
