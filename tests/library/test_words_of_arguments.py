"""Arguments that take a few words: they are those that the rooms know."""

import inspect
from typing import get_args, get_type_hints

import annot
from annot.base.settings import AlphaLevel, Convention, DrawMode, MissingPolicy, Ties
from annot.measuring.agreement.coefficients import OF_COUNTS
from annot.measuring.agreement.estimates import POLICIES
from annot.measuring.evaluation.measures import MEASURES
from annot.pools import pooling


def test_the_words_are_those_that_the_rooms_know() -> None:
    assert get_args(MissingPolicy) == tuple(POLICIES)
    assert get_args(Convention) == tuple(MEASURES)
    assert get_args(DrawMode) == tuple(pooling._MODES)
    alphas = {name.removeprefix("alpha_") for name in OF_COUNTS if name.startswith("alpha_")}
    assert set(get_args(AlphaLevel)) == alphas
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
