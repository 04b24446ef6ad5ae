"""Files by which others find, cite, install and change the program."""

import runpy
import subprocess
import sys
import tomllib
from collections import namedtuple
from pathlib import Path

import newer_python
import pytest
import yaml
from annot import __version__
from annot.steps import check

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


def test_issue_forms_ask_for_something() -> None:
    for path in (CHECKOUT / ".github" / "ISSUE_TEMPLATE").iterdir():
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= form.keys()
        assert any(part.get("validations", {}).get("required") for part in form["body"])


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


def test_a_library_that_lets_numpy_go_is_noticed() -> None:
    """As the index had it in November 2026: the client asks for an opencv that holds numpy below 2.3."""
    today = {
        "label-studio-sdk": ("numpy (>=2.2,<3.0.0)", "opencv-python-headless (>=4.12.0,<4.13.0)"),
        "opencv-python-headless<4.13.0,>=4.12.0": ('numpy<2.0; python_version < "3.9"', "numpy<2.3.0,>=2"),
    }
    assert not newer_python.lets_go(today.__getitem__)
    assert newer_python.lets_go({**today, "opencv-python-headless<4.13.0,>=4.12.0": ("numpy>=2",)}.__getitem__)
    assert newer_python.lets_go({"label-studio-sdk": ("numpy (>=2.2,<3.0.0)",)}.__getitem__)


def test_without_an_index_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    done = subprocess.run([sys.executable, "tests/newer_python.py"], cwd=CHECKOUT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
