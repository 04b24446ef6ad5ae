"""Display of results: the report's table in a notebook, a few lines of text elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from annot.publishing.report.tables import Table

MOST_ROWS = 30
"""Rows that are shown of a table."""
LONGEST_NOTE = 320
"""Letters that are shown of a note: a note may list all queries."""


class NotebookResult:
    """Result that a notebook shows as a table; as text it is its name, its sizes and its main figure."""

    notes: tuple[str, ...]
    _hint = "hint"
    """The block of `library.j2` that says where there is more."""

    def _said(self) -> tuple[str, ...]:
        """Description of the result, then its main figures in a line or two."""
        raise NotImplementedError

    def _shown(self) -> Table:
        """The table to show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n".join(self._said())

    def _repr_html_(self) -> str:
        from annot.base.templating import render
        from annot.publishing.report.cells import parts
        from annot.publishing.report.tables import inline, sentence

        table = _cut(self._shown())
        values = {
            "lines": [line for line in (*self._said()[:1], table.title) if line],
            "table": table,
            "notes": [*table.below, *map(_shortened, self.notes), sentence(f"library.{self._hint}")],
            "inline": inline,
            "parts": parts,
        }
        return render("notebook.html.j2", values, overrides=None)


@dataclass(frozen=True, eq=False)
class Headline(NotebookResult):
    """The few figures that one reports, as a table that is shown rounded, with its intervals.

    A notebook shows it as HTML; `print` and `str` give it as text.
    """

    _table: Table
    _frame: pd.DataFrame
    notes = ()
    _hint = "headline_hint"

    def to_frame(self) -> pd.DataFrame:
        """These rows of the result's own ``to_frame()``, or the counts: not rounded.

        Returns
        -------
        pandas.DataFrame
            See the property ``headline`` of the result.
        """
        return self._frame.copy()

    def _said(self) -> tuple[str, ...]:
        return ()

    def _shown(self) -> Table:
        return self._table

    def __repr__(self) -> str:
        from annot.publishing.report.terminal import table_text

        return table_text(_cut(self._table))


def _shortened(note: str) -> str:
    return shorten(note, LONGEST_NOTE, placeholder=" ... (`.notes` has the whole sentence)")


def _cut(table: Table) -> Table:
    """The table with its first rows, and how many there are more."""
    from annot.publishing.report.tables import sentence

    hidden = len(table.rows) - MOST_ROWS
    if hidden <= 0:
        return table
    note = sentence("library.more_rows", left=hidden)
    return replace(table, rows=table.rows[:MOST_ROWS], notes=(note, *table.notes))
