"""Judge: who judges what, out to Label Studio, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command, group
from annot.cli.options import (
    DryRunOption,
    GrowOption,
    HourlyRateOption,
    argument,
    flag,
    only_with,
    option,
    recorded,
    setting,
)
from annot.cli.output import Output, progress, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("guidelines")
def guidelines(
    ws: "Workspace",
    facet: Annotated[
        str, argument("A facet of annot.toml; or adjudication, full-text, labels, queries, sources or training.")
    ],
    screen: Annotated[
        bool, flag("--screen", "Print the labelling configuration of the judging screen instead.")
    ] = False,
) -> Output:
    """Print the guidelines of a facet as assessors read them, or the configuration of the screen they judge on.

    `annot guidelines adjudication` is what adjudicators read first, `annot guidelines labels` what those read who
    correct labels. `annot guidelines queries` says how query papers are rated and chosen. `annot guidelines sources`
    compares the guidelines with those of CSFCube point by point.
    """
    from annot.study import guidelines as step

    found = step.shown(ws, facet)
    text = step.screen(ws) if screen else found.text
    return Output({"facet": facet, "definition": found.definition, "text": text}, text)


DisputeSecondsOption = Annotated[
    float | None, option("Seconds that settling one dispute takes.", shown="annot.toml, else learnt", min=0.1)
]
RepeatsOption = Annotated[
    float | None, setting("Share of an assessor's pairs that come again, unannounced.", min=0.0, max=0.5)
]
PlannedQueriesOption = Annotated[list[str] | None, option("Only this query; may be repeated.", "--query", shown="all")]


@command("plan", server=True)
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
    withdraw: Annotated[
        bool, flag("--withdraw", "Instead, remove from the plan the pairs that were never sent, to draw it again.")
    ] = False,
    sent: Annotated[
        bool,
        flag(
            "--sent",
            "With --withdraw: also take back the named queries that were sent, if they have no answer yet; their tasks "
            "are deleted from Label Studio.",
        ),
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Write the plan: who judges which pairs, in which order; prints how many each.

    Each pair goes to exactly as many assessors as annot.toml says, with balanced loads. An existing plan only grows,
    and after a push with --grow only. `annot plan --withdraw` takes back what was not sent.
    """
    from annot.base.templating import counted
    from annot.steps import plan as step

    if withdraw:
        only_with("a plan that is written", repeats=repeats, share=share, seed=seed, grow=grow)
        count = step.withdraw(ws, queries=tuple(queries or ()), sent=sent, dry_run=dry_run)
        text = f"{counted(count, 'assignment')} withdrawn"
        return Output({"assignments": count}, text)
    only_with("--withdraw", sent=sent)
    made = step.make(
        ws.replaced("judging", repeats=repeats),
        queries=tuple(queries or ()),
        shares=step.shares_of(share or ()),
        seed=seed,
        grow=grow,
        dry_run=dry_run,
    )
    text = table(step.LOADS, made.loads)
    return Output(made, f"{text}\n\n{counted(made.pairs, 'pair')}, plan {made.sha256[:12]}", made.notes)


@command("status", csv=True)
def status(
    ws: "Workspace",
    page: Annotated[bool, flag("--page", "Also write a page with each person's progress, for a browser.")] = False,
    adjudication: Annotated[
        bool, flag("--adjudication", "Instead, count by query the pairs agreed, disputed, adjudicated and open.")
    ] = False,
    returned: Annotated[
        bool, flag("--returned", "Instead, list the pairs that were returned to an assessor, and what came of them.")
    ] = False,
) -> Output:
    """Print how far the study is, from what has been pulled."""
    from annot.steps import status as step

    if page + adjudication + returned > 1:
        raise typer.BadParameter("expected one of --page, --adjudication and --returned")
    if adjudication:
        settled = step.adjudication(ws)
        return Output(settled, table(step.ADJUDICATION, settled), table="status --adjudication")
    if returned:
        from annot.steps import returns

        back = returns.listing(ws)
        text = table(returns.RETURNED, back) if back else "no pair was returned"
        return Output(back, text, returns.notes(back), table="status --returned")
    found = step.status(ws)
    notes: tuple[str, ...] = ()
    if page:
        from annot.cli.exchange import status_page

        notes = (f"page: {status_page(ws).write().as_uri()}",)
    return Output(found, rendered("status", found=found, progress=step.PROGRESS), notes)


