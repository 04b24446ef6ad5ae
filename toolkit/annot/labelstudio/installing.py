"""Label Studio in an environment of its own: its pins must not meet ours.

One installation serves all studies of a person. It counts as there only when its marker is, and the marker is
written last: an install that was interrupted is thrown away and begun anew.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from annot.base.errors import StudioError

VERSION = "1.23.2"
"""The screens' style names classes of this release; another one may move them."""

ENVIRONMENT_VARIABLE = "ANNOT_STUDIO_VENV"
_MARKER = "annot-installed"
_TAIL_LINES = 15


def installed(environ: Mapping[str, str]) -> Path | None:
    """The program of the installation that is there, or None.

    Raises StudioError if `ANNOT_STUDIO_VENV` names an environment without Label Studio in it.
    """
    named = environ.get(ENVIRONMENT_VARIABLE)
    if named:
        program = Path(named) / "bin" / "label-studio"
        if not program.is_file():
            raise StudioError(
                f"{ENVIRONMENT_VARIABLE}={named}: no bin/label-studio found in it",
                hint=f"unset it, or create the environment: python -m venv {named} && "
                f"{named}/bin/pip install label-studio=={VERSION}",
            )
        return program
    home = _home(environ)
    return home / "bin" / "label-studio" if (home / _MARKER).is_file() else None


def ensure_installed(environ: Mapping[str, str], *, say: Callable[[str], None]) -> Path:
    """The program of the installation, made if need be (a few minutes, 1 GB). Raises StudioError if that fails."""
    found = installed(environ)
    if found is not None:
        return found
    home = _home(environ)
    with locked(home.with_suffix(".lock")):
        found = installed(environ)  # another process may have made it while we waited
        if found is not None:
            return found
        say(f"installing Label Studio {VERSION} into {home} (once; about 1 GB, a minute or two)")
        shutil.rmtree(home, ignore_errors=True)
        log = home.with_suffix(".log")
        _run([sys.executable, "-m", "venv", str(home)], log, "w")
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run([*pip, f"label-studio=={VERSION}"], log, "a")
        (home / _MARKER).write_text(f"{VERSION}\n", encoding="utf-8")
    return home / "bin" / "label-studio"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file; it frees itself when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tail(log: Path) -> str:
    """The last lines of a log, for an error message."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join([line for line in lines if line.strip()][-_TAIL_LINES:])


def _run(command: list[str], log: Path, mode: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    with log.open(mode, encoding="utf-8") as file:
        ended = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment, check=False)
    if ended.returncode:
        raise StudioError(
            f"Label Studio cannot be installed; the end of {log}:\n{tail(log)}",
            hint=f"correct what the log names, or set {ENVIRONMENT_VARIABLE} to an environment that has it",
        )


def _home(environ: Mapping[str, str]) -> Path:
    cache = environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path(environ.get("HOME") or Path.home()) / ".cache"
    return base / "annot" / f"label-studio-{VERSION}"
