"""Looking at a study again and again while judging goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from annot.errors import BusyError, StudioError
from annot.study.progress import Look, progress_of
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace

Pull = Callable[[], tuple[int, tuple[str, ...]]]
"""Brings judgements in; returns how many were new or changed, and what a person should know."""


def watch(
    ws: Workspace,
    *,
    pull: Pull | None,
    once: bool,
    show: Callable[[Look], None],
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Look, show, wait, and again, until everything is judged; `once` looks once.

    pull: brings judgements in; None looks at the store alone.
    A server that is away for a while after the first look is waited for. Where another command is changing the study,
    the store alone is looked at until it has ended.
    """
    first = True
    while True:
        new: int | None = None
        notes: tuple[str, ...] = ()
        try:
            if pull is not None:
                new, notes = pull()
        except BusyError as error:
            notes = (f"{error.message}; this is what was pulled before",)
        except StudioError as error:
            if first:
                raise
            notes = (f"{error.message}; this is what was pulled before",)
        seen = progress_of(
            read_snapshot(ws),
            now=clock(),
            new=new,
            notes=notes,
        )
        show(seen)
        if once or seen.judged == seen.assigned:
            return
        first = False
        sleep(ws.settings.watch.every)
