"""A study at a stage of its rounds, and a Label Studio in memory: each test has both for itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from worlds import World, world


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an answer that got lost, nor the library between its repeated reads."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def planned(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Nothing is sent yet."""
    with world("planned", tmp_path / "study") as made:
        yield made


@pytest.fixture
def sent(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Sent, and not judged."""
    with world("sent", tmp_path / "study") as made:
        yield made


@pytest.fixture
def judged(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """All judged and pulled: a1 gives 1, a2 gives 1, and 3 to the first two pairs."""
    with world("judged", tmp_path / "study") as made:
        yield made


@pytest.fixture
def settled(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Both disputes are settled as 2."""
    with world("settled", tmp_path / "study") as made:
        yield made
