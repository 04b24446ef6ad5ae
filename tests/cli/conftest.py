"""A study at any stage of the work, a fresh copy for each test, and a watch over what commands do."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
import study_stages
from study_stages import DEMO
from watching import Watch

Study = Callable[[str], Path]


class Stages(dict[str, Path]):
    """The demonstration's study by stage, made when it is asked for."""

    def __missing__(self, stage: str) -> Path:
        return study_stages.kept(DEMO, stage)


@pytest.fixture(scope="session")
def stages() -> dict[str, Path]:
    """The studies that tests copy; nobody writes into them."""
    return Stages()


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """`study("pooled")` is a workspace whose pools are drawn; the stages are those of `study_stages.STAGES`."""
    return lambda stage: study_stages.copied(DEMO, stage, tmp_path / "study").root


@pytest.fixture(scope="session")
def watch() -> Watch:
    importlib.import_module("matplotlib.font_manager")  # which looks for this machine's fonts, once
    return Watch()
