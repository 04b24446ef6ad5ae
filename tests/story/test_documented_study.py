"""The blocks of the quick start and of the project lead's page, typed one after the other on a real Label Studio."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from annot.demo import simulated_people
from annot.study.workspace import Workspace
from fixtures_studio import Studio
from studies import quietly

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import references  # noqa: E402  # it lies beside the pages

pytestmark = pytest.mark.studio


def typed(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The block in a shell that stops at the first command that fails."""
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def people_work(folder: Path, round: str) -> None:
    """Everybody answers what is open, each with an account of their own."""
    work = {"judge": simulated_people.judge, "settle": simulated_people.settle}[round]
    assert work(Workspace.open(folder), seed=13, truth=simulated_people.demo_relevance(), advance=quietly)


def test_a_study_goes_as_the_pages_say(studio: Studio, tmp_path: Path) -> None:
    study = tmp_path / "study"
    for page in ("quickstart.md", "lead.md"):
        for block in references.blocks(DOCS / page):
            if block.language != "sh" or block.not_run:
                continue
            if block.people:
                people_work(study, block.people)
            done = typed(block.code, study if study.exists() else tmp_path)
            assert done.returncode == 0, f"{page}\n{block.code}\n{done.stdout}\n{done.stderr}"
            if study.exists() and not (study / ".annot").exists():
                (study / ".annot").mkdir()
                (study / ".annot" / "studio").symlink_to(studio.folder)
    assert (study / "exports" / "report.html").is_file()
