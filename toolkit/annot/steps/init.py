"""Making a study: the settings file with every section explained, the folders, the empty store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tomlkit

from annot.base.errors import InputError, MissingInput
from annot.base.settings import Kind, Settings, settings_of
from annot.base.settings.section import CONTROL
from annot.base.templating import render
from annot.store.database import open_store
from annot.study.archive import BACKUPS
from annot.study.backups import missing_part
from annot.study.workspace import CACHE, SETTINGS_FILE, Workspace, write_file

IGNORE_FILE = ".gitignore"
FOLDERS = ("corpus", "templates", "guidelines", "pools", "exports")


@dataclass(frozen=True, slots=True)
class MadeWorkspace:
    """What `annot init` made: files and folders that were not there before."""

    root: Path
    made: tuple[str, ...]
    notes: tuple[str, ...] = ()


def init(root: Path, *, name: str | None, kind: Kind | None = None, dry_run: bool) -> MadeWorkspace:
    """Make a study at `root`, or complete one. An existing settings file is never changed.

    kind: of facets where none is given; a study that is there has its own. Raises MissingInput if the database of a
    study is gone from beside its files: a new one would be empty, and the next backup would be one of nothing.
    """
    if root.exists() and not root.is_dir():
        raise InputError(f"{root}: a file, expected a folder or nothing")
    place = root.resolve()
    for study in place.parents:
        if (study / SETTINGS_FILE).is_file() and place.relative_to(study).parts[0] in (*FOLDERS, CACHE):
            raise InputError(f"{root}: inside the study {study}", hint="create the new study outside it")
    settings_file = root / SETTINGS_FILE
    new_name = name or root.resolve().name or "my-collection"
    made = [f"{folder}/" for folder in FOLDERS if not (root / folder).is_dir()]
    if settings_file.is_file():
        _keeps(settings_file, Workspace.open(root).settings, name=name, kind=kind)
    else:
        if CONTROL.search(new_name):
            raise InputError(
                f"{root}: the collection's name {new_name!r} is not UTF-8, or has control characters",
                hint="give one with --name",
            )
        made.insert(0, SETTINGS_FILE)
    if not (root / IGNORE_FILE).exists():
        made.append(IGNORE_FILE)
    has_settings = settings_file.is_file()
    ws = Workspace.open(root) if has_settings else Workspace(root, settings_of(kind or "facets"))
    missing = missing_part(ws) if has_settings or (root / BACKUPS).is_dir() else None
    if missing is not None and ws.database_file is not None:
        raise MissingInput(missing.message, hint=f"{missing.hint}; to begin another study, use another folder")
    if not dry_run:
        for folder in FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
        if not settings_file.is_file():
            write_file(settings_file, settings_text(new_name, kind or "facets"))
        if not (root / IGNORE_FILE).exists():
            write_file(root / IGNORE_FILE, render("gitignore.txt.j2", {"backups": BACKUPS}, overrides=None))
        url = Workspace.open(root).database_url
        try:
            # An older one is brought up by commands that change the study, after a backup.
            open_store(url, create=False).close()
        except MissingInput:
            open_store(url).close()
    notes = () if missing is None else (f"{missing.message}; {missing.hint}",)
    return MadeWorkspace(root, tuple(made), notes)


def _keeps(file: Path, settings: Settings, *, name: str | None, kind: Kind | None) -> None:
    """Raise InputError if the study that is there has another name or another kind than is asked for."""
    if name not in (None, settings.collection.name):
        raise InputError(
            f"{file}: already exists, for {settings.collection.name!r}",
            hint="to rename the collection, edit name in that file",
        )
    if kind not in (None, settings.kind):
        raise InputError(
            f"{file}: already exists, for a study of {settings.kind}; found --kind {kind}",
            hint=f"make the study of {kind} in another folder",
        )


def settings_text(name: str, kind: Kind = "facets") -> str:
    """`annot.toml` for a new study, from the template: the settings that its kind needs, with what it begins with."""
    values = {"settings": settings_of(kind), "name": tomlkit.string(name).as_string()}
    return render("annot.toml.j2", values, overrides=None)
