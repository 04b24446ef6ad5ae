"""A round out to Label Studio: one project for each person, whatever the round asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annot.base.records import Advance
from annot.judging.exchange.outgoing import check_outgoing
from annot.judging.exchange.rounds import NO_WISHES, Prepared, Wishes
from annot.judging.exchange.sending import Pushed, SentProject, send_outgoing
from annot.judging.rounds import check_wishes, round_of
from annot.publishing.report.words import sentences
from annot.store.shown import record_versions
from annot.study.guidelines import left_out
from annot.study.made import note, states_of
from annot.study.shown_changes import changes_of, refuse_unexplained
from annot.study.workspace import Workspace


def push(ws: Workspace, *, round: str, dry_run: bool, advance: Advance, wishes: Wishes = NO_WISHES) -> Pushed:
    """Send what the round asks and is not there yet, to everyone who has signed up.

    With `dry_run` the tasks are made and checked, and nothing is sent.
    """
    chosen = round_of(round)
    check_wishes(wishes, allowed=chosen.wishes, command=f"annot push {chosen.name}")
    ws = ws.as_written() if chosen.makes_collection else ws.as_recorded()
    states = states_of(ws) if chosen.noted_as else {}
    with ws.opened() as held:
        if chosen.makes_collection:
            # Before any task is made: a grade that is given may have no name any more.
            with held.reading() as session:
                refuse_unexplained(changes_of(held, session), wishes.changed)
        prepared = chosen.prepare(held, wishes, dry_run=dry_run)
        if not prepared.checked:
            check_outgoing(held, prepared.outgoing)
        pushed = Pushed((), tuple(prepared.notes), prepared.unreachable)
        for part in chosen.parts:
            away = {one.assessor for one in pushed.unreachable}
            mine = [one for one in prepared.outgoing if one.part == part and one.assessor not in away]
            if not mine:
                continue
            if not dry_run:
                with held.writing() as session:
                    chosen.before_sending(session, mine)
            sent = send_outgoing(held, mine, dry_run=dry_run, advance=advance, new_versions=prepared.new_versions)
            pushed = Pushed(
                (*pushed.projects, *sent.projects),
                (*pushed.notes, *sent.notes),
                (*pushed.unreachable, *sent.unreachable),
                (*pushed.without_account, *sent.without_account),
            )
        if not prepared.outgoing and prepared.new_versions and not dry_run:
            # Nobody is left to send it to; it is in force all the same.
            with held.writing() as session:
                record_versions(session, prepared.new_versions)
    if chosen.noted_as and prepared.is_made and not (dry_run or pushed.unreachable):
        note(ws, chosen.noted_as, states, screens=states["screens"], without_account=pushed.without_account)
    return _with(replace(pushed, notes=(*pushed.notes, *_examples_left_out(ws, prepared))), prepared.before)


def _examples_left_out(ws: Workspace, prepared: Prepared) -> tuple[str, ...]:
    """A note on guidelines that are sent for the first time, or with a change, without annot's own examples."""
    pages = [version.subject for version in prepared.new_versions if version.part == "guidelines"]
    without = left_out(ws, pages)
    return sentences("commands.examples_left_out", pages=without | left_out(ws, ["general"])) if without else ()


def _with(pushed: Pushed, before: Sequence[SentProject]) -> Pushed:
    """With what was withdrawn before anything was sent: in each person's row, or in one of its own."""
    withdrawn = {row.assessor: row for row in before}
    rows = [
        replace(row, withdrawn=row.withdrawn + withdrawn.pop(row.assessor).withdrawn)
        if row.assessor in withdrawn
        else row
        for row in pushed.projects
    ]
    return replace(pushed, projects=(*rows, *(row for row in withdrawn.values() if row.withdrawn)))
