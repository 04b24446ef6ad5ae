"""Publish: the page that people read, the datasheet, the release."""

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli import output
from annot.cli.commands import command, held
from annot.cli.options import DryRunOption, OutOption, argument, flag, option
from annot.cli.output import Output

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("browse")
def browse(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Show the grades that are settled while judging is under way; not for assessors.")
    ] = False,
    out: OutOption = None,
) -> Output:
    """Write the page on which the collection is read: queries, ranked abstracts, grades, two systems side by side.

    One HTML file that works without a network. While anything is still being judged, no grade is on it.
    """
    from annot.steps import browse as step

    written = step.write(ws, partial=partial, out=out)
    return Output(written, str(written.path), written.notes)


@command("report")
def report(
    ws: "Workspace",
    table: Annotated[str | None, option("Print this table of the report and write nothing.")] = None,
    out: OutOption = None,
) -> Output:
    """Write the report: one HTML page that answers first, the same as Markdown, and its tables as LaTeX."""
    from annot.publishing.report.tables import data_of
    from annot.publishing.report.terminal import table_text
    from annot.steps import report as step

    if table is not None:
        found = step.table(ws, table)
        return Output(data_of(found), table_text(found), name="report --table")
    written = step.write(ws, out=out)
    return Output(written, str(written.path))


@command("datasheet")
def datasheet(ws: "Workspace") -> Output:
    """Write the datasheet: numbers from the records, prose from datasheet.toml, where each question is asked once."""
    from annot.publishing.release.questions import describe_open
    from annot.steps import datasheet as step

    written = step.write(ws)
    return Output(written, f"{written.markdown}\n{written.page}", describe_open(written.unanswered))


@command("release", alone=False)
def release(
    ws: "Workspace",
    folder: Annotated[Path, argument("A new or empty folder, or an earlier release of this collection.")],
    with_text: Annotated[
        bool | None,
        option(
            "Titles and abstracts, or the ids of the papers only.",
            "--with-text/--ids-only",
            shown="texts when collection.text_licence names their licence",
        ),
    ] = None,
    licence: Annotated[
        str | None, option("Of the judgements: an SPDX identifier or a URL.", shown="annot.toml")
    ] = None,
    date: Annotated[
        datetime | None, option("The only date in the release.", shown="annot.toml, or none", formats=["%Y-%m-%d"])
    ] = None,
    allow: Annotated[
        list[str] | None,
        option("A text that is meant to be public although it looks like an identity; repeat for more."),
    ] = None,
    consented: Annotated[
        str | None,
        option(
            "How people agreed that what they wrote before they were told is published; kept on record.", metavar="HOW"
        ),
    ] = None,
    consented_by: Annotated[
        list[str] | None, option("Who agreed; repeat for more.", shown="everyone whose words would stay out")
    ] = None,
    draft: Annotated[
        bool, flag("--draft", "Write what is there, marked as a draft, and a list of everything that is missing.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Write the release: data in five formats, judgements under pseudonyms, card, datasheet, checksums."""
    from annot.steps import release as step

    # Consent is put on record; else nothing in the study changes.
    recorded = consented is not None and not dry_run
    with held(ws, "release", wait_seconds=0.0) if recorded else nullcontext():
        done = step.release(
            ws,
            folder,
            with_text=with_text,
            licence=licence,
            published=None if date is None else date.date(),
            allowed=tuple(allow or ()),
            consented=consented,
            consenting=tuple(consented_by or ()),
            draft=draft,
            dry_run=dry_run,
        )
    notes = [*done.notes, *(f"missing: {one}" for one in done.missing)]
    return Output(done, output.table(step.FILES, done.files.items()), notes)


@command("trace", csv=True)
def trace(
    ws: "Workspace",
    query: Annotated[str, argument("A query id.")],
    document: Annotated[str, argument("A document id.")],
) -> Output:
    """Print the whole story of a pair: corpus record, pool, every judgement, final grade, rank in each run."""
    from annot.publishing.report.traced import describe
    from annot.steps import trace as step

    found = step.trace(ws, query, document)
    return Output(found, describe(found))
