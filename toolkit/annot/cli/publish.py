"""Publish: the page that people read, the datasheet, the release."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli import output
from annot.cli.commands import command
from annot.cli.options import DryRunOption, flag
from annot.cli.output import Answer

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("browse")
def browse(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Show the grades that are settled while judging is under way; not for assessors.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to write into.", show_default="exports/")
    ] = None,
) -> Answer:
    """Write the page on which the collection is read: queries, ranked abstracts, grades, two systems side by side.

    One HTML file that works without a network. While anything is still being judged, no grade is on it.
    """
    from annot.steps import browse as step

    written = step.write(ws, partial=partial, out=out)
    return Answer(written, str(written.path), written.notes)


@command("report")
def report(
    ws: "Workspace",
    table: Annotated[
        str | None, typer.Option(help="Print this table of the report and write nothing.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to write into.", show_default="exports/")
    ] = None,
) -> Answer:
    """Write the report: one HTML page that answers first, the same as Markdown, and its tables as LaTeX."""
    from annot.report.text import table_text
    from annot.steps import report as step

    if table is not None:
        found = step.table(ws, table)
        return Answer(found, table_text(found), name="report --table")
    written = step.write(ws, out=out)
    return Answer(written, str(written.path))


@command("datasheet")
def datasheet(ws: "Workspace") -> Answer:
    """Write the datasheet: numbers from the records, prose from datasheet.toml, where each question is asked once."""
    from annot.release.answer_sheet import describe_open
    from annot.steps import datasheet as step

    written = step.write(ws)
    open_questions = written.unanswered
    count = f"{len(open_questions)} question(s) not answered yet: answer them in {written.answers}"
    notes = [describe_open(open_questions), count] if open_questions else []
    return Answer(written, f"{written.markdown}\n{written.page}", notes)


@command("release", alone=False)
def release(
    ws: "Workspace",
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
    draft: Annotated[
        bool, flag("--draft", "Write what is there, marked as a draft, and a list of everything that is missing.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Write the release: data in five formats, judgements under pseudonyms, card, datasheet, checksums."""
    from annot.steps import release as step

    done = step.release(
        ws,
        folder,
        with_text=with_text,
        licence=licence,
        published=None if date is None else date.date(),
        allowed=tuple(allow or ()),
        draft=draft,
        dry_run=dry_run,
    )
    notes = [*done.notes, *(f"missing: {one}" for one in done.missing)]
    return Answer(done, output.table("files.released", done.files.items()), notes)


@command("trace", csv=True)
def trace(
    ws: "Workspace",
    query: Annotated[str, typer.Argument(help="A query id.")],
    document: Annotated[str, typer.Argument(help="A document id.")],
) -> Answer:
    """Print the whole story of a pair: corpus record, pool, every judgement, final grade, rank in each run."""
    from annot.report.traced import describe
    from annot.steps import trace as step

    found = step.trace(ws, query, document)
    return Answer(found, describe(found))
