"""What a command prints: its template in `templates/`, with the tables that `tables.toml` declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annot.base.stats.values import Estimate, Undefined
from annot.base.templating import render
from annot.measuring.forecast.outlook import Finish
from annot.publishing.report import cells
from annot.publishing.report.text import bar, share_done, table_text, wrapped
from annot.publishing.report.words import sentences, table


def printed(block: str, rows: Iterable[object], /, **values: Any) -> str:
    """The table `section.key` as text for the terminal; "" where it has no row."""
    return table_text(table(block, rows, **values))


def aligned(rows: Sequence[tuple[str, object]]) -> str:
    """A line for each name and its value, the values below each other; counts by name as `a: 1, b: 2`."""
    width = max(len(name) for name, _ in rows)
    lines = []
    for name, value in rows:
        shown = ", ".join(f"{key}: {n}" for key, n in value.items()) if isinstance(value, Mapping) else value
        lines.append(f"{name.ljust(width)}  {shown}")
    return "\n".join(lines)


def without_interval(named: Iterable[tuple[str, Estimate | Finish]]) -> str:
    """Why figures have no interval: a line a reason, with the names of the figures."""
    why: dict[str, list[str]] = {}
    for name, found in named:
        value = found.date if isinstance(found, Finish) else found.value
        if isinstance(found.interval, Undefined) and not isinstance(value, Undefined):
            why.setdefault(found.interval.reason, []).append(name.strip())
    return "\n".join(sentences("commands.estimates_without", why=list(why.items())))


def told(name: str, **values: Any) -> str:
    """The text of the template `name` of a command; `table` in it is `printed`, and it can write figures."""
    kinds = {name: kind for name, kind in vars(cells).items() if isinstance(kind, cells.Kind)}
    figures = {"number": cells.number, "estimate": cells.estimate, "date": cells.date, "coefficient": cells.coefficient}
    words: dict[str, Any] = {
        **{"aligned": aligned, "bar": bar, "sentences": sentences, "share_done": share_done, "table": printed},
        **{"without_interval": without_interval, "wrapped": wrapped},
    }
    return render(f"{name}.txt.j2", {**words, **figures, **kinds, **values}, overrides=None).rstrip("\n")
