"""A run of another engine as a pooling method."""

from __future__ import annotations

from pathlib import Path

from annot.report.terminal import told
from annot.report.words import counted
from annot.study.engine_runs import ImportedRanking, take_in
from annot.study.workspace import Workspace


def bring_in(
    ws: Workspace,
    file: Path,
    *,
    method: str,
    meta: Path | None,
    foreign: str | None,
    duplicates: str | None,
    distances: bool,
    dry_run: bool,
) -> ImportedRanking:
    """Keep the run in `file` as the ranking of `method`, as `take_in` does."""
    return take_in(
        ws,
        file,
        method=method,
        meta=meta,
        foreign=foreign,
        duplicates=duplicates,
        distances=distances,
        dry_run=dry_run,
    ).told


def describe(imported: ImportedRanking) -> str:
    """How much of the study the ranking covers, then what was found in it."""
    return told("ranking-imported", imported=imported, counted=counted)
