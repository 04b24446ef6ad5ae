"""Looks at what Python opens, connects to and starts, and keeps what is outside of given folders."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import annot as package
from annot.base import templating
from annot.study import workspace

OWN = tuple(Path(place).resolve() for place in {sys.prefix, sys.base_prefix, *package.__path__, *sys.path[1:]})


SYSTEM = (
    "/proc",
    "/sys",
    "/dev/null",
    "/dev/urandom",
    "/dev/tty",
    "/dev/pts",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/usr/lib",
    "/usr/local/lib",
)


class Seen(NamedTuple):
    """What Python was about to do."""

    event: str
    what: str


PROGRAMS = (Seen("subprocess.Popen", "uname"),)
"""What commands start: Python's own look at the machine, for `annot doctor`."""


class Watch:
    """An audit hook, which Python keeps until it ends: it writes down what is done while somebody looks."""

    FILES = ("open", "sqlite3.connect")
    EVENTS = (*FILES, "socket.connect", "socket.getaddrinfo", "socket.sendto")
    STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn", "os.startfile")

    def __init__(self) -> None:
        self._seen: list[Seen] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._seen is None or event not in (*self.EVENTS, *self.STARTS):
            return
        what = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0]
        if isinstance(what, int):  # a file that is open already
            return
        named = os.fsdecode(what) if isinstance(what, bytes) else str(what)
        if event in self.FILES:
            named = os.path.realpath(named.removeprefix("file:").partition("?")[0])
        self._seen.append(Seen(event, named))

    @contextmanager
    def looking(self) -> Iterator[list[Seen]]:
        self._seen = seen = []
        try:
            yield seen
        finally:
            self._seen = None


def outside(seen: list[Seen], *places: Path) -> list[Seen]:
    """What was done beyond these folders, the temporary one, and those of the program and of its settings and cache."""
    known = (
        *places,
        *OWN,
        *map(Path, SYSTEM),
        Path(tempfile.gettempdir()),
        workspace.allowed_file().parent,
        templating.CACHE,
    )
    return [
        one
        for one in seen
        if one not in PROGRAMS
        and (one.event not in Watch.FILES or not any(Path(one.what).is_relative_to(at) for at in known))
    ]
