"""The study at this moment, and when and at what cost it ends, from what has been pulled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from annot.judging.progress import Look, progress_of
from annot.publishing.report.forecast import describe as describe
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace


def forecast(ws: Workspace, *, clock: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> Look:
    """Look; days are those of the clock's time zone. Raises MissingInput when nothing is planned."""
    return progress_of(read_snapshot(ws), now=clock())
