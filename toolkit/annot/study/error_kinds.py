"""What the lead says of error cases, in the sheet of the study."""

from __future__ import annotations

from collections.abc import Mapping

from annot.formats.error_sheet import SHEET, read_error_sheet
from annot.study.adjudication import Pair
from annot.study.workspace import Workspace


def read_entered(ws: Workspace) -> Mapping[Pair, tuple[str, str]]:
    """(kind, note) of the pairs for which either was entered; none where there is no sheet."""
    path = ws.root / SHEET
    if not path.is_file():
        return {}
    return read_error_sheet(path.read_bytes(), name=str(path), kinds=ws.settings.evaluation.error_kinds)


def read_kinds(ws: Workspace) -> dict[Pair, str]:
    """The kind of each pair that has one."""
    return {pair: kind for pair, (kind, _) in read_entered(ws).items() if kind}
