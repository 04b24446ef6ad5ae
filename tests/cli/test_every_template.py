"""Every template renders with strict undefined names, on a complete study and on one in which nothing is there yet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import jinja2
import pytest
from annot import open_study
from annot.publishing.report import tables
from command_line import annot
from test_trials_told import on_record_of_both
from usual import USUAL

FOLDER = Path(str(files("annot.templates")))
TEMPLATES = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.j2")}
WITH_A_SERVER = {
    *("adjudicate.xml.j2", "facets.xml.j2", "feedback.xml.j2", "full-text.xml.j2", "judge.xml.j2", "screen.xml.j2"),
    *(
        "screen.css.j2",
        "letter.txt.j2",
        "letter-adjudicator.txt.j2",
        "so-far.html.j2",
        "status.html.j2",
        "status.css.j2",
        "demo.txt.j2",
        "opinion-asked.txt.j2",
    ),
}
"""Those that a server or a watching lead asks for: the tests in `labelstudio/`, `opinions/`, `rounds/`, of letters and
the status page."""
OF_A_SAMPLE = {"evaluate_sample.py.j2", "report/sample.j2"}
"""Those of a study that judges a sample: `publish/test_sample_released.py`."""
OF_A_STATE = {"report/states.j2"}
"""Those of a study of which something is not true: `judging/test_states_of_a_study.py`."""
OF_OTHERS = {
    *(
        "release",
        "datasheet",
        "agreement",
        "run",
        "pool",
        "evaluate",
        "pool add --run",
        "backup",
        "push",
        "check files",
    ),
    *("train hide", "index", "qrels", "import --as csfcube", "push substudy", "return"),
}
"""Calls that take long and render only what others render too. `test_usual_calls.py` makes them all."""
OTHER_CALLS = (
    ("init", "made", "new"),
    ("release", "judged", "out --draft"),
    ("pool show", "pooled", ""),
    ("check plan", "planned", ""),
    ("check pools", "pooled", ""),
    ("check files", "measured", ""),
)
REPORTED = ("made", "labelled", "queried", "pooled", "planned", "judged", "settled", "measured")
"""The stages of a study, from an empty one to one with runs."""


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The names of the templates that are read."""
    found: set[str] = set()
    read = jinja2.FileSystemLoader.get_source

    def noted(self: jinja2.FileSystemLoader, environment: jinja2.Environment, template: str) -> object:
        found.add(template)
        return read(self, environment, template)

    tables._templates.cache_clear()
    monkeypatch.setattr(jinja2.FileSystemLoader, "get_source", noted)
    yield found
    tables._templates.cache_clear()


def asked(file: Path) -> None:
    file.write_text("T1\tWhat is asked?\n", encoding="utf-8")


def test_every_template_renders_on_a_complete_study(
    rendered: set[str], stages: dict[str, Path], tmp_path: Path
) -> None:
    calls = [(name, usual.stage, usual.typed, usual.prepare) for name, usual in USUAL.items() if name not in OF_OTHERS]
    calls += [(name, stage, typed, lambda folder: None) for name, stage, typed in OTHER_CALLS]
    calls.append(("report", "measured", "", on_record_of_both))
    calls.append(("query add", "labelled", "--file topics.tsv", lambda folder: asked(folder / "topics.tsv")))
    for at, (name, stage, typed, prepare) in enumerate(calls):
        folder = Path(shutil.copytree(stages[stage], tmp_path / str(at) / "study"))
        prepare(folder)
        result = annot(*name.split(), *typed.split(), folder=folder)
        assert "correct the template" not in result.stderr, result.message()
    assert open_study(stages["measured"])._repr_html_()
    assert TEMPLATES - rendered <= WITH_A_SERVER | OF_A_SAMPLE | OF_A_STATE


@pytest.mark.parametrize("stage", REPORTED)
def test_no_page_and_no_command_names_what_a_younger_study_lacks(
    stage: str, stages: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(stages[stage], tmp_path / "study"))
    for typed in (
        "report",
        "datasheet",
        "browse --partial",
        "status",
        "forecast",
        "agreement --all",
        "evaluate",
        "qrels",
    ):
        result = annot(*typed.split(), folder=folder)
        assert "correct the template" not in result.stderr, result.message()
