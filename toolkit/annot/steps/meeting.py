"""The page for the talk between two batches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annot.base.names import moment_given
from annot.judging.meeting import meeting_of
from annot.publishing.report.meeting import meeting_page
from annot.publishing.report.pages import markdown, page
from annot.publishing.report.side_by_side import screens_of
from annot.store import papers
from annot.study.snapshot import read_snapshot
from annot.study.workspace import Workspace, write_file

PAGE, MARKDOWN = "meeting.html", "meeting.md"


@dataclass(frozen=True, slots=True)
class WrittenMeeting:
    """Where the page is, and what is on it."""

    path: Path
    since: str
    until: str
    pairs: int
    differing: int
    shown: int
    remarks: int
    held_back: int


def write(ws: Workspace, *, since: str | None, out: Path | None) -> WrittenMeeting:
    """Write `meeting.html` and the same as Markdown.

    since: the first day of the period; None takes the last days up to the newest answer. out: the folder to write into
    instead of `exports/`.
    """
    start = None if since is None else moment_given(since, option="--since")
    snapshot = read_snapshot(ws)
    meeting = meeting_of(snapshot, since=start)
    query_papers = snapshot.topics
    wanted = {pair.doc_id for pair in meeting.widest} | {remark.doc_id for remark in meeting.remarks}
    wanted |= set(query_papers.values())
    made = meeting_page(
        meeting,
        title=ws.settings.collection.title,
        titles=papers.find_papers(ws.corpus, sorted(wanted)) if ws.has_corpus else {},
        texts=snapshot.texts,
        query_papers=query_papers,
        said=screens_of(snapshot, wanted, {pair.facet for pair in meeting.widest}),
    )
    folder = ws.exports if out is None else out
    write_file(folder / MARKDOWN, markdown(made))
    write_file(folder / PAGE, page(made, overrides=ws.root / "templates"))
    return WrittenMeeting(
        folder / PAGE,
        meeting.since,
        meeting.until,
        meeting.pairs,
        meeting.differing,
        len(meeting.widest),
        len(meeting.remarks),
        meeting.held_back,
    )
