"""Drawings: as SVG text, the same bytes for the same numbers, and as figures of matplotlib for a notebook.

Lines and letters take the colour of the page. Colours of kinds are the Okabe-Ito palette (Okabe and Ito
2008, Color Universal Design), told apart with every kind of colour vision; grades are shades of one colour, light to
dark, for a print in grey.
"""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from annot.base.names import counted
from annot.publishing.report.cells import Number

if TYPE_CHECKING:
    from annot.publishing.report.plain_figure import PlainFigure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F")
LIGHTEST, DARKEST = (0.72, 0.84, 0.94), (0.03, 0.29, 0.55)
"""Lightest and darkest shade of grades, as red, green and blue."""
INK, SOFT, BACK = "#010203", "#040506", "#070809"
"""Placeholders for the colours of the page: of its letters, its lines, and its ground."""
OF_PAGE = {INK: "currentColor", SOFT: "var(--line, #bbbbbb)", BACK: "var(--page, #ffffff)"}
WIDTH, NARROW = 7.2, 3.7
"""Inches, on a screen or sheet and on a phone; the page scales the drawing to its column, and the letters with it."""
ROW = 0.23
"""Inches that a row of a horizontal drawing takes."""
DASHED = (0, (4, 3))
"""A line that is no measurement: a limit, chance, or nothing."""
_NAMES = re.compile(r'(\bid="|url\(#|href="#)')


class Surface(NamedTuple):
    """Surface of a drawing: a phone or not, and the colours of letters, lines and ground."""

    narrow: bool
    ink: str = INK
    soft: str = SOFT
    back: str = BACK


