"""README's study, the tutorial and the how-to pages, typed line by line on a real Label Studio."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from annot.demo import simulated_people
from annot.study.workspace import Workspace
from documented import CHECKOUT, DOCS, references, runnable, shows, typed
from fixtures_studio import Studio
from studies import quietly

pytestmark = pytest.mark.studio

PEOPLE = {
    "judge": simulated_people.judge,
    "settle": simulated_people.settle,
    "# now people judge": simulated_people.judge,
    "# now the adjudicator decides": simulated_people.settle,
}
INDEX = DOCS / "howto" / "index.md"


def people_work(folder: Path, round: str) -> None:
    """Everyone answers what is open, each with an account of their own."""
    assert PEOPLE[round](Workspace.open(folder), seed=13, truth=simulated_people.demo_relevance(), advance=quietly)


def begun(line: str, folder: Path, studio: Studio) -> Path:
    """The study that `annot init` makes; its local server is the one that the tests share."""
    typed(line, folder)
    (study,) = [path.parent for path in folder.glob("*/annot.toml")]
    (study / ".annot").mkdir(exist_ok=True)
    (study / ".annot" / "studio").symlink_to(studio.folder)
    return study


def test_the_study_of_the_readme_goes_as_printed(studio: Studio, tmp_path: Path) -> None:
    _, study, _ = references.blocks(CHECKOUT / "README.md")
    first, *rest = study.code.splitlines()
    folder = begun(first, tmp_path, studio)
    for line in rest:
        if line.startswith("#"):
            people_work(folder, line)
        else:
            typed(line, folder)
    assert (folder / "exports" / "report.html").is_file()
    assert (folder / "exports" / "browse.html").is_file()


@pytest.mark.parametrize("pages", [[DOCS / "tutorial.md"], "howto"], ids=["tutorial", "how-to pages"])
def test_a_study_goes_as_the_pages_say(pages: list[Path] | str, studio: Studio, tmp_path: Path) -> None:
    if isinstance(pages, str):
        names = re.findall(r"\]\(([a-z]+\.md)\)", INDEX.read_text(encoding="utf-8"))
        pages = [INDEX.parent / name for name in names]
    folder = tmp_path
    for page in pages:
        for block in runnable(page):
            if block.people:
                people_work(folder, block.people)
            code = block.code
            if code.startswith("annot init"):
                first, _, code = code.partition("\n")
                folder = begun(first, folder, studio)
                code = code.removeprefix("cd study\n")
            printed = typed(code, folder)
            assert shows(printed, block.output), f"{page.name}: {printed}"
    assert (folder / "exports" / "report.html").is_file()
