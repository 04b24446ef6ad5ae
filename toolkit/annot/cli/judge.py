"""Judge: guidelines, plan, status, forecast, returned pairs and answers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.base.names import counted
from annot.cli.commands import command, group
from annot.cli.options import (
    DryRunOption,
    GrowOption,
    HourlyRateOption,
    argument,
    flag,
    one_of,
    only_with,
    option,
    recorded,
    refuse_beside,
    setting,
)
from annot.cli.output import Output, listing, progress, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("guidelines")
def guidelines(
    ws: "Workspace",
    facet: Annotated[str, argument("A facet, or adjudication, full-text, labels, queries, sources or training.")],
    screen: Annotated[bool, flag("--screen", "Instead, print the configuration of the judging screen.")] = False,
    examples: Annotated[
        bool, flag("--examples", "Instead, print the page of the facet with judged pairs of the study as examples.")
    ] = False,
) -> Output:
    """Print the guidelines for a facet as assessors read them, or the configuration of their judging screen.

    `adjudication` prints the instructions for adjudicators, `labels` those for people who correct labels, and `queries`
    those for rating and choosing query papers. `sources` compares the guidelines with CSFCube's, point by point.

    With --examples, save what is printed as `guidelines/FACET.md` once you have completed and read it: it is then sent.
    """
    from annot.study import guidelines as step

    one_of(screen=screen, examples=examples)
    if examples:
        from annot.publishing.report.words import sentences
        from annot.steps.guideline_examples import page_with_examples

        page, gold = page_with_examples(ws, facet)
        return Output({"facet": facet, "text": page}, page, sentences("commands.own_examples", facet=facet, gold=gold))
    found = step.shown(ws, facet)
    text = step.screen(ws) if screen else found.text
    return Output({"facet": facet, "definition": found.definition, "text": text}, text)


DisputeSecondsOption = Annotated[
    float | None, option("Seconds to settle a dispute.", shown="annot.toml, else estimated", min=0.1)
]
RepeatsOption = Annotated[
    float | None, setting("Share of each assessor's pairs to show a second time, unannounced.", min=0.0, max=0.5)
]
PlannedQueriesOption = Annotated[
    list[str] | None, option("Plan this query only; may be repeated.", "--query", shown="all")
]


@command("plan")
def plan_make(
    ws: "Workspace",
    queries: PlannedQueriesOption = None,
    repeats: RepeatsOption = None,
    share: Annotated[
        list[str] | None,
        option(
            "A person's share of the work relative to others, as in a1=2; remembered; may be repeated.",
            shown="on record, else 1",
        ),
    ] = None,
    seed: Annotated[int | None, recorded("Random seed of the plan.", min=0)] = None,
    sample: Annotated[
        float | None,
        option(
            "Judge a sample with this share of the pools, each pair drawn with a known probability.",
            shown="on record, else all",
            min=0.0001,
            max=1.0,
        ),
    ] = None,
    only_new: Annotated[
        bool,
        flag(
            "--only-new",
            "With a sample, if whole pools are planned already: keep these pairs and draw only from the others.",
        ),
    ] = False,
    hours: Annotated[
        float | None, option("Instead of --sample: hours of work; plans the largest share they allow.", min=0.1)
    ] = None,
    cost: Annotated[
        float | None, option("Instead of --sample: a budget; plans the largest share it allows.", min=0.1)
    ] = None,
    seconds: Annotated[
        float | None,
        option("With --hours or --cost: seconds per judgement.", shown="estimated from past judgements", min=0.1),
    ] = None,
    grow: GrowOption = False,
    withdraw: Annotated[
        bool, flag("--withdraw", "Instead, remove the pairs that were never sent, so that you can plan them again.")
    ] = False,
    sent: Annotated[
        bool,
        flag(
            "--sent",
            "With --withdraw: also take back the queries of --query that were sent but have no answer on record. The "
            "next push deletes their tasks.",
        ),
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Plan who judges which pairs, in which order, and print the number of pairs per person.

    Gives each pair to as many assessors as `per_pair` in annot.toml says and balances the loads. An existing plan can
    only grow; after a push, only with --grow. `annot plan --withdraw` takes back pairs that were not sent.
    """
    from annot.steps import plan as step

    if withdraw:
        refuse_beside("plan --withdraw", repeats=repeats, share=share, seed=seed, sample=sample, grow=grow)
        refuse_beside("plan --withdraw", hours=hours, cost=cost, seconds=seconds, only_new=only_new)
        count = step.withdraw(ws, queries=tuple(queries or ()), sent=sent, dry_run=dry_run)
        text = f"{counted(count, 'assignment')} withdrawn"
        return Output({"assignments": count}, text, ["`annot push` deletes their tasks"] if sent else [])
    only_with("--withdraw", sent=sent)
    ws = ws.replaced("judging", repeats=repeats)
    one_of(sample=sample, hours=hours, cost=cost)
    if sample is None and hours is None and cost is None:
        only_with("--sample, --hours or --cost", only_new=only_new)
    notes: tuple[str, ...] = ()
    if hours is not None or cost is not None:
        from annot.steps import sample_forecast

        found = sample_forecast.share_for(
            ws, hours=hours, cost=cost, seconds=seconds, queries=tuple(queries or ()), only_new=only_new
        )
        sample, notes = found.share, found.notes
    elif sample is None or not dry_run:
        only_with("--hours, --cost or a dry run of --sample", seconds=seconds)
    made = step.make(
        ws,
        queries=tuple(queries or ()),
        shares=step.shares_of(share or ()),
        seed=seed,
        grow=grow,
        dry_run=dry_run,
        sample=sample,
        only_new=only_new,
    )
    text = f"{table(step.LOADS, made.loads)}\n\n{counted(made.pairs, 'pair')}, plan {made.sha256[:12]}"
    if dry_run and sample is not None:
        from annot.steps import sample_forecast

        with progress("drawing again") as advance:
            forecast_of_share = sample_forecast.shares(
                ws,
                shares=(sample,),
                seconds=seconds,
                queries=tuple(queries or ()),
                only_new=only_new,
                advance=advance,
            )
        made = replace(made, forecast=forecast_of_share)
        row = sample_forecast.table_of(forecast_of_share)
        text = f"{text}\n\n{sample_forecast.describe(forecast_of_share, row)}"
    return Output(made, text, (*notes, *made.notes))


