"""Backups from before release 1.0.0: their rows in the tables of version 1, and the rule of their chains.

Two states can be brought over. One has the tables of version 1. The other, of 27 November 2026, had a table of
guidelines in place of all that tasks show: each text there becomes a version of the guidelines, and the hash of the
guidelines next to an answer becomes a display of them alone. The links of the old rows are not made again: they follow
from those hashes, which `link_of_guidelines` finds, and new rows are linked to the last of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from annot.store.shown import SHOWN_CONTENT_TABLE, as_json, hash_of_text

OLD_TABLE = "guidelines"
"""Table that only the earlier state has."""
NEW_TABLES = ("shown_content", "shown_version", "text_ruling")
"""Tables of version 1 that it does not have."""
ANSWERS = ("judgement", "adjudication", "trial_judgement")

Rows = dict[str, Any]


def display_of(guidelines: str) -> str:
    """The display of a task that showed guidelines, of which only their hash is on record."""
    return as_json({"guidelines": guidelines})


def link_of_guidelines(connection: Connection) -> dict[str, str]:
    """Hash of the guidelines by that of the display of them alone: what the links of old rows were made of."""
    rows = SHOWN_CONTENT_TABLE.c
    displays = connection.execute(select(rows.sha256, rows.body).where(rows.body.like('{"guidelines": "%"}')))
    parts = ((sha256, json.loads(body)) for sha256, body in displays)
    return {sha256: display["guidelines"] for sha256, display in parts if display.keys() == {"guidelines"}}


def converted(folder: Path) -> dict[str, int]:
    """Bring the rows in `folder`, a file for each table, to the tables of version 1; returns the number of rows."""
    contents: dict[str, str] = {}

    def shown(guidelines: str | None) -> str | None:
        if guidelines is None:
            return None
        body = display_of(guidelines)
        contents[sha256 := hash_of_text(body)] = body
        return sha256

    def answer(row: Rows) -> Rows:
        display = shown(row.pop("guidelines_sha256"))
        return {**row, "shown_sha256": display}

    def task(row: Rows) -> Rows:
        history = json.loads(row.pop("guidelines"))
        return {**row, "shown": json.dumps([[since, shown(sha256)] for since, sha256 in history])}

    changes: dict[str, Callable[[Rows], Rows]] = {
        **dict.fromkeys(ANSWERS, answer),
        **{"task": task, "opinion_call": lambda row: {**row, "shown_sha256": None}},
        **dict.fromkeys(("assessor", "project"), lambda row: {**row, "language": None}),
    }
    counts = {}
    for name, change in changes.items():
        _write(folder, name, list(map(change, _read(folder, name))))
    versions = []
    for row in _read(folder, OLD_TABLE):
        contents[row["sha256"]] = row["text"]
        facts = {"part": "guidelines", "subject": row["facet"], "since": row["sent_at"], "sha256": row["sha256"]}
        versions.append({**facts, "why": row["why"] or None, "program": None})
    counts["shown_content"] = _write(
        folder, "shown_content", [{"sha256": sha256, "body": body} for sha256, body in contents.items()]
    )
    counts["shown_version"] = _write(folder, "shown_version", versions)
    counts["text_ruling"] = _write(folder, "text_ruling", [])
    return counts


def _read(folder: Path, name: str) -> Iterator[Rows]:
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _write(folder: Path, name: str, rows: list[Rows]) -> int:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return len(rows)
