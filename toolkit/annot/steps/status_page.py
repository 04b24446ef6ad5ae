"""The page that a lead leaves open while people judge: `.annot/status.html`, rewritten after each pull.

It is in the folder of what can be made again, so it is in no backup and no release, and git ignores it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path

from annot.base.names import counted
from annot.judging import progress, states
from annot.publishing.browse_page import pages_in, with_links
from annot.publishing.report import status_page, terminal
from annot.publishing.report.notices import RESTS_ON, notices
from annot.study.snapshot import snapshot_of
from annot.study.workspace import Workspace, write_file

PAGE = "status.html"
MINUTE = 60.0
"""Seconds between two pages at least."""
_WRITTEN = re.compile(r'data-written="([^"]+)"')
HEAD = 500
"""Characters in which a page says when it was written."""


class StatusPage:
    """The page of one study, as one process writes it."""

    def __init__(
        self,
        ws: Workspace,
        said: Callable[[], status_page.StatusWords],
        *,
        every: float = MINUTE,
        clock: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        zone: tzinfo | None = None,
    ) -> None:
        """said: `annot status` in words. every: seconds between two pulls. zone: the lead's; None is that of the
        machine."""
        self.path = (ws.cache / PAGE).absolute()
        self.line = ""
        """The study in one line, as it was when it was last looked at."""
        self._ws, self._said, self._clock, self._zone = ws, said, clock, zone
        self._every = max(every, MINUTE)
        self._agreement = progress.AgreementSoFar(least_papers=status_page.LEAST_PAPERS)
        self._behind = False

    def renew(self, *, news: bool, trouble: str = "") -> None:
        """Write the page, unless one was written less than a minute ago, by whatever process.

        news: whether something was pulled. trouble: why nothing could be.
        """
        self._behind = self._behind or news
        age = self._age()
        if age is None or not 0 <= age < MINUTE:
            self.write(trouble=trouble)

    def finish(self) -> None:
        """Write the news since the last page."""
        if self._behind:
            self.write()

    def write(self, *, trouble: str = "") -> Path:
        """Write the page now."""
        ws, status = self._ws, self._said()
        now = self._clock().astimezone(self._zone)
        snapshot = ws.read(snapshot_of, ws)
        rests_on = RESTS_ON["status"]
        untrue = notices(states.remembered_findings(ws, snapshot.states, on=rests_on), rests_on, snapshot.words)
        status = replace(status, notices=(*untrue, *status.notices))
        look = progress.progress_of(snapshot, now=now, agreement=self._agreement) if snapshot.assignments else None
        days = progress.by_day(snapshot, now=now, zone=self._zone)
        papers = progress.papers_with_complete_pairs(snapshot)
        text = status_page.page(
            snapshot,
            look,
            days,
            status,
            now=now,
            seconds=self._every,
            papers=papers,
            trouble=trouble,
            overrides=ws.root / "templates",
        )
        linked = with_links(text.encode(), PAGE, pages_in(ws.exports), above=f"../{ws.exports.name}/")
        write_file(self.path, linked, private=True)
        self.line = line(look) if look else ""
        self._behind = False
        return self.path

    def _age(self) -> float | None:
        """Seconds since the page on disk was written; None if there is none."""
        try:
            with self.path.open(encoding="utf-8") as file:
                written = _WRITTEN.search(file.read(HEAD))
            return (self._clock() - datetime.fromisoformat(written[1])).total_seconds() if written else None
        except (FileNotFoundError, ValueError):
            return None


def line(look: progress.StudyProgress) -> str:
    """The study in one line."""
    share = terminal.share_done(look.judged, look.planned)
    people = ", ".join(f"{assessor.assessor} {assessor.judged:,}/{assessor.assigned:,}" for assessor in look.assessors)
    done = f"{terminal.bar(look.judged, look.planned)} {look.judged:,} of {counted(look.planned, 'answer')} ({share})"
    return f"{done}  {counted(look.settling.open, 'open dispute')}  {people}"
