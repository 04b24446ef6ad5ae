"""Judge: who judges what, out to Label Studio, and back."""

import sys
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
from annot.cli.waiting import WAITING

PANEL = "Judge"
CLEAR = "\x1b[2J\x1b[H"
"""Empties a terminal; elsewhere one block follows the other."""


def register(app: typer.Typer) -> None:
    app.add_typer(assessor, name="assessor", rich_help_panel=PANEL)
    app.command("guidelines", rich_help_panel=PANEL)(show_guidelines)
    app.add_typer(plan, name="plan", rich_help_panel=PANEL)
    app.command(rich_help_panel=PANEL)(push)
    app.command(rich_help_panel=PANEL)(status)
    app.command(rich_help_panel=PANEL)(watch)
    app.command(rich_help_panel=PANEL)(pull)


assessor = typer.Typer(
    help="Add or list the people who judge; their accounts are kept in the database only.", no_args_is_help=True
)


@assessor.command("add")
def assessor_add(
    pseudonym: Annotated[str, typer.Argument(help="a1, a2, ...: the name used everywhere outside the database.")],
    account: Annotated[str, typer.Option(help="The e-mail address of the Label Studio account.")],
    adjudicator: Annotated[bool, typer.Option("--adjudicator", help="Settles disputes.")] = False,
    url: UrlOption = None,
    api_key: KeyOption = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add a person who judges.

    On a local Label Studio this also creates the account; the password is saved to .annot/studio/passwords.tsv.
    """
    from annot.steps import assessor as step
    from annot.study.workspace import Workspace

    added = step.add(
        Workspace.open(workspace),
        pseudonym,
        account=account,
        adjudicator=adjudicator,
        url=url,
        api_key=api_key,
        dry_run=dry_run,
    )
    for note in added.notes:
        say(note)
    emit("assessor add", {"assessor": added.assessor, "adjudicator": adjudicator}, added.text, as_json=as_json)


@assessor.command("list")
def assessor_list(workspace: WorkspaceOption = Path(), as_json: JsonOption = False, as_csv: CsvOption = False) -> None:
    """Print the assessors and adjudicators, by pseudonym."""
    from annot.steps import assessor as step
    from annot.study.workspace import Workspace

    people = step.listing(Workspace.open(workspace))
    rows = [
        [person.assessor, "adjudicator" if person.adjudicator else "assessor", person.assigned] for person in people
    ]
    emit("assessor list", people, table(["name", "role", "pairs assigned"], rows), as_json=as_json, as_csv=as_csv)


def show_guidelines(
    facet: Annotated[str, typer.Argument(help="A facet of annot.toml; or queries or sources, for leads.")],
    screen: Annotated[
        bool, typer.Option("--screen", help="Print the labelling configuration of the judging screen instead.")
    ] = False,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Print the guidelines of a facet as assessors read them, or the configuration of the screen they judge on.

    `annot guidelines queries` tells how query papers are rated and chosen. `annot guidelines sources` compares the
    guidelines with those of CSFCube point by point.
    """
    from annot.study import guidelines as step
    from annot.study.workspace import Workspace

    ws = Workspace.open(workspace)
    found = step.shown(ws, facet)
    text = step.screen(ws) if screen else found.text
    emit("guidelines", {"facet": facet, "definition": found.definition, "text": text}, text, as_json=as_json)


HourlyRateOption = Annotated[
    float | None, typer.Option(min=0.0, help="What an hour of judging costs.", show_default="annot.toml")
]
DisputeSecondsOption = Annotated[
    float | None,
    typer.Option(min=0.1, help="Seconds that settling one dispute takes.", show_default="annot.toml, else learnt"),
]
RepeatsOption = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=0.5,
        help="Share of an assessor's pairs that come again, unannounced.",
        show_default="annot.toml",
    ),
]
plan = typer.Typer(invoke_without_command=True)


