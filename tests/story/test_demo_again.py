"""The demonstration killed while people judge and run again: on a server in memory, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from annot.base.records import Advance
from annot_demo import whole_way
from memory_studio import StudioOfMemory, studio_of_memory
from studio_in_memory import Killed
from study_answers import GOLDEN
from study_stages import files_of, quietly

ANSWERED = 400
"""Requests of the simulated people until the program is killed: less than half of their answers are there."""


@dataclass
class Demonstration:
    """A study of the demonstration, and the server that it is judged on."""

    folder: Path
    studio: StudioOfMemory
    killed_in: str | None = None
    """The step in which the program is to be killed."""
    told: list[str] = field(default_factory=list)

    def go(self) -> whole_way.Done:
        return whole_way.go(self.folder, tell=self.tell, watch=self.watch)

    def tell(self, text: str) -> None:
        self.told.append(text)
        if self.killed_in is not None and text.startswith(self.killed_in):
            first = len(self.studio.server.requests)

            def killed(_: httpx.Request) -> httpx.Response | None:
                if len(self.studio.server.requests) - first > ANSWERED:
                    raise Killed
                return None

            # All four people are answering, each in a thread of their own.
            self.studio.server.faults += [killed] * 4

    @contextmanager
    def watch(self, _name: str) -> Iterator[Advance]:
        yield quietly


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> None:
    """The report's figures are compared too."""


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demonstration]:
    folder = tmp_path_factory.mktemp("demonstration") / "study"
    studio_folder = folder / ".annot" / "studio"
    studio_folder.mkdir(parents=True)
    with studio_of_memory(studio_folder) as studio:
        begun = Demonstration(folder, studio, killed_in="8/12")
        with pytest.raises(Killed):
            begun.go()
        assert begun.told[-1].startswith("8/12")
        studio.server.faults.clear()
        finished = Demonstration(folder, studio)
        finished.go()
        yield finished


def test_killed_while_people_judge_and_run_again_it_writes_the_frozen_files(demonstration: Demonstration) -> None:
    for kind in ("pools", "exports"):
        frozen = files_of(GOLDEN / kind / "demo")
        written = files_of(demonstration.folder / kind)
        assert written == {name: content for name, content in frozen.items() if not name.endswith("__init__.py")}
