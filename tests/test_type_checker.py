"""What a type checker finds in a program that uses the package wrongly: mypy, with this project's settings."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
PROGRAMS = {
    "design": """from annot.pools.pool_design import DesignOverrides
DesignOverrides(per_method=13)
DesignOverrides(per_methods=13)
""",
    "method": """from annot.ranking.methods import Baseline, Method
Method(rank=lambda inputs, topics: [])
Baseline(rank=lambda inputs, query, rows: rows * 1.0)
""",
    "words": """import annot
annot.alpha([[1, 1], [0, 1]], level="nominal")
annot.measure_agreement([[1, 1], [0, 1]], missing="zero")
annot.draw_pool({"m": {"q": ["d"]}}, mode="depth")
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, convention="trec", ties="expected", measure=["AP", "nDCG@10"])
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, measure="AP")
annot.alpha([[1, 1], [0, 1]], level="nominl")
annot.measure_agreement([[1, 1], [0, 1]], missing="nought")
annot.draw_pool({"m": {"q": ["d"]}}, mode="deep")
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, convention="treck")
annot.evaluate({"q": ["d"]}, {"q": {"d": 1}}, ties="mean")
""",
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str]]]:
    """The line and the text of every error in each program; all are checked at once, since a start takes seconds."""
    folder = tmp_path_factory.mktemp("programs")
    for name, program in PROGRAMS.items():
        (folder / f"{name}.py").write_text(program, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *folder.glob("*.py")],
        cwd=CHECKOUT, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, list[tuple[int, str]]] = {name: [] for name in PROGRAMS}
    for line in checked.stdout.splitlines():
        place, error, text = line.partition(": error: ")
        file, _, number = place.rpartition(":")
        if error:
            found[Path(file).stem].append((int(number), text))
    return found


def test_a_misspelt_option_of_a_design_is_found(errors: dict[str, list[tuple[int, str]]]) -> None:
    ((line, text),) = errors["design"]
    assert line == 3
    assert 'Unexpected keyword argument "per_methods"' in text


def test_a_method_without_settings_is_found(errors: dict[str, list[tuple[int, str]]]) -> None:
    assert [line for line, text in errors["method"] if 'Missing named argument "settings"' in text] == [2, 3]


def test_a_word_that_is_none_of_an_argument_is_found_and_those_that_are_pass(
    errors: dict[str, list[tuple[int, str]]],
) -> None:
    assert [line for line, _ in errors["words"]] == [7, 8, 9, 10, 11]
    assert all('expected "Literal[' in text for _, text in errors["words"])
