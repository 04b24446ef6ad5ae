"""A pool as JSON lines: one document a line, with the draw that brought it in."""

from __future__ import annotations

import json
from dataclasses import asdict

from annot.records import Pool


def pool_lines(pool: Pool) -> str:
    """A pool as JSON lines: how it was drawn, then an entry a line in the order drawn."""
    head = {key: value for key, value in asdict(pool).items() if key != "entries"}
    return "".join(
        json.dumps(record, ensure_ascii=False) + "\n" for record in [head, *(asdict(entry) for entry in pool.entries)]
    )
