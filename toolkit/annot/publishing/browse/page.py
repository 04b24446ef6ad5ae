"""The page as one HTML file that needs nothing else: no network, no server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from annot.base.templating import render


def page(data: Mapping[str, Any], *, overrides: Path | None, **values: object) -> str:
    """The page. values: what `browse.html.j2` asks for beside the data; `overrides`: a folder whose file wins."""
    # Inside a script element nothing is an entity, and only "<" can end it.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return render("browse.html.j2", {"data": Markup(text), **values}, overrides=overrides)
