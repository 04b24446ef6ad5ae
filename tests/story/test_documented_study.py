"""README's study, the tutorial and the how-to pages, typed line by line on a Label Studio in memory.

On a real one the demonstration goes the same way: `test_demo.py`.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from annot.store.people import read_assignments
from annot.study.workspace import Workspace
from annot_demo import simulated_people
from command_line import annot
from documented import CHECKOUT, DOCS, references, runnable, shows, typed
from fixtures_studio import Studio
from memory_studio import StudioOfMemory
from study_stages import quietly

PEOPLE = {
    "judge": simulated_people.judge,
    "settle": simulated_people.settle,
    "# now people judge": simulated_people.judge,
    "# now the adjudicator decides": simulated_people.settle,
}
INDEX = DOCS / "howto" / "index.md"
OF_TOPICS = "topics.md"
"""The page that has a study of its own."""


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


def test_the_study_of_the_readme_goes_as_printed(memory: StudioOfMemory, tmp_path: Path) -> None:
    _, study, _ = references.blocks(CHECKOUT / "README.md")
    first, *rest = study.code.splitlines()
    folder = begun(first, tmp_path, memory)
    for line in rest:
        if line.startswith("#"):
            people_work(folder, line)
        else:
            run_here(line, folder)
    assert (folder / "exports" / "report.html").is_file()
    assert (folder / "exports" / "browse.html").is_file()


def test_a_study_goes_as_the_tutorial_says(memory: StudioOfMemory, tmp_path: Path) -> None:
    folder = study_of_the_pages([DOCS / "tutorial.md"], tmp_path, memory, run_here)
    assert (folder / "exports" / "report.html").is_file()


def test_a_study_goes_as_the_how_to_pages_say(memory: StudioOfMemory, tmp_path: Path) -> None:
    names = re.findall(r"\]\(([a-z]+\.md)\)", INDEX.read_text(encoding="utf-8"))
    of_papers = [INDEX.parent / name for name in names if name != OF_TOPICS]
    folder = study_of_the_pages(of_papers, tmp_path, memory, run_here)
    assert (folder / "exports" / "report.html").is_file()


def test_a_study_of_questions_goes_as_its_page_says(memory: StudioOfMemory, tmp_path: Path) -> None:
    folder = study_of_the_pages([INDEX.parent / OF_TOPICS], tmp_path, memory, run_here)
    with Workspace.open(folder).reading() as session:
        assert {one.query_id for one in read_assignments(session)} == {"q1", "q2"}


def run_here(code: str, folder: Path) -> str:
    """As `typed`, but `annot` in this process, which alone knows the server in memory."""
    printed = ""
    for line in code.splitlines():
        if not line.startswith("annot "):
            printed += typed(line, folder)
            continue
        for command in line.removesuffix("|| true").split(" && "):
            _, *words = shlex.split(command, comments=True)
            done = annot(*words, folder=folder)
            assert done.exit_code == 0 or line.endswith("|| true"), f"{command}\n{done.stdout}\n{done.stderr}"
            printed += done.stdout
    return printed


def study_of_the_pages(pages: Sequence[Path], folder: Path, studio: Studio, type: Callable[[str, Path], str]) -> Path:
    """Type the blocks of these pages in order; they print what is shown below them. Returns the study's folder."""
    for page in pages:
        for block in runnable(page):
            if block.people:
                people_work(folder, block.people)
            code = block.code
            if code.startswith("annot init"):
                first, _, code = code.partition("\n")
                folder = begun(first, folder, studio)
                code = code.removeprefix(f"cd {folder.name}\n")
            printed = type(code, folder)
            assert shows(printed, block.output), f"{page.name}: {printed}"
    return folder
