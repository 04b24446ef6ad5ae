"""A study at a stage of its rounds, and a Label Studio in memory: each test has both for itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from worlds import Stages, World


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """Nobody writes into what tests copy."""
    return Stages(tmp_path_factory.mktemp("rounds"))


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an answer that got lost, nor the library between its repeated reads."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def planned(stages: Stages, tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Nothing is sent yet."""
    with stages.world("planned", tmp_path / "study") as made:
        yield made


@pytest.fixture
def sent(stages: Stages, tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Sent, and not judged."""
    with stages.world("sent", tmp_path / "study") as made:
        yield made


@pytest.fixture
def judged(stages: Stages, tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """All judged and pulled: a1 gives 1, a2 gives 1, and 3 to the first two pairs."""
    with stages.world("judged", tmp_path / "study") as made:
        yield made


@pytest.fixture
def settled(stages: Stages, tmp_path: Path, no_waiting: None) -> Iterator[World]:
    """Both disputes are settled as 2."""
    with stages.world("settled", tmp_path / "study") as made:
        yield made
