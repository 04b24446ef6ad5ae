"""Judge: who judges what, out to Label Studio, and back."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, JsonOption, KeyOption, UrlOption, flag, setting
from annot.cli.output import Answer, emit, progress, say, table
from annot.cli.waiting import WAITING

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

CLEAR = "\x1b[2J\x1b[H"
"""Empties a terminal; elsewhere one block follows the other."""

group("assessor", help="Add or list the people who judge; their accounts are kept in the database only.")


@command("assessor add")
def assessor_add(
    ws: "Workspace",
    pseudonym: Annotated[str, typer.Argument(help="a1, a2, ...: the name used everywhere outside the database.")],
    account: Annotated[str, typer.Option(help="The e-mail address of the Label Studio account.")],
    adjudicator: Annotated[bool, flag("--adjudicator", "Settles disputes.")] = False,
    url: UrlOption = None,
    api_key: KeyOption = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Add a person who judges.

    On a local Label Studio this also creates the account; the password is saved to .annot/studio/passwords.tsv.
    """
    from annot.steps import assessor as step

    text, notes = step.add(
        ws, pseudonym, account=account, adjudicator=adjudicator, url=url, api_key=api_key, dry_run=dry_run
    )
    return Answer({"assessor": pseudonym, "adjudicator": adjudicator}, text, notes)


@command("assessor list", csv=True)
def assessor_list(ws: "Workspace") -> Answer:
    """Print the assessors and adjudicators, by pseudonym."""
    from annot.steps import assessor as step

    people = step.listing(ws)
    return Answer(people, table("people.list", people))


@command("guidelines")
def show_guidelines(
    ws: "Workspace",
    facet: Annotated[str, typer.Argument(help="A facet of annot.toml; or queries, sources, training or full-text.")],
    screen: Annotated[
        bool, flag("--screen", "Print the labelling configuration of the judging screen instead.")
    ] = False,
) -> Answer:
    """Print the guidelines of a facet as assessors read them, or the configuration of the screen they judge on.

    `annot guidelines queries` tells how query papers are rated and chosen. `annot guidelines sources` compares the
    guidelines with those of CSFCube point by point.
    """
    from annot.study import guidelines as step

    found = step.shown(ws, facet)
    text = step.screen(ws) if screen else found.text
    return Answer({"facet": facet, "definition": found.definition, "text": text}, text)


HourlyRateOption = Annotated[float | None, setting("What an hour of judging costs.", min=0.0)]
DisputeSecondsOption = Annotated[
    float | None,
    typer.Option(min=0.1, help="Seconds that settling one dispute takes.", show_default="annot.toml, else learnt"),
]
RepeatsOption = Annotated[
    float | None, setting("Share of an assessor's pairs that come again, unannounced.", min=0.0, max=0.5)
]


