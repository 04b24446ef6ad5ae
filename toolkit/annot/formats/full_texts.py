"""Where the full text of each paper is: a table with the columns `paper_id` and `where`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from annot.formats.faults import Faults
from annot.formats.spreadsheet import guarded, read_columns

COLUMNS = ("paper_id", "where")


def write_full_texts(titles: Mapping[str, str], where: Mapping[str, str]) -> str:
    """The table to fill in, with the title of each paper beside it; `where` of those that are known stays."""
    rows = [("paper_id", "where", "title")]
    rows += [
        (guarded(paper_id), guarded(where.get(paper_id, "")), guarded(" ".join(title.split())))
        for paper_id, title in sorted(titles.items())
    ]
    return "".join("\t".join(row) + "\n" for row in rows)


def read_full_texts(data: bytes, *, name: str, wanted: Collection[str] | None) -> dict[str, str]:
    """The place of the full text of each `wanted` paper, a link or the name of a file; None: of those that have one.

    Tabs, commas or semicolons between cells. Raises InputError with every paper without a place and every paper with
    two different ones.
    """
    faults = Faults(name)
    found: dict[str, str] = {}
    for line, cells in read_columns(data, faults, columns=COLUMNS):
        paper_id, where = cells["paper_id"], cells["where"]
        if where and found.setdefault(paper_id, where) != where:
            faults.add(f"paper {paper_id!r} has two places: {found[paper_id]} and {where}", line=line)
    if not faults.found:
        for paper_id in sorted(set(wanted or ()) - set(found)):
            faults.add(f"paper {paper_id!r}: found no place of its full text")
    faults.raise_if_any(hint="write a link (https://...) or the name of a file into the column `where` of each paper")
    return found if wanted is None else {paper_id: found[paper_id] for paper_id in wanted}
