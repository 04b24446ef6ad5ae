"""What the functions of commands hand on to their step, and print, by what was typed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from annot.base.errors import FindingError
from annot.base.names import OF_PAPERS
from annot.cli import measure
from annot.steps import evaluate

STUDY: Any = SimpleNamespace(replaced=lambda *_, **__: STUDY, sheet=Path("queries.csv"), vocabulary=OF_PAPERS)


@pytest.mark.parametrize(
    ("differing", "same", "finding"), [(0, True, None), (1, True, "1 figure other than the paper's"), (5, False, None)]
)
def test_figures_other_than_the_papers_end_the_comparison_if_it_is_the_same_collection(
    monkeypatch: pytest.MonkeyPatch, differing: int, same: bool, finding: str | None
) -> None:
    found = SimpleNamespace(differing=differing, same_collection=same)
    monkeypatch.setattr(evaluate, "against", lambda *_, **__: found)
    monkeypatch.setattr(evaluate, "beside_paper", lambda *_: "table")
    monkeypatch.setattr(evaluate, "describe_against", lambda *_: "text")
    ended = measure.evaluate(STUDY, against=Path("paper.csv")).finding
    assert (None if ended is None else ended.message) == finding
    assert ended is None or isinstance(ended, FindingError)
