"""A study at any stage of the work, a fresh copy for each test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import staged_studies

Study = Callable[[str], Path]


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The studies that tests copy; nobody writes into them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY", "ANNOT_DATABASE", "ANNOT_WORKSPACE"):
            patch.delenv(name, raising=False)
        patch.setenv("NO_COLOR", "1")
        return staged_studies.build(tmp_path_factory.mktemp("studies"))


@pytest.fixture
def study(stages: dict[str, Path], tmp_path: Path) -> Study:
    """`study("pooled")` is a workspace whose pools are drawn; the stages are those of `staged_studies.STAGES`."""

    def copy(stage: str) -> Path:
        return Path(shutil.copytree(stages[stage], tmp_path / "study"))

    return copy
