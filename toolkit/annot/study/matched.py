"""The sentences that a run matched, in `exports/runs/TAG.matches.jsonl`: a line for each pair of query and document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from annot.errors import InputError, MissingInput
from annot.study.workspace import Workspace, write_file
from annot.systems.system import Match, Matches


def matches_file(ws: Workspace, tag: str) -> Path:
    """Where the matches of a run lie."""
    return ws.runs / f"{tag}.matches.jsonl"


def write_matches(ws: Workspace, tag: str, matches: Matches | None) -> None:
    """Write what a run matched; a file of an earlier run under the same tag goes where this one matched nothing."""
    if matches is None:
        matches_file(ws, tag).unlink(missing_ok=True)
    else:
        write_file(matches_file(ws, tag), "".join(_lines(matches)))


def read_matches(ws: Workspace, tag: str, *, query_id: str, doc_id: str) -> tuple[Match, ...]:
    """What a run matched in one pair, heaviest first.

    Raises MissingInput where the run has no matches, InputError where it does not have the pair.
    """
    path = matches_file(ws, tag)
    if not path.is_file():
        raise MissingInput(f"{path}: not there", hint="`annot run list` shows the systems that compare sentences")
    start = json.dumps({"query_id": query_id, "doc_id": doc_id})[:-1]
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith(start):
                return tuple(Match(*one) for one in json.loads(line)["matches"])
    raise InputError(f"{path}: no matches of {query_id} and {doc_id}", hint="`annot pool show QUERY` lists documents")


def _lines(matches: Matches) -> Iterator[str]:
    for query_id, documents in matches.items():
        for doc_id, found in documents.items():
            rounded = [[*match[:2], *(round(value, 6) for value in match[2:])] for match in found]
            yield json.dumps({"query_id": query_id, "doc_id": doc_id, "matches": rounded}) + "\n"
