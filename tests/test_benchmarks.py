"""Every measurement in `benchmarks/` runs at its smallest size and says first how long it takes."""

import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from documented import CHECKOUT
from needs import unavailable

pytestmark = pytest.mark.benchmark

BENCHMARKS = CHECKOUT / "benchmarks"
MEASUREMENTS = sorted(
    path.stem for path in BENCHMARKS.glob("*.py") if "\nCOMMAND = " in path.read_text(encoding="utf-8")
)
MEASUREMENTS.remove("whole_study")  # which `story/test_whole_study.py` runs
ALONE = ("house", "planted_faults", "ten_million")
"""Measurements in a process of their own: they load the package from a copy, or start workers."""
DATA = ("CRANFIELD", "CSFCUBE")


@pytest.fixture(scope="module", autouse=True)
def scores_computed_once() -> Iterator[None]:
    """Scores of 17 systems on a collection take most of the time of the smallest size; measurements share them."""
    with pytest.MonkeyPatch.context() as patched:
        judged_whole = importlib.import_module("judged_whole")
        computed: dict[int, dict[str, np.ndarray]] = {}
        system_scores = judged_whole.system_scores

        def remembered(asked: dict[str, str], texts: dict[str, tuple[str, str]]) -> dict[str, np.ndarray]:
            if len(texts) not in computed:
                computed[len(texts)] = system_scores(asked, texts)
            return computed[len(texts)]

        patched.setattr(judged_whole, "system_scores", remembered)
        yield


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_runs_at_its_smallest_size_and_says_first_how_long_it_takes(
    name: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    script = importlib.import_module(name)
    places = {"CRANFIELD": shared / "cranfield", "CSFCUBE": shared / "csfcube", "FOLDER": tmp_path / "folder"}
    words = script.COMMAND.smallest.split()
    if missing := [word for word in words if word in DATA and not places[word].is_dir()]:
        unavailable(f"no {' and no '.join(missing)} in {shared}")
    if "CORPUS" in words:
        places["CORPUS"] = tmp_path / "corpus.jsonl"
        importlib.import_module("pools").write_corpus(places["CORPUS"], papers=400, seed=13)
    words = [str(places.get(word, word)) for word in words]
    began = processor_seconds()
    if name in ALONE:
        subprocess.run([sys.executable, BENCHMARKS / f"{name}.py", *words], check=True)
    else:
        monkeypatch.setattr(sys, "argv", [name, *words])
        monkeypatch.setattr(sys, "exit", no_fault)
        script.main()
    out, err = capfd.readouterr()
    assert out.strip()
    assert err.startswith("This takes about ")
    estimate = script.COMMAND.seconds(script.COMMAND.parser.parse_args(words))
    # Estimates are of a quiet machine; beside other work the same instructions take up to four times as long.
    assert processor_seconds() - began <= 5 * estimate + 10


def no_fault(code: object) -> None:
    """Takes the place of `sys.exit`."""
    assert not code


def processor_seconds() -> float:
    """Processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


CITED = sorted(
    {
        (str(page.relative_to(CHECKOUT)), " ".join(command.split()))
        for page in (CHECKOUT / "README.md", *(CHECKOUT / "docs").rglob("*.md"))
        for command in re.findall(r"`(?:python )?benchmarks/(\w+\.py[^`]*)`", page.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize(("page", "command"), CITED, ids=lambda value: value)
def test_a_figure_of_the_docs_names_a_measurement_and_options_that_it_has(page: str, command: str) -> None:
    file, *words = shlex.split(command)
    assert (BENCHMARKS / file).is_file()
    importlib.import_module(Path(file).stem).COMMAND.parser.parse_args(words)


def test_measurements_that_code_names_exist() -> None:
    named = {
        name
        for folder in ("toolkit", "tests", "benchmarks")
        for path in (CHECKOUT / folder).rglob("*.py")
        for name in re.findall(r"benchmarks/(\w+\.py)", path.read_text(encoding="utf-8"))
    }
    assert named <= {path.name for path in BENCHMARKS.glob("*.py")}
