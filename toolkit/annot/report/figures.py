"""Figures as SVG text, the same bytes for the same numbers.

The colours are the Okabe-Ito palette (Okabe and Ito 2008, Color Universal Design), told apart with every kind of
colour vision; the first ones also differ in lightness, for a print in grey.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F", "#000000")
WIDTH, NARROW = 7.2, 3.7
"""Inches, on a screen or sheet and on a phone; the page scales the drawing to its column, and the letters with it."""
ROW = 0.21
"""Inches that a row of a horizontal drawing takes."""


class Drawing(NamedTuple):
    """The same drawing twice, as SVG: for a page of ordinary width, and for a phone."""

    wide: str
    narrow: str


STYLE: Any = {
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.size": 2,
    "ytick.major.size": 2,
    "legend.frameon": False,
    "legend.fontsize": 8,
    # Text stays text: it can be searched, read aloud, and is drawn in the reader's font.
    "svg.fonttype": "none",
}


def stacked_bars(parts: Mapping[str, Mapping[str, float]], *, order: Sequence[str], unit: str) -> Drawing:
    """One horizontal bar a row, stacked from named parts (`parts[row][part]`), its total at the end."""
    rows = list(parts)

    def paint(axes: Any) -> None:
        left = [0.0] * len(rows)
        for at, part in enumerate(order):
            widths = [float(parts[row].get(part, 0)) for row in rows]
            color = PALETTE[at % len(PALETTE)]
            axes.barh(rows, widths, left=left, label=part, color=color, edgecolor="white", linewidth=0.5)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for row, end in zip(rows, left, strict=True):
            axes.text(end + max(left) * 0.01, row, f"{end:g}", va="center")
        axes.set_xlabel(unit)
        axes.set_ylim(len(rows) - 0.4, -0.6)

    return _drawn(ROW * len(rows) + 1.2, paint)


def paired_dots(
    values: Mapping[str, tuple[float | None, float | None]], *, names: tuple[str, str], unit: str
) -> Drawing:
    """Two dots a row, joined: before and after. A row without a value keeps its place, empty."""
    rows = list(values)
    lowest = min((value for pair in values.values() for value in pair if value is not None), default=0.0)

    def paint(axes: Any) -> None:
        for at, (first, second) in enumerate(values.values()):
            if first is not None and second is not None:
                axes.plot([first, second], [at, at], color="#999999", linewidth=1, zorder=1)
        for place, (name, marker) in enumerate(zip(names, ("o", "D"), strict=True)):
            points = [(pair[place], at) for at, pair in enumerate(values.values()) if pair[place] is not None]
            across, down = [point[0] for point in points], [point[1] for point in points]
            axes.scatter(across, down, label=name, marker=marker, s=26, color=PALETTE[place], zorder=2)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(unit)
        axes.set_xlim(min(0.0, lowest) - 0.03, 1.03)
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)

    return _drawn(ROW * len(rows) + 1.1, paint)


def grouped_bars(values: Mapping[str, Mapping[str, float]], *, unit: str) -> Drawing:
    """Vertical bars: a group a row, a bar a column: `values[group][bar]`."""
    groups = list(values)
    bars = list(dict.fromkeys(bar for group in values.values() for bar in group))
    width = 0.8 / max(1, len(bars))

    def paint(axes: Any) -> None:
        for at, bar in enumerate(bars):
            places = [index + (at - (len(bars) - 1) / 2) * width for index in range(len(groups))]
            heights = [values[group].get(bar, 0.0) for group in groups]
            axes.bar(places, heights, width * 0.92, label=bar, color=PALETTE[at % len(PALETTE)])
        axes.set_xticks(range(len(groups)), groups)
        axes.set_ylabel(unit)

    return _drawn(2.8, paint)


def _drawn(height: float, paint: Callable[[Any], None]) -> Drawing:
    return Drawing(_svg(WIDTH, height, paint, columns=4), _svg(NARROW, height + 0.4, paint, columns=2))


def _svg(width: float, height: float, paint: Callable[[Any], None], *, columns: int) -> str:
    """The drawing without what changes from run to run: date, version, random ids."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    buffer = io.StringIO()
    # Both stand on one page: what one names must not be found in the other.
    with rc_context(STYLE | {"svg.hashsalt": f"annot {width:g}"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        paint(axes)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    # The page sets the width; a fixed one in points would overflow a phone.
    head, _, rest = text.partition(">")
    return re.sub(r'\s(width|height)="[^"]*"', "", head) + ">" + rest