@plan.callback()
def plan_make(
    ctx: typer.Context,
    queries: Annotated[
        list[str] | None, typer.Option("--query", help="Only this query; may be repeated.", show_default="all")
    ] = None,
    repeats: RepeatsOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the plan.", show_default="annot.toml")] = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the plan: who judges which pairs, in which order; prints how many each.

    Each pair goes to exactly as many assessors as annot.toml says, with balanced loads. An existing plan only grows.
    """
    if hand_down(ctx):
        return
    from annot.steps import plan as step
    from annot.study.workspace import Workspace

    ws = Workspace.open(workspace)
    made = step.make(ws, queries=tuple(queries or ()), repeats=repeats, seed=seed, dry_run=dry_run)
    rows = [[load.assessor, load.queries, load.pairs, load.repeats] for load in made.loads]
    text = table(["assessor", "queries", "pairs", "repeats"], rows) + f"\n\n{made.pairs} pairs, plan {made.sha256[:12]}"
    emit("plan", made, text, as_json=as_json)


@plan.command("withdraw")
def plan_withdraw(
    workspace: WorkspaceOption = Path(), dry_run: DryRunOption = False, as_json: JsonOption = False
) -> None:
    """Delete a plan that has not been sent, so that another can be drawn."""
    from annot.steps import plan as step
    from annot.study.workspace import Workspace

    count = step.withdraw(Workspace.open(workspace), dry_run=dry_run)
    emit("plan withdraw", {"assignments": count}, f"{count} assignments withdrawn", as_json=as_json)


@plan.command("simulate")
def plan_simulate(
    design_queries: Annotated[
        int | None, typer.Option("--queries", min=1, help="Queries of the design.", show_default="those of the study")
    ] = None,
    per_method: Annotated[
        int | None, typer.Option(min=1, help="New documents each method draws.", show_default="annot.toml")
    ] = None,
    assessors: Annotated[
        int | None, typer.Option(min=1, help="Assessors of the design.", show_default="those of the study")
    ] = None,
    per_pair: Annotated[
        int | None, typer.Option(min=1, help="Assessors of each pair.", show_default="annot.toml")
    ] = None,
    repeats: RepeatsOption = None,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    coefficient: Annotated[
        str, typer.Option(help="Whose interval is forecast, as `annot agreement --json` has it.")
    ] = "alpha_ordinal",
    seed: Annotated[int | None, typer.Option(help="Seed of the simulation.", show_default="annot.toml")] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Print a forecast of a design from the judgements so far: hours, cost, width of its agreement interval."""
    from annot.steps import plan_simulate as step
    from annot.study.workspace import Workspace

    found = step.simulate(
        Workspace.open(workspace),
        queries=design_queries,
        per_method=per_method,
        assessors=assessors,
        per_pair=per_pair,
        repeats=repeats,
        hourly_rate=hourly_rate,
        dispute_seconds=dispute_seconds,
        coefficient=coefficient,
        seed=seed,
    )
    emit("plan simulate", step.as_data(found), step.describe(found), as_json=as_json)


def push(
    url: UrlOption = None,
    api_key: KeyOption = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Send the planned tasks to Label Studio and print the link to each assessor's project; safe to repeat."""
    from annot.steps import push as step
    from annot.study.workspace import Workspace

    with progress("sending tasks") as advance:
        pushed = step.push(Workspace.open(workspace), url=url, api_key=api_key, dry_run=dry_run, advance=advance)
    emit_sent("push", pushed, ["assessor", "planned", "already sent", "sent now", "address"], as_json=as_json)


def status(
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print how far the study is, from what has been pulled."""
    from annot.steps import status as step
    from annot.study.workspace import Workspace

    found = step.status(Workspace.open(workspace))
    emit("status", found, step.describe(found), as_json=as_json, as_csv=as_csv)


def watch(
    every: Annotated[
        int | None, typer.Option(min=1, help="Seconds between two looks.", show_default="annot.toml")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once.")] = False,
    no_pull: Annotated[bool, typer.Option("--no-pull", help="Look at what was pulled; ask no server.")] = False,
    all_queries: Annotated[bool, typer.Option("--all", help="Every query, not only those under way.")] = False,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    url: UrlOption = None,
    api_key: KeyOption = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Pull and print, again and again: progress, pace, grades, agreement so far, finish date, hours and cost."""
    from annot.report.watched import describe
    from annot.steps import pull as pulling
    from annot.steps import watch as step
    from annot.study.progress import Look
    from annot.study.workspace import Workspace

    ws = Workspace.open(workspace)

    def pull() -> tuple[int, tuple[str, ...]]:
        with progress("reading judgements") as advance:
            pulled = pulling.pull(ws, url=url, api_key=api_key, advance=advance)
        return sum(person.new + person.changed for person in pulled.assessors), pulled.notes

    def show(seen: Look) -> None:
        WAITING.stop()
        if not (as_json or once) and sys.stdout.isatty():
            typer.echo(CLEAR, nl=False)
        emit("watch", step.as_data(seen), describe(seen, all_queries=all_queries), as_json=as_json)
        if not (as_json or once):
            typer.echo()

    try:
        step.watch(
            ws,
            pull=None if no_pull else pull,
            once=once,
            every=every,
            hourly_rate=hourly_rate,
            dispute_seconds=dispute_seconds,
            show=show,
        )
    except KeyboardInterrupt:
        say("stopped watching; what was pulled is kept")
        raise typer.Exit(130) from None


def pull(
    url: UrlOption = None,
    api_key: KeyOption = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Fetch the judgements from Label Studio and print what is new; every answer and every change is kept."""
    from annot.steps import pull as step
    from annot.study.workspace import Workspace

    with progress("reading judgements") as advance:
        pulled = step.pull(Workspace.open(workspace), url=url, api_key=api_key, advance=advance)
    emit_collected("pull", pulled, ["assessor", "assigned", "judged", "new", "changed", "flagged"], as_json=as_json)
