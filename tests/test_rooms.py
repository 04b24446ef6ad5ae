"""The rooms of the house: imports run downward only, and heavy libraries stay out of the light commands."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "toolkit" / "annot"

LEVELS = {
    0: ("errors", "records", "settings", "ordering", "names", "templating", "cores"),
    1: ("stats", "formats", "judged", "shards"),
    2: (
        "corpus_filters",
        "near_duplicates",
        "facets",
        "selection",
        "ranking",
        "pooling",
        "planning",
        "trials",
        "adjudication",
        "agreement",
        "diagnosis",
        "forecast",
        "folds",
    ),
    3: ("evaluation",),
    4: ("assessor_effect", "reusability", "systems"),
    5: ("store", "labelstudio"),
    6: ("study",),
    7: ("exchange", "report", "library", "browse"),
    8: ("release",),
    9: ("steps",),
    10: ("demo",),
    11: ("cli",),
}
PURE_LEVELS = (1, 2, 3, 4)
"""Numbers in, numbers out."""
LEVEL_OF = {room: level for level, rooms in LEVELS.items() for room in rooms}
DATA_PACKAGES = {"templates", "guidelines", "demo.frozen_rankings", "demo.frozen_runs"}
PURE_ROOMS_MAY_NOT_IMPORT = {"httpx", "sqlmodel", "sqlalchemy", "label_studio_sdk", "subprocess", "socket", "time"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            if node.module == "annot":
                names.update(f"annot.{alias.name}" for alias in node.names)
    return names


def test_every_module_has_a_room() -> None:
    assert {room_of(path) for path in modules()} - {"__init__", "__main__"} <= set(LEVEL_OF)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_downward(path: Path) -> None:
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    for name in imported_names(path):
        parts = name.split(".")
        if parts[0] != "annot" or len(parts) == 1 or parts[1] in DATA_PACKAGES or parts[1] not in LEVEL_OF:
            continue
        other = parts[1]
        within = other == room and (room != "steps" or path.stem == "__init__")
        on_the_ground = LEVEL_OF[room] == 0 and other in ("records", "errors")
        assert within or on_the_ground or LEVEL_OF[other] < LEVEL_OF[room], f"{path.name} ({room}) imports {name}"


def test_the_files_of_csfcube_have_one_door() -> None:
    door = "annot.formats.csfcube"
    behind = {
        f"{path.relative_to(CHECKOUT)} imports {name}"
        for path in [*modules(), *(CHECKOUT / "tests").rglob("*.py")]
        if path.parent != PACKAGE / "formats" / "csfcube"
        for name in imported_names(path)
        if name.startswith(f"{door}.")
    }
    assert not behind


def test_no_two_modules_of_csfcube_and_another_room_share_a_name() -> None:
    inside = [path.name for path in modules() if path.parent == PACKAGE / "formats" / "csfcube"]
    names = [path.name for path in modules()]
    assert [name for name in inside if name != "__init__.py" and names.count(name) > 1] == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_pure_rooms_have_no_clock_network_or_database(path: Path) -> None:
    if LEVEL_OF.get(room_of(path)) not in PURE_LEVELS:
        return
    outside = {name.split(".")[0] for name in imported_names(path)} & PURE_ROOMS_MAY_NOT_IMPORT
    assert not outside, f"{path.name} imports {sorted(outside)}"


@pytest.mark.parametrize("arguments", [["--help"], ["status", "--help"], ["--version"]])
def test_light_commands_load_no_heavy_library(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from annot.cli.main import app\n"
        "try:\n"
        f"    app({arguments!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'matplotlib', 'label_studio_sdk', 'torch', 'gensim', 'pyarrow'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "LOADED []" in result.stdout
