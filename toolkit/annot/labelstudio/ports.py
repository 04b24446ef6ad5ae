"""Ports of this machine for local servers: each server keeps its own, also while it is down."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from annot.base.errors import StudioError

HOST = "127.0.0.1"
FIRST_PORT = 8090
PORTS_TRIED = 50


@contextmanager
def claimed(port: int | None, folder: Path) -> Iterator[int]:
    """`port`, or the one that the server of `folder` had the last time (people keep links), or the first free one.

    It is ours until the context ends: Label Studio binds it only after a minute of migrations, and on a port that was
    taken in between it would move to the next one without a word. The port of another server that is down is taken
    only where no other is left. Raises StudioError where none is free.
    """
    last = kept(folder)
    candidates = [port] if port is not None else [last or FIRST_PORT, *range(FIRST_PORT, FIRST_PORT + PORTS_TRIED)]
    for sparing in (True, False):
        for candidate in candidates:
            if not is_free(candidate):
                continue
            with (Path(tempfile.gettempdir()) / f"annot-{os.getuid()}-port-{candidate}.lock").open("a+") as claim:
                try:
                    fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue
                if sparing and candidate not in (port, last) and _is_of_another(claim, candidate, folder):
                    continue
                claim.truncate(0)
                claim.write(str(folder))
                claim.flush()
                yield candidate
                return
    what = f"port {port} is" if port is not None else f"ports {FIRST_PORT} to {FIRST_PORT + PORTS_TRIED - 1} are"
    raise StudioError(f"{what} taken on {HOST}", hint="give another with --port")


def kept(folder: Path) -> int | None:
    """The port that the server of `folder` has, or had the last time."""
    return number_in(folder / "port")


def is_free(port: int) -> bool:
    """Whether a server could listen there."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def number_in(path: Path) -> int | None:
    """The number that a file begins with."""
    try:
        return int(path.read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _is_of_another(claim: TextIO, port: int, folder: Path) -> bool:
    """Whether who claimed the port the last time is the server of another folder that still goes by it."""
    claim.seek(0)
    owner = claim.read()
    return owner not in ("", str(folder)) and kept(Path(owner)) == port
