"""The sentences that a run matched, in `exports/runs/TAG.matches.jsonl`: a line for each pair of query and document."""

from __future__ import annotations

from pathlib import Path

from annot.formats.matches import ENDING, Match, Matches, match_lines, read_matches
from annot.study.adjudication import Pair
from annot.study.workspace import Workspace, write_file


def matches_file(ws: Workspace, tag: str) -> Path:
    """Where the matches of a run lie."""
    return ws.runs / f"{tag}{ENDING}"


def write_matches(ws: Workspace, tag: str, matches: Matches | None) -> None:
    """Write what a run matched; a file of an earlier run under the same tag goes where this one matched nothing."""
    if matches is None:
        matches_file(ws, tag).unlink(missing_ok=True)
    else:
        write_file(matches_file(ws, tag), match_lines(matches))


def matches_of(ws: Workspace, tag: str) -> dict[Pair, tuple[Match, ...]]:
    """What a run matched in each pair, heaviest first; nothing where the run has no such file."""
    path = matches_file(ws, tag)
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8") as lines:
        return read_matches(lines, name=str(path))