@command("status", csv=True)
def status(
    ws: "Workspace",
    page: Annotated[bool, flag("--page", "Also write a web page with each person's progress.")] = False,
    adjudication: Annotated[
        bool, flag("--adjudication", "Instead, count the agreed, disputed, adjudicated and open pairs of each query.")
    ] = False,
    returned: Annotated[
        bool, flag("--returned", "Instead, list the pairs that were returned to assessors, with their new answers.")
    ] = False,
) -> Output:
    """Show the progress of the study and the next step, from the answers pulled so far."""
    from annot.steps import status as step

    if page + adjudication + returned > 1:
        raise typer.BadParameter("found several of --page, --adjudication and --returned, expected one of them")
    if adjudication:
        return listing(
            step.ADJUDICATION, step.adjudication(ws), empty="no pairs planned yet; plan them with `annot plan`"
        )
    if returned:
        from annot.steps import returns

        back = returns.listing(ws)
        return listing(returns.RETURNED, back, empty="no pair was returned", notes=returns.notes(back))
    from annot.publishing.report.study_tables import PROGRESS

    found = step.status(ws)
    notes: tuple[str, ...] = ()
    if page:
        from annot.cli.exchange import status_page

        notes = (f"page: {status_page(ws).write().as_uri()}",)
    text = rendered("status", found=found, progress=PROGRESS)
    return Output(found, text, notes, tables=[PROGRESS.of(found.assessors)])


