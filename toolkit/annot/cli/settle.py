"""Settle: agreement, adjudication, qrels."""

from pathlib import Path
from typing import Annotated

import typer

from annot.cli.output import (
    CsvOption,
    DryRunOption,
    JsonOption,
    KeyOption,
    UrlOption,
    WorkspaceOption,
    emit,
    emit_collected,
    emit_sent,
    hand_down,
    progress,
    say,
    table,
)

PANEL = "Settle"


def register(app: typer.Typer) -> None:
    app.add_typer(agreement, name="agreement", rich_help_panel=PANEL)
    app.add_typer(adjudicate, name="adjudicate", rich_help_panel=PANEL)
    app.command(rich_help_panel=PANEL)(qrels)


agreement = typer.Typer(invoke_without_command=True)


@agreement.callback()
def agreement_measure(
    ctx: typer.Context,
    missing: Annotated[
        str | None,
        typer.Option(
            help="How missing judgements count. drop: they are left out, and only pairs with two or more grades are "
            "compared. zero: as grade 0.",
            show_default="annot.toml",
        ),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query too.")] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Print every coefficient, with mean, quartiles and pooled.")
    ] = False,
    binarised_at: Annotated[
        int | None, typer.Option(help="Compare this grade or higher against lower.", show_default="the whole scale")
    ] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print how far assessors agree, per facet, before and after adjudication, with intervals.

    Also writes every coefficient, per query and per facet, to exports/agreement.json.
    """
    if hand_down(ctx):
        return
    from annot.steps import agreement as step
    from annot.study.workspace import Workspace

    measured = step.measure(Workspace.open(workspace), missing=missing, binarised_at=binarised_at, tell=say)
    emit(
        "agreement",
        step.as_data(measured),
        step.describe(measured, per_query=per_query, every=every),
        as_json=as_json,
        as_csv=as_csv,
        table_of="agreement --per-query" if per_query else "",
    )


@agreement.command("assessors")
def agreement_assessors(
    query: Annotated[
        list[str] | None, typer.Option("--query", "-q", help="Show all hard candidates of this query; repeatable.")
    ] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print how assessors compare with each other and the final grades, their pace, and why they disagree."""
    from annot.steps import agreement_assessors as step
    from annot.study.workspace import Workspace

    queries = tuple(query or ())
    looked = step.look(Workspace.open(workspace), queries=queries)
    emit(
        "agreement assessors",
        step.as_data(looked),
        step.describe(looked, queries=queries),
        as_json=as_json,
        as_csv=as_csv,
    )


adjudicate = typer.Typer(help="Send disagreements to an adjudicator, and fetch the decisions.", no_args_is_help=True)


@adjudicate.command("push")
def adjudicate_push(
    url: UrlOption = None,
    api_key: KeyOption = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Send the disputed pairs to Label Studio and print the link to each adjudicator's project; safe to repeat."""
    from annot.steps import adjudicate as step
    from annot.study.workspace import Workspace

    with progress("sending disputes") as advance:
        pushed = step.push(Workspace.open(workspace), url=url, api_key=api_key, dry_run=dry_run, advance=advance)
    for note in pushed.notes:
        say(note)
    emit_sent(
        "adjudicate push", pushed, ["adjudicator", "disputes", "already sent", "sent now", "address"], as_json=as_json
    )


@adjudicate.command("pull")
def adjudicate_pull(
    url: UrlOption = None,
    api_key: KeyOption = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Fetch the adjudicators' decisions from Label Studio and print what is new."""
    from annot.steps import adjudicate as step
    from annot.study.workspace import Workspace

    with progress("reading decisions") as advance:
        pulled = step.pull(Workspace.open(workspace), url=url, api_key=api_key, advance=advance)
    headings = ["adjudicator", "disputes", "settled", "new", "changed", "flagged"]
    emit_collected("adjudicate pull", pulled, headings, as_json=as_json)


@adjudicate.command("status")
def adjudicate_status(
    workspace: WorkspaceOption = Path(), as_json: JsonOption = False, as_csv: CsvOption = False
) -> None:
    """Print how many pairs are agreed, disputed, adjudicated and open."""
    from annot.steps import adjudicate as step
    from annot.study.workspace import Workspace

    found = step.status(Workspace.open(workspace))
    rows = [[row.query_id, row.pairs, row.incomplete, row.agreed, row.disputed, row.settled] for row in found]
    text = table(["query", "pairs", "incomplete", "agreed", "in dispute", "settled"], rows)
    emit("adjudicate status", found, text, as_json=as_json, as_csv=as_csv)


def qrels(
    partial: Annotated[
        bool, typer.Option("--partial", help="Write what is settled although pairs are still open; they stay unjudged.")
    ] = False,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Write the final grades as TREC qrels."""
    from annot.steps import qrels as step
    from annot.study.workspace import Workspace

    written = step.write(Workspace.open(workspace), partial=partial)
    for note in written.notes:
        say(note)
    rows = [[query_id, *counts] for query_id, counts in written.grades.items()]
    text = table(["query", *(f"grade {grade}" for grade in written.scale)], rows)
    emit("qrels", written, f"{text}\n\n{written.path}: {written.pairs} pairs", as_json=as_json, as_csv=as_csv)
