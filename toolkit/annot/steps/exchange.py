"""Rounds out to Label Studio, and the answers back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from annot.base.errors import AnnotError, BusyError, MissingInput, StudioError
from annot.base.names import counted
from annot.base.records import Advance
from annot.judging.exchange import audit, collecting, outgoing
from annot.judging.exchange.collecting import NO_OPTIONS, Cursors, Round, RoundOptions, pull_round
from annot.judging.exchange.sending import PushResult, SentProject, send_outgoing
from annot.judging.rounds import ROUNDS, check_options, round_of
from annot.publishing.so_far import write_pages
from annot.store import projects, shown
from annot.study import outcome, provenance, shown_versions
from annot.study.outcome import rushed_pairs
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# A round out to Label Studio: one project for each person, whatever the round asks.
# ----------------------------------------------------------------------------------------------------------------------


def push(
    ws: Workspace, *, round: str, dry_run: bool, advance: Advance, options: RoundOptions = NO_OPTIONS
) -> PushResult:
    """Send the unsent tasks of the round to everyone who has signed up.

    With `dry_run` the tasks are made and checked, and nothing is sent.
    """
    chosen = round_of(round)
    check_options(options, allowed=chosen.option_names, command=f"annot push {chosen.name}")
    ws = ws.as_written() if chosen.noted_as else ws.as_recorded()
    states = provenance.states_of(ws) if chosen.noted_as else {}
    with ws.opened() as held:
        if chosen.noted_as:
            # Before any task is made: a grade that is given may have no name any more.
            with held.reading() as session:
                shown_versions.refuse_unexplained(shown_versions.changes_of(held, session), options.changed)
        prepared = chosen.prepare(held, options, dry_run=dry_run)
        if not prepared.checked:
            outgoing.check_outgoing(held, prepared.outgoing)
        pushed = PushResult((), tuple(prepared.notes), prepared.unreachable)
        for part in chosen.parts:
            down = {server.assessor for server in pushed.unreachable}
            ready = [project for project in prepared.outgoing if project.part == part and project.assessor not in down]
            if not ready:
                continue
            if not dry_run:
                held.write(chosen.before_sending, ready)
            sent = send_outgoing(held, ready, dry_run=dry_run, advance=advance, new_versions=prepared.new_versions)
            pushed = PushResult(
                (*pushed.projects, *sent.projects),
                (*pushed.notes, *sent.notes),
                (*pushed.unreachable, *sent.unreachable),
                (*pushed.without_account, *sent.without_account),
            )
        if not prepared.outgoing and prepared.new_versions and not dry_run:
            # Nobody is left to send it to; it is in force all the same.
            held.write(shown.record_versions, prepared.new_versions)
    if chosen.noted_as and prepared.is_made and not (dry_run or pushed.unreachable):
        provenance.note(ws, chosen.noted_as, states, screens=states["screens"], without_account=pushed.without_account)
    return _with_withdrawn(pushed, prepared.withdrawn)


def _with_withdrawn(pushed: PushResult, withdrawn_before: Sequence[SentProject]) -> PushResult:
    """Add the tasks that were withdrawn before sending to the row of each person, or as a new row."""
    withdrawn = {row.assessor: row for row in withdrawn_before}
    rows = [
        replace(row, withdrawn=row.withdrawn + withdrawn.pop(row.assessor).withdrawn)
        if row.assessor in withdrawn
        else row
        for row in pushed.projects
    ]
    return replace(pushed, projects=(*rows, *(row for row in withdrawn.values() if row.withdrawn)))


# ----------------------------------------------------------------------------------------------------------------------
# The answers of the rounds back from Label Studio, once, or again and again while people judge.
#
# Every payload is kept, a changed annotation is a new revision, and no answer is lost.
# ----------------------------------------------------------------------------------------------------------------------


WATCHED = (ROUNDS["judging"], ROUNDS["adjudication"])
"""The rounds that a watch waits for."""


def pull(
    ws: Workspace,
    *,
    round: str,
    advance: Advance,
    options: RoundOptions = NO_OPTIONS,
    cursors: Cursors | None = None,
) -> collecting.PullResult:
    """Fetch the annotations of every project of the round, and record the answers and their consequences.

    cursors: as `exchange.collecting.collect` keeps it: only what has changed since is brought back.
    """
    chosen = round_of(round)
    check_options(options, allowed=chosen.option_names, command=f"annot pull {chosen.name}")
    with ws.opened() as held:
        pulled = pull_round(held, chosen, options, advance=advance, cursors=cursors)
        if options.dry_run or (cursors is not None and not pulled.assessors):
            return pulled
        notes, still_open = chosen.after_pull(held)
    return replace(pulled, notes=(*pulled.notes, *notes), open=still_open)


def pull_sent(
    ws: Workspace,
    *,
    advance: Advance,
    options: RoundOptions = NO_OPTIONS,
    rounds: Sequence[Round] = tuple(ROUNDS.values()),
    named: str | None = None,
    cursors: Cursors | None = None,
) -> tuple[collecting.PullResult, tuple[AnnotError, ...]]:
    """Pull every round that was sent, or the one `named`; an error of one round does not stop the others.

    Returns the answers, with the name of its round before each note if there are several, and the errors.
    Raises an error if no round brought anything.
    """
    if named is not None:
        return _pull_with_pages(
            ws, pull(ws, round=named, advance=advance, options=options, cursors=cursors), options
        ), ()
    check_options(options, allowed={"accept_deletions"}, command="annot pull")
    pulls: list[tuple[Round, collecting.PullResult]] = []
    refused: list[AnnotError] = []
    for round in _sent(ws, rounds):
        of_round = options if "accept_deletions" in round.option_names else NO_OPTIONS
        try:
            pulls.append((round, pull(ws, round=round.name, advance=advance, options=of_round, cursors=cursors)))
        except AnnotError as error:
            refused.append(error)
    if not pulls:
        raise refused[0]
    if cursors is not None and any(pulled.assessors for _, pulled in pulls):
        # A round of which nothing came is waited for all the same.
        pulls = [
            (round, replace(pulled, open=round.after_pull(ws)[1]) if pulled.open is None else pulled)
            for round, pulled in pulls
        ]
    pulled = _pull_with_pages(ws, _joined_pulls(pulls), options)
    # On a server that has only some of the rounds, the others are not missed.
    return pulled, tuple(error for error in refused if not isinstance(error, MissingInput))


def _pull_with_pages(ws: Workspace, pulled: collecting.PullResult, options: RoundOptions) -> collecting.PullResult:
    """Pull, and add a note on answers that came faster than anyone can read. Writes the pages of people's decisions
    so far; a page that cannot be written is a note, and the answers are in all the same."""
    if options.dry_run or not pulled.assessors:
        return pulled
    notes = list(pulled.notes)
    with ws.opened() as held:
        with held.reading() as session:
            notes += [
                f"{assessor}; {assessor.do}"
                for assessor in audit.rushed_of(rushed_pairs(session, outcome.outcome_of(session, held.settings)))
            ]
        try:
            write_pages(held, now=datetime.now().astimezone())
        except (AnnotError, OSError) as error:
            faults = "; ".join(getattr(error, "faults", ()))
            notes.append(f"the pages of grades so far are not written: {error}{faults and f' ({faults})'}")
    return replace(pulled, notes=tuple(notes))


def watch(
    pull: Callable[[Cursors], collecting.PullResult],
    *,
    every: float,
    wait: Callable[[float], None],
    tell: Callable[[str], None],
) -> Iterator[tuple[collecting.PullResult, str]]:
    """Pull, wait and repeat, until every planned judgement is there.

    Yields after each pull the people with something new and the notes that were not there before, and the reason why
    the pull did not succeed, or "".

    pull: takes the cursors of earlier pulls, as `exchange.collecting.collect` keeps them.
    every: seconds from one pull to the next; wait: waits at most so long.

    A server that is away after the first pull is waited for, and so is another command that is changing the study; what
    is waited for is reported once. Raises StudioError if the first pull finds no server.
    """
    cursors: Cursors = {}
    shown: set[str] = set()
    first, trouble = True, ""
    while True:
        try:
            pulled = pull(cursors)
        except (BusyError, StudioError) as error:
            if first and isinstance(error, StudioError):
                raise
            # It may have stopped half-way: the next pull looks at everything.
            cursors.clear()
            before, trouble = trouble, "busy" if isinstance(error, BusyError) else "away"
            if trouble != before:
                tell(f"{error.message}; trying again every {every:g} s")
            yield collecting.PullResult((), ()), error.message
        else:
            if trouble:
                tell("pulling again")
            first, trouble = False, ""
            notes = tuple(note for note in pulled.notes if note not in shown)
            shown.update(notes)
            rows = tuple(row for row in pulled.assessors if row.new or row.changed)
            yield collecting.PullResult(rows, notes, open=pulled.open), ""
            if pulled.open == 0:
                return
        wait(every)


def told(pulled: collecting.PullResult, *, now: datetime) -> str:
    """Line on the answers of a pull; empty if there are none."""
    if not pulled.assessors:
        return ""
    brought = (
        f"{row.assessor} {row.new} new" + (f" and {row.changed} changed" if row.changed else "")
        for row in pulled.assessors
    )
    return f"{now:%H:%M:%S}  {', '.join(brought)}; {counted(pulled.open or 0, 'answer')} to come"


def _sent(ws: Workspace, rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Rounds with tasks that were sent; judging, if there are none."""
    stored = {project.round for project in ws.read(projects.sent_projects)}
    return tuple(round for round in rounds if stored & {part.stored for part in round.parts}) or (ROUNDS["judging"],)


def _joined_pulls(pulls: Sequence[tuple[Round, collecting.PullResult]]) -> collecting.PullResult:
    """Several rounds as one pull, with the name of its round before each note if there are several."""
    named = [replace(pulled, notes=tuple(f"{round.name}: {note}" for note in pulled.notes)) for round, pulled in pulls]
    return collecting.joined(named if len(pulls) > 1 else [pulled for _, pulled in pulls])
