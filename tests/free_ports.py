"""Ports of this machine that nobody else takes while a test has them."""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


class FreePorts:
    """Gives ports that are bound, so that the system gives them to nobody, and at which a server can listen all the
    same: both sides allow that the address is used again."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held

    def port(self) -> int:
        """A port on the loopback device that is the test's own until its end."""
        own = self._held.enter_context(socket.socket())
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        # A server of an earlier run of the tests may have had it, and its folder may still be there.
        (Path(tempfile.gettempdir()) / f"annot-{os.getuid()}-port-{port}.lock").unlink(missing_ok=True)
        return port


@contextmanager
def held_ports() -> Iterator[FreePorts]:
    """Ports that are held until the context ends."""
    with ExitStack() as held:
        yield FreePorts(held)
