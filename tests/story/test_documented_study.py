"""The blocks of the quick start and of the project lead's page, typed one after the other on a real Label Studio."""

from __future__ import annotations

from pathlib import Path

import pytest
from annot.demo import simulated_people
from annot.study.workspace import Workspace
from documented import runnable, typed
from fixtures_studio import Studio
from studies import quietly

pytestmark = pytest.mark.studio


def people_work(folder: Path, round: str) -> None:
    """Everybody answers what is open, each with an account of their own."""
    work = {"judge": simulated_people.judge, "settle": simulated_people.settle}[round]
    assert work(Workspace.open(folder), seed=13, truth=simulated_people.demo_relevance(), advance=quietly)


def test_a_study_goes_as_the_pages_say(studio: Studio, tmp_path: Path) -> None:
    begin, *rest = [*runnable("quickstart.md"), *runnable("lead.md")]
    typed(begin.code, tmp_path)
    study = tmp_path / "study"
    (study / ".annot").mkdir(exist_ok=True)
    (study / ".annot" / "studio").symlink_to(studio.folder)
    for block in rest:
        if block.people:
            people_work(study, block.people)
        typed(block.code, study)
    assert (study / "exports" / "report.html").is_file()
