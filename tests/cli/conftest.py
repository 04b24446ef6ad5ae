"""A study at any stage of the work, a fresh copy for each test, and a watch over what commands do."""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import study_stages
from annot.publishing import paper
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


@pytest.fixture(scope="module", autouse=True)
def two_drawings() -> Iterator[None]:
    """`annot figures` and `annot paper` draw two of their figures: each takes half a second in its three forms. Tests
    of `publish/` and `report/` draw all."""
    every = paper.drawings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "drawings", lambda study: every(study)[:2])
        yield


@pytest.fixture(scope="session")
def watch() -> Watch:
    importlib.import_module("matplotlib.font_manager")  # which looks for this machine's fonts, once
    return Watch()
