"""What the finders of states found, remembered: `next:` ends every command, and must not read the corpus each time."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from annot import __version__
from annot.judging.examination import Examination
from annot.judging.states import DATABASE, STATES, Finding, StudyState, words_of
from annot.store.hashes import written_mark
from annot.study.made import States
from annot.study.workspace import Workspace, write_file

MEMORY_FILE = "states.json"
"""Below `.annot/`."""


def remembered_findings(ws: Workspace, states: States, *, on: Collection[str] | None = None) -> tuple[Finding, ...]:
    """What `findings_of` finds. A finder runs again only if a file that it reads has another size or date, or a row of
    a database on a server was written.

    on: only states in which one of these things is untrue. states: of the database as it is
    (`annot.study.made.states_of`).
    """
    path = ws.cache / MEMORY_FILE
    known, study = _read(ws), Examination(ws)
    database = [json.dumps(states, sort_keys=True), *_marks_of_database(ws)]
    looked_at = [state for state in STATES if on is None or state.untrue & {*on}]
    memory = dict(known)
    for state in looked_at:
        mark = _mark(ws, state, database)
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


def _mark(ws: Workspace, state: StudyState, database: Sequence[str]) -> list[str]:
    """What tells whether anything that the finder reads has changed. database: the same of the database."""
    marks = (database if name == DATABASE else _marks_of_files(_files(ws.root / name)) for name in state.reads)
    return [__version__, *(mark for several in marks for mark in several)]


def _marks_of_database(ws: Workspace) -> Iterator[str]:
    if ws.database_file is None:
        with ws.reading() as session:
            yield written_mark(session)
    else:
        # What is written while another program has the database open is in the log beside it until that ends.
        log = ws.database_file.with_name(f"{ws.database_file.name}-wal")
        yield from _marks_of_files([ws.database_file, *([log] if log.is_file() and log.stat().st_size else [])])


def _files(top: Path) -> list[Path]:
    return sorted(path for path in top.rglob("*") if path.is_file()) if top.is_dir() else [top]


def _marks_of_files(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_file():
            facts = path.stat()
            yield f"{path.name} {facts.st_size} {facts.st_mtime_ns}"
