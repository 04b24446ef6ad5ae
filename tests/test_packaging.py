"""What a user installs: the wheel, in a clean environment, with templates, guidelines and the demo corpus in it."""

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

CHECKOUT = Path(__file__).resolve().parent.parent
OUTSIDE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
"""With the checkout on its path, pip takes annot for installed already."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # What the build asks for is fetched once, by the set-up that is tested below.
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def annot(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `annot` of an environment that holds the wheel and what it asks for, nothing else.

    What it asks for is linked to from where the tests have it: fetching it would take most of a minute.
    """
    environment = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "--disable-pip-version-check"]
    command = [*pip, "install", "--quiet", "--no-deps", str(wheel)]
    installed = subprocess.run(command, env=OUTSIDE, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    (place,) = environment.glob("lib/python*/site-packages")
    (ours,) = metadata.distributions(name="annot-collections", path=[str(place)])
    for asked in asked_for(ours, set()):
        for name in {path.parts[0] for path in asked.files or () if path.parts[0] not in ("..", "__pycache__")}:
            if not (place / name).exists():
                (place / name).symlink_to(Path(str(asked.locate_file(name))).resolve())
    checked = subprocess.run([*pip, "check"], env=OUTSIDE, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    return environment / "bin" / "annot"


def asked_for(of: metadata.Distribution, extras: set[str]) -> list[metadata.Distribution]:
    """Everything that a package needs here, with what that needs, and so on."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [(of, extras)]
    while waiting:
        one, wanted = waiting.pop()
        for requirement in map(Requirement, one.requires or ()):
            needed = any(
                requirement.marker is None or requirement.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
            )
            if needed and (requirement.name not in found or requirement.extras):
                first = requirement.name not in found
                found[requirement.name] = metadata.distribution(requirement.name)
                if first or requirement.extras:
                    waiting.append((found[requirement.name], set(requirement.extras)))
    return list(found.values())


def run(annot: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}
    return subprocess.run(
        [str(annot), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_every_data_file_of_the_checkout(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    for folder, pattern, place in (("templates", "*.j2", "templates"), ("guidelines", "*.md", "study/guideline_pages")):
        pages = (CHECKOUT / folder).rglob(pattern)
        expected = {f"annot/{place}/{path.relative_to(CHECKOUT / folder)}" for path in pages}
        assert expected
        assert expected <= held
    assert {"annot_demo/corpus.jsonl", "annot/corpus/facets/csabstruct.crfsuite.xz", "annot/py.typed"} <= held
    assert not [name for name in held if "test" in name.split("/")[0]]


def test_an_installed_wheel_finds_templates_and_guidelines(annot: Path, tmp_path: Path) -> None:
    made = run(annot, "init", "study", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "[judging]" in (tmp_path / "study" / "annot.toml").read_text()
    shown = run(annot, "guidelines", "method", "--json", "-C", "study", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "Near-identical" in json.loads(shown.stdout)["data"]["text"]
    preview = run(annot, "guidelines", "method", "--screen", "-C", "study", folder=tmp_path)
    assert preview.returncode == 0, preview.stderr
    assert "<HyperText" in preview.stdout


def test_an_installed_wheel_runs_the_examples_of_the_readme_and_of_the_page_for_readers(
    annot: Path, tmp_path: Path
) -> None:
    pages = [(CHECKOUT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/reader.md")]
    examples = [code for page in pages for code in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)]
    assert len(examples) >= 2
    (tmp_path / "exports").symlink_to(CHECKOUT / "exports")
    for code in examples:
        command = [str(annot.parent / "python"), "-W", "error", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, env=OUTSIDE, capture_output=True, text=True, check=False)
        assert done.returncode == 0, code + done.stderr
