"""What assessing and adjudicating share at Label Studio: which server, and what was sent and what came back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.output import emit, say, table

if TYPE_CHECKING:
    from annot.steps import adjudicate, pull, push

UrlOption = Annotated[
    str | None,
    typer.Option("--url", envvar="LABEL_STUDIO_URL", help="Label Studio's address.", show_default="the local one"),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="LABEL_STUDIO_API_KEY",
        help="Personal or legacy token; better in the environment than here.",
        show_default="the local one",
    ),
]


def emit_sent(
    command: str, pushed: push.Pushed | adjudicate.SentDisputes, headings: Sequence[str], *, as_json: bool
) -> None:
    """What stood in each person's project and what was sent, a line a person."""
    rows = [
        [project.assessor, project.planned, project.there, project.sent, project.address] for project in pushed.projects
    ]
    emit(command, pushed, table(headings, rows), as_json=as_json)


def emit_collected(
    command: str, pulled: pull.Pulled | adjudicate.CollectedDecisions, headings: Sequence[str], *, as_json: bool
) -> None:
    """What a person should know, and what came back, a line a person."""
    for note in pulled.notes:
        say(note)
    rows = [
        [assessor.assessor, assessor.assigned, assessor.judged, assessor.new, assessor.changed, assessor.flagged]
        for assessor in pulled.assessors
    ]
    emit(command, pulled, table(headings, rows), as_json=as_json)
