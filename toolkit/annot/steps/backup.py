"""The whole study in one file, and back."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from annot.base.errors import InputError, StoreError, StudioError
from annot.base.names import counted
from annot.base.records import Advance
from annot.base.settings import read_settings
from annot.judging.exchange import servers
from annot.labelstudio.accounts import read_passwords
from annot.labelstudio.gateway import Gateway
from annot.pools.chain import broken_links
from annot.store import database, projects, shown
from annot.store.answers import grades_off_scale, unsound_revisions
from annot.store.models import Project, ReadingSession, Session
from annot.study import backups, provenance
from annot.study.workspace import DATABASE_VARIABLE, SETTINGS_FILE, Workspace, is_inside, stage

# ----------------------------------------------------------------------------------------------------------------------
# The whole study in one file: database, files, and what the server holds.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BackedUp:
    """Contents of a backup."""

    path: Path
    size: int | None
    """Bytes of the file; None of a dry run."""
    files: int
    rows: dict[str, int]
    """Rows of each table of the database."""
    projects: int
    """Projects of the server whose copies are in it."""
    notes: tuple[str, ...]
    """Missing parts, with reasons."""


def backup(ws: Workspace, path: Path, *, dry_run: bool, advance: Advance) -> BackedUp:
    """Write everything of the study to a new file at `path`; servers that cannot be reached are left out, with a note.

    Raises InputError when something is at `path` already.
    """
    if path.exists():
        raise InputError(f"{path}: already exists", hint="backups are never overwritten")
    notes: list[str] = []
    states, taken = provenance.states_of(ws), tuple(_without_passwords(ws, backups.files_of(ws, notes), notes))
    if dry_run:
        with ws.reading() as session:
            rows = database.row_counts(session.connection())
        return BackedUp(path, None, len(taken), rows, 0, tuple(notes))
    with ws.store() as store, stage(ws.root) as folder:
        snapshots = folder / backups.SERVER
        snapshots.mkdir()
        _take_snapshots(ws, snapshots, notes, advance=advance)
        contents = backups.write_backup(ws, store, path, files=taken, whole=True, notes=notes, snapshots=snapshots)
    assert contents is not None
    provenance.note(ws, "backup", states)
    size = path.stat().st_size
    return BackedUp(path, size, len(contents.files), dict(contents.database.rows), contents.projects, contents.notes)


def _without_passwords(ws: Workspace, files: Iterable[Path], notes: list[str]) -> Iterator[Path]:
    """The files, but no letter or copy of one that has a person's password."""
    tables = map(read_passwords, (folder / "passwords.tsv" for folder in servers.studio_folders(ws)))
    passwords = {password.encode() for table in tables for password in table.values()}
    for path in files:
        text = path.read_bytes() if passwords and path.suffix == ".txt" else b""
        if any(password in text for password in passwords):
            notes.append(f"{path.relative_to(ws.root)}: left out, it has a password")
        else:
            yield path


def _take_snapshots(ws: Workspace, folder: Path, notes: list[str], *, advance: Advance) -> None:
    """A file in `folder` for each project of the study on the server."""
    project_list = ws.read(projects.sent_projects)
    if not project_list:
        return
    copies: list[Project] = []
    addresses: list[str] = []

    def take(gateway: Gateway, _names: Sequence[str]) -> None:
        server = gateway.identity()
        addresses.append(gateway.url)
        for project in project_list:
            if project.server == server:
                copies.append(project)
                _take_snapshot(ws, gateway, project, folder, notes)
                advance(len(copies), len(project_list))

    try:
        away = servers.on_servers(ws, sorted({project.assessor for project in project_list}), take)
    except StudioError as error:
        reasons = "; ".join([error.message, *error.faults])
        notes.append(f"no copies of {counted(len(project_list), 'project')} on Label Studio: {reasons}")
        return
    notes += [f"no copies of the projects of {project.assessor}: {project.why}" for project in away]
    absent = {project.assessor for project in away}
    elsewhere = sum(project not in copies and project.assessor not in absent for project in project_list)
    if elsewhere:
        notes.append(f"no copies of {counted(elsewhere, 'project')} on servers other than {', '.join(addresses)}")


