"""Pulling again and again while people judge."""

from __future__ import annotations

from collections.abc import Callable

from annot.base.errors import BusyError, StudioError
from annot.judging.exchange.collecting import Seen
from annot.judging.exchange.recording import Pulled


def watch(
    pull: Callable[[dict[int, Seen]], Pulled],
    *,
    every: float,
    wait: Callable[[float], None],
    show: Callable[[Pulled], None],
    tell: Callable[[str], None],
    after: Callable[[bool, str], None],
) -> None:
    """Pull, show what is new, wait, and again, until every planned judgement is there.

    pull: gets what earlier pulls have seen, as `exchange.collecting.collect` keeps it.
    every: seconds from one pull to the next; wait: waits at most so long.
    show: is given the people with something new, and the notes that were not shown before.
    after: called after each pull: whether it brought something, and why it did not succeed, or "".

    A server that is away after the first pull is waited for, and so is another command that is changing the study; what
    is waited for is told once. Raises StudioError where the first pull finds no server.
    """
    seen: dict[int, Seen] = {}
    shown: set[str] = set()
    first, trouble = True, ""
    while True:
        try:
            pulled = pull(seen)
        except (BusyError, StudioError) as error:
            if first and isinstance(error, StudioError):
                raise
            # It may have stopped half-way: the next pull looks at everything.
            seen.clear()
            before, trouble = trouble, "busy" if isinstance(error, BusyError) else "away"
            if trouble != before:
                tell(f"{error.message}; trying again every {every:g} s")
            after(False, error.message)
        else:
            if trouble:
                tell("pulling again")
            first, trouble = False, ""
            notes = tuple(note for note in pulled.notes if note not in shown)
            shown.update(notes)
            rows = tuple(row for row in pulled.assessors if row.new or row.changed)
            if rows or notes:
                show(Pulled(rows, notes, open=pulled.open))
            after(bool(rows), "")
            if pulled.open == 0:
                return
        wait(every)
