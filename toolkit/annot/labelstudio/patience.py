"""A client that says so when a server leaves it waiting, and that comes back when a server asks it to.

A hung server is not a slow command. A server that takes no more requests for now (429) says with `Retry-After` when it
does again: what is safe to ask twice is asked then.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from annot.labelstudio.refusals import TooManyRequests

SAID_AFTER = 10.0
"""Seconds without an answer after which it is said."""
LONGEST_WAIT = 60.0
"""Seconds for which one request waits, all in all, where the server asks for it."""
TOO_MANY = 429
SAFE_TWICE = ("GET", "HEAD", "PUT", "PATCH", "DELETE")
"""A POST makes something, and is looked for before it is sent again."""
LOGGER = logging.getLogger("annot")


class PatientClient(httpx.Client):
    """Waits as long as its timeout lets it, and after `SAID_AFTER` seconds without an answer logs a warning.

    Raises TooManyRequests where the server asks for a longer wait than there is, or what was asked is not safe twice.
    """

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """As httpx does."""
        place = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
        waited = 0.0
        while True:
            answer = self._send_once(request, place, options)
            seconds = _asked_to_wait(answer)
            if seconds is None:
                return answer
            answer.close()
            if request.method not in SAFE_TWICE or waited + seconds > LONGEST_WAIT:
                raise TooManyRequests.after(seconds, url=place)
            LOGGER.warning("%s takes no more requests for now; asking again in %.0f s", place, seconds)
            time.sleep(seconds)
            waited += max(seconds, 1.0)

    def _send_once(self, request: httpx.Request, place: str, options: dict[str, Any]) -> httpx.Response:
        told = threading.Timer(
            SAID_AFTER, LOGGER.warning, ("%s has not answered for %.0f s; waiting on", place, SAID_AFTER)
        )
        told.daemon = True
        told.start()
        try:
            return super().send(request, **options)
        finally:
            told.cancel()


def _asked_to_wait(answer: httpx.Response) -> float | None:
    """The seconds of `Retry-After`, or until its moment; None where the server does not ask for a wait."""
    said = answer.headers.get("Retry-After", "") if answer.status_code == TOO_MANY else ""
    if said.isdecimal():
        return float(said)
    with suppress(ValueError):
        moment = parsedate_to_datetime(said)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
    return None
