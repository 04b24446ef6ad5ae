"""The bodies of a server's answers, read under limits: a few bytes can unpack to gigabytes, and some never end.

One layer of gzip is asked for, and unpacked piece by piece. An answer in any other encoding is refused unread. Bytes
are counted as they come and as they are unpacked, and the time is limited: a body that trickles in would hold a command
for ever, because each piece comes in time.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from typing import Any

import httpx

from annot.labelstudio.refusals import UncertainWrite

MOST_BYTES = 500_000_000
"""Of one body, packed and unpacked. An export of 5,000 tasks, the largest answer that is asked for, has a tenth."""
MOST_SECONDS = 600.0
"""From the first byte of a body to its last."""
PIECE = 65_536
"""Bytes that are unpacked at a time."""
GZIP = 16 + zlib.MAX_WBITS


def limit_body(answer: httpx.Response) -> None:
    """Let the body of an answer be read under the limits only. Raises UncertainWrite for an encoding not asked for."""
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise _unusable(answer, f"an answer in the encoding {encoding[:40]!r}, which was not asked for")
    if encoding == "gzip":
        del answer.headers["Content-Encoding"]  # Else the client would unpack it again.
    assert isinstance(answer.stream, httpx.SyncByteStream)
    answer.stream = _LimitedBody(answer, answer.stream, packed=encoding == "gzip")


LIMITED: dict[str, Any] = {"headers": {"Accept-Encoding": "gzip"}, "event_hooks": {"response": [limit_body]}}
"""Options of a client that reads every body under the limits."""


class _LimitedBody(httpx.SyncByteStream):
    """A body that raises UncertainWrite beyond a limit, or if it cannot be unpacked."""

    def __init__(self, answer: httpx.Response, stream: httpx.SyncByteStream, *, packed: bool) -> None:
        self._answer, self._stream = answer, stream
        self._unpacker = zlib.decompressobj(GZIP) if packed else None

    def __iter__(self) -> Iterator[bytes]:
        came = unpacked = 0
        deadline = time.monotonic() + MOST_SECONDS
        for piece in self._stream:
            came += len(piece)
            for part in self._unpacked(piece):
                unpacked += len(part)
                self._check(max(came, unpacked), deadline)
                yield part
            self._check(came, deadline)
        if came and self._unpacker is not None and not self._unpacker.eof:
            raise _unusable(self._answer, "a packed answer that ends in its middle")

    def close(self) -> None:
        self._stream.close()

    def _unpacked(self, piece: bytes) -> Iterator[bytes]:
        if self._unpacker is None:
            yield piece
            return
        try:
            while piece and not self._unpacker.eof:
                yield self._unpacker.decompress(piece, PIECE)
                piece = self._unpacker.unconsumed_tail
        except zlib.error:
            raise _unusable(self._answer, "a packed answer that cannot be unpacked") from None

    def _check(self, size: int, deadline: float) -> None:
        if size > MOST_BYTES:
            raise _unusable(self._answer, f"an answer of more than {MOST_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise _unusable(self._answer, f"an answer that did not end within {MOST_SECONDS:g} s")


def _unusable(answer: httpx.Response, what: str) -> UncertainWrite:
    url = answer.request.url
    return UncertainWrite(
        f"{url.scheme}://{url.netloc.decode('ascii')} sent {what}",
        hint="nothing of it was used. Check LABEL_STUDIO_URL and the proxy in front of the server, then run the "
        "command again",
    )
