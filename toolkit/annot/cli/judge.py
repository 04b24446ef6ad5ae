"""Judge: who judges what, out to Label Studio, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, GrowOption, HourlyRateOption, argument, flag, option, recorded, setting
from annot.cli.output import Answer, progress, table, told
from annot.cli.pulling import status_page

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("guidelines", help="Print what assessors are told, and check that it fits the study.")


@command("guidelines show")
def guidelines_show(
    ws: "Workspace",
    facet: Annotated[
        str, argument("A facet of annot.toml; or adjudication, full-text, labels, queries, sources or training.")
    ],
    screen: Annotated[
        bool, flag("--screen", "Print the labelling configuration of the judging screen instead.")
    ] = False,
) -> Answer:
    """Print the guidelines of a facet as assessors read them, or the configuration of the screen they judge on.

    `annot guidelines show adjudication` is what adjudicators read first, `annot guidelines show labels` what those read
    who correct labels. `annot guidelines show queries` tells how query papers are rated and chosen. `annot guidelines
    show sources` compares the guidelines with those of CSFCube point by point.
    """
    from annot.study import guidelines as step

    found = step.shown(ws, facet)
    text = step.screen(ws) if screen else found.text
    return Answer({"facet": facet, "definition": found.definition, "text": text}, text)


DisputeSecondsOption = Annotated[
    float | None, option("Seconds that settling one dispute takes.", shown="annot.toml, else learnt", min=0.1)
]
RepeatsOption = Annotated[
    float | None, setting("Share of an assessor's pairs that come again, unannounced.", min=0.0, max=0.5)
]
PlannedQueriesOption = Annotated[list[str] | None, option("Only this query; may be repeated.", "--query", shown="all")]


@command("plan")
def plan_make(
    ws: "Workspace",
    queries: PlannedQueriesOption = None,
    repeats: RepeatsOption = None,
    share: Annotated[
        list[str] | None,
        option(
            "Hours of a person relative to others, as a1=2; may be repeated. They are remembered.",
            shown="on record, else 1",
        ),
    ] = None,
    seed: Annotated[int | None, recorded("Seed of the plan.", min=0)] = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Write the plan: who judges which pairs, in which order; prints how many each.

    Each pair goes to exactly as many assessors as annot.toml says, with balanced loads. An existing plan only grows,
    and after a push with --grow only.
    """
    from annot.base.templating import counted
    from annot.steps import plan as step

    made = step.make(
        ws.replaced("judging", repeats=repeats),
        queries=tuple(queries or ()),
        shares=step.shares_of(share or ()),
        seed=seed,
        grow=grow,
        dry_run=dry_run,
    )
    text = table("people.loads", made.loads)
    return Answer(made, f"{text}\n\n{counted(made.pairs, 'pair')}, plan {made.sha256[:12]}", made.notes)


