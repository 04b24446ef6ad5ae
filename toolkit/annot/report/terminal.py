"""What a command prints: its template in `templates/`, with the tables that `tables.toml` declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annot.report.text import share_done, table_text
from annot.report.words import table
from annot.templating import render


def printed(block: str, rows: Iterable[object], /, **values: Any) -> str:
    """The table `section.key` as text for the terminal; "" where it has no row."""
    return table_text(table(block, rows, **values))


def told(name: str, **values: Any) -> str:
    """The text of the template `name` of a command; `table` in it is `printed`."""
    known = {"table": printed, "share_done": share_done}
    return render(f"{name}.txt.j2", {**known, **values}, overrides=None).rstrip("\n")
