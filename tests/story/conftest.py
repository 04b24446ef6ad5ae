"""What several stories share: a complete study, made once, and a server that is quick where none has to be real."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from complete_study import Complete, complete_study, set_back
from fixtures_studio import Studio
from memory_studio import StudioOfMemory, studio_of_memory
from studies import Study


@pytest.fixture(scope="session")
def complete(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Complete]:
    """A complete study and its server; `studio` has installed that, and keeps the template it is made from."""
    with complete_study(tmp_path_factory.mktemp("complete")) as made:
        yield made


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioOfMemory]:
    """A Label Studio in memory, which is quick."""
    with studio_of_memory(tmp_path_factory.mktemp("memory")) as made:
        yield made


@pytest.fixture
def study(complete: Complete, tmp_path: Path) -> Study:
    """The complete study in a folder of this test's own, and its server as it was then."""
    shutil.copytree(complete.study.folder, tmp_path / "study", symlinks=True)
    set_back(complete)
    return Study(tmp_path / "study", complete.study.studio)
