"""The report as one HTML page that needs nothing else: no script, no font, no request."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup, escape

from annot.base.templating import render
from annot.publishing.report.cells import parts
from annot.publishing.report.document import Document


def page(document: Document, *, overrides: Path | None) -> str:
    """The page. `overrides` is a folder whose `report.html.j2` wins over the package's."""
    helpers = {"inline": _inline, "parts": parts}
    return render("report.html.j2", {"document": document, **helpers}, overrides=overrides)


def _inline(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is set as what one types."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(sentence))))