@command("forecast", csv=True)
def forecast(
    ws: "Workspace",
    all_queries: Annotated[bool, flag("--all", "Show every query, not only those in progress.")] = False,
    design: Annotated[bool, flag("--design", "Instead, forecast hours, cost and agreement of a whole study.")] = False,
    pools: Annotated[
        bool, flag("--pools", "Instead, forecast sizes, hours and cost of pools of other depths.")
    ] = False,
    sample: Annotated[
        bool,
        flag("--sample", "Instead, forecast pairs, hours, cost and the loss of certainty if only a share is judged."),
    ] = False,
    hourly_rate: HourlyRateOption = None,
    dispute_seconds: DisputeSecondsOption = None,
    design_queries: Annotated[
        int | None, option("With --design: number of queries.", "--queries", shown="those here", min=1)
    ] = None,
    per_method: Annotated[int | None, recorded("With --design: new documents that each method draws.", min=1)] = None,
    assessors: Annotated[int | None, option("With --design: number of assessors.", shown="those here", min=1)] = None,
    per_pair: Annotated[int | None, setting("With --design: assessors per pair.", min=1)] = None,
    repeats: Annotated[
        float | None, setting("With --design: share of each assessor's pairs to show a second time.", min=0.0, max=0.5)
    ] = None,
    coefficient: Annotated[
        str | None,
        option("With --design: agreement coefficient, by its name in `annot agreement --json`.", shown="alpha_ordinal"),
    ] = None,
    difference: Annotated[
        float | None,
        option(
            "With --design: difference between two runs to be shown, in points of 100.", shown="5", min=0.1, max=100.0
        ),
    ] = None,
    seed: Annotated[int | None, setting("With --design: random seed of the simulation.", min=0)] = None,
    depth: Annotated[
        list[int] | None, option("With --pools: documents per method; may be repeated.", shown="several", min=1)
    ] = None,
    mode: Annotated[str | None, recorded("With --pools: how to draw: round-robin, blocks or depth.")] = None,
    seconds: Annotated[
        float | None,
        option("With --pools or --sample: seconds per judgement.", shown="estimated from past judgements", min=0.1),
    ] = None,
    relevant: Annotated[
        float | None,
        option(
            "With --sample, before pairs are judged: relevant papers that you expect for each query.",
            shown="any number",
            min=1,
        ),
    ] = None,
) -> Output:
    """Show the pace, grades and agreement so far, and forecast the finish date, hours and cost.

    With --design, forecasts a study of another size from the judgements so far, which difference between two runs it
    shows, and how many topics a wished one takes. With --pools, forecasts pools of other
    depths from the rankings in pools/rankings/. With --sample, shows what each share of `annot plan --sample` would
    take, and how much wider intervals would be.
    """
    from annot.steps import forecast as step

    one_of(design=design, pools=pools, sample=sample)
    if not design:
        only_with("--design", queries=design_queries, per_method=per_method, assessors=assessors, per_pair=per_pair)
        only_with("--design", repeats=repeats, coefficient=coefficient, seed=seed, difference=difference)
    if not pools:
        only_with("--pools", depth=depth, mode=mode)
    if not pools and not sample:
        only_with("--pools or --sample", seconds=seconds)
    if not sample:
        only_with("--sample", relevant=relevant)
    if design or pools or sample:
        way = "design" if design else "pools" if pools else "sample"
        refuse_beside(f"forecast --{way}", all=all_queries)
    ws = ws.replaced("forecast", hourly_rate=hourly_rate, dispute_seconds=dispute_seconds)
    if design:
        ws = ws.replaced("judging", per_pair=per_pair, repeats=repeats).replaced(seed=seed)
        simulated = step.design(
            ws,
            queries=design_queries,
            assessors=assessors,
            per_method=per_method,
            coefficient=coefficient or "alpha_ordinal",
            difference=difference or 5.0,
        )
        return Output(simulated, step.describe_design(simulated), tables=[step.DESIGN.of([simulated])])
    if pools:
        refuse_beside("forecast --pools", dispute_seconds=dispute_seconds)
        with progress("comparing papers") as advance:
            drawn = step.pools(ws, depths=tuple(depth or ()), mode=mode, seconds=seconds, advance=advance)
        depths = step.depths(drawn)
        return Output(drawn, step.describe_pools(drawn, depths), tables=[depths])
    if sample:
        from annot.steps import sample_forecast

        with progress("drawing again") as advance:
            found = sample_forecast.shares(ws, seconds=seconds, relevant=relevant, advance=advance)
        shares = sample_forecast.table_of(found)
        return Output(found, sample_forecast.describe(found, shares), tables=[shares])
    seen = step.forecast(ws)
    tables = step.tables(seen, all_queries=all_queries)
    return Output(seen, step.describe(seen, tables), tables=tables)


@command("return")
def return_pairs(
    ws: "Workspace",
    query_id: Annotated[str | None, argument("Query id.")] = None,
    doc_id: Annotated[str | None, argument("Id of a document that the assessor has judged for the query.")] = None,
    to: Annotated[str | None, option("The assessor's name in the study, such as a4.", "--to")] = None,
    why: Annotated[str | None, option("What to look at again. The assessor sees this above the pair.", "--why")] = None,
    file: Annotated[
        Path | None, option("Return many pairs: a table with the columns query_id, doc_id, to and why.", "--file")
    ] = None,
    undo: Annotated[bool, flag("--undo", "Take back returned pairs that have no new answer yet.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Return pairs to their assessors for a second look, with a reason. `annot push` then sends them.

    Both answers are kept: the new one counts for the final grade, the first one for agreement before adjudication. The
    assessor does not see the first answer. In the reason, say what to look at in the texts, never what others answered.
    If any row of a file is wrong, no pair is returned. `annot status --returned` lists the new answers.
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


group("answers", help="List answers that are no longer on the server, and make them count again.")


@command("answers list", csv=True)
def answers_list(ws: "Workspace") -> Output:
    """List answers that no longer count, and answers that count although the server lost them, with the reasons."""
    from annot.publishing.report import commands
    from annot.steps import answers as step

    empty = "all answers count; at the last pull, the server had them all, unchanged"
    return listing(commands.WITHDRAWN, step.withdrawn(ws), empty=empty)


@command("answers restore", alone=True)
def answers_restore(
    ws: "Workspace",
    query: Annotated[str | None, argument("Query id.")] = None,
    doc: Annotated[str | None, argument("Document id.")] = None,
    assessor: Annotated[str | None, option("Who gave the answer; with --all, only this person's.")] = None,
    every: Annotated[bool, flag("--all", "Restore every answer that `annot answers list` shows.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Make an answer that was lost on the server count again. Later pulls do not report it any more.

    Nothing on record changes or is deleted: this adds a revision of the answer.
    """
    from annot.steps import answers as step

    done = step.restore(ws, query, doc, assessor=assessor, every=every, dry_run=dry_run)
    text = f"answers that count again: {len(done.restored)}; kept although the server lost them: {len(done.kept)}"
    return Output(done, text)
