"""A client that says so when a server leaves it waiting: a hung server is not a slow command."""

from __future__ import annotations

import logging
import threading
from typing import Any

import httpx

SAID_AFTER = 10.0
"""Seconds without an answer after which it is said."""
LOGGER = logging.getLogger("annot")


class PatientClient(httpx.Client):
    """Waits as long as its timeout lets it, and after `SAID_AFTER` seconds without an answer logs a warning."""

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """As httpx does."""
        place = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
        told = threading.Timer(
            SAID_AFTER, LOGGER.warning, ("%s has not answered for %.0f s; waiting on", place, SAID_AFTER)
        )
        told.daemon = True
        told.start()
        try:
            return super().send(request, **options)
        finally:
            told.cancel()
