"""A study with an empty database and no corpus."""

from pathlib import Path

import pytest
from annot.base.settings import Settings
from annot.store.database import open_store
from annot.study.workspace import Workspace


@pytest.fixture
def stored(tmp_path: Path) -> Workspace:
    ws = Workspace(tmp_path, Settings())
    with open_store(ws.database_url):
        return ws
