"""Publish: the report, the browsing page, the datasheet, the release and the trace of a pair."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli import output
from annot.cli.commands import command, held
from annot.cli.options import DryRunOption, OutOption, argument, flag, option
from annot.cli.output import Output
from annot.cli.waiting import confirmed, is_attended

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("browse")
def browse(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Show settled grades while judging is in progress. Do not show this page to assessors.")
    ] = False,
    out: OutOption = None,
) -> Output:
    """Write a web page for browsing the collection: queries, ranked abstracts, grades, two systems side by side.

    It is one HTML file and works offline. It shows no grades until all pairs are judged, unless you use --partial.
    """
    from annot.steps import browse as step

    written = step.write(ws, partial=partial, out=out)
    return Output(written, str(written.path), written.notes)


@command("report")
def report(
    ws: "Workspace",
    table: Annotated[str | None, option("Print this table of the report instead of writing files.")] = None,
    out: OutOption = None,
) -> Output:
    """Write the report of the study as a web page and in Markdown, with its tables in LaTeX."""
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
    """Write the datasheet of the collection, with figures from the study and your answers from datasheet.toml."""
    from annot.publishing.release.questions import describe_open
    from annot.steps import datasheet as step

    written = step.write(ws)
    return Output(written, f"{written.markdown}\n{written.page}", describe_open(written.unanswered))


@command("release", alone=False)
def release(
    ws: "Workspace",
    folder: Annotated[Path, argument("A new or empty folder, or that of an earlier release of this collection.")],
    with_text: Annotated[
        bool | None,
        option(
            "Include titles and abstracts, or only the ids of papers.",
            "--with-text/--ids-only",
            shown="texts if annot.toml has text_licence",
        ),
    ] = None,
    licence: Annotated[
        str | None, option("Licence of the judgements: SPDX identifier or URL.", shown="annot.toml")
    ] = None,
    date: Annotated[
        datetime | None,
        option(
            "Date of the release. It has others only if what people were shown changed: days of these changes.",
            shown="annot.toml, or none",
            formats=["%Y-%m-%d"],
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        option("Allow this text, although it looks like a name, a path or an address; may be repeated."),
    ] = None,
    consented: Annotated[
        str | None,
        option(
            "Record how people agreed to publish what they wrote before they knew it would be published.", metavar="HOW"
        ),
    ] = None,
    consented_by: Annotated[
        list[str] | None, option("Who agreed; may be repeated.", shown="everyone whose consent is missing")
    ] = None,
    draft: Annotated[
        bool, flag("--draft", "Write an incomplete release, marked as a draft, with a list of what is missing.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Write the release: data in five formats, judgements under pseudonyms, dataset card, datasheet and checksums."""
    from annot.steps import release as step

    # The study changes only if consent is put on record.
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
            may_publish=_may_publish if is_attended() else None,
        )
    notes = [*done.notes, *(f"missing: {one}" for one in done.missing)]
    return Output(done, output.table(step.FILES, done.files.items()), notes)


def _may_publish(found: Sequence[str]) -> bool:
    """Show what texts of people name, and ask."""
    output.say("Texts of people that go out with the release have:")
    for line in found:
        output.say(f"  {line}")
    return confirmed("May they be published as they are?")


@command("trace")
def trace(
    ws: "Workspace", query: Annotated[str, argument("Query id.")], document: Annotated[str, argument("Document id.")]
) -> Output:
    """Show the history of a pair: corpus record, pool, every judgement, final grade and rank in each run."""
    from annot.publishing.report.traced import describe
    from annot.steps import trace as step

    found = step.trace(ws, query, document)
    return Output(found, describe(found))