PLAIN = Surface(False, "black", "#bbbbbb", "white")
"""Surface of a figure outside of our pages."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """One drawing, painted when it is asked for: as SVG for a page and for a phone, or as a figure of matplotlib."""

    paint: Callable[[Any, Surface], None]
    height: float
    narrow_height: float | None = None
    """Height on a phone; a little more than on a page if none is given."""

    @cached_property
    def wide(self) -> str:
        """SVG for a page of ordinary width."""
        return _svg(WIDTH, self.height, lambda figure: self.paint(figure, Surface(False)))

    @cached_property
    def narrow(self) -> str:
        """SVG for a phone."""
        height = self.height + 0.4 if self.narrow_height is None else self.narrow_height
        return _svg(NARROW, height, lambda figure: self.paint(figure, Surface(True)))

    def figure(self) -> PlainFigure:
        """Matplotlib figure in black on white."""
        from matplotlib import rc_context

        from annot.publishing.report.plain_figure import PlainFigure

        with rc_context(style(PLAIN.ink)):
            figure = PlainFigure(figsize=(WIDTH, self.height), layout="constrained", facecolor=PLAIN.back)
            self.paint(figure, PLAIN)
            # Ticks are made when they are first drawn: here they have this size and colour.
            figure.draw_without_rendering()
        return figure


def described(svg: str, name: str, title: str, description: str) -> str:
    """A drawing among others on a page: its ids begin with `name`, and a screen reader reads its title and its
    description."""
    # What text a drawing has is left alone: a run may be called anything.
    head, _, rest = re.sub(r"<\w[^>]*>", lambda tag: _NAMES.sub(rf"\1{name}-", tag[0]), svg).partition(">")
    texts = f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>'
    return f'{head} role="img" aria-labelledby="{name}-title {name}-desc">\n{texts}{rest}'


def style(ink: str) -> Any:
    """Settings of matplotlib, with letters in this colour."""
    return {
        "font.size": 8,
        "font.family": "sans-serif",
        "text.color": ink,
        # A run may be called `a$b`.
        "text.parse_math": False,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "axes.titlesize": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.major.size": 2,
        "ytick.major.size": 2,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "legend.labelcolor": ink,
        # Text stays text: it can be searched, read aloud, and is drawn in the reader's font.
        "svg.fonttype": "none",
    }


def before_and_after(
    points: Mapping[str, Sequence[tuple[float | None, float | None]]], *, limits: tuple[float, float], unit: str
) -> Drawing:
    """A panel a group; in each, its members from the lowest to the highest, before and after joined by a line."""

    def paint(figure: Any, on: Surface) -> None:
        rows = len(points) if on.narrow else 1
        panels = figure.subplots(rows, 1 if on.narrow else len(points), sharey=True, squeeze=False).ravel()
        all_pairs = [pair for group in points.values() for pair in group]
        lowest = min((value for pair in all_pairs for value in pair if value is not None), default=0)
        kinds = [
            (place, look)
            for place, look in enumerate((("before adjudication", "o"), ("after adjudication", "D")))
            if any(pair[place] is not None for pair in all_pairs)
        ]
        for axes, (name, members) in zip(panels, points.items(), strict=True):
            ordered = sorted(members, key=lambda pair: tuple(-math.inf if value is None else value for value in pair))
            for limit in limits:
                axes.axhline(limit, color=on.ink, linewidth=0.6, linestyle=DASHED, zorder=0)
            for index, (first, after) in enumerate(ordered):
                if first is not None and after is not None:
                    axes.plot([index, index], [first, after], color=on.soft, linewidth=1, zorder=1)
            for place, (label, marker) in kinds:
                drawn = [(index, pair[place]) for index, pair in enumerate(ordered) if pair[place] is not None]
                across, up = [index for index, _ in drawn], [value for _, value in drawn]
                axes.scatter(across, up, label=label, marker=marker, s=22, color=PALETTE[place], zorder=2)
            axes.set_title(", ".join(filter(None, (name, counted(len(members), "query")))), loc="left")
            axes.set_xticks([])
            axes.set_xlim(-0.7, max(5, len(members)) - 0.3)
            axes.set_ylim(min(0.0, lowest) - 0.05, 1.04)
        for axes in panels if on.narrow else panels[:1]:
            axes.set_ylabel(unit)
        _legend(figure, panels[0], columns=2)

    return Drawing(paint, 2.7, 1.7 * len(points) + 0.4)


def grouped_bars(values: Mapping[str, Sequence[Number]], *, names: Sequence[str], unit: str) -> Drawing:
    """Vertical bars with their intervals in shades from light to dark: a group a row, a bar a name."""
    groups = list(values)
    width = 0.84 / len(names)

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        for group_index, (name, shade) in enumerate(zip(names, _shades(len(names)), strict=True)):
            bars = [values[group][group_index] for group in groups]
            places = [index + (group_index - (len(names) - 1) / 2) * width for index in range(len(groups))]
            heights = [bar_value.value or 0.0 for bar_value in bars]
            axes.bar(places, heights, width * 0.94, label=name, color=shade, edgecolor=on.ink, linewidth=0.4)
            for place, bar in zip(places, bars, strict=True):
                if bar.ends is not None:
                    axes.plot([place, place], bar.ends, color=PALETTE[5], linewidth=1.4)
        axes.set_xticks(range(len(groups)), groups)
        axes.set_ylabel(unit)
        _legend(figure, axes, columns=2 if on.narrow else 4)

    return Drawing(paint, 2.7, 3.0)


def runs(
    values: Mapping[str, Number], holds: Mapping[tuple[str, str], bool], *, chance: Number, measure: str
) -> Drawing:
    """A dot and its interval for each run, best first, chance as a line with a band; next to it the runs that differ.

    holds: by the better run and the other one. A square at the better run's row, in the other's column: full where the
    difference holds, empty if it may be chance.
    """
    names = list(values)

    def paint(figure: Any, on: Surface) -> None:
        panels = 2 if holds else 1
        axes, *other_axes = figure.subplots(
            panels if on.narrow else 1, 1 if on.narrow else panels, squeeze=False
        ).ravel()
        if chance.value is not None:
            axes.axvline(chance.value, color=on.ink, linewidth=0.9, linestyle=DASHED, label="random order", zorder=0)
        if chance.ends is not None:
            axes.axvspan(*chance.ends, color=on.soft, alpha=0.45, linewidth=0, zorder=0)
        _dots(axes, values, f"{measure}, %", on)
        for second in other_axes:
            for face, kind, label in ((PALETTE[0], True, "significant"), (on.back, False, "may be chance")):
                pairs = [(names.index(b), names.index(a)) for (a, b), state in holds.items() if state is kind]
                across, down = [column for column, _ in pairs], [row for _, row in pairs]
                second.scatter(across, down, marker="s", s=30, facecolor=face, edgecolor=PALETTE[0], label=label)
            second.set_yticks(range(len(names)), names if on.narrow else [])
            second.set_ylim(len(names) - 0.4, -0.6)
            second.set_xticks(range(len(names)), names, rotation=90)
            second.set_xlim(-0.6, len(names) - 0.4)
            second.set_xlabel("better than")
        handles = [axis.get_legend_handles_labels() for axis in (axes, *other_axes)]
        joined = [[item for pair in handles for item in pair[side]] for side in (0, 1)]
        figure.legend(*joined, loc="outside lower center", ncols=2 if on.narrow else 3)

    height = ROW * len(values) + (2.0 if holds else 1.0)
    return Drawing(paint, height, 2 * height - 0.6 if holds else height)


def forest(values: Mapping[str, Number], *, unit: str) -> Drawing:
    """A dot and its interval a row, with a line at nothing."""

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        axes.axvline(0, color=on.ink, linewidth=0.9, linestyle=DASHED, zorder=0)
        _dots(axes, values, unit, on)

    return Drawing(paint, ROW * len(values) + 0.7)


def ranges(
    values: Mapping[str, Mapping[str, float]],
    spans: Mapping[str, tuple[float, float] | None],
    *,
    spanned: str | None,
    unit: str,
) -> Drawing:
    """A bar from end to end for each row, and on it a mark of each kind: `values[kind][row]`, fractions, in percent.

    spans: by row, None for no bar. spanned: what the bars are. More than five kinds are not told apart.
    """
    rows = list(spans)
    marks = (("D", PALETTE[0]), ("<", PALETTE[1]), (">", PALETTE[5]), ("o", PALETTE[2]), ("s", PALETTE[3]))

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        for row, ends in enumerate(spans.values()):
            if ends is not None:
                low, high = 100 * ends[0], 100 * ends[1]
                label = spanned if not row else None
                axes.barh(row, high - low, left=low, height=0.5, color=PALETTE[4], alpha=0.5, label=label)
        for (kind, of_kind), (marker, color) in zip(values.items(), itertools.cycle(marks), strict=False):
            marks_of_kind = [(100 * of_kind[name], row) for row, name in enumerate(rows) if name in of_kind]
            axes.scatter(*zip(*marks_of_kind, strict=True), marker=marker, s=26, color=color, label=kind, zorder=3)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        # A mark at the end of a bar is whole.
        axes.use_sticky_edges = False
        axes.set_xlabel(unit)
        axes.grid(axis="x", color=on.soft, linewidth=0.5)
        _legend(figure, axes, columns=1 if on.narrow else 4)

    return Drawing(paint, ROW * len(rows) + 1.0, ROW * len(rows) + 1.6)


def stacked_bars(parts: Mapping[str, Mapping[str, int]], *, order: Sequence[str], unit: str) -> Drawing:
    """One horizontal bar a row, stacked from named parts (`parts[row][part]`), its total at the end."""
    rows = list(parts)

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        begins = [0.0] * len(rows)
        for index, part in enumerate(order):
            widths = [float(parts[row].get(part, 0)) for row in rows]
            # Where the colours are used up they come again, striped.
            color, stripes = PALETTE[index % len(PALETTE)], "/" * (4 * (index // len(PALETTE)))
            axes.barh(
                rows, widths, left=begins, label=part, color=color, edgecolor=on.back, linewidth=0.5, hatch=stripes
            )
            begins = [start + width for start, width in zip(begins, widths, strict=True)]
        for row, end in zip(rows, begins, strict=True):
            axes.text(end + max(begins) * 0.01, row, f"{end:g}", va="center")
        axes.set_xlabel(unit)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        _legend(figure, axes, columns=2 if on.narrow else 4)

    return Drawing(paint, ROW * len(rows) + 1.2)


def learning_curve(losses: Mapping[str, Sequence[tuple[int, float]]], *, unit: str) -> Drawing:
    """A line for each loss, over the steps of a training."""

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.subplots()
        for place, (name, points) in enumerate(losses.items()):
            across, up = [step for step, _ in points], [loss for _, loss in points]
            axes.plot(across, up, label=name, color=PALETTE[place], linewidth=1.2, marker="o", markersize=2.5)
        axes.set_xlabel("step")
        axes.set_ylabel(unit)
        _legend(figure, axes, columns=len(losses))

    return Drawing(paint, 2.4)


def _dots(axes: Any, values: Mapping[str, Number], unit: str, on: Surface) -> None:
    """A dot and its interval a row."""
    for row, number in enumerate(values.values()):
        if number.ends is not None:
            axes.plot(number.ends, [row, row], color=PALETTE[0], linewidth=1.6, zorder=2)
        if number.value is not None:
            axes.scatter([number.value], [row], s=26, color=PALETTE[0], zorder=3)
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlabel(unit)
    axes.grid(axis="x", color=on.soft, linewidth=0.5)


def _shades(n: int) -> list[tuple[float, float, float]]:
    steps = [index / max(1, n - 1) for index in range(n)]
    return [tuple(a + (b - a) * step for a, b in zip(LIGHTEST, DARKEST, strict=True)) for step in steps]  # type: ignore[misc]


def _legend(figure: Any, axes: Any, *, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def _svg(width: float, height: float, paint: Callable[[Any], None]) -> str:
    """Drawing without the parts that change from one execution to the next: date, version, random ids."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    buffer = io.StringIO()
    # Both stand on one page: what one names must not be found in the other.
    with rc_context(style(INK) | {"svg.hashsalt": f"annot {width:g}"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        # `savefig` would paint the whole figure once only to lay it out.
        layout = figure.get_layout_engine()
        assert layout is not None
        layout.execute(figure)
        figure.set_layout_engine("none")
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    for stand_in, color in OF_PAGE.items():
        text = text.replace(stand_in, color)
    # The page sets the width; a fixed one in points would overflow a phone.
    head, _, rest = text.partition(">")
    return re.sub(r'\s(width|height)="[^"]*"', "", head) + ">" + rest
