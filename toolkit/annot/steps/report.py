"""The report: everything that was measured, on one page, from the records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.base.names import check_name
from annot.publishing.neighbours import write_pages
from annot.publishing.report.document import Table
from annot.publishing.report.pages import REPORT_FILE, report_files
from annot.publishing.report.sections.whole import tables
from annot.publishing.report.study import Study
from annot.study.made import note
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, sha256_of


@dataclass(frozen=True, slots=True)
class Written:
    """Where the report is."""

    path: Path
    sha256: str


def write(ws: Workspace, *, out: Path | None = None) -> Written:
    """Write `report.html`, the same as Markdown, its tables as LaTeX, and its figures as JSON.

    out: the folder to write into instead of `exports/`, for a study that may only be read.
    """
    folder, snapshot = ws.exports if out is None else out, read_snapshot(ws)
    write_pages(folder, report_files(Study(snapshot)))
    if out is None:
        note(ws, "report", snapshot.states)
    return Written(folder / REPORT_FILE, sha256_of(folder / REPORT_FILE))


def table(ws: Workspace, name: str) -> Table:
    """One table of the report, by its name."""
    known = {}
    for made in tables(Study(read_snapshot(ws))):
        known[made.name] = made
        if made.name == name:
            break
    check_name(name, tuple(known), what="--table")
    return known[name]
