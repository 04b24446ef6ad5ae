"""Publish: the page that people read, the datasheet, the release."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from annot.cli.output import CsvOption, DryRunOption, JsonOption, WorkspaceOption, emit, say, table

PANEL = "Publish"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(report)
    app.command(rich_help_panel=PANEL)(datasheet)
    app.command(rich_help_panel=PANEL)(release)
    app.command(rich_help_panel=PANEL)(trace)


def report(
    table: Annotated[
        str | None, typer.Option(help="Print this table of the report and write nothing.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to write into.", show_default="exports/")
    ] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write the report: one HTML page that answers first, the same as Markdown, and its tables as LaTeX."""
    from annot.report.text import table_text
    from annot.steps import report as step
    from annot.study.workspace import Workspace

    if table is not None:
        found = step.table(Workspace.open(workspace), table)
        emit("report --table", found, table_text(found), as_json=as_json)
        return
    written = step.write(Workspace.open(workspace), out=out)
    emit("report", written, str(written.path), as_json=as_json)


def datasheet(workspace: WorkspaceOption = Path(), as_json: JsonOption = False) -> None:
    """Write the datasheet: numbers from the records, prose from datasheet.toml, where each question is asked once."""
    from annot.release.answer_sheet import describe_open
    from annot.steps import datasheet as step
    from annot.study.workspace import Workspace

    written = step.write(Workspace.open(workspace))
    if written.unanswered:
        say(describe_open(written.unanswered))
        say(f"{len(written.unanswered)} question(s) not answered yet: answer them in {written.answers}")
    emit("datasheet", written, f"{written.markdown}\n{written.page}", as_json=as_json)


def release(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder, or an earlier release of this collection.")],
    with_text: Annotated[
        bool | None,
        typer.Option(
            "--with-text/--ids-only",
            help="Titles and abstracts, or the ids of the papers only.",
            show_default="texts when collection.text_licence names their licence",
        ),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Of the judgements: an SPDX identifier or a URL.", show_default="annot.toml"),
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="The only date in the release.", show_default="annot.toml, or none"),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help="A text that is meant to be public although it looks like an identity; repeat for more."),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Release although pairs are still open; they stay unjudged.")
    ] = False,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the release: data in five formats, judgements under pseudonyms, card, datasheet, checksums."""
    from annot.steps import release as step
    from annot.study.workspace import Workspace

    done = step.release(
        Workspace.open(workspace),
        folder,
        with_text=with_text,
        licence=licence,
        published=None if date is None else date.date(),
        allowed=tuple(allow or ()),
        partial=partial,
        dry_run=dry_run,
    )
    for note in done.notes:
        say(note)
    rows = [[path, size, sha256[:12]] for path, (size, sha256) in done.files.items()]
    emit("release", done, table(["file", "bytes", "SHA-256"], rows), as_json=as_json)


def trace(
    query: Annotated[str, typer.Argument(help="A query id.")],
    document: Annotated[str, typer.Argument(help="A document id.")],
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print the whole story of a pair: corpus record, pool, every judgement, final grade, rank in each run."""
    from annot.report.traced import describe
    from annot.steps import trace as step
    from annot.study.workspace import Workspace

    found = step.trace(Workspace.open(workspace), query, document)
    emit("trace", found, describe(found), as_json=as_json, as_csv=as_csv)
