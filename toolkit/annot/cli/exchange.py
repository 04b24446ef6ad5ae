"""Judge: a round out to Label Studio, the answers back once or as they come, and judging beside the collection."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.base.errors import AnnotError, InputError
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
from annot.cli.output import Output, emit, progress, rendered, say, table
from annot.cli.waiting import WAITING

if TYPE_CHECKING:
    from annot.judging.exchange.collecting import Seen
    from annot.judging.exchange.recording import Pulled, PulledProject
    from annot.judging.exchange.sending import SentProject
    from annot.steps.status_page import StatusPage
    from annot.study.workspace import Workspace


BETWEEN_BACKUPS = timedelta(minutes=10)
ROUNDS = "judging, adjudication, training, substudy or labels."


@command("push", server=True)
def push(
    ws: "Workspace",
    round: Annotated[str, argument(ROUNDS, metavar="[ROUND]")] = "judging",
    guidelines_changed: Annotated[
        str | None, option("Of judging: send guidelines that have changed, and why they have.", metavar="WHY")
    ] = None,
    assessor: Annotated[
        list[str] | None,
        option("Of training: only this person. Of labels: who corrects them. May be repeated.", shown="all who assess"),
    ] = None,
    view: Annotated[str | None, option("Of substudy: abstract or full, what the pairs are judged on.")] = None,
    texts: Annotated[
        Path | None,
        option("Of substudy: a table with the columns paper_id and where.", shown="substudy/full-texts.tsv"),
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Send a round's tasks to Label Studio and print the link to each person's project; safe to repeat.

    People who have not signed up yet are named and get theirs the next time. Unanswered tasks of pairs that were handed
    on are withdrawn, and unanswered tasks show their place in the plan as it is now.

    adjudication: the disputed pairs. training: to each assessor the next batch, a facet, and the answered batches again
    with the gold grade and why. substudy: its pairs in one view; the full texts follow when all abstracts are judged.
    labels: the labelled sentences of the query papers, to be corrected; before judging, as what was sent then stays.
    """
    from annot.judging.exchange.rounds import Wishes
    from annot.steps import push as step

    wishes = Wishes(guidelines_changed=guidelines_changed, assessor=tuple(assessor or ()), view=view, texts=texts)
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
        bool, flag("--watch", "Pull judging and adjudication again and again, until all is judged or Ctrl-C.")
    ] = False,
    every: Annotated[int | None, setting("Seconds from one pull to the next, with --watch.", min=1)] = None,
    as_json: JsonOption = False,
    dry_run: DryRunOption = False,
) -> Output | None:
    """Fetch the answers of every round that was sent, or of one, and print what is new; every change is kept.

    Answers that counted and that the server no longer has are listed (exit code 1); they count on until you accept it.
    With --watch other commands run in between, and a server that is away for a while is waited for.

    Only the answers of judging and adjudication count. Corrected labels become those of the papers, and the queries'
    sentences follow; --dry-run is for them alone.
    """
    from annot.judging.exchange.rounds import Wishes
    from annot.steps import pull as step

    if watch:
        if accept_deletions:
            raise InputError("--accept-deletions is for one pull, whose list you have seen: leave --watch out")
        if round is not None or dry_run:
            raise InputError("--watch is for judging and adjudication together: leave round and --dry-run out")
        _watch(ws.replaced("watch", every=every), as_json=as_json)
        return None
    if every is not None:
        raise InputError("--every needs --watch")
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
    """A table for each kind of project, under its name where there are several."""
    from annot.judging.exchange.recording import PulledProject
    from annot.judging.exchange.rounds import PARTS
    from annot.judging.exchange.sending import SentProject
    from annot.judging.rounds import round_of
    from annot.judging.rounds.labels import PulledLabels
    from annot.publishing.report import commands

    parts = {part.title: part for part in PARTS.values()}
    tables = {}
    for title, own in groupby(rows, key=lambda row: row.part):
        several = list(own)
        person = round_of(parts[title].round).person
        to_send, assigned, answered = parts[title].columns
        sent = [one for one in several if isinstance(one, SentProject)]
        pulled = [one for one in several if isinstance(one, PulledProject)]
        labels = [one for one in pulled if isinstance(one, PulledLabels)]
        if sent:
            tables[title] = table(commands.sent(person, to_send), sent)
        elif labels:
            tables[title] = table(commands.pulled_labels(person, assigned, answered), labels)
        else:
            tables[title] = table(commands.pulled(person, assigned, answered), pulled)
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
                say(f"the page is not written: {error}")
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
    say("every planned judgement is there")


group("train", help="Train assessors on pairs whose grade is known, and see who may judge.")


@command("train gold")
def train_gold(
    ws: "Workspace",
    file: Annotated[
        Path | None, argument("A table with query_id, doc_id, grade and why.", shown="settled pairs, drawn")
    ] = None,
    per_facet: Annotated[int | None, setting("Gold pairs of each facet.", min=1)] = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Make the gold pairs: those of a file, or settled pairs of all grades, drawn; also written to training/gold.tsv.

    Look at the reasons in that file, better them, and read it in again: assessors see them.
    """
    from annot.steps import training as step

    made = step.make(ws.replaced("training", per_facet=per_facet).replaced(seed=seed), file, dry_run=dry_run)
    notes = [f"{made.without_reason} gold pair(s) have no reason"] if made.without_reason else []
    return Output(made, step.describe(made), notes)


@command("train hide")
def train_hide(
    ws: "Workspace",
    share: Annotated[float, option("Hidden pairs per pair of the plan.", min=0.0, max=0.5)] = 0.05,
    dry_run: DryRunOption = False,
) -> Output:
    """Add settled pairs, unannounced, to the pairs of assessors who do not know them; `annot push` sends them.

    Their answers are compared with the final grades in `annot train report`, and never count as judgements.
    """
    from annot.steps import training as step

    hidden = step.hide(ws, share=share, dry_run=dry_run)
    return Output(hidden, table(step.HIDDEN_GOLD, hidden))


@command("train report", csv=True)
def train_report(ws: "Workspace") -> Output:
    """Print how each assessor agrees with the gold grades, who has passed, and the pairs furthest from gold."""
    from annot.steps import training as step

    found = step.report(ws)
    return Output(found, rendered("training", found=found))


group("substudy", help="Judge a few pairs on abstracts and on full texts, beside the collection, and compare.")


@command("substudy draw")
def substudy_draw(
    ws: "Workspace",
    assessor: Annotated[str, option("Who judges all pairs, in both views.")],
    queries: Annotated[int, option("Queries of each facet.", min=1)] = 3,
    candidates: Annotated[int, option("Candidates of each query.", min=1)] = 5,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Draw the pairs: queries of all types of papers, candidates at random across the final grades.

    The plan goes to substudy/plan.jsonl. Write where each full text is, a link or a file's name, into
    substudy/full-texts.tsv. None of the answers counts as a judgement of the collection.
    """
    from annot.steps import substudy as step

    planned = step.draw(
        ws.replaced(seed=seed), assessor=assessor, queries=queries, candidates=candidates, dry_run=dry_run
    )
    notes = [] if planned.new else ["these pairs were drawn before; nothing is changed"]
    return Output(planned, step.describe_plan(planned), notes)


@command("substudy report", csv=True)
def substudy_report(ws: "Workspace") -> Output:
    """Print how abstracts, full texts and final grades agree, with intervals, and the time a pair takes."""
    from annot.steps import substudy as step

    found = step.report(ws)
    return Output(found, rendered("substudy", found=found))
