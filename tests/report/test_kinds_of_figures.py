"""How each kind of figure is printed: decimals in the appendix and elsewhere, percent, signs, and what is possible."""

from __future__ import annotations

from math import inf

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report import cells
from annot.publishing.report.cells import Number, Quantity

KINDS = [
    # kind, the raw figure, in the appendix, elsewhere, and between which ends it can lie, as printed
    (cells.COEFFICIENT, 0.123456, "0.1235", "0.12", (-1, 1)),
    (cells.PERCENTAGE, 81.2345, "81.23", "81", (0, 100)),
    (cells.SHARE, 0.812345, "81.2%", "81%", (0, 100)),
    (cells.MEAN_SHARE, 0.812345, "81.23%", "81%", (0, 100)),
    (cells.MEASURE, 0.812345, "81.23", "81.2", (0, 100)),
    (cells.POINTS, 0.012345, "+1.23", "+1.2", (-100, 100)),
    (cells.LOSS, 0.012345, "1.23", "1.2", (0, 100)),
    (cells.EFFECT, 0.12345, "+0.12", "+0.12", (-inf, inf)),
    (cells.DETECTABLE, 0.0996, "10.0", "10", (0, 100)),
    (cells.WIDER, 0.123456, "12.3%", "12%", (-100, inf)),
    (cells.PERCENT, 0.812345, "81.2", "81.2", (-inf, inf)),
    (cells.TAU, 0.12345, "0.12", "0.12", (-1, 1)),
    (cells.DISTANCE, 1.2345, "1.23", "1.23", (0, inf)),
    (cells.MEAN, 1.2345, "1.23", "1.2", (-inf, inf)),
    (cells.GRADES, 0.12345, "+0.12", "+0.12", (-inf, inf)),
    (cells.SECONDS, 41.2345, "41.2", "41.2", (0, inf)),
    (cells.HOURS, 1.2345, "1.2", "1.2", (0, inf)),
    (cells.COST, 12.345678, "12.35", "12.35", (0, inf)),
    (cells.ESTIMATED, 12.345, "12.3", "12", (0, inf)),
    (cells.WHOLE, 12.345, "12", "12", (0, inf)),
    (cells.P, 0.012345, "0.012", "0.012", (0, 1)),
]


def test_every_kind_is_in_the_list() -> None:
    assert {id(one) for one in vars(cells).values() if isinstance(one, Quantity)} == {id(kind) for kind, *_ in KINDS}


@pytest.mark.parametrize(("kind", "raw", "precise", "plain", "ends"), KINDS)
def test_a_kind_has_its_decimals_and_ends(
    kind: Quantity, raw: float, precise: str, plain: str, ends: tuple[float, float]
) -> None:
    figure = Number(raw, kind)
    assert (figure.text(precise=True), figure.text(precise=False), str(figure)) == (precise, plain, plain)
    assert Number(raw, kind, Interval(-inf, inf, 0.95, "jackknife")).ends == ends


def test_words_of_cells_that_are_no_figures() -> None:
    assert [cells.text(cell, precise=False) for cell in (True, False, None, 3, "a")] == ["yes", "no", "–", "3", "a"]
    assert cells.parts("a", precise=False) == ("a", "")
