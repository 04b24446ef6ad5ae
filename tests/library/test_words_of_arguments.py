"""Arguments that take a few words: mypy refuses others, and they are those that the rooms know."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import get_args, get_type_hints

import annot
from annot.base.settings.sections import AlphaLevel, Convention, DrawMode, MissingPolicy, Ties
from annot.measuring.agreement.contingency import ALPHAS
from annot.measuring.agreement.per_query import POLICIES
from annot.measuring.evaluation.gradings import MEASURES
from annot.pools import pooling
from type_checked import complaints

PROGRAM = """import annot
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
"""


def test_a_word_that_is_none_fails_mypy_and_those_that_are_pass(tmp_path: Path) -> None:
    found = complaints(PROGRAM, tmp_path)
    assert [line.split(":")[1] for line in found] == ["7", "8", "9", "10", "11"]
    assert all('expected "Literal[' in line for line in found)


def test_the_words_are_those_that_the_rooms_know() -> None:
    assert get_args(MissingPolicy) == tuple(POLICIES)
    assert get_args(Convention) == tuple(MEASURES)
    assert get_args(DrawMode) == tuple(pooling._MODES)
    assert set(get_args(AlphaLevel)) == set(ALPHAS.values())
    assert get_args(Ties) == ("order", "expected")


def test_docstrings_list_these_words() -> None:
    found = []
    for function in (annot.alpha, annot.measure_agreement, annot.draw_pool, annot.evaluate):
        text = inspect.getdoc(function) or ""
        for name, kind in get_type_hints(function).items():
            words = [word for part in get_args(kind) for word in get_args(part) or (part,) if isinstance(word, str)]
            if words:
                found.append(name)
                listed = ", ".join(f'"{word}"' for word in words)
                assert f"{name} : {{{listed}}}" in text
    assert found == ["level", "missing", "mode", "convention", "ties"]
