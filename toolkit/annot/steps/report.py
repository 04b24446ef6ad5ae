"""The report: everything that was measured, on one page, from the records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from annot.names import check_name
from annot.report.document import Table
from annot.report.html import page
from annot.report.latex import latex
from annot.report.markdown import markdown
from annot.report.sections import document, tables
from annot.report.study import Study
from annot.stats.values import Undefined
from annot.study.results import agreement_file, assessor_effect_file, evaluation_file
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, sha256_of, write_file

REPORT_FILE = "report.html"
CHAIN = (
    "corpus/manifest.json",
    "pools/rankings/manifest.json",
    "pools/manifest.json",
    "pools/plan.jsonl",
    "exports/decisions.jsonl",
    "exports/qrels.txt",
    "exports/agreement.json",
    "exports/evaluation.json",
    "exports/assessor-effect.json",
)


@dataclass(frozen=True, slots=True)
class Written:
    """Where the report lies."""

    path: Path
    sha256: str


def write(ws: Workspace, *, out: Path | None = None) -> Written:
    """Write `report.html`, the same as Markdown, its tables as LaTeX, and its figures as JSON.

    out: the folder to write into instead of `exports/`, for a study that may only be read.

    Evaluation is in it when there are qrels and runs; where it is not, the page says what is missing.
    """
    study = Study(read_snapshot(ws))
    files = dict(_measured(ws, study))
    made = document(study, chain=tuple(_chain(ws, files)))
    path = ws.exports / REPORT_FILE
    files[path] = page(made, overrides=ws.root / "templates")
    files[ws.exports / "report.md"] = markdown(made)
    files[ws.exports / "report.tex"] = latex(made)
    # All is made before anything is written: a template that does not hold leaves everything as it was.
    folder = ws.exports if out is None else out
    for place, text in files.items():
        write_file(folder / place.name, text)
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


def _measured(ws: Workspace, study: Study) -> Iterator[tuple[Path, str]]:
    """The files with the figures that stand in the report."""
    yield agreement_file(ws, study.agreement)
    if not isinstance(study.evaluated, Undefined):
        yield evaluation_file(ws, study.evaluated)
    if not isinstance(study.effect, Undefined):
        yield assessor_effect_file(ws, study.effect)


def _chain(ws: Workspace, files: Mapping[Path, str]) -> Iterator[tuple[str, str]]:
    """The hash of every file of the chain, as it will be."""
    for name in CHAIN:
        path = ws.root / name
        if path in files:
            yield name, hashlib.sha256(files[path].encode()).hexdigest()
        elif path.is_file():
            yield name, sha256_of(path)
