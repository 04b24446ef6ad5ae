"""Drawings as files, and the folder for a paper: scores, tables, drawings and the paragraph on methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from annot.base.names import sha256_of
from annot.base.stats.values import Undefined
from annot.publishing.browse_page import BROWSE_FILE
from annot.publishing.report.figures import PAPER, PLAIN, Surface
from annot.publishing.report.pages import inline
from annot.publishing.report.sections import runs
from annot.publishing.report.sections.whole import document
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Figure
from annot.publishing.report.tidy import csv_text
from annot.study.workspace import read_manifest, write_file, write_manifest

FORMS = ("svg", "pdf", "png")
FOR: Mapping[str, Mapping[str, Surface]] = {
    "screen": {"": PLAIN},
    "paper": {f"{folder}/": surface for folder, surface in PAPER.items()},
}
"""Surfaces of the files of a drawing by purpose, each by the name of its folder."""
MANIFEST_FILE = "manifest.json"


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
