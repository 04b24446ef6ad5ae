"""The files of the report: the page, the same as Markdown, its tables as LaTeX, and what was measured as JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from annot.base.names import calling
from annot.base.stats.values import Undefined
from annot.base.templating import render
from annot.measuring.results import AGREEMENT_FILE, EFFECT_FILE, EVALUATION_FILE, as_text, evaluation_data
from annot.publishing.report.cells import parts, text
from annot.publishing.report.document import Document, Table
from annot.publishing.report.figures import described
from annot.publishing.report.latex import latex
from annot.publishing.report.sections.whole import document
from annot.publishing.report.study import Study
from annot.publishing.report.words import inline
from annot.study.workspace import Workspace, sha256_of

REPORT_FILE = "report.html"
CHAIN = (
    "corpus/manifest.json",
    "corpus/ids/manifest.json",
    "corpus/citations/manifest.json",
    "pools/rankings/manifest.json",
    "pools/manifest.json",
    "pools/plan.jsonl",
    "exports/decisions.jsonl",
    "exports/qrels.txt",
    "exports/query_papers.tsv",
    "exports/query_topics.tsv",
    "exports/agreement.json",
    "exports/evaluation.json",
    "exports/assessor-effect.json",
)


def report_files(study: Study) -> dict[str, str]:
    """The files by name. Evaluation is among them when there are qrels and runs; else the page says what is missing.

    Nothing is written: a template that does not hold leaves everything as it was.
    """
    ws = study.snapshot.ws
    with calling(lambda: study.snapshot.called):
        files = dict(_measured(study))
        made = document(study, chain=tuple(_chain(ws, files)))
        pages = {"report.md": markdown(made), "report.tex": latex(made)}
        return files | pages | {REPORT_FILE: page(made, overrides=ws.root / "templates")}


def _measured(study: Study) -> Iterator[tuple[str, str]]:
    """The files with the figures that stand in the report."""
    yield AGREEMENT_FILE, as_text(study.agreement)
    if not isinstance(study.evaluated, Undefined):
        yield EVALUATION_FILE, as_text(evaluation_data(study.evaluated))
    if not isinstance(study.effect, Undefined):
        yield EFFECT_FILE, as_text(study.effect)


def _chain(ws: Workspace, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The hash of every file of the chain, as it will be."""
    for name in CHAIN:
        made = files.get(PurePosixPath(name).name)
        if made is not None:
            yield name, hashlib.sha256(made.encode()).hexdigest()
        elif (ws.root / name).is_file():
            yield name, sha256_of(ws.root / name)


def page(document: Document, *, overrides: Path | None) -> str:
    """The page. `overrides` is a folder whose `report.html.j2` wins over the package's."""
    helpers = {"inline": inline, "parts": parts, "described": described}
    return render("report.html.j2", {"document": document, **helpers}, overrides=overrides)


def markdown(document: Document) -> str:
    """The document as Markdown with pipe tables."""
    helpers = {"marks": _marks, "texts": _texts}
    return render("report.md.j2", {"document": document, **helpers}, overrides=None).rstrip("\n") + "\n"


def _marks(table: Table) -> list[str]:
    """Names to the left, numbers to the right."""
    return ["---" if at < table.numeric_from else "---:" for at in range(len(table.headings))]


def _texts(row: tuple[object, ...], precise: bool) -> list[str]:
    return [" ".join(text(cell, precise=precise).replace("|", "\\|").split()) for cell in row]
