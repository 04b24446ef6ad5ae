"""What is drawn where: dots, bars and lines of the figures, read from matplotlib before they become SVG."""

import io
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from annot.base.stats.values import Interval
from annot.publishing.report import figures
from annot.publishing.report.cells import COEFFICIENT, MEASURE, Number
from matplotlib.colors import to_hex


@pytest.fixture(scope="module")
def undrawn() -> None:
    """Figures are looked at here."""


def painted(drawing: figures.Drawing, on: figures.Surface = figures.PLAIN) -> Any:
    """The figure before it is laid out."""
    return drawing._painted(on)


def size(drawing: figures.Drawing, on: figures.Surface = figures.PLAIN) -> Any:
    return pytest.approx(tuple(painted(drawing, on).get_size_inches()))


def number(value: float | None, low: float = 0.0, high: float = 0.0) -> Number:
    return Number(value, MEASURE, Interval(low, high, 0.95, "jackknife"))


def dots(axes: Any) -> list[tuple[float, float]]:
    return [tuple(map(float, point)) for found in axes.collections for point in found.get_offsets()]


def lines(axes: Any) -> list[tuple[list[float], list[float]]]:
    return [([*map(float, line.get_xdata())], [*map(float, line.get_ydata())]) for line in axes.lines]


def test_before_and_after_goes_from_the_lowest_to_the_highest() -> None:
    values = [(0.5, 0.9), (-0.2, 0.4), (0.7, None), (None, 0.3)]
    points = {
        "aim": [(f"q{at}", *pair) for at, pair in enumerate(values)],
        "way": [(f"r{at}", 0.1, 0.2) for at in range(7)],
    }
    drawing = figures.before_and_after(points, limits=(0.667, 0.8), unit="alpha", query="query")
    figure, below = painted(drawing), painted(drawing, figures.PAGE)
    assert drawing.rows[1] == {"facet": "aim", "query_id": "q1", "before": -0.2, "after": 0.4}
    first = figure.axes[0]
    before, after = first.collections
    # Without a grade before comes first: after alone, at 0.
    assert [tuple(at) for at in before.get_offsets()] == [(1, -0.2), (2, 0.5), (3, 0.7)]
    # The lowest has an address of its own in browse.
    assert before.get_urls()[0] == "browse.html#query=q1 q1: -0.20 before, 0.40 after"
    assert [tuple(at) for at in after.get_offsets()] == [(0, 0.3), (1, 0.4), (2, 0.9)]
    assert lines(first)[:2] == [([0, 1], [0.667, 0.667]), ([0, 1], [0.8, 0.8])]
    assert lines(first)[2:] == [([1, 1], [-0.2, 0.4]), ([2, 2], [0.5, 0.9])]
    assert first.get_title(loc="left") == "aim, 4 queries"
    assert [axes.get_ylabel() for axes in figure.axes] == ["alpha", ""]
    assert [axes.get_ylabel() for axes in below.axes] == ["alpha", "alpha"]
    assert [text.get_text() for text in figure.legends[0].texts] == ["before adjudication", "after adjudication"]


def test_bars_of_a_group_touch_around_its_place() -> None:
    values = {"aim": [number(0.5, 0.4, 0.6), number(None)], "way": [number(0.2), number(0.8, 0.7, 1.2)]}
    drawing = figures.grouped_bars(values, names=["no", "yes"], unit="%")
    wide = painted(drawing)
    (axes,) = wide.axes
    bars = [(bar.get_x() + bar.get_width() / 2, bar.get_width(), bar.get_height()) for bar in axes.patches]
    expected = [(-0.21, 0.3948, 50), (0.79, 0.3948, 20), (0.21, 0.3948, 0), (1.21, 0.3948, 80)]
    assert bars == [pytest.approx(bar) for bar in expected]
    assert lines(axes) == [([-0.21] * 2, [40, 60]), ([pytest.approx(1.21)] * 2, [70, 100])]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["aim", "way"]
    colors = [to_hex(bar.get_facecolor()) for bar in axes.patches]
    assert colors[0] == colors[1] == to_hex(figures.LIGHTEST)
    assert colors[2] == colors[3] == to_hex(figures.DARKEST)