def _take_snapshot(ws: Workspace, gateway: Gateway, project: Project, folder: Path, notes: list[str]) -> None:
    name = f"{project.round}-{project.assessor}-{project.number}.json".replace("/", "-")
    try:
        taken = gateway.snapshot(project.number)
    except StudioError as error:
        notes.append(f"no copy of project {project.remote_id} of {project.assessor}: {error.message}")
        return
    (folder / name).write_text(json.dumps(taken, ensure_ascii=False), encoding="utf-8")
    if project.round != "labels" and (unpulled := servers.count_unpulled(ws, project, taken["tasks"])):
        pull = servers.PARTS[project.round].pull
        notes.append(f"{project.assessor}: {counted(unpulled, 'answer')} not pulled; run `{pull}` and back up again")


# ----------------------------------------------------------------------------------------------------------------------
# A study back from its backup: all of it, or nothing.
#
# Everything is unpacked, checked and loaded aside first. Then what is in the way moves out and the new comes in, the
# settings file out first and in last: a folder without it is no study to any command, so none works on half of one.
# ----------------------------------------------------------------------------------------------------------------------


SHOWN = 5


@dataclass(frozen=True, slots=True)
class RestoredStudy:
    """Result of unpacking a backup."""

    root: Path
    made: str
    """Time of the backup."""
    files: int
    rows: dict[str, int]
    projects: int
    """Copies of projects in the backup; they stay there."""
    replaced: Path | None
    """Folder of the earlier files; None if there were none."""
    notes: tuple[str, ...]


def restore(path: Path, root: Path, *, replace: bool, wait_seconds: float, dry_run: bool) -> RestoredStudy:
    """Restore the study of the backup at `path` in the folder `root`, and nothing outside it.

    Its database may be elsewhere only if the environment names it. replace: move existing files to `backups/`;
    otherwise InputError is raised if there are any. dry_run: unpack, load and check the backup elsewhere, and touch
    nothing.
    """
    now = datetime.now(UTC)
    with ExitStack() as end:
        folder = end.enter_context(_stage(root, dry_run=dry_run))
        contents = backups.unpack(path, folder)
        files, database_folder = folder / backups.FILES, folder / backups.DATABASE
        if PurePosixPath(SETTINGS_FILE) not in contents.files:
            files.mkdir(exist_ok=True)
            shutil.copy2(Workspace.open(root).settings_file, files / SETTINGS_FILE)
        study = Workspace(files, read_settings(files / SETTINGS_FILE))
        ws = Workspace(root, study.settings)
        _check_database(ws, contents)

        def result(findings: tuple[str, ...], aside: Path | None) -> RestoredStudy:
            notes = (f"this was already so when the backup was made: {finding}" for finding in findings)
            rows = dict(contents.database.rows)
            counts = (len(contents.files), rows, contents.projects)
            return RestoredStudy(root, contents.made, *counts, aside, (*contents.notes, *notes))

        if dry_run:
            return result(_load_file(folder / "trial.db", contents, database_folder, study), None)
        end.enter_context(database.hold_study(ws.database_url, command="restore", wait_seconds=wait_seconds))
        server = None if ws.database_file else end.enter_context(database.connect_store(ws.database_url, create=True))
        filled = server is not None and server.version() > 0
        in_the_way = [*_in_the_way(ws, contents, study), *filter(Path.exists, backups.database_files(ws))]
        if (in_the_way or filled) and not replace:
            names = [path.name if path.parent == root else str(path) for path in in_the_way]
            raise InputError(
                f"{root}: not empty, found {', '.join(names[:SHOWN]) or 'a study in its database'}",
                hint=f"name a new folder, or use --replace to move these files to {backups.BACKUPS}/",
            )
        with suppress(*(() if filled else (InputError, StoreError))):
            # What cannot be read is moved aside as it is; a database on a server has no other copy.
            backups.keep_backup(ws, "before restore")
        aside = backups.free_name(root / backups.BACKUPS / f"replaced-{now:%Y%m%dT%H%M%SZ}")
        replaced = study.settings_file.is_file() and ws.settings_file.is_file()
        # The log next to a database is gone once the backup has been taken.
        outgoing = [*([ws.settings_file] if replaced else []), *filter(Path.exists, in_the_way)]
        incoming = sorted(files.iterdir()) if contents.whole else _parts(study)
        with ExitStack() as undo:
            if ws.database_file is not None:
                findings = _load_file(folder / "new.db", contents, database_folder, study)
                _exchange(undo, outgoing, incoming, aside, study, root)
                _move(undo, folder / "new.db", ws.database_file)
            else:
                assert server is not None
                with server.begin() as session:
                    database.drop_tables(session.connection())
                    findings = _load(session, contents, database_folder, study)
                    _exchange(undo, outgoing, incoming, aside, study, root)
            undo.pop_all()
        if study.settings_file.is_file():
            # The new database counts by now: no error takes this back.
            _move(ExitStack(), study.settings_file, ws.settings_file)
        if contents.whole:
            provenance.note(ws, "backup", provenance.states_of(ws))
        return result(findings, aside if aside.exists() else None)


