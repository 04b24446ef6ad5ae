"""Label Studio in an environment of its own: its pins must not meet ours.

One installation serves all studies of a person. It counts as there only when its marker is, and the marker is
written last: an install that was interrupted is thrown away and begun anew.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from annot.base.errors import StudioError
from annot.base.names import counted

VERSION = "1.23.2"
"""The screens' style names classes of this release; another one may move them."""

ENVIRONMENT_VARIABLE = "ANNOT_STUDIO_VENV"
_MARKER = "annot-installed"
_TAIL_LINES = 15
PACKAGES = 155
"""What is installed, about."""
OF_THE_ENVIRONMENT = ("pip", "setuptools")
"""Packages of a new environment."""
A_LINE_EVERY = 10.0
"""Seconds between two lines of progress."""
MEGABYTES = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
_DOWNLOADS = re.compile(r"^ *Downloading (\S+?)-\d\S*(?<!\.metadata) \(([\d.]+) (bytes|kB|MB|GB)\)", re.MULTILINE)
_INSTALLS = re.compile(r"^Installing collected packages: (.+)$", re.MULTILINE)


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
        log = home.with_suffix(".log")
        say(f"installing Label Studio {VERSION} into {home}, once: about {PACKAGES} packages and 1 GB; log: {log}")
        shutil.rmtree(home, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(home)], log, "w")
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]

        def how_far() -> str:
            installed = len([*home.glob("lib/*/site-packages/*.dist-info")]) - len(OF_THE_ENVIRONMENT)
            written = log.read_text(encoding="utf-8", errors="replace")
            return f"installing Label Studio: {progress(written, installed=max(0, installed))}"

        with reported(say, how_far):
            _run([*pip, "--progress-bar", "off", f"label-studio=={VERSION}"], log, "a")
        (home / _MARKER).write_text(f"{VERSION}\n", encoding="utf-8")
    return home / "bin" / "label-studio"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file; it frees itself when the process ends, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def progress(log: str, *, installed: int) -> str:
    """How far pip is, from its log so far. installed: packages that are in the environment.

    >>> progress("  Downloading numpy-2.4.6-cp311-cp311-manylinux.whl (16.9 MB)", installed=0)
    '1 package downloaded or on the way, 17 MB; now numpy'
    >>> progress("Installing collected packages: idna, numpy", installed=1)
    '1 of 2 packages installed'
    """
    if collected := _INSTALLS.search(log):
        return f"{installed} of {counted(collected[1].count(',') + 1, 'package')} installed"
    files = _DOWNLOADS.findall(log)
    if not files:
        return "looking for packages"
    size = sum(float(number) * MEGABYTES[unit] for _, number, unit in files)
    return f"{counted(len(files), 'package')} downloaded or on the way, {size:.0f} MB; now {files[-1][0]}"


@contextmanager
def reported(say: Callable[[str], None], how_far: Callable[[], str]) -> Iterator[None]:
    """Say how far the work is, every few seconds until the context ends."""
    over = threading.Event()

    def report() -> None:
        begun = time.monotonic()
        while not over.wait(A_LINE_EVERY):
            say(f"{how_far()}, after {time.monotonic() - begun:.0f} s")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()


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
