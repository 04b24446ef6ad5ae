"""Rows of a sheet of query papers, and their parts."""

from annot.base.settings import Settings
from annot.pools.selection import SheetRow

PERIODS = ((1994, 1999), (2000, 2004), (2005, 2009), (2010, 2014), (2015, 2019))
"""CSFCube's (annotator guidelines, 1.4)."""
FACETS = ("background", "method", "result")
PAPER_TYPES = Settings().queries.types


def row(paper_id: str = "p1", **changes: object) -> SheetRow:
    cells = {
        **{"title": "A title", "year": 1995, "period": "1994-1999", "type": "empirical", "rating": 4},
        **{"facets": ("background", "method"), "note": "", "abstract": ""},
    }
    return SheetRow(paper_id, **{**cells, **changes})  # type: ignore[arg-type]
