"""Units of the system for the servers of a study, and the work of a night: pull, back up, check."""

from __future__ import annotations

import getpass
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from annot.base.errors import AnnotError, FindingError, InputError, MissingInput
from annot.base.names import counted
from annot.base.templating import render
from annot.judging.exchange import servers
from annot.labelstudio import front, server
from annot.study.backups import BACKUPS, NIGHT_FILE
from annot.study.workspace import Workspace, write_file

# ----------------------------------------------------------------------------------------------------------------------
# Units of systemd: one that keeps the servers running from the start of the machine on, and one for each night.
# ----------------------------------------------------------------------------------------------------------------------


ENVIRONMENT = ("ANNOT_STUDIO_VENV", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "ANNOT_DATABASE")
"""Variables that go to a file of their own, which only the owner can read: the last may hold a password."""
TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d")


def write_service(ws: Workspace) -> tuple[list[Path], list[str]]:
    """Write the unit that starts the servers with the machine, and starts again those that die.

    Returns the file, and the lines that switch it on.
    """
    if front.kept(servers.front_folder(ws)) is None:
        raise MissingInput(
            "the servers have no domain yet", hint="`annot studio up --domain DOMAIN` starts them for people elsewhere"
        )
    return _write(ws, "", {"service": "studio up --stay"}, switched_on="service")


def write_nightly(ws: Workspace, clock_time: str) -> tuple[list[Path], list[str]]:
    """Write the timer for the work of a night, as `write_service` writes its unit.

    clock_time: hours and minutes, of the clock of the machine.
    """
    if not TIME.fullmatch(clock_time):
        raise InputError(f"found {clock_time!r}, expected a time such as 03:15")
    work = {"service": "studio nightly --wait 3600", "timer": clock_time}
    return _write(ws, "-nightly", work, switched_on="timer")


def _write(ws: Workspace, ending: str, work_of: dict[str, str], *, switched_on: str) -> tuple[list[Path], list[str]]:
    name = "annot-" + (re.sub(r"[^A-Za-z0-9_.]+", "-", ws.settings.collection.name).strip("-") or "study") + ending
    folder = servers.front_folder(ws).resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = folder / "environment"
    variables = [f"{name}={_quoted(os.environ[name])}\n" for name in ENVIRONMENT if name in os.environ]
    write_file(secret, "".join(variables), private=True)
    files = []
    for kind, work in work_of.items():
        values = {
            "kind": kind,
            "work": work,
            "title": _doubled(ws.settings.collection.name),
            "nightly": bool(ending),
            "user": getpass.getuser(),
            "folder": _doubled(str(ws.root.resolve())),
            "python": _doubled(_quoted(sys.executable)),
            "secret": _doubled(str(secret)),
        }
        files.append(folder / f"{name}.{kind}")
        write_file(files[-1], render("unit.j2", values, overrides=None))
    copy = shlex.join(["sudo", "cp", *map(str, files), "/etc/systemd/system/"])
    return files, [copy, f"sudo systemctl enable --now {name}.{switched_on}"]


def _quoted(text: str) -> str:
    """The text, quoted as one word of a unit or of its environment file."""
    if any(sign in text for sign in "\n\r"):
        raise InputError(f"{text!r}: has a line break, which no unit can have")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _doubled(text: str) -> str:
    """The text with doubled percent signs, which have a meaning in a unit."""
    return text.replace("%", "%%")


LOOK_SECONDS = 5.0
"""Seconds between two looks at the servers."""


def stay(root: Path, *, start: Callable[[Workspace], object], tell: Callable[[str], None]) -> None:
    """Start the servers again whenever one has died, until `annot studio down` ends them. start: starts them."""
    while True:
        ws = Workspace.open(root)
        if not (servers.front_folder(ws) / front.UP).exists():
            return
        folders = [servers.studio_folder(ws, name) for name in servers.owners_here(ws)]
        if not all(map(server.is_running, folders)) or front.running(servers.front_folder(ws)) is None:
            try:
                start(ws)
            except AnnotError as error:
                tell(f"{error.message}; trying again")
        time.sleep(LOOK_SECONDS)


# ----------------------------------------------------------------------------------------------------------------------
# The work of a night. What it came to is in a small file, which `annot status` and its page read.
# ----------------------------------------------------------------------------------------------------------------------


NIGHTS_KEPT = 14


@dataclass(frozen=True, slots=True)
class Night:
    """Work of a night."""

    at: str
    """Time of its beginning, ISO 8601."""
    backup: Path | None
    """None if no backup could be made."""
    failures: tuple[str, ...]

    @property
    def finding(self) -> FindingError | None:
        """Error that ends the command if something failed."""
        if not self.failures:
            return None
        return FindingError(
            f"the night of {self.at[:10]}: {counted(len(self.failures), 'problem')}", faults=self.failures
        )


Part = Callable[[Path], Iterable[AnnotError | None]]
"""Part of the work of a night: it may use the path of the backup, and gives what it finds."""


def nightly(ws: Workspace, parts: Mapping[str, Part], *, now: datetime) -> Night:
    """Do these parts of the work, and remove all but the last fourteen nights' backups.

    A failing part does not stop the others.
    """
    failures: list[str] = []
    path = ws.root / BACKUPS / "nightly" / f"{now:%Y-%m-%dT%H%M%S}.tar.gz"
    for name, part in parts.items():
        try:
            failures += [f"{name}: {_in_words(error)}" for error in part(path) if error is not None]
        except AnnotError as error:
            failures.append(f"{name}: {_in_words(error)}")
        except OSError as error:
            failures.append(f"{name}: {error.filename}: {error.strerror}")
    for old in sorted(path.parent.glob("*.tar.gz"))[:-NIGHTS_KEPT]:
        old.unlink()
    night = Night(now.isoformat(timespec="seconds"), path if path.exists() else None, tuple(failures))
    write_file(ws.cache / NIGHT_FILE, json.dumps({"at": night.at, "failures": failures}))
    return night


def _in_words(error: AnnotError) -> str:
    return "; ".join([error.message, *error.faults])
