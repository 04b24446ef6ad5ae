"""Judge: send rounds to Label Studio, fetch the answers, and run training and the sub-study."""

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
from annot.cli.commands import command, group, held, keep_backup
from annot.cli.options import (
    AcceptDeletionsOption,
    DryRunOption,
    JsonOption,
    SeedOption,
    argument,
    flag,
    option,
    setting,
)
from annot.cli.output import Output, emit, listing, progress, rendered, say, table
from annot.cli.waiting import WAITING

if TYPE_CHECKING:
    from annot.judging.exchange.collecting import Seen
    from annot.judging.exchange.recording import Pulled, PulledProject
    from annot.judging.exchange.sending import SentProject
    from annot.steps.status_page import StatusPage
    from annot.study.workspace import Workspace


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
    dry_run: DryRunOption = False,
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
    from annot.judging.exchange.rounds import Wishes
    from annot.steps import push as step

    wishes = Wishes(
        changed=changed,
        new_screen=new_screen,
        assessor=tuple(assessor or ()),
        view=view,
        texts=texts,
    )
    with progress("sending tasks") as advance:
        pushed = step.push(ws, round=round, dry_run=dry_run, advance=advance, wishes=wishes)
    command_line = f"annot push {round}" + (f" --view {view}" if view else "")
    return Output(
        pushed, _by_part(pushed.projects), pushed.notes, finding=pushed.finding(command_line.removesuffix(" judging"))
    )


@command("pull", alone=True, server=True)
def pull(
    ws: "Workspace",
    round: Annotated[str | None, argument(ROUNDS, metavar="[ROUND]", shown="every round that was sent")] = None,
    accept_deletions: AcceptDeletionsOption = False,
    watch: Annotated[
        bool, flag("--watch", "Keep pulling judging and adjudication until everything is judged or you press Ctrl-C.")
    ] = False,
    every: Annotated[int | None, setting("With --watch: seconds between two pulls.", min=1)] = None,
    as_json: JsonOption = False,
    dry_run: DryRunOption = False,
) -> Output | None:
    """Fetch the answers from Label Studio, of one round or of all that were sent, and print what is new.

    Every change to an answer is kept. If the server no longer has an answer, the command lists it and exits with 1; the
    answer still counts unless you pass --accept-deletions. With --watch you can run other commands in between, and the
    command waits for a server that is unreachable for a while.

    Only judging and adjudication produce grades. Corrected labels replace those of the papers, and the sentences of the
    queries change with them. --dry-run is for labels only.
    """
    from annot.judging.exchange.rounds import Wishes
    from annot.steps import pull as step

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
    wishes = Wishes(accept_deletions=accept_deletions, dry_run=dry_run)
    with progress("reading answers") as advance:
        pulled, refused = step.pull_sent(ws, advance=advance, wishes=wishes, named=round)
    command_line = f"annot pull {round or ''}".rstrip()
    findings = [*refused, *filter(None, [pulled.finding(command_line)])]
    worst = max(findings, key=lambda one: one.exit_code, default=None)
    notes = (*pulled.notes, *(one.message for one in findings if one is not worst))
    return Output(pulled, _by_part(pulled.assessors), notes, finding=worst)


def status_page(ws: "Workspace", *, every: float = 0) -> "StatusPage":
    """The page of `annot status`; every: seconds between two pulls."""
    from annot.publishing.report.status_page import StatusWords
    from annot.publishing.report.words import sentences
    from annot.steps.status import status
    from annot.steps.status_page import StatusPage

    def said() -> StatusWords:
        found = status(ws)
        return StatusWords(found.next_command, found.next_why, sentences("status.notices", found=found))

    return StatusPage(ws, said, every=every)


def _by_part(rows: "Iterable[SentProject | PulledProject]") -> str:
    """A table for each kind of project, under its name if there are several."""
    from annot.judging.exchange.rounds import PARTS
    from annot.judging.exchange.sending import SentProject
    from annot.judging.rounds import round_of
    from annot.judging.rounds.labels import PulledLabels
    from annot.publishing.report import commands

    parts = {part.title: part for part in PARTS.values()}
    tables = {}
    for title, own in groupby(rows, key=lambda row: row.part):
        several: list[Any] = list(own)
        person = round_of(parts[title].round).person
        to_send, assigned, answered = parts[title].columns
        if isinstance(several[0], SentProject):
            tables[title] = table(commands.sent(person, to_send), several)
        elif isinstance(several[0], PulledLabels):
            tables[title] = table(commands.pulled_labels(person, assigned, answered), several)
        else:
            tables[title] = table(commands.pulled(person, assigned, answered), several)
    if len(tables) < 2:
        return "".join(tables.values())
    return "\n\n".join(f"{title}\n{text}" for title, text in tables.items())


