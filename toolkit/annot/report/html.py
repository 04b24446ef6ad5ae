"""The report as one HTML page that needs nothing else: no script, no font, no request."""

from __future__ import annotations

from pathlib import Path

from annot.report.document import Document, Figure, Table
from annot.report.intervals import split_interval
from annot.templating import render


def page(document: Document, *, overrides: Path | None = None) -> str:
    """The page. `overrides` is a folder whose `report.html.j2` wins over the package's."""
    helpers = {
        "is_table": lambda block: isinstance(block, Table),
        "is_figure": lambda block: isinstance(block, Figure),
        "split_interval": split_interval,
    }
    return render("report.html.j2", {"document": document, **helpers}, overrides=overrides)
