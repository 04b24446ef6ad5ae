"""`import annot` costs nothing, and what it offers can be seen by people, by `dir` and by type checkers."""

import ast
import subprocess
import sys
from pathlib import Path

import annot

PACKAGE = Path(annot.__file__).parent
HEAVY = {"numpy", "pandas", "scipy", "sklearn", "krippendorff", "ir_measures", "sqlalchemy", "pydantic", "matplotlib"}


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split() if "." not in name}


def test_importing_loads_nothing_heavy() -> None:
    assert not loaded_after("import annot; dir(annot)") & HEAVY


def test_one_function_loads_only_what_it_needs() -> None:
    loaded = loaded_after("import annot; annot.alpha([[1, 1], [0, 1], [2, 2]])")
    assert "pandas" in loaded
    assert not loaded & {"sqlalchemy", "ir_measures", "sklearn", "matplotlib"}
    table = "[('q', 'd', 'a', 1), ('q', 'd', 'b', 2)]"
    loaded = loaded_after(f"import annot; annot.measure_agreement({table}).to_frame()")
    assert not loaded & {"sqlalchemy", "ir_measures", "sklearn", "matplotlib"}


def test_every_public_name_is_there_and_dir_shows_it() -> None:
    assert annot.__all__ == sorted(annot.__all__)
    assert set(annot.__all__) <= set(dir(annot))
    assert all(getattr(annot, name).__name__ == name for name in annot.__all__)


def test_type_checkers_see_the_names_where_they_really_are() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("annot.")
        for alias in node.names
    }
    assert sorted(seen) == annot.__all__
    assert all(getattr(annot, name).__module__ == module for name, module in seen.items())
