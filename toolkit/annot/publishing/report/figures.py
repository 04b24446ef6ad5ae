"""Drawings: as SVG text of a page, as files for a paper, and as figures of matplotlib for a notebook.

The same numbers give the same bytes. Lines and letters take the colour of the page. Colours of kinds are the Okabe-Ito
palette (Okabe and Ito 2008, Color Universal Design), told apart with every kind of colour vision; grades are shades of
one colour, light to dark. For a paper both are greys, and kinds differ in shape or stripes, too.
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
from urllib.parse import urlencode

from annot.base.names import counted
from annot.base.templating import packaged_table
from annot.publishing.report.cells import Number

if TYPE_CHECKING:
    from annot.publishing.report.plain_figure import PlainFigure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F")
GREYS = ("#1A1A1A", "#8C8C8C", "#555555", "#B8B8B8", "#D9D9D9", "#000000")
"""Colours of kinds for a page and for a print; a kind has the same place in both."""
LIGHTEST, DARKEST = (0.72, 0.84, 0.94), (0.03, 0.29, 0.55)
"""Lightest and darkest shade of grades, as red, green and blue."""
PALEST, GREYEST = (0.95,) * 3, (0.4,) * 3
"""The same for a print."""
INK, SOFT, BACK = "#010203", "#040506", "#070809"
"""Placeholders for the colours of the page: of its letters, its lines, and its ground."""
OF_PAGE = {INK: "currentColor", SOFT: "var(--line, #bbbbbb)", BACK: "var(--page, #ffffff)"}
WIDTH, NARROW = 7.0, 3.33
"""Inches: two columns of a paper, and one. A page, too, has the narrow form: beside a table, or on a phone."""
ROW = 0.23
"""Inches that a row of a horizontal drawing takes."""
DASHED = (0, (4, 3))
"""A line that is no measurement: a limit, chance, or nothing."""
BROWSE_FILE = "browse.html"
MARKERS = "oDs^v<>Xph"
UNSTABLE = {
    "svg": ("Date", "Creator", "Format", "Type"),
    "pdf": ("CreationDate", "Creator", "Producer"),
    "png": ("Software",),
}
"""Facts in a file that change from one execution to the next, or say nothing, by its form."""
_NAMES = re.compile(r'(\bid="|url\(#|href="#)')
_LINK = re.compile(r'<a xlink:href="(\S+) ([^"]*)"[^>]*>')
_SHAPE = re.compile(r"<(?:path|use|text|g|rect)\b[^>]*>")
_FONT = "font-size: 8px; font-family: 'DejaVu Sans', sans-serif; "
_SUPERFLUOUS = re.compile(rf' transform="rotate\(-0 [^"]*"|(?<=<g) id="(?!legend)[^"]*_\d+"(?=>)|(?<=\n) +|{_FONT}')
"""Parts of an SVG without any effect once its head has the font."""


class Surface(NamedTuple):
    """Surface of a drawing: its width, the colours of letters, lines and ground, and whether colours are greys."""

    width: float
    ink: str = "black"
    soft: str = "#bbbbbb"
    back: str = "white"
    grey: bool = False

    @property
    def narrow(self) -> bool:
        """True for one column of a paper, and for a page."""
        return self.width < WIDTH

    def color(self, place: int) -> str:
        """Colour of a kind; where colours are used up they come again."""
        colors = GREYS[:-1] if self.grey else PALETTE
        return colors[place % len(colors)]

    def stripes(self, place: int) -> str:
        """Stripes of a kind whose colour comes again."""
        return ("", "////", "....", "xxxx")[place // len(GREYS[:-1] if self.grey else PALETTE) % 4]

    def shades(self, n: int) -> list[tuple[float, ...]]:
        """Shades from the lightest to the darkest in equal steps."""
        ends = (PALEST, GREYEST) if self.grey else (LIGHTEST, DARKEST)
        steps = [index / max(1, n - 1) for index in range(n)]
        return [tuple(a + (b - a) * step for a, b in zip(*ends, strict=True)) for step in steps]


PAGE = Surface(NARROW, INK, SOFT, BACK)
PLAIN = Surface(WIDTH)
"""Surface of a figure outside of our pages."""
PAPER = {"one-column": Surface(NARROW, grey=True), "two-columns": Surface(WIDTH, grey=True)}
"""Surfaces of a paper, by the name of a folder."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """One drawing, painted when it is asked for: as SVG for a page, as a file, or as a figure."""

    paint: Callable[[Any, Surface], None]
    rows: Sequence[Mapping[str, object]]
    """Data of the drawing, a row for each mark, by the names of the columns."""
    height: float
    narrow_height: float | None = None
    """Height in one column; a little more than in two if none is given."""

    @cached_property
    def on_page(self) -> str:
        """SVG for a page, in the width of a phone or of one column of a paper."""
        text = self.saved(PAGE, ("svg",))["svg"].decode()
        for stand_in, color in OF_PAGE.items():
            text = text.replace(stand_in, color)
        # The page sets the width; a fixed one in points would overflow a phone.
        head, _, rest = text[text.index("<svg") :].partition(">")
        return re.sub(r'\s(width|height)="[^"]*"', "", head) + ">" + rest

    def figure(self) -> PlainFigure:
        """Matplotlib figure in black on white."""
        from matplotlib import rc_context

        with rc_context(style(PLAIN)):
            figure = self._painted(PLAIN)
            # Ticks are made when they are first drawn: here they have this size and colour.
            figure.draw_without_rendering()
        return figure

    def saved(self, on: Surface, forms: Sequence[str]) -> dict[str, bytes]:
        """Files of the drawing by form, `svg`, `pdf` or `png`: without facts that change from one execution to the
        next."""
        from matplotlib import rc_context

        files = {}
        # Several are on one page: a name in one must not be found in another.
        with rc_context(style(on) | {"svg.hashsalt": f"annot {on.width:g}"}):
            figure = self._painted(on)
            # `savefig` would paint the whole figure once only to lay it out.
            layout = figure.get_layout_engine()
            assert layout is not None
            layout.execute(figure)
            figure.set_layout_engine(None)
            for form in forms:
                buffer = io.BytesIO()
                unstable = dict.fromkeys(UNSTABLE[form])
                figure.savefig(buffer, format=form, dpi=300, metadata=unstable, transparent=form == "svg")
                files[form] = _compact(buffer.getvalue().decode()).encode() if form == "svg" else buffer.getvalue()
        return files

    def _painted(self, on: Surface) -> PlainFigure:
        from annot.publishing.report.plain_figure import PlainFigure

        narrow = self.height + 0.4 if self.narrow_height is None else self.narrow_height
        size = (on.width, narrow if on.narrow else self.height)
        figure = PlainFigure(figsize=size, layout="constrained", facecolor=on.back)
        self.paint(figure, on)
        return figure


def _compact(svg: str) -> str:
    """An SVG without parts that have no effect, whose links have a title."""
    svg = _SHAPE.sub(lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", " ".join(tag[0].split())), svg)
    svg = _SUPERFLUOUS.sub("", svg).replace("<svg ", f'<svg style="{_FONT.strip()}" ', 1)
    return _LINK.sub(r'<a href="\1" tabindex="-1"><title>\2</title>', svg)


def described(svg: str, name: str, title: str, description: str) -> str:
    """A drawing among others on a page: its ids begin with `name`, and a screen reader reads its title and its
    description."""
    # The text of a drawing is left alone: a run may have any name.
    head, _, rest = re.sub(r"<\w[^>]*>", lambda tag: _NAMES.sub(rf"\1{name}-", tag[0]), svg).partition(">")
    texts = f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>'
    # The parts of an image cannot be reached, so a drawing with links is a group.
    role = "group" if "<a href=" in rest else "img"
    return f'{head} role="{role}" aria-labelledby="{name}-title {name}-desc">\n{texts}{rest}'


def link(query_id: str, told: str, *systems: str) -> str:
    """Address of a query in browse, with these systems side by side; after a space, the title of the mark."""
    shown = dict(zip(("query", "system", "beside"), (query_id, *systems), strict=False))
    return f"{BROWSE_FILE}#{urlencode(shown)} {query_id}: {told}"


def style(on: Surface) -> Any:
    """Settings of matplotlib on this surface."""
    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "legend.labelcolor")
    # On a page text stays text: it can be searched, read aloud, and is drawn in the reader's font.
    letters = "none" if on.ink == INK else "path"
    return {**packaged_table("figures.toml"), **dict.fromkeys(ink, on.ink), "svg.fonttype": letters}


def before_and_after(
    points: Mapping[str, Sequence[tuple[str, float | None, float | None]]],
    *,
    limits: tuple[float, float],
    unit: str,
    query: str,
) -> Drawing:
    """A panel for each group, with its queries in ascending order; a line joins before and after.

    points: by group (query, before, after). query: the name of one in this study.
    """
    stages = ("before adjudication", "after adjudication")
    all_queries = list(itertools.chain(*points.values()))
    rows = [
        {"facet": group, "query_id": name, "before": first, "after": after}
        for group, members in points.items()
        for name, first, after in members
    ]

    def paint(figure: Any, on: Surface) -> None:
        panels = len(points)
        all_axes = figure.subplots(*((panels, 1) if on.narrow else (1, panels)), sharey=True, squeeze=False).ravel()
        lowest = min((value for row in all_queries for value in row[1:] if value is not None), default=0.0)
        for axes, (group, members) in zip(all_axes, points.items(), strict=True):
            ordered = sorted(members, key=lambda row: tuple(-math.inf if value is None else value for value in row[1:]))
            for limit in limits:
                axes.axhline(limit, color=on.ink, linewidth=0.6, linestyle=DASHED, zorder=0)
            _joined(axes, [(first, after) for _, first, after in ordered], on)
            for place, label in enumerate(stages):
                if any(row[place + 1] is not None for row in all_queries):
                    links = [
                        link(name, f"{_shown(first)} before, {_shown(after)} after") for name, first, after in ordered
                    ]
                    values = [pair[place] for _, *pair in ordered]
                    _marks(axes, values, links, place, on, label=label)
            axes.set_title(", ".join(filter(None, (group, counted(len(members), query)))), loc="left")
            axes.set_xticks([])
            axes.set_xlim(-0.7, max(5, len(members)) - 0.3)
            axes.set_ylim(min(0.0, lowest) - 0.05, 1.04)
        for axes in all_axes if on.narrow else all_axes[:1]:
            axes.set_ylabel(unit)
        _legend(figure, all_axes[0], columns=2)

    return Drawing(paint, rows, 2.7, 1.7 * len(points) + 0.4)


def two_runs(scores: Mapping[str, tuple[float, float]], *, names: tuple[str, str], unit: str) -> Drawing:
    """Scores of two runs on each query, joined by a line, from the query on which the first is furthest behind.

    scores: by query, fractions, printed in percent.
    """
    ordered = sorted(scores.items(), key=lambda row: (row[1][0] - row[1][1], row[0]))
    rows = [
        {"query_id": name, names[0]: first, names[1]: second, "difference": first - second}
        for name, (first, second) in ordered
    ]

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        percent = [(100 * first, 100 * second) for _, (first, second) in ordered]
        _joined(axes, percent, on)
        for place, name in enumerate(names):
            titles = [f"{names[0]} {first:.1f}, {names[1]} {second:.1f}" for first, second in percent]
            links = [link(query_id, text, *names) for (query_id, _), text in zip(ordered, titles, strict=True)]
            _marks(axes, [pair[place] for pair in percent], links, place, on, label=name)
        ahead = sum(first < second for first, second in percent)
        axes.axvline(ahead - 0.5, color=on.ink, linewidth=0.6, linestyle=DASHED, zorder=0)
        axes.set_xticks([])
        axes.set_xlim(-0.7, len(ordered) - 0.3)
        axes.set_ylim(-3, 103)
        axes.set_ylabel(unit)
        _legend(figure, axes, columns=2)

    return Drawing(paint, rows, 2.4, 2.4)


def grouped_bars(values: Mapping[str, Sequence[Number]], *, names: Sequence[str], unit: str) -> Drawing:
    """Vertical bars with their intervals in shades from light to dark: a group a row, a bar a name."""
    groups = list(values)
    width = 0.84 / len(names)
    rows = [
        {"group": group, "bar": name, **_data(bar)}
        for group, bars in values.items()
        for name, bar in zip(names, bars, strict=True)
    ]

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        for group_index, (name, shade) in enumerate(zip(names, on.shades(len(names)), strict=True)):
            bars = [values[group][group_index] for group in groups]
            places = [index + (group_index - (len(names) - 1) / 2) * width for index in range(len(groups))]
            heights = [bar_value.value or 0.0 for bar_value in bars]
            axes.bar(places, heights, width * 0.94, label=name, color=shade, edgecolor=on.ink, linewidth=0.4)
            for place, bar in zip(places, bars, strict=True):
                if bar.ends is not None:
                    axes.plot([place, place], bar.ends, color=GREYS[-1] if on.grey else PALETTE[5], linewidth=1.4)
        axes.set_xticks(range(len(groups)), groups)
        axes.set_ylabel(unit)
        _legend(figure, axes, columns=2 if on.narrow else 4)

    return Drawing(paint, rows, 2.7, 3.0)


def runs(
    values: Mapping[str, Number], holds: Mapping[tuple[str, str], bool], *, chance: Number, measure: str
) -> Drawing:
    """A dot and its interval for each run, best first, chance as a line with a band; next to it the runs that differ.

    holds: by the better run and the other one. A square at the better run's row, in the other's column: full where the
    difference holds, empty if it may be chance.
    """
    names = list(values)
    beaten = {run: " ".join(b for (a, b), state in holds.items() if state and a == run) for run in names}
    rows = [{"run": run, **_data(number), "better_than": beaten[run]} for run, number in values.items()]
    rows.append({"run": "chance", **_data(chance), "better_than": ""})

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
            color = on.color(0)
            for face, kind, label in ((color, True, "significant"), (on.back, False, "may be chance")):
                pairs = [(names.index(b), names.index(a)) for (a, b), state in holds.items() if state is kind]
                across, down = [column for column, _ in pairs], [row for _, row in pairs]
                second.scatter(across, down, marker="s", s=30, facecolor=face, edgecolor=color, label=label)
            second.set_yticks(range(len(names)), names if on.narrow else [])
            second.set_ylim(len(names) - 0.4, -0.6)
            second.set_xticks(range(len(names)), names, rotation=90)
            second.set_xlim(-0.6, len(names) - 0.4)
            second.set_xlabel("better than")
        handles = [axis.get_legend_handles_labels() for axis in (axes, *other_axes)]
        joined = [[item for pair in handles for item in pair[side]] for side in (0, 1)]
        figure.legend(*joined, loc="outside lower center", ncols=2 if on.narrow else 3)

    height = ROW * len(values) + (2.0 if holds else 1.0)
    return Drawing(paint, rows, height, 2 * height - 0.6 if holds else height)


def forest(values: Mapping[str, Number], *, unit: str, zero: bool) -> Drawing:
    """A dot and its interval a row; zero: with a line at nothing, else the figures are whole."""

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        if zero:
            axes.axvline(0, color=on.ink, linewidth=0.9, linestyle=DASHED, zorder=0)
        _dots(axes, values, unit, on)
        axes.xaxis.get_major_locator().set_params(integer=not zero)

    return Drawing(paint, [{"name": name, **_data(number)} for name, number in values.items()], ROW * len(values) + 0.7)


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
    names = list(spans)
    marks = (("D", 0), ("<", 1), (">", 5), ("o", 2), ("s", 3))
    rows = [
        {"row": name, **{kind: of_kind.get(name) for kind, of_kind in values.items()}, **_ends(spans[name])}
        for name in names
    ]

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        # A mark at the end of a bar is whole.
        axes.use_sticky_edges = False
        for row, ends in enumerate(spans.values()):
            if ends is not None:
                low, high = 100 * ends[0], 100 * ends[1]
                label = spanned if not row else None
                alpha = 1 if on.grey else 0.5
                axes.barh(row, high - low, left=low, height=0.5, color=on.color(4), alpha=alpha, label=label)
        for (kind, of_kind), (marker, color) in zip(values.items(), itertools.cycle(marks), strict=False):
            places = [(100 * of_kind[name], row) for row, name in enumerate(names) if name in of_kind]
            axes.scatter(*zip(*places, strict=True), marker=marker, s=26, color=on.color(color), label=kind, zorder=3)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlabel(unit)
        axes.grid(axis="x", color=on.soft, linewidth=0.5)
        _legend(figure, axes, columns=1 if on.narrow else 4)

    return Drawing(paint, rows, ROW * len(names) + 1.0, ROW * len(names) + 1.6)


def stacked_bars(parts: Mapping[str, Mapping[str, int]], *, order: Sequence[str], unit: str) -> Drawing:
    """One horizontal bar a row, stacked from named parts (`parts[row][part]`), its total at the end."""
    names = list(parts)
    rows = [{"row": name, **{part: parts[name].get(part, 0) for part in order}} for name in names]

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.add_subplot()
        begins = [0.0] * len(names)
        for place, part in enumerate(order):
            widths = [float(parts[name].get(part, 0)) for name in names]
            axes.barh(
                *(names, widths),
                left=begins,
                label=part,
                color=on.color(place),
                edgecolor=on.back,
                linewidth=0.5,
                hatch=on.stripes(place),
            )
            begins = [start + width for start, width in zip(begins, widths, strict=True)]
        for name, end in zip(names, begins, strict=True):
            axes.text(end + max(begins) * 0.01, name, f"{end:,.0f}", va="center")
        axes.set_xlabel(unit)
        axes.set_ylim(len(names) - 0.4, -0.6)
        _legend(figure, axes, columns=2 if on.narrow else 4)

    return Drawing(paint, rows, ROW * len(names) + 1.2)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    up: str,
    steps: bool = False,
    marked: Sequence[int] = (),
) -> Drawing:
    """A line for each series of points.

    steps: a value holds until the next one, and counts begin at 0. marked: places that an axis by logarithms has.
    """
    rows = [{"series": name, across: x, up: y} for name, points in series.items() for x, y in points]

    def paint(figure: Any, on: Surface) -> None:
        axes = figure.subplots()
        for place, (name, points) in enumerate(series.items()):
            axes.plot(
                *zip(*points, strict=True),
                label=name,
                color=on.color(place % 3 if on.grey else place),
                linestyle=("-", "--", "-.", ":")[place // (3 if on.grey else len(PALETTE)) % 4],
                linewidth=1.2,
                drawstyle="steps-post" if steps else "default",
                marker=MARKERS[place % len(MARKERS)],
                markersize=3,
            )
        if steps:
            axes.set_ylim(bottom=0)
            axes.xaxis.get_major_locator().set_params(integer=True)
        if marked:
            axes.set_xscale("log")
            axes.set_xticks(marked, marked)
            axes.set_xticks([], minor=True)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        _legend(figure, axes, columns=2 if on.narrow else 4)

    return Drawing(paint, rows, 2.6 + 0.15 * (len(series) // 4), 2.6 + 0.15 * (len(series) // 2))


def heat_maps(
    tables: Mapping[tuple[str, str], Sequence[Sequence[int]]], *, grades: Sequence[object], most: int
) -> Drawing:
    """A square for each two judges: how often one gave the grade of the row, and the other that of the column.

    The first `most` of them are drawn. Darker: a larger share of the square's pairs.
    """
    rows = [
        {"assessor": first, "other": second, "grade": grade, "grade_of_other": other, "pairs": n}
        for (first, second), counts in tables.items()
        for grade, row in zip(grades, counts, strict=True)
        for other, n in zip(grades, row, strict=True)
    ]
    drawn = list(tables.items())[:most]
    columns = {True: min(2, len(drawn)), False: min(4, len(drawn))}

    def paint(figure: Any, on: Surface) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("shades", on.shades(2))
        squares = figure.subplots(-(-len(drawn) // columns[on.narrow]), columns[on.narrow], squeeze=False).ravel()
        for axes in squares[len(drawn) :]:
            axes.axis("off")
        for axes, ((first, second), counts) in zip(squares, drawn, strict=False):
            highest = max(1, *(n for row in counts for n in row))
            axes.pcolormesh(counts, cmap=shades, vmin=0, vmax=highest, edgecolor=on.back, linewidth=1)
            for down, row in enumerate(counts):
                for place, n in enumerate(row):
                    color = "white" if n > 0.6 * highest else "black"
                    axes.text(place + 0.5, down + 0.5, f"{n:,}", ha="center", va="center", color=color, fontsize=7)
            axes.set_xticks([place + 0.5 for place in range(len(grades))], grades)
            axes.set_yticks([place + 0.5 for place in range(len(grades))], grades)
            axes.set_xlabel(second)
            axes.set_ylabel(first)
            axes.invert_yaxis()
            axes.set_aspect("equal")
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)

    wide, narrow = (-(-len(drawn) // columns[kind]) for kind in (False, True))
    return Drawing(paint, rows, WIDTH / 4 * wide, NARROW / 2 * narrow)


def overlap(sizes: Mapping[frozenset[str], int], *, order: Sequence[str], most: int, unit: str) -> Drawing:
    """Sizes of the intersections of sets as bars, the largest first, over dots that name their sets.

    sizes: members of exactly these sets. The `most` largest are drawn. (UpSet: Lex and others 2014,
    Visualization of Intersecting Sets.)
    """
    ordered = sorted(sizes.items(), key=lambda part: (-part[1], len(part[0]), sorted(part[0])))
    rows = [{"sets": " ".join(name for name in order if name in part), unit: n} for part, n in ordered]
    totals = {name: sum(n for part, n in ordered if name in part) for name in order}

    def paint(figure: Any, on: Surface) -> None:
        drawn = ordered[:most]
        bars, dots = figure.subplots(2, 1, sharex=True, height_ratios=(1.3, ROW * len(order)))
        bars.bar(range(len(drawn)), [n for _, n in drawn], 0.7, color=on.color(0))
        grid = [(place, row) for place in range(len(drawn)) for row in range(len(order))]
        full = [(place, row) for place, row in grid if order[row] in drawn[place][0]]
        dots.scatter(*zip(*grid, strict=True), s=14, color=on.soft, zorder=1)
        dots.scatter(*zip(*full, strict=True), s=16, color=on.ink, zorder=3)
        for place, (_, n) in enumerate(drawn):
            down = [row for at, row in full if at == place]
            dots.plot([place, place], [min(down), max(down)], color=on.ink, linewidth=1, zorder=2)
            bars.text(place, n, f" {n:,}", ha="center", va="bottom", fontsize=7, rotation=90 * (n > 99))
        bars.set_ylabel(unit)
        bars.tick_params(bottom=False)
        dots.set_yticks(range(len(order)), [f"{name}, {totals[name]:,}" for name in order])
        dots.set_ylim(len(order) - 0.4, -0.6)
        dots.set_xticks([])
        dots.spines[:].set_visible(False)
        dots.tick_params(length=0)

    return Drawing(paint, rows, 1.7 + ROW * len(order), 1.7 + ROW * len(order))


def over_time(
    counts: Mapping[str, Mapping[str, int]], scores: Mapping[str, Mapping[str, Number]], *, unit: str
) -> Drawing:
    """Bars of counts in a panel each, and a line with intervals for each run, by version.

    counts: by panel, then version, the oldest first. scores: by run, the best first, then version; as many runs are
    drawn as there are markers.
    """
    versions = list(next(iter(counts.values())))
    rows = [
        {"series": name, "version": version, "value": count, **_ends(None)}
        for name, of_panel in counts.items()
        for version, count in of_panel.items()
    ]
    rows += [
        {"series": run, "version": version, **_data(score)}
        for run, of_run in scores.items()
        for version, score in of_run.items()
    ]
    drawn = list(scores.items())[: len(MARKERS)]

    def paint(figure: Any, on: Surface) -> None:
        below = [["scores"] * len(counts)] if drawn and on.narrow else []
        score_panel = ["scores"] * len(counts) if drawn and not on.narrow else []
        panels = figure.subplot_mosaic([[*counts, *score_panel], *below], height_ratios=(1, 1.8)[: 1 + len(below)])
        for name, of_panel in counts.items():
            panels[name].bar(range(len(versions)), list(of_panel.values()), 0.6, color=on.color(4))
            for at, count in enumerate(of_panel.values()):
                panels[name].text(at, count, f"{count:,}", ha="center", va="bottom", fontsize=7)
            panels[name].set_title(name, loc="left")
            panels[name].set_yticks([])
            panels[name].spines["left"].set_visible(False)
        for run, (name, of_run) in enumerate(drawn):
            color, shift = on.color(run % 3 if on.grey else run), 0.4 * ((run + 0.5) / len(drawn) - 0.5)
            places = [versions.index(version) + shift for version in of_run]
            style_of_run = {"color": color, "marker": MARKERS[run], "markersize": 4, "linewidth": 0.9}
            panels["scores"].plot(places, [score.value for score in of_run.values()], label=name, **style_of_run)
            for place, score in zip(places, of_run.values(), strict=True):
                panels["scores"].plot([place, place], score.ends or [math.nan] * 2, color=color, linewidth=1.4)
        if drawn:
            panels["scores"].set_ylabel(unit)
            panels["scores"].grid(axis="y", color=on.soft, linewidth=0.5)
            _legend(figure, panels["scores"], columns=2 if on.narrow else 4)
        for axes in panels.values():
            rotation = 90 * (max(map(len, versions)) * len(versions) > (16 if on.narrow else 24))
            axes.set_xticks(range(len(versions)), versions, rotation=rotation)
            axes.set_xlim(-0.6, len(versions) - 0.4)

    height = 2.5 + 0.15 * (len(drawn) // 4)
    return Drawing(paint, rows, height, 1.6 + (2.4 + 0.15 * (len(drawn) // 2) if drawn else 0.0))


def _data(number: Number) -> dict[str, object]:
    """A figure as it is drawn, with the ends of its interval."""
    return {"value": number.value, **_ends(number.ends)}


def _ends(ends: tuple[float, float] | None) -> dict[str, object]:
    low, high = ends or (None, None)
    return {"low": low, "high": high}


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _joined(axes: Any, pairs: Sequence[Sequence[float | None]], on: Surface) -> None:
    """A line between the two values of each place that has both."""
    for place, (first, second) in enumerate(pairs):
        if first is not None and second is not None:
            axes.plot([place, place], [first, second], color=on.soft, linewidth=1, zorder=1)


def _marks(
    axes: Any, values: Sequence[float | None], links: Sequence[str], place: int, on: Surface, *, label: str
) -> None:
    """A mark of a kind at each place that has a value, which leads to its query."""
    drawn = [(across, value, address) for across, (value, address) in enumerate(zip(values, links, strict=True))]
    shown = [mark for mark in drawn if mark[1] is not None]
    across, up, urls = ([mark[part] for mark in shown] for part in range(3))
    size = min(22.0, 900 / max(1, len(values)))
    marks = axes.scatter(
        across, up, label=label, marker="oD"[place], s=size, color=on.color(place), zorder=2, clip_on=False
    )
    # With one address alone matplotlib takes another way, which loses it.
    marks.set_urls([*urls, None])


def _dots(axes: Any, values: Mapping[str, Number], unit: str, on: Surface) -> None:
    """A dot and its interval a row."""
    for row, number in enumerate(values.values()):
        if number.ends is not None:
            axes.plot(number.ends, [row, row], color=on.color(0), linewidth=1.6, zorder=2)
        if number.value is not None:
            axes.scatter([number.value], [row], s=26, color=on.color(0), zorder=3)
    axes.set_yticks(range(len(values)), list(values))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.set_xlabel(unit)
    axes.grid(axis="x", color=on.soft, linewidth=0.5)


def _legend(figure: Any, axes: Any, *, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
