"""A pool as JSON lines: one document a line, with the draw that brought it in."""

from __future__ import annotations

from dataclasses import asdict

from annot.formats.json_lines import json_lines
from annot.records import Pool


def pool_lines(pool: Pool) -> str:
    """A pool as JSON lines: how it was drawn, then an entry a line in the order drawn."""
    told = asdict(pool)
    entries = told.pop("entries")
    return json_lines([told, *entries])