@command("plan", verbs=True)
def plan_make(
    ws: "Workspace",
    queries: Annotated[
        list[str] | None, typer.Option("--query", help="Only this query; may be repeated.", show_default="all")
    ] = None,
    repeats: RepeatsOption = None,
    seed: Annotated[int | None, setting("Seed of the plan.")] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Write the plan: who judges which pairs, in which order; prints how many each.

    Each pair goes to exactly as many assessors as annot.toml says, with balanced loads. An existing plan only grows.
    """
    from annot.steps import plan as step

    ws = ws.replaced("judging", repeats=repeats).replaced(seed=seed)
    made = step.make(ws, queries=tuple(queries or ()), dry_run=dry_run)
    text = table("people.loads", made.loads)
    return Answer(made, f"{text}\n\n{made.pairs} pairs, plan {made.sha256[:12]}")


@command("plan withdraw")
def plan_withdraw(ws: "Workspace", dry_run: DryRunOption = False) -> Answer:
    """Delete a plan that has not been sent, so that another can be drawn."""
    from annot.steps import plan as step

    count = step.withdraw(ws, dry_run=dry_run)
    return Answer({"assignments": count}, f"{count} assignments withdrawn")


@command("plan simulate")
def plan_simulate(
    ws: "Workspace",
    design_queries: Annotated[
        int | None, typer.Option("--queries", min=1, help="Queries of the design.", show_default="those of the study")
    ] = None,
    per_method: Annotated[int | None, setting("New documents each method draws.", min=1)] = None,
    assessors: Annotated[
        int | None, typer.Option(min=1, help="Assessors of the design.", show_default="those of the study")
    ] = None,
    per_pair: Annotated[int | None, setting("Assessors of each pair.", min=1)] = None,
    repeats: RepeatsOption = None,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    coefficient: Annotated[
        str, typer.Option(help="Whose interval is forecast, as `annot agreement --json` has it.")
    ] = "alpha_ordinal",
    seed: Annotated[int | None, setting("Seed of the simulation.")] = None,
) -> Answer:
    """Print a forecast of a design from the judgements so far: hours, cost, width of its agreement interval."""
    from annot.steps import plan_simulate as step

    ws = ws.replaced("pool", per_method=per_method).replaced("judging", per_pair=per_pair, repeats=repeats)
    ws = ws.replaced("forecast", hourly_rate=hourly_rate, dispute_seconds=dispute_seconds).replaced(seed=seed)
    found = step.simulate(ws, queries=design_queries, assessors=assessors, coefficient=coefficient)
    return Answer(found, step.describe(found))


@command("push")
def push(ws: "Workspace", url: UrlOption = None, api_key: KeyOption = None, dry_run: DryRunOption = False) -> Answer:
    """Send the planned tasks to Label Studio and print the link to each assessor's project; safe to repeat."""
    from annot.steps import push as step

    with progress("sending tasks") as advance:
        pushed = step.push(ws, url=url, api_key=api_key, dry_run=dry_run, advance=advance)
    text = table("people.sent", pushed.projects, who=["assessor"], pairs=["planned"])
    return Answer({"projects": pushed.projects}, text, pushed.notes)


@command("status", csv=True)
def status(ws: "Workspace") -> Answer:
    """Print how far the study is, from what has been pulled."""
    from annot.steps import status as step

    found = step.status(ws)
    return Answer(found, step.describe(found))


@command("watch")
def watch(
    ws: "Workspace",
    every: Annotated[int | None, setting("Seconds between two looks.", min=1)] = None,
    once: Annotated[bool, flag("--once", "Look once.")] = False,
    no_pull: Annotated[bool, flag("--no-pull", "Look at what was pulled; ask no server.")] = False,
    all_queries: Annotated[bool, flag("--all", "Every query, not only those under way.")] = False,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    url: UrlOption = None,
    api_key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Pull and print, again and again: progress, pace, grades, agreement so far, finish date, hours and cost."""
    from annot.report.watched import describe
    from annot.steps import pull as pulling
    from annot.steps import watch as step
    from annot.study.progress import Look

    ws = ws.replaced("watch", every=every)
    ws = ws.replaced("forecast", hourly_rate=hourly_rate, dispute_seconds=dispute_seconds)

    def pull() -> tuple[int, tuple[str, ...]]:
        with progress("reading judgements") as advance:
            pulled = pulling.pull(ws, url=url, api_key=api_key, advance=advance)
        return sum(person.new + person.changed for person in pulled.assessors), pulled.notes

    def show(seen: Look) -> None:
        WAITING.stop()
        if not (as_json or once) and sys.stdout.isatty():
            typer.echo(CLEAR, nl=False)
        emit("watch", Answer(seen, describe(seen, all_queries=all_queries)), as_json=as_json)
        if not (as_json or once):
            typer.echo()

    try:
        step.watch(ws, pull=None if no_pull else pull, once=once, show=show)
    except KeyboardInterrupt:
        say("stopped watching; what was pulled is kept")
        raise typer.Exit(130) from None


@command("pull")
def pull(ws: "Workspace", url: UrlOption = None, api_key: KeyOption = None) -> Answer:
    """Fetch the judgements from Label Studio and print what is new; every answer and every change is kept."""
    from annot.steps import pull as step

    with progress("reading judgements") as advance:
        pulled = step.pull(ws, url=url, api_key=api_key, advance=advance)
    text = table("people.pulled", pulled.assessors, who=["assessor"], pairs=["assigned", "judged"])
    return Answer(pulled, text, pulled.notes)
