"""Drawings as files, and the folder for a paper: scores, tables, drawings and the paragraph on methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annot.base.names import sha256_of
from annot.base.stats.values import Undefined
from annot.publishing.report import tidy
from annot.publishing.report.figures import BROWSE_FILE, PAPER, PLAIN, Surface
from annot.publishing.report.pages import inline, latex_of
from annot.publishing.report.sections import runs
from annot.publishing.report.sections.agreement import glance
from annot.publishing.report.sections.collection import final_grades
from annot.publishing.report.sections.whole import document, methods
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Figure
from annot.publishing.report.tidy import csv_text
from annot.study.workspace import read_manifest, write_file, write_manifest

FORMS = ("svg", "pdf", "png")
SURFACES: Mapping[str, Mapping[str, Surface]] = {
    "screen": {"": PLAIN},
    "paper": {f"{folder}/": surface for folder, surface in PAPER.items()},
}
"""Surfaces of the files of a drawing by purpose, each by the name of its folder."""
MANIFEST_FILE = "manifest.json"
IN_PAPER = ("agreement", "grades", "runs", "ranks", "depth", "overlap")
"""Drawings that the draft of a paper includes; the others are next to them."""


def drawings(study: Study) -> list[Figure]:
    """Every drawing of the report, and the scores by query of every two runs."""
    report = document(study, chain=())
    figures = [block for part in (*report.body, *report.appendix) for block in part.blocks if isinstance(block, Figure)]
    every_two = () if isinstance(study.evaluated, Undefined) else runs.by_query(study.evaluated)
    return list({figure.name: figure for figure in (*figures, *every_two)}.values())


def figure_files(
    figures: Iterable[Figure], surfaces: Mapping[str, Surface], *, forms: Sequence[str] = FORMS
) -> Iterator[tuple[str, bytes]]:
    """Files of drawings by path: each drawing in these forms, its data as CSV, and its caption in LaTeX."""
    import pandas as pd

    for figure in figures:
        drawing = figure.svg
        yield f"{figure.name}.csv", csv_text(pd.DataFrame(drawing.rows)).encode()
        caption = f"\\caption{{{inline(figure.caption)}}}\n\\label{{fig:{figure.name}}}\n"
        yield f"{figure.name}.tex", f"{caption}% \\Description{{{inline(figure.description)}}}\n".encode()
        for folder, surface in surfaces.items():
            # The page for browsing is next to the folder of all drawings.
            above = "../" * (folder.count("/") + 2)
            for form, content in drawing.saved(surface, forms).items():
                link = f'href="{above}{BROWSE_FILE}#'
                yield f"{folder}{figure.name}.{form}", content.replace(f'href="{BROWSE_FILE}#'.encode(), link.encode())


def paper_files(study: Study, draft: bool) -> Iterator[tuple[str, bytes]]:
    """Files for a paper by path; draft: with `paper.tex`, which includes all others."""
    paragraphs = methods(study)
    yield "methods.md", ("\n\n".join(paragraphs) + "\n").encode()
    yield "methods.tex", ("\n\n".join(map(inline, paragraphs)) + "\n").encode()
    frames = {"agreement.csv": tidy.agreement(study.agreement, study.words)}
    printed = [glance(study.agreement, study.words), final_grades(study)]
    if not isinstance(study.evaluated, Undefined):
        frames["scores.csv"] = tidy.evaluation(study.evaluated)
        frames["scores-by-query.csv"] = tidy.evaluation_by_query(study.evaluated)
        frames["comparisons.csv"] = tidy.comparisons(study.evaluated)
        printed += [*runs.compared(study.evaluated), *runs.significant(study.evaluated)]
    for name, frame in frames.items():
        yield name, csv_text(frame).encode()
    # The caption of a paper says what a table shows, not which command made it.
    tables = [(block.name, replace(block, command="")) for block in printed if block.rows]
    yield "tables.tex", latex_of("paper.tables.tex.j2", tables=tables).encode()
    figures = {figure.name: figure for figure in drawings(study)}
    names = [name for name in figures if name in IN_PAPER]
    yield "figures.tex", latex_of("paper.figures.tex.j2", names=names).encode()
    for path, content in figure_files(figures.values(), {"": PAPER["one-column"]}, forms=("pdf",)):
        yield f"figures/{path}", content
    if draft:
        collection = study.settings.collection
        yield "paper.tex", latex_of("paper.tex.j2", title=collection.title, creators=collection.creators).encode()


def write_folder(folder: Path, files: Mapping[str, bytes], *, inputs: Mapping[str, str]) -> None:
    """Write files with a manifest; those of an earlier manifest that are not made any more are removed, unless they
    were changed since."""
    path = folder / MANIFEST_FILE
    earlier = read_manifest(path, hint="delete it").get("files", {}) if path.is_file() else {}
    for name, content in files.items():
        write_file(folder / name, content)
    write_manifest(path, files=[folder / name for name in files], inputs=inputs, facts={})
    for name, digest in earlier.items():
        if name not in files and (folder / name).is_file() and sha256_of(folder / name) == digest:
            (folder / name).unlink()
