"""The whole study in one file: database, files, and what the server holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annot.base.errors import InputError, StudioError
from annot.base.names import counted
from annot.base.records import Advance
from annot.judging.exchange.rounds import PARTS
from annot.judging.exchange.servers import on_servers
from annot.labelstudio.gateway import Gateway
from annot.store import projects
from annot.store.adjudications import ADJUDICATIONS
from annot.store.dump import row_counts
from annot.store.judgements import JUDGEMENTS
from annot.store.projects import Project
from annot.store.trials import TRIALS
from annot.study.archive import SERVER
from annot.study.backups import files_of, write_backup
from annot.study.made import note, states_of
from annot.study.stages import stage
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What a backup holds."""

    path: Path
    size: int | None
    """Bytes of the file; None of a dry run."""
    files: int
    rows: dict[str, int]
    """Of each table of the database."""
    projects: int
    """Projects of the server whose copies are in it."""
    notes: tuple[str, ...]
    """What it lacks, and why."""


def backup(ws: Workspace, path: Path, *, dry_run: bool, advance: Advance) -> BackedUp:
    """Write everything of the study to a new file at `path`; servers that cannot be reached are left out, with a note.

    Raises InputError when something is at `path` already.
    """
    if path.exists():
        raise InputError(f"{path}: already exists", hint="name another file; backups are never overwritten")
    notes: list[str] = []
    states, taken = states_of(ws), tuple(files_of(ws, notes))
    if dry_run:
        with ws.reading() as session:
            rows = row_counts(session.connection())
        return BackedUp(path, None, len(taken), rows, 0, tuple(notes))
    with ws.store() as store, stage(ws.root) as folder:
        snapshots = folder / SERVER
        snapshots.mkdir()
        _take_snapshots(ws, snapshots, notes, advance=advance)
        contents = write_backup(ws, store, path, files=taken, whole=True, notes=notes, snapshots=snapshots)
    assert contents is not None
    note(ws, "backup", states)
    size = path.stat().st_size
    return BackedUp(path, size, len(contents.files), dict(contents.database.rows), contents.projects, contents.notes)


def _take_snapshots(ws: Workspace, folder: Path, notes: list[str], *, advance: Advance) -> None:
    """A file in `folder` for each project of the study on the server."""
    with ws.reading() as session:
        known = [project for project in projects.read_projects(session) if project.remote_id is not None]
    if not known:
        return
    found: list[Project] = []
    asked: list[str] = []

    def take(gateway: Gateway, _names: Sequence[str]) -> None:
        server = gateway.identity()
        asked.append(gateway.url)
        for project in known:
            if project.server == server:
                found.append(project)
                _take_snapshot(ws, gateway, project, folder, notes)
                advance(len(found), len(known))

    try:
        away = on_servers(ws, sorted({one.assessor for one in known}), take)
    except StudioError as error:
        reasons = "; ".join([error.message, *error.faults])
        notes.append(f"no copies of {counted(len(known), 'project')} on Label Studio: {reasons}")
        return
    notes += [f"no copies of the projects of {one.assessor}: {one.why}" for one in away]
    absent = {one.assessor for one in away}
    elsewhere = sum(one not in found and one.assessor not in absent for one in known)
    if elsewhere:
        notes.append(f"no copies of {counted(elsewhere, 'project')} on servers other than {', '.join(asked)}")


def _take_snapshot(ws: Workspace, gateway: Gateway, project: Project, folder: Path, notes: list[str]) -> None:
    assert project.remote_id is not None
    name = f"{project.round}-{project.assessor}-{project.remote_id}.json".replace("/", "-")
    try:
        taken = gateway.snapshot(project.remote_id)
    except StudioError as error:
        notes.append(f"no copy of project {project.remote_id} of {project.assessor}: {error.message}")
        return
    (folder / name).write_text(json.dumps(taken, ensure_ascii=False), encoding="utf-8")
    if project.round != "labels" and (unpulled := _unpulled(ws, project, taken["tasks"])):
        pull = PARTS[project.round].pull
        notes.append(
            f"{project.assessor}: {counted(unpulled, 'answer')} not pulled yet; run `{pull}` and take another backup"
        )


def _unpulled(ws: Workspace, project: Project, tasks: Iterable[Mapping[str, Any]]) -> int:
    """How many answers of the project's copy are new or changed since they were pulled."""
    known: dict[str, str] = {}
    with ws.reading() as session:
        for revisions in (JUDGEMENTS, ADJUDICATIONS, TRIALS):
            for line in revisions.lines(session, server=project.server, person=project.assessor):
                changes = (line.current.changed_at, line.latest.changed_at, line.record.judged_at)
                known[line.current.annotation] = max(moment or "" for moment in changes)
    answers = (annotation for task in tasks for annotation in task["annotations"])
    return sum(answer["updated_at"] > known.get(str(answer["id"]), "") for answer in answers)