def test_runs_have_their_dots_chance_a_band_and_pairs_a_square_below_the_better_one() -> None:
    values = {"good": number(0.6, 0.5, 0.7), "fair": number(0.4), "none": number(None)}
    holds = {("good", "fair"): False, ("good", "none"): True, ("fair", "none"): False}
    drawing = figures.runs(values, holds, chance=number(0.2, 0.1, 0.3), measure="NDCG")
    wide, narrow = painted(drawing), painted(drawing, figures.PAGE)
    assert drawing.height == pytest.approx(3 * 0.23 + 2.0)
    assert [(row["run"], row["value"], row["better_than"]) for row in drawing.rows] == [
        ("good", 60, "none"), ("fair", 40, ""), ("none", None, ""), ("chance", 20, ""),
    ]  # fmt: skip
    axes, beside = wide.axes
    assert dots(axes) == [(60, 0), (40, 1)]
    assert lines(axes) == [([20, 20], [0, 1]), ([50, 70], [0, 0])]
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((10, 30))
    full, empty = beside.collections
    assert [tuple(at) for at in full.get_offsets()] == [(2, 0)]
    assert [tuple(at) for at in empty.get_offsets()] == [(1, 0), (2, 1)]
    assert (to_hex(full.get_facecolor()[0]), to_hex(empty.get_facecolor()[0])) == ("#0072b2", "#ffffff")
    assert axes.get_xlabel() == "NDCG, %"
    assert not any(label.get_text() for label in beside.get_yticklabels())
    assert [label.get_text() for label in narrow.axes[1].get_yticklabels()] == [*values]
    assert [label.get_text() for label in axes.get_yticklabels()] == [*values]
    legend = ["random order", "significant", "may be chance"]
    assert [text.get_text() for text in wide.legends[0].texts] == legend


def test_a_forest_has_a_line_at_nothing() -> None:
    severity = {"a1": Number(-0.3, COEFFICIENT, Interval(-0.5, -0.1, 0.95, "t"))}
    drawing = figures.forest(severity, unit="grades", zero=True)
    (axes,) = painted(drawing).axes
    assert lines(axes) == [([0, 0], [0, 1]), ([-0.5, -0.1], [0, 0])]
    assert dots(axes) == [(-0.3, 0)]


