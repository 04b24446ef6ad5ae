"""Publish: the page that people read."""

from __future__ import annotations

from pathlib import Path

import typer

from annot.cli.output import JsonOption, WorkspaceOption, emit

PANEL = "Publish"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(report)


def report(workspace: WorkspaceOption = Path(), as_json: JsonOption = False) -> None:
    """Write the report: one self-contained HTML page with tables and figures."""
    from annot.steps import report as step
    from annot.workspace import Workspace

    written = step.write(Workspace.open(workspace))
    emit("report", written, str(written.path), as_json=as_json)