@command("plan withdraw", server=True)
def plan_withdraw(
    ws: "Workspace",
    queries: PlannedQueriesOption = None,
    sent: Annotated[
        bool, flag("--sent", "Also take back the named queries that were sent, if they have no answer yet.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Remove from the plan the pairs that were never sent, so that it can be drawn again.

    With --sent, the tasks of the named queries are deleted from Label Studio, too. It is asked first, and again just
    before the tasks are deleted: a query with an answer stays.
    """
    from annot.base.templating import counted
    from annot.steps import plan_withdraw as step

    count = step.withdraw(ws, queries=tuple(queries or ()), sent=sent, dry_run=dry_run)
    return Answer({"assignments": count}, f"{counted(count, 'assignment')} withdrawn")


@command("plan simulate")
def plan_simulate(
    ws: "Workspace",
    design_queries: Annotated[
        int | None, option("Queries of the design.", "--queries", shown="those of the study", min=1)
    ] = None,
    per_method: Annotated[int | None, recorded("New documents each method draws.", min=1)] = None,
    assessors: Annotated[int | None, option("Assessors of the design.", shown="those of the study", min=1)] = None,
    per_pair: Annotated[int | None, setting("Assessors of each pair.", min=1)] = None,
    repeats: RepeatsOption = None,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    coefficient: Annotated[
        str, option("Whose interval is forecast, as `annot agreement --json` has it.")
    ] = "alpha_ordinal",
    seed: Annotated[int | None, setting("Seed of the simulation.", min=0)] = None,
) -> Answer:
    """Print a forecast of a design from the judgements so far: hours, cost, width of its agreement interval."""
    from annot.steps import plan_simulate as step

    ws = ws.replaced("judging", per_pair=per_pair, repeats=repeats)
    ws = ws.replaced("forecast", hourly_rate=hourly_rate, dispute_seconds=dispute_seconds).replaced(seed=seed)
    found = step.simulate(
        ws, queries=design_queries, assessors=assessors, per_method=per_method, coefficient=coefficient
    )
    return Answer(found, step.describe(found))


@command("push", server=True)
def push(
    ws: "Workspace",
    guidelines_changed: Annotated[
        str | None, option("Send guidelines that have changed, and why they have.", metavar="WHY")
    ] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Send the planned tasks to Label Studio and print the link to each assessor's project; safe to repeat.

    People who have not signed up yet are named and get theirs the next time. Unanswered tasks of pairs that were handed
    on are withdrawn, and unanswered tasks show their place in the plan as it is now.
    """
    from annot.steps import push as step

    with progress("sending tasks") as advance:
        pushed = step.push(ws, dry_run=dry_run, advance=advance, guidelines_changed=guidelines_changed)
    text = table("people.sent", pushed.projects, who=["assessor"], pairs=["planned"])
    return Answer(pushed, text, pushed.notes, finding=pushed.finding("annot push"))


@command("status", csv=True)
def status(
    ws: "Workspace",
    page: Annotated[bool, flag("--page", "Also write a page with each person's progress, for a browser.")] = False,
) -> Answer:
    """Print how far the study is, from what has been pulled."""
    from annot.steps import status as step

    found = step.status(ws)
    notes = (f"page: {status_page(ws).write().as_uri()}",) if page else ()
    return Answer(found, told("status", found=found), notes)


@command("forecast")
def forecast(
    ws: "Workspace",
    all_queries: Annotated[bool, flag("--all", "Every query, not only those under way.")] = False,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
) -> Answer:
    """Print pace, grades and agreement so far, finish date, hours and cost, from what has been pulled."""
    from annot.steps import forecast as step

    seen = step.forecast(ws.replaced("forecast", hourly_rate=hourly_rate, dispute_seconds=dispute_seconds))
    return Answer(seen, step.describe(seen, all_queries=all_queries))


group("judgements", help="List answers that the server no longer has, or make them count again.")


@command("judgements withdrawn", csv=True)
def judgements_withdrawn(ws: "Workspace") -> Answer:
    """Print the answers that stopped counting, and those that count although the server lost them, each with why."""
    from annot.steps import judgements as step

    found = step.withdrawn(ws)
    text = (
        table("people.withdrawn", found)
        if found
        else "at the last pull, every answer on record was on the server as it was; all count"
    )
    return Answer(found, text)


@command("judgements restore", alone=True)
def judgements_restore(
    ws: "Workspace",
    query: Annotated[str | None, argument("The query of the pair.")] = None,
    doc: Annotated[str | None, argument("The document of the pair.")] = None,
    assessor: Annotated[str | None, option("Whose answer; with --all, only this person's.")] = None,
    every: Annotated[bool, flag("--all", "Every answer that `annot judgements withdrawn` lists.")] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Make a person's last answer count again; a later pull does not list it again.

    Nothing on record is changed: your word is one more revision of the answer.
    """
    from annot.steps import judgements as step

    done = step.restore(ws, query, doc, assessor=assessor, every=every, dry_run=dry_run)
    text = f"{len(done.restored)} answer(s) count again, {len(done.kept)} that the server lost are kept"
    return Answer(done, text)


@command("comments", csv=True)
def comments(
    ws: "Workspace",
    since: Annotated[str | None, option("Only comments of this day or later, such as 2031-03-14.", shown="all")] = None,
) -> Answer:
    """Print what assessors wrote with their answers, newest first, from what has been pulled."""
    from annot.steps import comments as step

    found = step.listing(ws, since=since)
    return Answer(found, table("people.comments", found) if found else "no comment")


@command("meeting")
def meeting(
    ws: "Workspace",
    since: Annotated[
        str | None, option("The first day of the period, such as 2031-03-14.", shown="7 days up to the newest answer")
    ] = None,
    out: Annotated[Path | None, option("The folder to write into.", shown="exports")] = None,
) -> Answer:
    """Write the page for the talk between two batches, meeting.html, and the same as Markdown.

    The widest gaps, grades that meet again and again, comments, and agreement in the period and before it; nobody is
    named. Pairs that somebody will be asked about again are left out.
    """
    from annot.base.templating import counted
    from annot.steps import meeting as step

    written = step.write(ws, since=since, out=out)
    text = f"{written.path}: {counted(written.pairs, 'pair')} from {written.since[:10]} to {written.until[:10]}"
    return Answer(written, f"{text}, on {written.differing} of them the grades differ")