def test_ranges_are_bars_in_percent_with_the_marks_of_each_kind() -> None:
    values = {"final": {"good": 0.6, "fair": 0.3}, "a1": {"fair": 0.35}}
    spans = {"good": (0.5, 0.7), "fair": None, "poor": (0.1, 0.15)}
    drawing = figures.ranges(values, spans, spanned="random assessors", unit="NDCG")
    wide = painted(drawing)
    (axes,) = wide.axes
    bars = [(bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in axes.patches]
    assert bars == [pytest.approx((50, 20, 0)), pytest.approx((10, 5, 2))]
    assert dots(axes) == [pytest.approx((60, 0)), pytest.approx((30, 1)), pytest.approx((35, 1))]
    assert [text.get_text() for text in wide.legends[0].texts] == ["final", "a1", "random assessors"]


def test_stacked_bars_begin_where_the_last_part_ended_and_stripe_colours_that_come_again() -> None:
    order = [f"m{at}" for at in range(10)]
    drawing = figures.stacked_bars({"p1": {"m0": 2, "m1": 3, "m9": 1}, "p2": {"m1": 4}}, order=order, unit="documents")
    wide = painted(drawing)
    (axes,) = wide.axes
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


def test_two_runs_are_sorted_by_their_difference_and_each_mark_leads_to_its_query() -> None:
    scores = {"q 1": (0.5, 0.4), "q2": (0.1, 0.9), "q3": (0.6, 0.6)}
    drawing = figures.two_runs(scores, names=("a&b", "c"), unit="NDCG, %")
    assert [row["query_id"] for row in drawing.rows] == ["q2", "q3", "q 1"]
    (axes,) = painted(drawing).axes
    _, second = axes.collections
    assert dots(axes)[:3] == [pytest.approx(at) for at in ((0, 10), (1, 60), (2, 50))]
    assert [float(at[1]) for at in second.get_offsets()] == pytest.approx([90, 60, 40])
    # Between the queries on which it is behind and those on which it is not.
    assert lines(axes)[-1][0] == [0.5, 0.5]
    root = ET.fromstring(drawing.on_page)
    marks = [at for at in root.iter() if at.tag.endswith("}a")]
    assert [at.attrib["href"] for at in marks[:3]] == [
        f"browse.html#query={name}&system=a%26b&beside=c" for name in ("q2", "q3", "q+1")
    ]
    assert marks[0][0].text == "q2: a&b 10.0, c 90.0"


def test_a_heat_map_has_a_square_for_two_judges_and_all_counts_are_data() -> None:
    tables = {("a1", "a2"): [[5, 1], [0, 2]], ("a1", "a3"): [[1, 0], [0, 1]], ("a2", "a3"): [[0, 0], [0, 9]]}
    drawing = figures.heat_maps(tables, grades=(0, 1), most=2)
    first, second = (axes for axes in painted(drawing).axes if axes.get_xlabel())
    assert (first.get_ylabel(), first.get_xlabel(), second.get_xlabel()) == ("a1", "a2", "a3")
    written = {(text.get_position()): text.get_text() for text in first.texts}
    # The row is the first judge's grade: one pair had 0 of a1 and 1 of a2.
    assert written == {(0.5, 0.5): "5", (1.5, 0.5): "1", (0.5, 1.5): "0", (1.5, 1.5): "2"}
    assert len(drawing.rows) == 12
    assert drawing.rows[1] == {"assessor": "a1", "other": "a2", "grade": 0, "grade_of_other": 1, "pairs": 1}


def test_an_overlap_has_the_largest_sets_first_and_a_dot_for_each_of_their_names() -> None:
    sizes = {frozenset({"a"}): 3, frozenset({"a", "c"}): 7, frozenset({"b"}): 1}
    drawing = figures.overlap(sizes, order=["a", "b", "c"], most=2, unit="documents")
    bars, sets = painted(drawing).axes
    assert [bar.get_height() for bar in bars.patches] == [7, 3]
    _, full = sets.collections
    assert [tuple(map(float, at)) for at in full.get_offsets()] == [(0, 0), (0, 2), (1, 0)]
    assert [label.get_text() for label in sets.get_yticklabels()] == ["a, 10", "b, 1", "c, 7"]
    assert [(row["sets"], row["documents"]) for row in drawing.rows] == [("a c", 7), ("a", 3), ("b", 1)]


def test_a_file_has_its_fonts_a_print_is_grey_and_all_are_the_same_bytes_again() -> None:
    made = [
        figures.grouped_bars({"aim": [number(0.5), number(0.2)]}, names=["no", "yes"], unit="%").saved(
            figures.PAPER["one-column"], ("svg", "pdf", "png")
        )
        for _ in range(2)
    ]
    assert made[0] == made[1]
    # TrueType, with the program of the font in the file.
    assert b"/FontFile2" in made[0]["pdf"]
    assert b"/Type3" not in made[0]["pdf"]
    assert b"<text" not in made[0]["svg"]
    for color in re.findall(rb"#[0-9a-f]{6}\b", made[0]["svg"]):
        assert color[1:3] == color[3:5] == color[5:7]


def test_a_drawing_has_the_colours_of_its_page_and_no_size() -> None:
    drawing, again = (figures.forest({"a1": number(0.5, 0.4, 0.6)}, unit="grades", zero=True) for _ in range(2))
    text = drawing.on_page
    root = ET.fromstring(text)
    assert not {"width", "height"} & root.attrib.keys()
    assert "currentColor" in text
    assert "var(--line" in text
    assert not any(stand_in in text for stand_in in figures.OF_PAGE)
    assert ">grades</text>" in text
    assert "<metadata" not in text
    assert float(root.attrib["viewBox"].split()[2]) == pytest.approx(3.33 * 72, abs=0.01)
    assert text == again.on_page


def test_a_drawing_on_a_page_says_what_it_is_and_shows_and_no_other_has_its_ids() -> None:
    values = {'a "id="b" <c>': number(0.5, 0.4, 0.6), "d": number(0.4, 0.2, 0.5)}
    svg = figures.runs(values, {}, chance=number(0.2, 0.1, 0.3), measure="AP").on_page
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
    assert size == pytest.approx((7.0 * 144, 2.46 * 144), abs=1)
