"""Our figures beside a paper's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.base.errors import InputError
from annot.base.names import near
from annot.measuring.evaluation.against import (
    Beside,
    Published,
    beside,
    comparable,
    read_published,
    same_collection,
    shipped,
    shipped_text,
)
from annot.measuring.evaluation.evaluated import PRIMARY, TEST, TEST_FOLD, TOGETHER
from annot.measuring.measured import evaluation_of, read_run_files
from annot.publishing.report.terminal import table_text
from annot.publishing.report.words import sentences, table
from annot.study.exports import exported_qrels
from annot.study.given_files import given_text
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Against:
    """Every figure that both have, and what tells the two apart beside chance."""

    title: str
    source: str
    convention: str
    note: str
    figures: tuple[Beside, ...]
    averages: tuple[str, ...]
    """How our queries were averaged."""
    left_out: bool
    """Whether figures on all facets are left out, because the facets are others."""
    same_collection: bool | None
    """Whether they are of the paper's collection; None where its table names no queries."""

    @property
    def by_run(self) -> dict[str, tuple[int, int]]:
        """Of each run, its figures that are the paper's to the last printed digit, and all that both have."""
        runs = dict.fromkeys(one.run for one in self.figures)
        same = {run: [one.same for one in self.figures if one.run == run] for run in runs}
        return {run: (sum(of), len(of)) for run, of in same.items()}

    @property
    def differing(self) -> int:
        """Figures that differ from the paper's, without its misprints."""
        return sum(not one.same and not one.misprint for one in self.figures)

    @property
    def by_fold(self) -> bool:
        """Whether ours are means of test folds, as the papers' are."""
        return {*self.averages} <= {TEST, TEST_FOLD}


def against(ws: Workspace, name: str, *, files: tuple[Path, ...]) -> Against:
    """The runs of `files` (those of `exports/runs/` when none is named) beside the table `name`: one that comes with
    annot, or a TOML file."""
    published = _published(name)
    snapshot = read_snapshot(ws)
    qrels = exported_qrels(snapshot)
    evaluated = evaluation_of(
        snapshot,
        read_run_files(ws, files),
        qrels,
        conventions=(published.convention,),
        measures=(PRIMARY[published.convention], *published.measures),
    )
    found = beside(published, evaluated.lines)
    shown = {(one.run, one.facet) for one in found}
    return Against(
        title=published.title,
        source=published.source,
        convention=published.convention,
        note=published.note,
        figures=found,
        averages=tuple(sorted({line.average for line in evaluated.lines if (line.run, line.facet) in shown})),
        left_out=TOGETHER in published.figures and not comparable(published, evaluated.lines),
        same_collection=same_collection(published, snapshot.queries, qrels),
    )


def describe(found: Against) -> str:
    """How many figures are the paper's, then each."""
    first, *notes = sentences("runs.against", found=found)
    return "\n\n".join([first, table_text(table("runs.beside", found.figures, notes=notes))])


def _published(name: str) -> Published:
    if name in shipped():
        return read_published(shipped_text(name), name=name)
    if not Path(name).is_file():
        found = "a folder" if Path(name).is_dir() else "no such file"
        raise InputError(f"--against {name!r}: {found}, and no table of this name; {near(name, shipped())}")
    return read_published(given_text(Path(name), expected="TOML"), name=name)