def _watch(ws: "Workspace", *, as_json: bool) -> None:
    from annot.steps import pull as step

    every = ws.settings.watch.every
    page = status_page(ws, every=every)

    def pull(seen: "dict[int, Seen]") -> "Pulled":
        try:
            with held(ws, "pull", wait_seconds=0), progress("reading judgements") as advance:
                pulled, refused = step.pull_sent(ws, advance=advance, rounds=step.WATCHED, seen=seen)
        finally:
            WAITING.stop()
        finding = pulled.finding("annot pull")
        lost = () if finding is None else (f"{finding.message}; `annot pull` lists them",)
        return replace(pulled, notes=(*pulled.notes, *(error.message for error in refused), *lost))

    def show(pulled: "Pulled") -> None:
        emit("pull", Output(pulled, step.told(pulled, now=datetime.now()), pulled.notes), as_json=as_json)

    unwritten, named = "", False

    def after(news: bool, trouble: str) -> None:
        nonlocal unwritten, named
        if news:
            keep_backup(ws, "after pull", apart=BETWEEN_BACKUPS)
        try:
            page.renew(news=news, trouble=trouble)
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

    def finish() -> None:
        keep_backup(ws, "after pull")
        with suppress(AnnotError, OSError):
            page.finish()

    try:
        step.watch(pull, every=every, wait=time.sleep, show=show, tell=say, after=after)
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
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Choose the gold pairs for training: from a file, or drawn from the settled pairs across all grades.

    Writes them to training/gold.tsv with a reason for each grade. Assessors see the reasons: correct them in that file
    and run the command again with it.
    """
    from annot.steps import training as step

    made = step.make(ws.replaced("training", per_facet=per_facet).replaced(seed=seed), file, dry_run=dry_run)
    notes = [f"{counted(made.without_reason, 'gold pair')} without a reason"] if made.without_reason else []
    return Output(made, rendered("gold", made=made), notes)


@command("train hide")
def train_hide(
    ws: "Workspace",
    share: Annotated[float, option("Hidden pairs per planned pair.", min=0.0, max=0.5)] = 0.05,
    dry_run: DryRunOption = False,
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

    found = step.report(ws)
    tables = [commands.TRAINING.of(found.assessors, "open"), commands.PROBED.of(found.hidden, "hidden")]
    return Output(found, rendered("training", found=found), tables=tables)


group("substudy", help="Have a few pairs judged on abstracts and on full texts, and compare the grades.")


@command("substudy draw")
def substudy_draw(
    ws: "Workspace",
    assessor: Annotated[str, option("The assessor who judges all pairs in both views.")],
    queries: Annotated[int, option("Queries per facet.", min=1)] = 3,
    candidates: Annotated[int, option("Candidates per query.", min=1)] = 5,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Draw the pairs of the sub-study: random queries of each facet, random candidates across the final grades.

    Writes the plan to substudy/plan.jsonl. Then enter the link or file name of each full text in
    substudy/full-texts.tsv. The answers never count as judgements of the collection.
    """
    from annot.steps import substudy as step

    planned = step.draw(
        ws.replaced(seed=seed), assessor=assessor, queries=queries, candidates=candidates, dry_run=dry_run
    )
    notes = [] if planned.new else ["these pairs were already drawn; nothing has changed"]
    return Output(planned, rendered("substudy-plan", planned=planned), notes)


@command("substudy report", csv=True)
def substudy_report(ws: "Workspace") -> Output:
    """Compare the grades on abstracts and on full texts with the final grades, with intervals and the time per pair."""
    from annot.publishing.report import commands
    from annot.steps import substudy as step

    found = step.report(ws)
    tables = [commands.COMPARED_VIEWS.of(found.compared, "grades"), commands.VIEWS.of(found.views, "times")]
    return Output(found, rendered("substudy", found=found), tables=tables)
