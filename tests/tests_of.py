"""Print the test files that belong to a source file, for `make test FILE=...`.

They are the test files that import the module or name it in a string, as patches do: at most eight, first those in a
folder named like its room and then those that import least besides, and none that needs a server, a browser or
PostgreSQL, or tells a whole story. If there is none, they are those of the modules that import it. The tests of a
template or other data are those that name it, or those of the modules that do; a test file is its own.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "toolkit"
MOST = 8
SLOW = ("story", "neural")
"""Folders of tests that are left out."""
SLOW_MARKS = tuple(f"\npytestmark = pytest.mark.{mark}" for mark in ("studio", "browser", "postgres", "benchmark"))


def belonging_to(file: Path) -> list[Path]:
    """Test files that belong to a file of the checkout."""
    file = file.resolve(strict=True)
    if file.is_relative_to(CHECKOUT / "tests") and file.name.startswith("test_"):
        return [file]
    texts = {path: path.read_text(encoding="utf-8") for path in (CHECKOUT / "tests").rglob("test_*.py")}
    quick = {
        path: text
        for path, text in texts.items()
        if not set(SLOW) & set(path.parts) and not any(mark in text for mark in SLOW_MARKS)
    }
    imports = {path: imported(text) for path, text in quick.items()}
    if file.suffix == ".py" and file.is_relative_to(PACKAGE):
        wanted, named = {module_of(file)}, set[Path]()
    else:
        word = file.stem if file.suffix == ".py" else file.name
        wanted = {module_of(path) for path in PACKAGE.rglob("*.py") if word in path.read_text(encoding="utf-8")}
        named = {path for path, text in quick.items() if word in text}
    known = set(wanted)
    rooms = set(file.parts)
    while wanted or named:
        if matches := named | {path for path, modules in imports.items() if wanted & modules}:
            return sorted(
                sorted(matches, key=lambda path: (path.parent.name not in rooms, len(imports[path]), path))[:MOST]
            )
        sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
        importing = {module_of(path) for path, text in sources.items() if wanted & imported(text)}
        wanted, known = importing - known, known | importing
    return []


def module_of(path: Path) -> str:
    """Dotted name of a file of the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imported(text: str) -> set[str]:
    """Modules of annot that the text of a module imports, or names in a string."""
    return set(_named(ast.parse(text))) if "annot" in text else set()


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("annot"):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"annot\w*\.", node.value):
            parts = node.value.split(".")
            yield from (".".join(parts[:length]) for length in range(2, len(parts) + 1))


if __name__ == "__main__":
    tests = [str(path.relative_to(CHECKOUT)) for name in sys.argv[1:] for path in belonging_to(Path(name))]
    if not tests:
        sys.exit(f"no test belongs to {' '.join(sys.argv[1:])}")
    print(*dict.fromkeys(tests))
