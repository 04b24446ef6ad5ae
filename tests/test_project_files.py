"""Files by which others find, cite, install and change the program, and every line that tells how to install it."""

import re
import runpy
import subprocess
import sys
import tomllib
from collections import namedtuple
from pathlib import Path

import pytest
import yaml
from annot import __version__
from annot.steps import check
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWNERS_LINES = {"CITATION.cff": 1, "CODE_OF_CONDUCT.md": 1, "SECURITY.md": 1}
"""Lines that the owner of the project has to fill in, by file: nobody and no address is invented."""
INSTALL = "uv tool install --python 3.13 ."


def text_of(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8")


def test_what_an_owner_has_to_fill_in_is_marked() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    top = [name for name in listed.split() if name.endswith((".md", ".cff", ".yml", ".toml")) and "tests/" not in name]
    lines = {name: text_of(name).count("OWNER:") for name in top if "OWNER:" in text_of(name)}
    assert lines == OWNERS_LINES
    written = "".join(map(text_of, OWNERS_LINES))
    assert "@" not in written
    assert "http" not in written


def test_the_program_can_be_cited_in_its_version() -> None:
    cited = yaml.safe_load(text_of("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["version"] == PROJECT["version"] == __version__
    assert cited["license"] == PROJECT["license"]
    assert f"## {__version__}" in text_of("CHANGELOG.md")


def test_the_workflow_does_what_ci_does() -> None:
    workflow = yaml.safe_load(text_of(".github/workflows/tests.yml"))
    (job,) = workflow["jobs"].values()
    versions = job["strategy"]["matrix"]["python"]
    assert all(f"Programming Language :: Python :: {version}" in PROJECT["classifiers"] for version in versions)
    lines = [step["run"] for step in job["steps"] if "run" in step]
    here = [line.partition(" 2>&1")[0] for line in text_of(".ci/run").splitlines()]
    assert lines == ["make check", "make test"]
    assert set(lines) <= set(here)


def test_one_line_installs_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """README, page, and the messages to those whose Python is too new give the same line."""
    for name in ("README.md", "docs/howto/install.md"):
        assert INSTALL in text_of(name)
    version = namedtuple("version", "major minor micro releaselevel serial")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", version(3, 14, 0, "final", 0))
        with pytest.raises(SystemExit) as refused:
            runpy.run_path(str(CHECKOUT / "setup.py"))
        assert INSTALL in str(refused.value)
        assert "this is 3.14" in str(refused.value)
        assert any(INSTALL in problem.mend for problem in check._machine(CHECKOUT))


def test_without_an_index_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    done = subprocess.run([sys.executable, "tests/newer_python.py"], cwd=CHECKOUT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


OTHERS = {"torch", "transformers", "pot", "ir-datasets", "dask-jobqueue", "label-studio", "label-studio-sdk", "pip"}
"""What our texts install from the index."""
EXTRAS = {f"{PROJECT['name']}[{extra}]" for extra in PROJECT["optional-dependencies"]}
"""What the program may name, because it is installed where it runs: pip then takes no other of this name."""
TEXTS = [
    *(CHECKOUT / name for name in ("README.md", "Makefile", "docs/howto/install.md")),
    *sorted((CHECKOUT / "docs").glob("*.md")),
    *sorted((CHECKOUT / "templates").rglob("*.j2")),
    *sorted((CHECKOUT / "toolkit" / "annot").rglob("*.py")),
]
CALL = re.compile(r"pip install ((?:'[^'\n]*'|[^\s`\"#&();]+|[ ])+)")


def arguments() -> dict[tuple[str, ...], str]:
    """What each line installs, and where the first such line is."""
    found: dict[tuple[str, ...], str] = {}
    for path in TEXTS:
        for call in CALL.finditer(path.read_text(encoding="utf-8").replace("$(TORCH)", "torch")):
            words = [word.strip("'.,") if word.strip("',") != "." else "." for word in call[1].split()]
            words = [word if not word.startswith("[") else f".{word}" for word in words]
            named = [word for at, word in enumerate(words) if word[0] != "-" and words[at - 1 : at] != ["--constraint"]]
            found.setdefault(tuple(named), path.name)
    return found


def test_the_index_offers_a_strangers_program() -> None:
    """Whoever named it would get it: no text may."""
    lines = arguments()
    assert {(".",), (".[dev]",)} <= {words[:1] for words in lines}
    for words, where in lines.items():
        for word in words:
            if where.endswith(".py") and word in EXTRAS:
                continue
            name = canonicalize_name(re.split(r"[\[=<>~!{]", word)[0]) if not word.startswith(".") else "."
            assert name == "." or name in OTHERS, f"{where}: pip install {' '.join(words)}"


PROGRAMS = {
    "words": """import annot
annot.alpha([[1, 1], [0, 1]], level="nominal")
annot.measure_agreement([[1, 1], [0, 1]], missing="zero")
annot.draw_pool({"m": {"q": ["d"]}}, mode="depth")
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, convention="trec", ties="expected", measure=["AP", "nDCG@10"])
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, measure="AP")
annot.alpha([[1, 1], [0, 1]], level="nominl")
annot.measure_agreement([[1, 1], [0, 1]], missing="nought")
annot.draw_pool({"m": {"q": ["d"]}}, mode="deep")
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, convention="treck")
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, ties="mean")
"""
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str]]]:
    """The line and the text of every error in each program; all are checked at once, since a start takes seconds."""
    folder = tmp_path_factory.mktemp("programs")
    for name, program in PROGRAMS.items():
        (folder / f"{name}.py").write_text(program, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *folder.glob("*.py")],
        cwd=CHECKOUT, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, list[tuple[int, str]]] = {name: [] for name in PROGRAMS}
    for line in checked.stdout.splitlines():
        place, error, text = line.partition(": error: ")
        file, _, number = place.rpartition(":")
        if error:
            found[Path(file).stem].append((int(number), text))
    return found


def test_a_word_that_is_none_of_an_argument_is_found_and_those_that_are_pass(
    errors: dict[str, list[tuple[int, str]]],
) -> None:
    assert [line for line, _ in errors["words"]] == [7, 8, 9, 10, 11]
    assert all('expected "Literal[' in text for _, text in errors["words"])
