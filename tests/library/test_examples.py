"""What is written for users of the library holds: docstrings and README run as they stand."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import annot
import pandas as pd
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
FUNCTIONS = [name for name in annot.__all__ if inspect.isfunction(getattr(annot, name))]
README_TEXT = (CHECKOUT / "README.md").read_text(encoding="utf-8")
README = re.findall(r"^```python\n(.*?)^```$", README_TEXT, re.M | re.S)


@pytest.fixture
def folder(small_study: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository's data and a study, as the examples name them."""
    (small_study.parent / "exports").symlink_to(CHECKOUT / "exports")
    monkeypatch.chdir(small_study.parent)
    return small_study.parent


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_examples_of_a_docstring_give_what_they_show(name: str, folder: Path) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(annot, name), name)
    assert len(example.examples) >= 2
    with pd.option_context("display.width", 120):
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert result.failed == 0


def test_the_examples_of_all_other_docstrings_give_what_they_show() -> None:
    toolkit = CHECKOUT / "toolkit"
    paths = [path for path in toolkit.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(toolkit).with_suffix("").parts) for path in paths]
    modules = [importlib.import_module(name) for name in names if not name.startswith("annot.api")]
    results = {module.__name__: doctest.testmod(module) for module in modules}
    assert sum(result.attempted for result in results.values()) > len(modules) > 20
    assert not [name for name, result in results.items() if result.failed]


@pytest.mark.parametrize("code", README)
def test_an_example_of_the_readme_runs_as_pasted(code: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    *before, last = code.strip().splitlines()
    exec("\n".join(before), names)
    result = eval(last, names)
    assert capsys.readouterr().out if result is None else len(result) if isinstance(result, pd.DataFrame) else result
