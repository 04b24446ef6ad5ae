"""Judgements that were made with another tool, brought in so that agreement, adjudication and report serve them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from annot.corpus.facets.query_sentences import check_facet
from annot.formats.judgements_file import read_judgements
from annot.formats.studio_export import ExportKeys, grades_named, read_export
from annot.judging.brought_in import ImportedJudgements, bring_in
from annot.study.workspace import Workspace, given_bytes


def judgements_from(
    ws: Workspace,
    file: Path,
    *,
    columns: Mapping[str, str],
    facet: str | None,
    adjudicators: tuple[str, ...],
    dry_run: bool,
) -> ImportedJudgements:
    """Bring in the judgements of `file`. The same file again changes nothing; further files add to it.

    columns: the column of each field that is named; others are found. facet: of the queries whose id does not end in
    `-<facet>`. adjudicators: who in the file settled disputes, by the name there; their rows are final grades.

    Queries that the study does not know are made, and the plan is what the file says: an assessor who has a row for a
    pair was given it. People become a1, a2, ... (adjudicators j1, ...) in the order of their names, unless they are
    called so in the file; the names stay in the database. Raises InputError with every fault, and when the study has
    judgements or a plan of its own.
    """
    data = _bytes_of(file, ws, facet, expected="CSV or JSON Lines")
    rows = read_judgements(data, name=str(file), columns=columns, scale=ws.settings.scale.names)
    return bring_in(ws, rows, data, name=str(file), facet=facet, adjudicators=adjudicators, dry_run=dry_run)


def export_from(
    ws: Workspace,
    file: Path,
    *,
    keys: ExportKeys,
    grades: Sequence[str],
    facet: str | None,
    adjudicators: tuple[str, ...],
    dry_run: bool,
) -> ImportedJudgements:
    """Bring in the judgements of an export (JSON) of any Label Studio project, as `judgements_from` does.

    grades: `VALUE=GRADE` for each value of the control that is neither a number nor a name of the scale. Every
    annotation is kept: of one person's several on a pair the latest counts, and one that was skipped does not.
    """
    data = _bytes_of(file, ws, facet, expected="an export of Label Studio in JSON")
    scale = ws.settings.scale.names
    rows = read_export(data, name=str(file), keys=keys, grades=grades_named(grades, scale), scale=scale)
    return bring_in(ws, rows, data, name=f"{file} task", facet=facet, adjudicators=adjudicators, dry_run=dry_run)


def _bytes_of(file: Path, ws: Workspace, facet: str | None, *, expected: str) -> bytes:
    if facet is not None:
        check_facet(facet, facets=ws.settings.facets)
    return given_bytes(file, expected=expected)
