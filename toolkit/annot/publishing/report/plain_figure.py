"""A figure of matplotlib that a notebook shows even without pyplot, and once: pyplot does not know it.

Importing this module imports matplotlib.
"""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class PlainFigure(Figure):
    """A drawing of the report. It is saved with `savefig`, and can be changed through `axes` like every figure."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144)
        return buffer.getvalue()
