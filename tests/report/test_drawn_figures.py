"""What is drawn where: dots, bars and lines of the figures, read from matplotlib before they become SVG."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report import figures
from annot.publishing.report.cells import COEFFICIENT, MEASURE, Number
from matplotlib.colors import to_hex
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def undrawn() -> None:
    """Figures are looked at here."""


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[float, float, Figure]]]:
    """The width, the height and the drawing of each figure that is asked for, wide and narrow in turn."""
    kept: list[tuple[float, float, Figure]] = []

    def keep(width: float, height: float, paint: Callable[[Any], None]) -> str:
        figure = Figure()
        paint(figure)
        kept.append((width, height, figure))
        return ""

    def now(*given: Any, **named: Any) -> figures.Drawing:
        made = drawn_later(*given, **named)
        assert (made.wide, made.narrow) == ("", "")
        return made

    drawn_later = figures.Drawing
    monkeypatch.setattr(figures, "_svg", keep)
    monkeypatch.setattr(figures, "Drawing", now)
    return lambda: kept


def number(value: float | None, low: float = 0.0, high: float = 0.0) -> Number:
    return Number(value, MEASURE, Interval(low, high, 0.95, "jackknife"))


def dots(axes: Any) -> list[tuple[float, float]]:
    return [tuple(map(float, point)) for found in axes.collections for point in found.get_offsets()]


def lines(axes: Any) -> list[tuple[list[float], list[float]]]:
    return [([*map(float, line.get_xdata())], [*map(float, line.get_ydata())]) for line in axes.lines]


def test_before_and_after_goes_from_the_lowest_to_the_highest(drawn: Callable) -> None:
    points = {"aim": [(0.5, 0.9), (-0.2, 0.4), (0.7, None), (None, 0.3)], "way": [(0.1, 0.2)] * 7}
    figures.before_and_after(points, limits=(0.667, 0.8), unit="alpha")
    (wide, height, figure), (narrow, tall, below) = drawn()
    assert (wide, height, narrow, tall) == (7.2, 2.7, 3.7, pytest.approx(2 * 1.7 + 0.4))
    first, second = figure.axes
    before, after = first.collections
    # Without a grade before comes first: after alone, at 0.
    assert [tuple(at) for at in before.get_offsets()] == [(1, -0.2), (2, 0.5), (3, 0.7)]
    assert [tuple(at) for at in after.get_offsets()] == [(0, 0.3), (1, 0.4), (2, 0.9)]
    assert lines(first)[:2] == [([0, 1], [0.667, 0.667]), ([0, 1], [0.8, 0.8])]
    assert lines(first)[2:] == [([1, 1], [-0.2, 0.4]), ([2, 2], [0.5, 0.9])]
    assert first.get_title(loc="left") == "aim, 4 queries"
    assert first.get_ylim() == pytest.approx((-0.25, 1.04))
    assert first.get_xlim() == pytest.approx((-0.7, 4.7))
    assert second.get_xlim() == pytest.approx((-0.7, 6.7))
    assert [axes.get_ylabel() for axes in figure.axes] == ["alpha", ""]
    assert [axes.get_ylabel() for axes in below.axes] == ["alpha", "alpha"]
    assert [axes.get_subplotspec().get_geometry()[:2] for axes in figure.axes] == [(1, 2), (1, 2)]
    assert [axes.get_subplotspec().get_geometry()[:2] for axes in below.axes] == [(2, 1), (2, 1)]
    assert [text.get_text() for text in figure.legends[0].texts] == ["before adjudication", "after adjudication"]


def test_figures_before_and_after_that_are_above_0_have_an_axis_from_0(drawn: Callable) -> None:
    figures.before_and_after({"aim": [(0.5, 0.9)], "way": []}, limits=(), unit="alpha")
    assert [axes.get_ylim()[0] for axes in drawn()[0][2].axes] == pytest.approx([-0.05, -0.05])


def test_bars_of_a_group_touch_around_its_place(drawn: Callable) -> None:
    values = {"aim": [number(0.5, 0.4, 0.6), number(None)], "way": [number(0.2), number(0.8, 0.7, 1.2)]}
    figures.grouped_bars(values, names=["no", "yes"], unit="%")
    wide, narrow = (one[2] for one in drawn())
    (axes,) = wide.axes
    bars = [(bar.get_x() + bar.get_width() / 2, bar.get_width(), bar.get_height()) for bar in axes.patches]
    expected = [(-0.21, 0.3948, 50), (0.79, 0.3948, 20), (0.21, 0.3948, 0), (1.21, 0.3948, 80)]
    assert bars == [pytest.approx(bar) for bar in expected]
    assert lines(axes) == [([-0.21] * 2, [40, 60]), ([pytest.approx(1.21)] * 2, [70, 100])]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["aim", "way"]
    assert (wide.legends[0]._ncols, narrow.legends[0]._ncols) == (4, 2)
    colors = [to_hex(bar.get_facecolor()) for bar in axes.patches]
    assert colors[0] == colors[1] == to_hex(figures.LIGHTEST)
    assert colors[2] == colors[3] == to_hex(figures.DARKEST)


def test_shades_go_from_light_to_dark_in_equal_steps() -> None:
    assert figures._shades(1) == [figures.LIGHTEST]
    first, middle, last = figures._shades(3)
    assert (first, last) == (figures.LIGHTEST, pytest.approx(figures.DARKEST))
    assert middle == pytest.approx([(a + b) / 2 for a, b in zip(figures.LIGHTEST, figures.DARKEST, strict=True)])


def test_runs_have_their_dots_chance_a_band_and_pairs_a_square_below_the_better_one(drawn: Callable) -> None:
    values = {"good": number(0.6, 0.5, 0.7), "fair": number(0.4), "none": number(None)}
    holds = {("good", "fair"): False, ("good", "none"): True, ("fair", "none"): False}
    figures.runs(values, holds, chance=number(0.2, 0.1, 0.3), measure="NDCG")
    (_, height, wide), (_, tall, narrow) = drawn()
    assert height == pytest.approx(3 * 0.23 + 2.0)
    assert tall == pytest.approx(2 * height - 0.6)
    axes, beside = wide.axes
    assert dots(axes) == [(60, 0), (40, 1)]
    assert lines(axes) == [([20, 20], [0, 1]), ([50, 70], [0, 0])]
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((10, 30))
    full, empty = beside.collections
    assert [tuple(at) for at in full.get_offsets()] == [(2, 0)]
    assert [tuple(at) for at in empty.get_offsets()] == [(1, 0), (2, 1)]
    assert (to_hex(full.get_facecolor()[0]), to_hex(empty.get_facecolor()[0])) == ("#0072b2", figures.BACK)
    assert axes.get_xlabel() == "NDCG, %"
    assert axes.get_ylim() == beside.get_ylim() == pytest.approx((2.6, -0.6))
    assert beside.get_xlim() == pytest.approx((-0.6, 2.6))
    assert not any(label.get_text() for label in beside.get_yticklabels())
    assert [label.get_text() for label in narrow.axes[1].get_yticklabels()] == [*values]
    assert [label.get_text() for label in axes.get_yticklabels()] == [*values]
    legend = ["random order", "significant", "may be chance"]
    assert [text.get_text() for text in wide.legends[0].texts] == legend
    assert (wide.legends[0]._ncols, narrow.legends[0]._ncols) == (3, 2)
    assert [one.get_subplotspec().get_geometry()[:2] for one in (axes, narrow.axes[0])] == [(1, 2), (2, 1)]


def test_a_single_run_has_one_panel_and_chance_without_a_figure_no_line(drawn: Callable) -> None:
    figures.runs({"good": number(0.6)}, {}, chance=number(None), measure="AP")
    (_, height, wide), (_, tall, narrow) = drawn()
    assert (height, tall) == (pytest.approx(1.23), pytest.approx(1.23))
    assert [len(one.axes) for one in (wide, narrow)] == [1, 1]
    assert lines(wide.axes[0]) == []
    assert list(wide.axes[0].patches) == []


def test_a_forest_has_a_line_at_nothing(drawn: Callable) -> None:
    figures.forest({"a1": Number(-0.3, COEFFICIENT, Interval(-0.5, -0.1, 0.95, "t"))}, unit="grades")
    (_, height, wide), (_, tall, _) = drawn()
    (axes,) = wide.axes
    assert (height, tall) == (pytest.approx(0.93), pytest.approx(1.33))
    assert lines(axes) == [([0, 0], [0, 1]), ([-0.5, -0.1], [0, 0])]
    assert dots(axes) == [(-0.3, 0)]


def test_ranges_are_bars_in_percent_with_the_marks_of_each_kind(drawn: Callable) -> None:
    values = {"final": {"good": 0.6, "fair": 0.3}, "a1": {"fair": 0.35}}
    spans = {"good": (0.5, 0.7), "fair": None, "poor": (0.1, 0.15)}
    figures.ranges(values, spans, spanned="random assessors", unit="NDCG")
    (_, height, wide), (_, tall, narrow) = drawn()
    (axes,) = wide.axes
    assert (height, tall) == (pytest.approx(3 * 0.23 + 1.0), pytest.approx(3 * 0.23 + 1.6))
    bars = [(bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in axes.patches]
    assert bars == [pytest.approx((50, 20, 0)), pytest.approx((10, 5, 2))]
    assert dots(axes) == [pytest.approx((60, 0)), pytest.approx((30, 1)), pytest.approx((35, 1))]
    assert [text.get_text() for text in wide.legends[0].texts] == ["final", "a1", "random assessors"]
    assert axes.get_ylim() == pytest.approx((2.6, -0.6))
    assert not axes.use_sticky_edges
    assert (wide.legends[0]._ncols, narrow.legends[0]._ncols) == (4, 1)


def test_stacked_bars_begin_where_the_last_part_ended_and_stripe_colours_that_come_again(drawn: Callable) -> None:
    order = [f"m{at}" for at in range(10)]
    figures.stacked_bars({"p1": {"m0": 2, "m1": 3, "m9": 1}, "p2": {"m1": 4}}, order=order, unit="documents")
    (_, height, wide), (_, tall, narrow) = drawn()
    (axes,) = wide.axes
    assert (height, tall) == (pytest.approx(2 * 0.23 + 1.2), pytest.approx(2 * 0.23 + 1.6))
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bars[:4] == [(0, 2), (0, 0), (2, 3), (0, 4)]
    assert bars[-2:] == [(5, 1), (4, 0)]
    hatches = [bar.get_hatch() for bar in axes.patches]
    assert (hatches[0], hatches[14], hatches[16]) == ("", "", "////")
    assert axes.patches[0].get_facecolor() == axes.patches[16].get_facecolor()
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [
        ((pytest.approx(6.06), "p1"), "6"),
        ((pytest.approx(4.06), "p2"), "4"),
    ]
    assert axes.get_ylim() == pytest.approx((1.6, -0.6))
    assert (wide.legends[0]._ncols, narrow.legends[0]._ncols) == (4, 2)


def test_a_learning_curve_has_a_line_for_each_loss(drawn: Callable) -> None:
    figures.learning_curve({"training": [(0, 0.9), (10, 0.4)], "dev": [(10, 0.5)]}, unit="loss")
    _, height, wide = drawn()[0]
    (axes,) = wide.axes
    assert height == 2.4
    assert lines(axes) == [([0, 10], [0.9, 0.4]), ([10], [0.5])]
    assert (axes.get_xlabel(), axes.get_ylabel(), wide.legends[0]._ncols) == ("step", "loss", 2)


def test_a_drawing_has_the_colours_of_its_page_no_size_and_two_ids() -> None:
    drawing, again = (figures.forest({"a1": number(0.5, 0.4, 0.6)}, unit="grades") for _ in range(2))
    texts = drawing.wide, drawing.narrow
    for text in texts:
        root = ET.fromstring(text)
        assert "width" not in root.attrib
        assert "height" not in root.attrib
        assert "currentColor" in text
        assert "var(--line" in text
        assert not any(stand_in in text for stand_in in figures.OF_PAGE)
        assert ">grades</text>" in text
        assert "<dc:date>" not in text
    wide, narrow = (float(ET.fromstring(text).attrib["viewBox"].split()[2]) for text in texts)
    assert (wide, narrow) == (pytest.approx(7.2 * 72), pytest.approx(3.7 * 72))
    assert texts == (again.wide, again.narrow)
    ids = [{one for one in text.split('"') if one.startswith("m") and len(one) == 11} for text in texts]
    assert not ids[0] & ids[1]


def test_a_drawing_on_a_page_says_what_it_is_and_shows_and_no_other_has_its_ids() -> None:
    values = {'a "id="b" <c>': number(0.5, 0.4, 0.6), "d": number(0.4, 0.2, 0.5)}
    svg = figures.runs(values, {}, chance=number(0.2, 0.1, 0.3), measure="AP").wide
    told = ("AP of </title><script>", "a: 50; d: 40")
    one, other = (ET.fromstring(figures.described(svg, name, *told)) for name in ("one", "other"))
    assert one.attrib["role"] == "img"
    by_id = [{at.attrib["id"]: at for at in root.iter() if "id" in at.attrib} for root in (one, other)]
    assert [by_id[0][name].text for name in one.attrib["aria-labelledby"].split()] == [*told]
    assert all(name.startswith("one-") for name in by_id[0])
    assert not by_id[0].keys() & by_id[1].keys()
    used = {
        name
        for at in one.iter()
        for value in at.attrib.values()
        for name in re.findall(r"^#(.+)$|^url\(#(.+)\)$", value)
    }
    assert used
    assert {"".join(name) for name in used} <= by_id[0].keys()
    assert 'a "id="b" <c>' in [at.text for at in one.iter()]


def test_a_figure_for_a_notebook_is_the_same_drawing_in_black_on_white() -> None:
    values = {"good": number(0.6, 0.5, 0.7), "fair": number(0.4)}
    holds = {("good", "fair"): False}
    made = figures.runs(values, holds, chance=number(0.2, 0.1, 0.3), measure="NDCG").figure()
    axes, beside = made.axes
    assert dots(axes) == [(60, 0), (40, 1)]
    assert tuple(made.get_size_inches()) == pytest.approx((7.2, 2 * 0.23 + 2.0))
    assert to_hex(made.get_facecolor()) == "#ffffff"
    (empty,) = [one for one in beside.collections if len(one.get_offsets())]
    assert to_hex(empty.get_facecolor()[0]) == "#ffffff"
    buffer = io.StringIO()
    made.savefig(buffer, format="svg")
    assert not any(stand_in in buffer.getvalue() for stand_in in figures.OF_PAGE)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels(), *made.legends[0].texts):
        assert (to_hex(label.get_color()), label.get_size()) == ("#000000", 8)
    png = made._repr_png_()
    assert png.startswith(b"\x89PNG")
    # Width and height are the first two numbers of the header: 144 pixels an inch, so that letters are sharp.
    size = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    assert size == pytest.approx((7.2 * 144, 2.46 * 144), abs=1)
