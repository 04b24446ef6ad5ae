"""The list of checks in the package's docstring is whole, and the tests it names are about the coefficient."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import annot.measuring.agreement
import pytest
from annot.measuring.agreement.coefficients import COEFFICIENTS

OF_ALL = {"binarised": "binarise(", "many_assessors": "_of_many_"}
"""Entries that are about every coefficient, and what the tests they name must contain."""

LIBRARIES = {"scipy", "sklearn", "statsmodels", "krippendorff", "nltk"}
FILES = {"example": "test_coefficients.py", "second": "test_second_implementations.py"}


def listed() -> dict[str, dict[str, str]]:
    """The entries of the list, by coefficient: what stands behind `formula`, `example` and `second`."""
    entries: dict[str, dict[str, str]] = {}
    part = ""
    for line in (annot.measuring.agreement.__doc__ or "").splitlines():
        if re.fullmatch(r"[a-z][a-z0-9_]*", line):
            entries[line] = {}
            fields = entries[line]
        elif found := re.fullmatch(r"    (\w+): (.+)", line):
            part = found[1]
            fields[part] = found[2]
        elif found := re.fullmatch(r" {8}(.+)", line):
            fields[part] += " " + found[1]
    return entries


def sources_of(name: str) -> dict[str, str]:
    """The source of each test in a file beside this one, with its decorators and the constants of the file it uses."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    constants: dict[str, str] = {}
    tests: dict[str, str] = {}
    for node in ast.parse(text).body:
        source = ast.unparse(node)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            constants[node.targets[0].id] = source
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            tests[node.name] = "\n".join([source, *(constants[name] for name in sorted(used & constants.keys()))])
    return tests


def test_every_coefficient_stands_in_the_list_and_nothing_else() -> None:
    assert set(listed()) == {*COEFFICIENTS, *OF_ALL}
    assert all(set(fields) == {"formula", "example", "second"} for fields in listed().values())


@pytest.mark.parametrize("name", [*COEFFICIENTS, *OF_ALL])
@pytest.mark.parametrize("part", FILES)
def test_listed_tests_exist_and_are_about_the_coefficient(name: str, part: str) -> None:
    there = sources_of(FILES[part])
    named = re.findall(r"test_\w+", listed()[name][part])
    assert named
    assert set(named) <= there.keys()
    about = OF_ALL.get(name, f"'{name}'")
    assert [test for test in named if about not in there[test]] == []


@pytest.mark.parametrize("name", [*COEFFICIENTS, *OF_ALL])
def test_second_implementation_is_a_library_that_the_tests_import(name: str) -> None:
    used = LIBRARIES & set(re.findall(r"\w+", listed()[name]["second"]))
    assert used
    source = (Path(__file__).parent / FILES["second"]).read_text(encoding="utf-8")
    for library in used:
        assert re.search(rf"^(from|import) {library}\b", source, re.MULTILINE)


def test_tests_named_elsewhere_in_the_docstring_exist() -> None:
    everywhere = set().union(*(sources_of(path.name) for path in Path(__file__).parent.glob("test_*.py")))
    files = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    assert set(re.findall(r"test_\w+", annot.measuring.agreement.__doc__ or "")) <= everywhere | files
