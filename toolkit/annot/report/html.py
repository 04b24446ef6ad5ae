"""The report as one HTML page that needs nothing else: no script, no font, no request."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup, escape

from annot.report.cells import Number, text
from annot.report.document import Document, Figure
from annot.templating import render


def page(document: Document, *, overrides: Path | None) -> str:
    """The page. `overrides` is a folder whose `report.html.j2` wins over the package's."""
    helpers = {"is_figure": lambda block: isinstance(block, Figure), "inline": _inline, "parts": _parts}
    return render("report.html.j2", {"document": document, **helpers}, overrides=overrides)


def _inline(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is set as what one types."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(sentence))))


def _parts(cell: object, precise: bool) -> tuple[str, str]:
    """A cell as its figure, and its interval with what follows it."""
    return cell.parts(precise=precise) if isinstance(cell, Number) else (text(cell, precise=precise), "")
