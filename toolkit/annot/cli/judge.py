"""Judge: guidelines, plan, rounds to and from Label Studio, status and forecast."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annot.base.errors import AnnotError, InputError
from annot.base.names import counted
from annot.cli import options
from annot.cli.commands import command, group, held, keep_backup
from annot.cli.options import argument, flag, one_of, option, recorded, refuse_beside, refuse_without_condition, setting
from annot.cli.output import WAITING, Output, emit, listing, progress, rendered, say, table, tabled

if TYPE_CHECKING:
    from annot.judging.exchange.collecting import PullCursor, PulledProject, PullResult
    from annot.judging.exchange.sending import SentProject
    from annot.steps.status_page import StatusPage
    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# Judge: guidelines, plan, status, forecast, returned pairs and answers.
# ----------------------------------------------------------------------------------------------------------------------


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

    Both are in the language that `judging.language` in annot.toml names.

    `adjudication` prints the instructions for adjudicators, `labels` those for people who correct labels, and `queries`
    those for rating and choosing query papers. `sources` compares the guidelines with CSFCube's, point by point.

    With --examples, save what is printed as `guidelines/FACET.md` once you have completed and read it: it is then sent.
    """
    from annot.study import guidelines as step

    one_of(screen=screen, examples=examples)
    if examples:
        from annot.publishing.report.tables import sentences
        from annot.steps.training import page_with_examples

        page, gold = page_with_examples(ws, facet)
        return Output({"facet": facet, "text": page}, page, sentences("commands.own_examples", facet=facet, gold=gold))
    words = step.words_in(ws, None)
    shown = step.shown(ws, facet, words=words)
    text = step.screen(ws, words=words) if screen else shown
    return Output({"facet": facet, "definition": step.definition_of(shown), "text": text}, text)


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
    grow: options.GrowOption = False,
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
    dry_run: options.DryRunOption = False,
) -> Output:
    """Plan who judges which pairs, in which order, and print the number of pairs per person.

    Gives each pair to as many assessors as `per_pair` in annot.toml says and balances the loads. An existing plan can
    only grow; after a push, only with --grow. `annot plan --withdraw` takes back pairs that were not sent.
    """
    from annot.steps import plan as step

    chosen = tuple(queries or ())
    if withdraw:
        refuse_beside("plan --withdraw", repeats=repeats, share=share, seed=seed, sample=sample, grow=grow)
        refuse_beside("plan --withdraw", hours=hours, cost=cost, seconds=seconds, only_new=only_new)
        count = step.withdraw(ws, queries=chosen, sent=sent, dry_run=dry_run)
        text = f"{counted(count, 'assignment')} withdrawn"
        return Output({"assignments": count}, text, ["`annot push` deletes their tasks"] if sent else [])
    refuse_without_condition("--withdraw", sent=sent)
    ws = ws.replaced("judging", repeats=repeats)
    one_of(sample=sample, hours=hours, cost=cost)
    if sample is None and hours is None and cost is None:
        refuse_without_condition("--sample, --hours or --cost", only_new=only_new)
    notes: tuple[str, ...] = ()
    if hours is not None or cost is not None:
        from annot.steps import forecast as sample_forecast

        found = sample_forecast.share_for(
            ws, hours=hours, cost=cost, seconds=seconds, queries=chosen, only_new=only_new
        )
        sample, notes = found.share, found.notes
    elif sample is None or not dry_run:
        refuse_without_condition("--hours, --cost or a dry run of --sample", seconds=seconds)
    planned = step.make(
        ws,
        queries=chosen,
        shares=step.shares_of(share or ()),
        seed=seed,
        grow=grow,
        dry_run=dry_run,
        sample=sample,
        only_new=only_new,
    )
    text = f"{table(step.LOADS, planned.loads)}\n\n{counted(planned.pairs, 'pair')}, plan {planned.sha256[:12]}"
    if dry_run and sample is not None:
        from annot.steps import forecast as sample_forecast

        with progress("drawing again") as advance:
            forecast_of_share = sample_forecast.shares(
                ws, shares=(sample,), seconds=seconds, queries=chosen, only_new=only_new, advance=advance
            )
        planned = replace(planned, forecast=forecast_of_share)
        row = sample_forecast.shares_table(forecast_of_share)
        text = f"{text}\n\n{sample_forecast.describe_shares(forecast_of_share, row)}"
    return Output(planned, text, (*notes, *planned.notes))


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

    one_of(page=page, adjudication=adjudication, returned=returned)
    if adjudication:
        return tabled(step.adjudication(ws), empty="no pairs planned yet; plan them with `annot plan`")
    if returned:
        from annot.steps import changes

        back = changes.listing(ws)
        return listing(changes.RETURNED, back, empty="no pair was returned", notes=changes.notes(back))
    from annot.publishing.report.study_tables import PROGRESS
    from annot.study.plain_pairs import STATES

    state = step.status(ws)
    notes: tuple[str, ...] = ()
    if page:
        notes = (f"page: {status_page(ws).write().as_uri()}",)
    text = rendered("status", found=state, progress=PROGRESS, words=ws.vocabulary, states=STATES)
    return Output(state, text, notes, tables=[PROGRESS.of(state.assessors)])


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
    hourly_rate: options.HourlyRateOption = None,
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
        refuse_without_condition(
            "--design", queries=design_queries, per_method=per_method, assessors=assessors, per_pair=per_pair
        )
        refuse_without_condition("--design", repeats=repeats, coefficient=coefficient, seed=seed, difference=difference)
    if not pools:
        refuse_without_condition("--pools", depth=depth, mode=mode)
    if not pools and not sample:
        refuse_without_condition("--pools or --sample", seconds=seconds)
    if not sample:
        refuse_without_condition("--sample", relevant=relevant)
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
        words = ws.vocabulary
        return Output(
            simulated, step.describe_design(simulated, words), tables=[step.DESIGN.of([simulated], words=words)]
        )
    if pools:
        refuse_beside("forecast --pools", dispute_seconds=dispute_seconds)
        with progress("comparing papers") as advance:
            drawn = step.pools(ws, depths=tuple(depth or ()), mode=mode, seconds=seconds, advance=advance)
        depths = step.depths(drawn)
        return Output(drawn, step.describe_pools(drawn, depths), tables=[depths])
    if sample:
        with progress("drawing again") as advance:
            forecast = step.shares(ws, seconds=seconds, relevant=relevant, advance=advance)
        shares = step.shares_table(forecast)
        return Output(forecast, step.describe_shares(forecast, shares), tables=[shares])
    progress_forecast = step.forecast(ws)
    words = ws.vocabulary
    tables = step.tables(progress_forecast, words, all_queries=all_queries)
    return Output(progress_forecast, step.describe(progress_forecast, tables, words), tables=tables)


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
    dry_run: options.DryRunOption = False,
) -> Output:
    """Return pairs to their assessors for a second look, with a reason. `annot push` then sends them.

    Both answers are kept: the new one counts for the final grade, the first one for agreement before adjudication. The
    assessor does not see the first answer. In the reason, say what to look at in the texts, never what others answered.
    If any row of a file is wrong, no pair is returned. `annot status --returned` lists the new answers.
    """
    from annot.steps import changes as step

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
    from annot.steps import changes as step

    empty = "all answers count; at the last pull, the server had them all, unchanged"
    return listing(commands.WITHDRAWN, step.withdrawn(ws), empty=empty)