@command("forecast", csv=True)
def forecast(
    ws: "Workspace",
    all_queries: Annotated[bool, flag("--all", "Every query, not only those under way.")] = False,
    design: Annotated[
        bool, flag("--design", "Instead, forecast a whole study: its hours, cost and agreement interval.")
    ] = False,
    pools: Annotated[
        bool, flag("--pools", "Instead, forecast pools of other depths: their sizes, pairs, hours and cost.")
    ] = False,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    design_queries: Annotated[
        int | None, option("With --design: its queries.", "--queries", shown="those of the study", min=1)
    ] = None,
    per_method: Annotated[int | None, recorded("With --design: new documents each method draws.", min=1)] = None,
    assessors: Annotated[int | None, option("With --design: its assessors.", shown="those of the study", min=1)] = None,
    per_pair: Annotated[int | None, setting("With --design: assessors of each pair.", min=1)] = None,
    repeats: Annotated[
        float | None, setting("With --design: share of an assessor's pairs that come again.", min=0.0, max=0.5)
    ] = None,
    coefficient: Annotated[
        str | None,
        option("With --design: whose interval, as `annot agreement --json` has it.", shown="alpha_ordinal"),
    ] = None,
    seed: Annotated[int | None, setting("With --design: seed of the simulation.", min=0)] = None,
    depth: Annotated[
        list[int] | None,
        option("With --pools: documents of each method; may be repeated.", shown="several", min=1),
    ] = None,
    mode: Annotated[str | None, recorded("With --pools: round-robin, blocks or depth.")] = None,
    seconds: Annotated[
        float | None,
        option("With --pools: what a judgement takes.", shown="learnt from the judgements there are", min=0.1),
    ] = None,
) -> Output:
    """Print pace, grades and agreement so far, finish date, hours and cost, from what has been pulled.

    --design forecasts a study of other sizes from the judgements so far, --pools the pools of other depths from the
    rankings in pools/rankings/.
    """
    from annot.steps import forecast as step

    if design and pools:
        raise typer.BadParameter("expected one of --design and --pools")
    if not design:
        only_with("--design", queries=design_queries, per_method=per_method, assessors=assessors, per_pair=per_pair)
        only_with("--design", repeats=repeats, coefficient=coefficient, seed=seed)
    if not pools:
        only_with("--pools", depth=depth, mode=mode, seconds=seconds)
    if design or pools:
        only_with("a forecast of the study under way", all=all_queries)
    ws = ws.replaced("forecast", hourly_rate=hourly_rate, dispute_seconds=dispute_seconds)
    if design:
        ws = ws.replaced("judging", per_pair=per_pair, repeats=repeats).replaced(seed=seed)
        simulated = step.design(
            ws,
            queries=design_queries,
            assessors=assessors,
            per_method=per_method,
            coefficient=coefficient or "alpha_ordinal",
        )
        return Output(simulated, step.describe_design(simulated), table="forecast --design")
    if pools:
        only_with("a forecast of adjudication", dispute_seconds=dispute_seconds)
        with progress("comparing papers") as advance:
            drawn = step.pools(ws, depths=tuple(depth or ()), mode=mode, seconds=seconds, advance=advance)
        return Output(drawn, step.describe_pools(drawn), table="forecast --pools")
    seen = step.forecast(ws)
    return Output(seen, step.describe(seen, all_queries=all_queries))