def _parts(study: Workspace) -> list[Path]:
    """The files of an unpacked study that a backup of the database alone may have."""
    return [path for name in backups.PART if (path := study.root / name).is_file()]


def _in_the_way(ws: Workspace, contents: backups.BackupManifest, study: Workspace) -> list[Path]:
    """Files and folders of the study that differ from those of the backup and would be replaced."""
    if contents.whole:
        return list(backups.top_level(ws))
    existing = []
    for new in _parts(study):
        current = ws.root / new.relative_to(study.root)
        if not is_inside(current, ws.root):
            raise InputError(f"{current}: found a link, expected a file of the study")
        if current.is_file() and current.read_bytes() == new.read_bytes():
            new.unlink()
        elif current.exists():
            existing.append(current)
    return existing


def _load(session: Session, contents: backups.BackupManifest, folder: Path, study: Workspace) -> tuple[str, ...]:
    """Load the database in the caller's transaction, and check its rows.

    folder: with a file for each table. study: the unpacked files. Returns the broken links of a whole study.
    """
    connection = session.connection()
    database.load(connection, backups.dumped_by_version(contents, folder), folder)
    scale = shown.scale_that_counts(session, study.settings.scale.names)
    if faults := [*unsound_revisions(ReadingSession(connection)), *grades_off_scale(connection, range(len(scale)))]:
        raise InputError(
            f"{counted(len(faults), 'fault')} in the rows of the backup, nothing was restored",
            faults=faults,
            hint="it was changed after it was made, or made of a database that was; use another backup",
        )
    return broken_links(study, session) if contents.whole else ()


def _load_file(path: Path, contents: backups.BackupManifest, folder: Path, study: Workspace) -> tuple[str, ...]:
    """Load the rows of a backup into a new SQLite file."""
    with database.connect_store(f"sqlite:///{path}", create=True) as store, store.begin() as session:
        return _load(session, contents, folder, study)


def _move(undo: ExitStack, source: Path, target: Path) -> None:
    """Move a file or a folder; `undo` moves it back."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        # Another process has put it there since: a move would silently overwrite it.
        raise FileExistsError(errno.EEXIST, "already exists", str(target))
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(source, target)
    undo.callback(target.rename, source)


def _check_database(ws: Workspace, contents: backups.BackupManifest) -> None:
    """Raise InputError if the backup would have its database elsewhere, or brings a file in its place."""
    if os.environ.get(DATABASE_VARIABLE):
        return
    root, path = ws.root.resolve(), ws.database_file
    if path is None or not path.is_relative_to(root):
        return  # The owner has allowed it: the workspace has looked.
    if not backups.is_kept(PurePosixPath(path.relative_to(root))):
        raise InputError(
            f"{SETTINGS_FILE} in the backup: found the database {ws.settings.store.database!r}, expected a file in the "
            "folder of the study",
            hint=f"name another place with {DATABASE_VARIABLE}, as in `{DATABASE_VARIABLE}=annot.db annot restore ...`",
        )
    own_paths = {path.relative_to(root).as_posix() for path in backups.own_files(ws)}
    if taken := sorted(own_paths & {path.as_posix() for path in contents.files}):
        raise InputError(f"{', '.join(taken)} in the backup: found a file, expected a database made from its rows")


@contextmanager
def _stage(root: Path, *, dry_run: bool) -> Iterator[Path]:
    """Private folder to unpack into, on the disk of the study, so that its contents can be moved in a moment."""
    if dry_run:
        with tempfile.TemporaryDirectory(prefix="annot-") as folder:
            yield Path(folder)
        return
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: a file, expected a folder or nothing")
    new = not root.exists()
    root.mkdir(parents=True, exist_ok=True)
    try:
        with stage(root) as folder:
            yield folder
    finally:
        if new and not any(root.iterdir()):
            root.rmdir()


def _exchange(
    undo: ExitStack, outgoing: Iterable[Path], incoming: Iterable[Path], aside: Path, study: Workspace, root: Path
) -> None:
    """Move existing files out, the settings first, and new files in, all but the settings."""
    for path in dict.fromkeys(outgoing):
        _move(undo, path, aside / (path.relative_to(root) if path.is_relative_to(root) else path.name))
    for path in incoming:
        if path.name != SETTINGS_FILE:
            _move(undo, path, root / path.relative_to(study.root))
