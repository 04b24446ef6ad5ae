"""What several stories share: a complete study, made once, and a server that is quick where none has to be real."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from complete_study import Complete, complete_study
from memory_studio import StudioAtASocket, StudioOfMemory, studio_at_a_socket, studio_of_memory
from studies import Study


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioOfMemory]:
    """A Label Studio in memory, which is quick."""
    with studio_of_memory(tmp_path_factory.mktemp("memory")) as made:
        yield made


@pytest.fixture(scope="module")
def at_a_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioAtASocket]:
    """A Label Studio in memory that processes of their own can ask."""
    with studio_at_a_socket(tmp_path_factory.mktemp("socket")) as made:
        yield made


@pytest.fixture(scope="module")
def complete(memory: StudioOfMemory, tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """A complete study and its server."""
    return complete_study(tmp_path_factory.mktemp("complete") / "study", memory)


@pytest.fixture
def study(complete: Complete, memory: StudioOfMemory, tmp_path: Path) -> Study:
    """The complete study in a folder of this test's own, and its server as it was then."""
    shutil.copytree(complete.study.folder, tmp_path / "study", symlinks=True)
    memory.server.restore(complete.now)
    return Study(tmp_path / "study", memory)
