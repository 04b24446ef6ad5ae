"""Every line that tells how to install something: it takes the checkout, and no stranger's program of our name."""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"annot", PROJECT["name"]}
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


def wheel(folder: Path, name: str, version: str) -> None:
    """An empty package."""
    module = canonicalize_name(name).replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},\n"
        for path, text in files.items()
    )
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packages of others under both of our names, and an empty one for whatever we ask for."""
    folder = tmp_path_factory.mktemp("index")
    for name in OURS:
        wheel(folder, name, "99.0")
    wanted = [*PROJECT["dependencies"], *(one for some in PROJECT["optional-dependencies"].values() for one in some)]
    for requirement in map(Requirement, wanted):
        lowest = next((one.version for one in requirement.specifier if one.operator == ">="), "1.0")
        if requirement.name not in OURS:
            wheel(folder, requirement.name, lowest)
    for name in OTHERS - {canonicalize_name(Requirement(one).name) for one in wanted}:
        wheel(folder, name, "1.0")
    return folder


def chosen(index: Path, *words: str, installed: bool = False) -> list[dict[str, object]]:
    """What pip would install. installed: next to what is there."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
    command += [] if installed else ["--ignore-installed"]
    command += ["--disable-pip-version-check", "--no-build-isolation", "--no-index", "--find-links", str(index), *words]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    installed: list[dict[str, object]] = json.loads(done.stdout)["install"]
    return installed


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


def test_a_hint_of_the_program_takes_what_is_installed(index: Path) -> None:
    hints = EXTRAS & {word for words in arguments() for word in words}
    assert len(hints) >= 3
    found = {one["metadata"]["name"] for one in chosen(index, *sorted(hints), installed=True)}  # type: ignore[index]
    assert not found & OURS


def test_every_line_installs_from_the_checkout(index: Path) -> None:
    (foreign,) = chosen(index, "annot")
    assert foreign["metadata"]["version"] == "99.0"  # type: ignore[index]
    for words in sorted({words for words in arguments() if any(word.startswith(".") for word in words)}):
        found = {one["metadata"]["name"]: one for one in chosen(index, *words)}  # type: ignore[index]
        assert "annot" not in found
        ours = found[PROJECT["name"]]
        assert ours["metadata"]["version"] == PROJECT["version"]  # type: ignore[index]
        assert ours["download_info"]["url"] == CHECKOUT.as_uri()  # type: ignore[index]
