"""Names in docstrings: a dotted name between backticks is a module of the package, or something in it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import annot

PACKAGE = Path(annot.__file__).parent
DOTTED = re.compile(r"`((?:annot\.)?[a-z_]{4,}(?:\.[A-Za-z_]\w*)+)`")
FILES = re.compile(r"\.(?:py|toml|csv|md|jsonl?|html|txt|tex|j2|db|npy|pt|gz|tsv|run|svg|c|cc|xz)$")
LIBRARIES = (
    "huggingface_hub",
    "krippendorff",
    "label_studio_sdk",
    "matplotlib",
    "numpy",
    "openpyxl",
    "pandas",
    "scipy",
)
PERSON = "ada.planter"
"""A made-up address in an example."""


def names_in(tree: ast.Module) -> set[str]:
    """Every name that a module defines, reads or sets."""
    return {
        name
        for node in ast.walk(tree)
        for name in (getattr(node, field, None) for field in ("name", "id", "attr", "arg"))
        if isinstance(name, str)
    }


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_a_dotted_name_in_a_docstring_exists() -> None:
    trees = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(path.read_text())
        for path in PACKAGE.rglob("*.py")
    }
    names_by_module = {module: names_in(tree) for module, tree in trees.items()}
    everywhere = set().union(*names_by_module.values())

    def exists(parts: list[str]) -> bool:
        if set(parts) <= everywhere:
            return True
        for length in range(len(parts), 0, -1):
            ending = ".".join(parts[:length])
            modules = [module for module in trees if f".{module}".endswith(f".{ending}")]
            if any(names_by_module[module] >= set(parts[length:]) for module in modules):
                return True
        return False

    unknown = [
        f"{module}: {name}"
        for module, tree in trees.items()
        for text in docstrings(tree)
        for name in DOTTED.findall(text)
        if not FILES.search(name) and not name.startswith(LIBRARIES) and name != PERSON
        if not exists(name.removeprefix("annot.").split("."))
    ]
    assert unknown == []
