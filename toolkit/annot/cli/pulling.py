"""Judge: the answers back from Label Studio, once or as they come."""

import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from annot.base.errors import AnnotError, InputError
from annot.cli.commands import command, held, keep_backup
from annot.cli.options import AcceptDeletionsOption, JsonOption, flag, option, setting
from annot.cli.output import Answer, emit, progress, say, table
from annot.cli.waiting import WAITING

if TYPE_CHECKING:
    from annot.judging.exchange.collecting import Seen
    from annot.steps.status_page import StatusPage
    from annot.study.workspace import Workspace

BETWEEN_BACKUPS = timedelta(minutes=10)


@command("pull", alone=True, server=True)
def pull(
    ws: "Workspace",
    accept_deletions: AcceptDeletionsOption = False,
    watch: Annotated[bool, flag("--watch", "Pull again and again, until all is judged or Ctrl-C.")] = False,
    every: Annotated[int | None, setting("Seconds from one pull to the next, with --watch.", min=1)] = None,
    hook: Annotated[
        str | None,
        option(
            "With --watch: pull as soon as the server calls this address of this machine, too.", metavar="HOST:PORT"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer | None:
    """Fetch the judgements from Label Studio and print what is new; every answer and every change is kept.

    Answers that counted and that the server no longer has are listed (exit code 1); they count on until you accept it.
    With --watch other commands run in between, and a server that is away for a while is waited for.
    """
    from annot.steps import pull as step

    if watch:
        if accept_deletions:
            raise InputError("--accept-deletions is for one pull, whose list you have seen: leave --watch out")
        _watch(ws.replaced("watch", every=every), hook=hook, as_json=as_json)
        return None
    if every is not None or hook is not None:
        raise InputError("--every and --hook need --watch")
    with progress("reading judgements") as advance:
        pulled = step.pull(ws, advance=advance, accept_deletions=accept_deletions)
    text = table("people.pulled", pulled.assessors, who=["assessor"], pairs=["assigned", "judged"])
    return Answer(pulled, text, pulled.notes, finding=pulled.finding("annot pull"))


def status_page(ws: "Workspace", *, every: float = 0) -> "StatusPage":
    """The page of `annot status`; every: seconds between two pulls."""
    from annot.publishing.report.status_page import Said
    from annot.publishing.report.words import sentences
    from annot.steps.status import status
    from annot.steps.status_page import StatusPage

    def said() -> Said:
        found = status(ws)
        return Said(found.next_command, found.next_why, sentences("status.notices", found=found))

    return StatusPage(ws, said, every=every)


def _watch(ws: "Workspace", *, hook: str | None, as_json: bool) -> None:
    from annot.judging.exchange.hints import listening
    from annot.judging.exchange.recording import Pulled
    from annot.steps import pull as step
    from annot.steps.watch import watch

    every = ws.settings.watch.every
    page = status_page(ws, every=every)

    def pull(seen: "dict[int, Seen]") -> Pulled:
        try:
            with held(ws, "pull", wait_seconds=0), progress("reading judgements") as advance:
                pulled = step.pull(ws, advance=advance, seen=seen)
        finally:
            WAITING.stop()
        finding = pulled.finding("annot pull")
        lost = () if finding is None else (f"{finding.message}; `annot pull` lists them",)
        return replace(pulled, notes=(*pulled.notes, *lost))

    def show(pulled: Pulled) -> None:
        emit("pull", Answer(pulled, step.told(pulled, now=datetime.now()), pulled.notes), as_json=as_json)

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
        with listening(ws, hook) if hook else nullcontext(time.sleep) as wait:
            watch(pull, every=every, wait=wait, show=show, tell=say, after=after)
    except KeyboardInterrupt:
        finish()
        say("stopped watching; what was pulled is kept")
        raise typer.Exit(130) from None
    finish()
    say("every planned judgement is there")
