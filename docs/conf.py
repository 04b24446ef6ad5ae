"""How the documentation is built: `make docs`. The references are made from the program each time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import annot
import references
import rooms
from annot import __version__

project = "annot"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"annot {__version__}"
html_static_path = ["pictures"]
html_copy_source = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
napoleon_numpy_docstring = True
autodoc_typehints = "none"
default_role = "literal"
nitpicky = False


def setup(app: Any) -> None:
    app.connect("builder-inited", write)
    app.connect("html-page-context", with_levels, priority=900)


def with_levels(_app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Give the captions of the menu a level as headings, which furo leaves out."""
    menu = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = menu.replace('role="heading"', 'role="heading" aria-level="2"')


def write(app: Any) -> None:
    folder = Path(app.srcdir) / "reference"
    references.write(folder)
    rooms.write(Path(annot.__file__).parent, folder)