@command("answers restore", alone=True)
def answers_restore(
    ws: "Workspace",
    query: Annotated[str | None, argument("Query id.")] = None,
    doc: Annotated[str | None, argument("Document id.")] = None,
    assessor: Annotated[str | None, option("Who gave the answer; with --all, only this person's.")] = None,
    every: Annotated[bool, flag("--all", "Restore every answer that `annot answers list` shows.")] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Make an answer that was lost on the server count again. Later pulls do not report it any more.

    Nothing on record changes or is deleted: this adds a revision of the answer.
    """
    from annot.steps import changes as step

    restored, kept = step.restore(ws, query, doc, assessor=assessor, every=every, dry_run=dry_run)
    text = f"answers that count again: {len(restored)}; kept although the server lost them: {len(kept)}"
    return Output({"restored": restored, "kept": kept}, text)


# ----------------------------------------------------------------------------------------------------------------------
# Judge: send rounds to Label Studio, fetch the answers, and run training and the sub-study.
# ----------------------------------------------------------------------------------------------------------------------


BETWEEN_BACKUPS = timedelta(minutes=10)
CHANGED = (
    "judging, adjudication: send what has changed since it was sent (names of grades, facets, guidelines, templates, "
    "settings of the screen); say why it changed."
)
ROUNDS = "Round of work: judging, adjudication, training, substudy or labels."


@command("push", server=True)
def push(
    ws: "Workspace",
    round: Annotated[str, argument(ROUNDS, metavar="[ROUND]")] = "judging",
    changed: Annotated[str | None, option(CHANGED, metavar="WHY")] = None,
    new_screen: Annotated[
        bool, flag("--new-screen", "judging, adjudication: send the screens of this version of annot.")
    ] = False,
    assessor: Annotated[
        list[str] | None,
        option(
            "training: send to this person only. labels: who corrects them. May be repeated.", shown="all who assess"
        ),
    ] = None,
    view: Annotated[str | None, option("substudy: show the abstract or the full text (abstract, full).")] = None,
    texts: Annotated[
        Path | None,
        option("substudy: a table of full texts with the columns paper_id and where.", shown="substudy/full-texts.tsv"),
    ] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Send the tasks of a round to Label Studio and print the link to each person's project. Safe to repeat.

    Lists people who have not signed up yet; push again once they have. Withdraws unanswered tasks of pairs that were
    handed to someone else, and updates unanswered tasks to the current plan. Screens stay as they were sent,
    also with a new version of the program, unless you ask for its own with --new-screen.

    adjudication: sends the disputed pairs. training: sends each assessor the next batch (one facet), and the answered
    batches again with the gold grades and the reasons. substudy: sends its pairs in one view; full texts follow once
    all abstracts are judged. labels: sends the labelled sentences of the query papers for correction. Do this before
    judging, because tasks that were sent keep their labels.
    """
    from annot.judging.exchange.collecting import RoundOptions
    from annot.steps import exchange as step

    round_options = RoundOptions(
        changed=changed, new_screen=new_screen, assessor=tuple(assessor or ()), view=view, texts=texts
    )
    with progress("sending tasks") as advance:
        pushed = step.push(ws, round=round, dry_run=dry_run, advance=advance, options=round_options)
    command_line = f"annot push {round}" + (f" --view {view}" if view else "")
    return Output(
        pushed,
        _tables_by_project(pushed.projects),
        pushed.notes,
        finding=pushed.finding(command_line.removesuffix(" judging")),
    )


@command("pull", alone=True, server=True)
def pull(
    ws: "Workspace",
    round: Annotated[str | None, argument(ROUNDS, metavar="[ROUND]", shown="every round that was sent")] = None,
    accept_deletions: options.AcceptDeletionsOption = False,
    watch: Annotated[
        bool, flag("--watch", "Keep pulling judging and adjudication until everything is judged or you press Ctrl-C.")
    ] = False,
    every: Annotated[int | None, setting("With --watch: seconds between two pulls.", min=1)] = None,
    as_json: options.JsonOption = False,
    dry_run: options.DryRunOption = False,
) -> Output | None:
    """Fetch the answers from Label Studio, of one round or of all that were sent, and print what is new.

    Every change to an answer is kept. If the server no longer has an answer, the command lists it and exits with 1; the
    answer still counts unless you pass --accept-deletions. With --watch you can run other commands in between, and the
    command waits for a server that is unreachable for a while.

    Only judging and adjudication produce grades. Corrected labels replace those of the papers, and the sentences of the
    queries change with them. --dry-run is for labels only.
    """
    from annot.judging.exchange.collecting import RoundOptions
    from annot.steps import exchange as step

    if watch:
        if accept_deletions:
            raise InputError(
                "--accept-deletions cannot be used with --watch: pull once, look at the list, then accept it"
            )
        if round is not None or dry_run:
            raise InputError("--watch pulls judging and adjudication: it cannot be used with a round or --dry-run")
        _watch(ws.replaced("watch", every=every), as_json=as_json)
        return None
    if every is not None:
        raise InputError("--every can only be used with --watch")
    round_options = RoundOptions(accept_deletions=accept_deletions, dry_run=dry_run)
    with progress("reading answers") as advance:
        pulled, refused = step.pull_sent(ws, advance=advance, options=round_options, named=round)
    command_line = f"annot pull {round or ''}".rstrip()
    findings = [*refused, *filter(None, [pulled.finding(command_line)])]
    worst = max(findings, key=lambda finding: finding.exit_code, default=None)
    notes = (*pulled.notes, *(finding.message for finding in findings if finding is not worst))
    return Output(pulled, _tables_by_project(pulled.assessors), notes, finding=worst)


def status_page(ws: "Workspace", *, every: float = 0) -> "StatusPage":
    """The page of `annot status`; every: seconds between two pulls."""
    from annot.publishing.report.status_page import StatusWords
    from annot.publishing.report.tables import sentences
    from annot.steps.status import status
    from annot.steps.status_page import StatusPage

    def words() -> StatusWords:
        state = status(ws)
        return StatusWords(state.next_command, state.next_why, sentences("status.notices", found=state))

    return StatusPage(ws, words, every=every)


def _tables_by_project(rows: "Iterable[SentProject | PulledProject]") -> str:
    """A table for each kind of project, under its name if there are several."""
    from annot.judging.exchange.sending import SentProject
    from annot.judging.exchange.servers import PARTS
    from annot.judging.rounds import round_of
    from annot.judging.rounds.labels import PulledLabels
    from annot.publishing.report import commands

    parts = {part.title: part for part in PARTS.values()}
    tables = {}
    for title, rows_of_part in groupby(rows, key=lambda row: row.part):
        group: list[Any] = list(rows_of_part)
        person = round_of(parts[title].round).person
        to_send, assigned, answered = parts[title].columns
        if isinstance(group[0], SentProject):
            tables[title] = table(commands.sent(person, to_send), group)
        elif isinstance(group[0], PulledLabels):
            tables[title] = table(commands.pulled_labels(person, assigned, answered), group)
        else:
            tables[title] = table(commands.pulled(person, assigned, answered), group)
    if len(tables) < 2:
        return "".join(tables.values())
    return "\n\n".join(f"{title}\n{text}" for title, text in tables.items())


def _watch(ws: "Workspace", *, as_json: bool) -> None:
    from annot.steps import exchange as step

    every = ws.settings.watch.every
    page = status_page(ws, every=every)

    def pull(cursors: "dict[int, PullCursor]") -> "PullResult":
        try:
            with held(ws, "pull", wait_seconds=0), progress("reading judgements") as advance:
                pulled, refused = step.pull_sent(ws, advance=advance, rounds=step.WATCHED, cursors=cursors)
        finally:
            WAITING.stop()
        finding = pulled.finding("annot pull")
        lost = () if finding is None else (f"{finding.message}; `annot pull` lists them",)
        return replace(pulled, notes=(*pulled.notes, *(error.message for error in refused), *lost))

    def finish() -> None:
        keep_backup(ws, "after pull")
        with suppress(AnnotError, OSError):
            page.finish()

    unwritten, named = "", False
    try:
        for news, trouble in step.watch(pull, every=every, wait=time.sleep, tell=say):
            if news.assessors or news.notes:
                emit("pull", Output(news, step.told(news, now=datetime.now()), news.notes), as_json=as_json)
            if news.assessors:
                keep_backup(ws, "after pull", apart=BETWEEN_BACKUPS)
            try:
                page.renew(news=bool(news.assessors), trouble=trouble)
                if not named:
                    say(f"page: {page.path.as_uri()}")
                named = True
            except (AnnotError, OSError) as error:
                # The answers come in all the same.
                if str(error) != unwritten:
                    say(f"could not write the status page: {error}")
                unwritten = str(error)
            if not as_json:
                WAITING.stay(f"{datetime.now():%H:%M:%S}  {trouble or page.line}")
    except KeyboardInterrupt:
        finish()
        say("stopped watching; what was pulled is kept")
        raise typer.Exit(130) from None
    finish()
    say("all planned judgements are in")


group("train", help="Train assessors on pairs with known grades, and check who is ready to judge.")


@command("train gold")
def train_gold(
    ws: "Workspace",
    file: Annotated[
        Path | None, argument("A table with the columns query_id, doc_id, grade and why.", shown="draw settled pairs")
    ] = None,
    per_facet: Annotated[int | None, setting("Gold pairs per facet.", min=1)] = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Choose the gold pairs for training: from a file, or drawn from the settled pairs across all grades.

    Writes them to training/gold.tsv with a reason for each grade. Assessors see the reasons: correct them in that file
    and run the command again with it.
    """
    from annot.steps import training as step

    written = step.make(ws.replaced("training", per_facet=per_facet).replaced(seed=seed), file, dry_run=dry_run)
    lacking = f"{counted(written.without_reason, 'gold pair')} without a reason"
    remedy = f"write why each grade is right, then run `annot train gold {written.path}`"
    notes = [f"{lacking}: {remedy}"] if written.without_reason else []
    return Output(written, rendered("gold", made=written), notes)


@command("train hide")
def train_hide(
    ws: "Workspace",
    share: Annotated[float, option("Hidden pairs per planned pair.", min=0.0, max=0.5)] = 0.05,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Mix pairs with known grades into people's work, to check them. `annot push` sends these pairs.

    People only get pairs that they do not know. The answers never count as judgements; `annot train report` compares
    them with the final grades.
    """
    from annot.steps import training as step

    return listing(step.HIDDEN_GOLD, step.hide(ws, share=share, dry_run=dry_run))


@command("train report", csv=True)
def train_report(ws: "Workspace") -> Output:
    """Show how well each assessor agrees with the gold grades, who has passed, and where they differ most."""
    from annot.publishing.report import commands
    from annot.steps import training as step

    report = step.report(ws)
    words = ws.vocabulary
    tables = [
        commands.TRAINING.of(report.assessors, "open", words=words),
        commands.PROBED.of(report.hidden, "hidden", words=words),
    ]
    return Output(report, rendered("training", words=words, found=report), tables=tables)


group("substudy", help="Have a few pairs judged on abstracts and on full texts, and compare the grades.")


@command("substudy draw")
def substudy_draw(
    ws: "Workspace",
    assessor: Annotated[str, option("The assessor who judges all pairs in both views.")],
    queries: Annotated[int, option("Queries per facet.", min=1)] = 3,
    candidates: Annotated[int, option("Candidates per query.", min=1)] = 5,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Draw the pairs of the sub-study: random queries of each facet, random candidates across the final grades.

    Writes the plan to substudy/plan.jsonl. Then enter the link or file name of each full text in
    substudy/full-texts.tsv. The answers never count as judgements of the collection.
    """
    from annot.steps import training as step

    planned = step.draw(
        ws.replaced(seed=seed), assessor=assessor, queries=queries, candidates=candidates, dry_run=dry_run
    )
    notes = [] if planned.new else ["these pairs were already drawn; nothing has changed"]
    return Output(planned, rendered("substudy-plan", planned=planned), notes)


@command("substudy report", csv=True)
def substudy_report(ws: "Workspace") -> Output:
    """Compare the grades on abstracts and on full texts with the final grades, with intervals and the time per pair."""
    from annot.publishing.report import commands
    from annot.steps import training as step

    report = step.substudy_report(ws)
    words = ws.vocabulary
    tables = [
        commands.COMPARED_VIEWS.of(report.compared, "grades", words=words),
        commands.VIEWS.of(report.views, "times", words=words),
    ]
    return Output(report, rendered("substudy", words=words, found=report), tables=tables)