@command("return")
def return_pairs(
    ws: "Workspace",
    query_id: Annotated[str | None, argument("A query.")] = None,
    doc_id: Annotated[str | None, argument("A document that the assessor has judged for it.")] = None,
    to: Annotated[str | None, option("The assessor, by pseudonym.", "--to")] = None,
    why: Annotated[str | None, option("What to look at again; the assessor reads it above the pair.", "--why")] = None,
    file: Annotated[Path | None, option("Many pairs: a table with query_id, doc_id, to and why.", "--file")] = None,
    undo: Annotated[bool, flag("--undo", "Take back returned pairs that are not answered yet.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Send pairs back to their assessors, with a reason; `annot push` puts them into their projects.

    Both answers are kept. The new one counts for the final grade, the first one for agreement before adjudication. The
    assessor does not see their earlier answer. Say what to look at in the texts, never what others answered. If one row
    of a file is wrong, nothing goes back. `annot status --returned` lists what came of it.
    """
    from annot.steps import returns as step

    if file is not None and (query_id, doc_id, to, why) == (None,) * 4:
        changes = step.change(ws, file, undo=undo, dry_run=dry_run)
    elif file is None and query_id is not None and doc_id is not None and to is not None:
        pair = (query_id, doc_id)
        changes = step.change_one(ws, pair, assessor=to, why=why or "", undo=undo, dry_run=dry_run)
    else:
        raise typer.BadParameter("expected QUERY DOC --to NAME with --why REASON or --undo, or --file FILE alone")
    return Output(changes, step.describe(changes, undo=undo))


group("answers", help="List answers that the server no longer has, or make them count again.")


@command("answers list", csv=True)
def answers_list(ws: "Workspace") -> Output:
    """Print the answers that stopped counting, and those that count although the server lost them, each with why."""
    from annot.publishing.report import commands
    from annot.steps import answers as step

    found = step.withdrawn(ws)
    text = (
        table(commands.WITHDRAWN, found)
        if found
        else "at the last pull, every answer on record was on the server as it was; all count"
    )
    return Output(found, text)


@command("answers restore", alone=True)
def answers_restore(
    ws: "Workspace",
    query: Annotated[str | None, argument("The query of the pair.")] = None,
    doc: Annotated[str | None, argument("The document of the pair.")] = None,
    assessor: Annotated[str | None, option("Whose answer; with --all, only this person's.")] = None,
    every: Annotated[bool, flag("--all", "Every answer that `annot answers list` lists.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Make a person's last answer count again; a later pull does not list it again.

    Nothing on record is changed: your word is one more revision of the answer.
    """
    from annot.steps import answers as step

    done = step.restore(ws, query, doc, assessor=assessor, every=every, dry_run=dry_run)
    text = f"{len(done.restored)} answer(s) count again, {len(done.kept)} that the server lost are kept"
    return Output(done, text)


@command("comments", csv=True)
def comments(
    ws: "Workspace",
    since: Annotated[str | None, option("Only comments of this day or later, such as 2031-03-14.", shown="all")] = None,
) -> Output:
    """Print what assessors wrote with their answers, newest first, from what has been pulled."""
    from annot.steps import comments as step

    found = step.listing(ws, since=since)
    return Output(found, table(step.COMMENTS, found) if found else "no comment")


@command("meeting")
def meeting(
    ws: "Workspace",
    since: Annotated[
        str | None, option("The first day of the period, such as 2031-03-14.", shown="7 days up to the newest answer")
    ] = None,
    out: Annotated[Path | None, option("The folder to write into.", shown="exports")] = None,
) -> Output:
    """Write the page for the meeting between two batches, meeting.html, and the same as Markdown.

    It shows the widest gaps, grades that often differ on the same pair, comments, and agreement in the period and
    before it, without names. Pairs that an assessor will be asked about again are left out.
    """
    from annot.base.templating import counted
    from annot.steps import meeting as step

    written = step.write(ws, since=since, out=out)
    text = f"{written.path}: {counted(written.pairs, 'pair')} from {written.since[:10]} to {written.until[:10]}"
    return Output(written, f"{text}, on {written.differing} of them the grades differ")
