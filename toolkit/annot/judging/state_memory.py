"""What the finders of states found, remembered: `next:` ends every command, and must not read the corpus each time."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator

from annot import __version__
from annot.judging.examination import Examination
from annot.judging.states import DATABASE, STATES, Finding, StudyState, words_of
from annot.study.made import States
from annot.study.workspace import Workspace, write_file

MEMORY_FILE = "states.json"
"""Below `.annot/`."""


def remembered_findings(ws: Workspace, states: States, *, on: Collection[str] | None = None) -> tuple[Finding, ...]:
    """What `findings_of` finds. A finder runs again only if a file that it reads has another size or date.

    on: only states in which one of these things is untrue. states: of the database as it is
    (`annot.study.made.states_of`). A row that somebody changed by hand in a database on a server is not noticed here,
    but by `annot check` and by a release.
    """
    path = ws.cache / MEMORY_FILE
    known, study = _read(ws), Examination(ws)
    looked_at = [state for state in STATES if on is None or state.untrue & {*on}]
    memory = dict(known)
    for state in looked_at:
        mark = _mark(ws, state, states)
        if known.get(state.name, {}).get("of") != mark:
            memory[state.name] = {"of": mark, "words": list(words_of(state, study))}
    if memory != known:
        with contextlib.suppress(OSError):
            # A study that can only be read is looked at again each time.
            write_file(path, json.dumps(memory, sort_keys=True))
    found = ((state, tuple(memory[state.name]["words"])) for state in looked_at)
    return tuple(Finding(state, words) for state, words in found if words)


def _read(ws: Workspace) -> dict[str, dict[str, list[str]]]:
    try:
        known = json.loads((ws.cache / MEMORY_FILE).read_text(encoding="utf-8"))
        return {name: {"of": list(found["of"]), "words": list(found["words"])} for name, found in known.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _mark(ws: Workspace, state: StudyState, states: States) -> list[str]:
    """What tells whether anything that the finder reads has changed."""
    return [__version__, *(mark for name in state.reads for mark in _marks_of(ws, name, states))]


def _marks_of(ws: Workspace, name: str, states: States) -> Iterator[str]:
    if name == DATABASE:
        yield json.dumps(states, sort_keys=True)
        paths = [] if ws.database_file is None else [ws.database_file]
    else:
        top = ws.root / name
        paths = sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]
    for path in paths:
        if path.is_file():
            facts = path.stat()
            yield f"{path.name} {facts.st_size} {facts.st_mtime_ns}"
