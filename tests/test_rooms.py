"""The rooms of the house: imports run downward only, and heavy libraries stay out of the light commands."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import house
import pytest
from annot.base.plugins import WINGS

CHECKOUT = Path(__file__).resolve().parent.parent
TOOLKIT = CHECKOUT / "toolkit"
PACKAGE = TOOLKIT / "annot"

ROOMS = (
    "base",
    "formats",
    "store",
    "labelstudio",
    "study",
    "corpus",
    "ranking",
    "pools",
    "measuring",
    "judging",
    "publishing",
    "steps",
    "api",
    "cli",
)
"""From the ground up: a room uses those before it."""
PURE = (
    "base.stats",
    "formats",
    "corpus.labelling",
    "ranking.systems",
    "pools.pooling",
    "pools.selection",
    "measuring.agreement",
    "measuring.assessor_effect",
    "measuring.diagnosis",
    "measuring.evaluation",
    "measuring.folds",
    "measuring.forecast",
    "measuring.reusability",
    "measuring.sampled",
    "judging.planning",
    "judging.trial_draws",
    "annot_opinions.label_quality",
    "annot_opinions.self_preference",
)
"""Values in, values out: none of them knows of a study, a database or a server."""
PURE_MAY_USE = ("base", "ranking", "corpus.corpus_filters", "study.outcome", *PURE)
AT_MOST_AT_THE_TOP = 16
SMALL_MODULES, MODULES, LOADED_BY_STATUS = 10, 230, 60
"""At most: modules below 40 code lines, all modules, and modules of ours that `annot status` loads."""
COMPLEX = {
    "measuring.sampled_study.with_cost": "the parts of one record, a count each",
    "measuring.sampled_study._judged": "one pass over the pairs, and the error that names those without a grade",
    "measuring.assessor_effect.assessor_effect_on_runs": "the steps of one method, which share their arrays",
    "measuring.diagnosis.panel.panel_of": "the columns of one record, a comprehension each",
    "measuring.evaluation.evaluated.evaluate_runs": "conventions, averages and runs are nested in the method, too",
    "measuring.evaluation.comparisons.compare_runs": "the figures of one comparison, which share their differences",
    "pools.pooling.pool_in_version": "the fields of one record, a comprehension each",
    "pools.selection.even_choice": "one integer programme",
}
"""Functions of a complexity above `house.COMPLEX`, at most ten, each with the reason why it is in one piece."""
TWICE: dict[str, str] = {}
"""Public classes whose name is in two modules, at most five, each with the reason."""
PURE_MAY_NOT_IMPORT = {"httpx", "sqlalchemy", "label_studio_sdk", "subprocess", "socket", "time"}


@pytest.fixture(scope="module", autouse=True)
def syntax_trees() -> Iterator[None]:
    """Trees are kept for the tests of this file, and no longer: they take much memory."""
    yield
    house.parsed.cache_clear()


def modules() -> list[Path]:
    """Modules of the core and of its wings."""
    return sorted(TOOLKIT.rglob("*.py"))


def name_of(path: Path) -> str:
    """The dotted name of a module, within the core or with the name of its wing."""
    parts = path.relative_to(TOOLKIT).with_suffix("").parts
    return ".".join(parts[parts[0] == "annot" :]).removesuffix(".__init__")


def imported_names(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(house.parsed(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            if node.module == "annot":
                names.update(f"annot.{alias.name}" for alias in node.names)
    return names


def inside(name: str, *places: str) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


def test_the_wings_are_the_packages_beside_the_core() -> None:
    assert {path.parent.name for path in TOOLKIT.glob("*/__init__.py")} - {"annot"} == {*WINGS}


def test_the_rooms_are_what_stands_at_the_top() -> None:
    # A folder that holds nothing but Python's cache was left by a room that has moved.
    top = {path.name for path in PACKAGE.iterdir() if path.is_file() or {*path.iterdir()} - {path / "__pycache__"}}
    top -= {"__init__.py", "__pycache__", "py.typed"}
    assert top == {*ROOMS, "templates"}
    assert len(top) <= AT_MOST_AT_THE_TOP


def test_no_two_rooms_import_each_other() -> None:
    ties = house.ties(TOOLKIT, {path: house.parsed(path.read_text(encoding="utf-8")) for path in modules()})
    assert not [pair for pair in ties if pair[::-1] in ties]


def test_modules_are_neither_scraps_nor_heaps() -> None:
    lines = {path: house.code_of(path.read_text(encoding="utf-8"))[0] for path in modules() if path.stem != "__init__"}
    assert sum(count < house.SMALL for count in lines.values()) <= SMALL_MODULES
    assert not {name_of(path) for path, count in lines.items() if count > house.LARGE}
    assert len(lines) <= MODULES


def test_a_name_of_a_class_is_in_one_module() -> None:
    places: dict[str, list[str]] = {}
    for path in modules():
        for node in house.parsed(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in places.items() if len(found) > 1}.keys() == TWICE.keys()
    assert len(TWICE) <= 5


def test_no_modules_import_each_other_in_a_circle() -> None:
    trees = {path: house.parsed(path.read_text(encoding="utf-8")) for path in modules()}
    assert house.circle(trees, TOOLKIT) == []


def test_functions_are_simple_but_for_a_few() -> None:
    complexity = {
        f"{name_of(path)}.{function.name}": function.complexity
        for path in modules()
        for function in house.functions(path.read_text(encoding="utf-8"))
        if function.complexity > house.COMPLEX
    }
    assert complexity.keys() == COMPLEX.keys()
    assert len(COMPLEX) <= 10
    assert max(complexity.values()) <= house.TOO_COMPLEX


def test_status_loads_a_small_part_of_the_house() -> None:
    assert house.loaded_by(CHECKOUT, "status") <= LOADED_BY_STATUS


def test_a_room_says_what_it_holds_what_it_uses_and_where_to_begin() -> None:
    for room in ROOMS:
        told = ast.get_docstring(house.parsed((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
        assert "Use" in told, room
        assert "Begin with `" in told, room


def test_imports_run_downward() -> None:
    for path in modules():
        look_downward(path)


def look_downward(path: Path) -> None:
    room = name_of(path).split(".")[0]
    wings = {name for name in imported_names(path) if name.startswith("annot_")}
    if room in WINGS:
        assert all(inside(name, room) for name in wings), f"{path} ({room}) imports another wing"
        return
    assert not wings, f"{path} imports a wing, which is reached through annot.base.plugins"
    if room in ("__init__", "templates"):
        return
    for name in imported_names(path):
        other = name.removeprefix("annot.").split(".")[0] if name.startswith("annot.") else ""
        if other not in ROOMS:
            continue
        within = other == room and (room != "steps" or path.stem == "__init__")
        assert within or ROOMS.index(other) < ROOMS.index(room), f"{path} ({room}) imports {name}"


def test_pure_rooms_have_no_clock_network_or_database() -> None:
    for path in [path for path in modules() if inside(name_of(path), *PURE)]:
        names = imported_names(path)
        outside = {name.split(".")[0] for name in names} & PURE_MAY_NOT_IMPORT
        assert not outside, f"{path} imports {sorted(outside)}"
        ours = {name.removeprefix("annot.") for name in names if name.startswith(("annot.", "annot_"))}
        assert not {name for name in ours if not inside(name, *PURE_MAY_USE)}, path


@pytest.mark.parametrize("arguments", [["--help"], ["status", "--help"]])
def test_light_commands_load_no_heavy_library(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from annot.cli.main import app\n"
        "try:\n"
        f"    app({arguments!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'sklearn', 'scipy', 'krippendorff', 'pandas', 'matplotlib', 'label_studio_sdk', 'torch', 'gensim'}\n"
        "heavy |= {'pyarrow'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "LOADED []" in result.stdout
