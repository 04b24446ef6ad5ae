"""A server that speaks OpenAI's chat completions: one request, and what came of it. By httpx alone.

https://platform.openai.com/docs/api-reference/chat/create; ollama, vLLM, llama.cpp and `transformers serve` speak it
too. The key comes from the environment and goes into one header. It is removed from whatever the server sends back.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from annot.base.errors import InputError
from annot.base.settings import OpinionSettings

KEY_VARIABLE = "ANNOT_OPINION_KEY"
"""The environment variable with the key."""
LONGEST_BODY = 1_000_000
"""Bytes of one answer; no grade with a reason needs more."""
BLOTTED = "[the key]"
TO_COME_AGAIN = (408, 409, 425, 429)
"""Refusals that are temporary, as are those of 500 and above."""


class ServerReply(NamedTuple):
    """What came of one request."""

    status: int | None
    """HTTP's; None if no whole answer came."""
    body: str
    """The answer as it came, or what went wrong."""
    seconds: float
    wait: float | None = None
    """Seconds that the server asks to wait."""

    @property
    def came(self) -> bool:
        """Whether the model answered."""
        return self.status == 200

    @property
    def for_now(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status is None or self.status in TO_COME_AGAIN or self.status >= 500


class ModelServer:
    """One server with one model. `transport` stands in for the network."""

    def __init__(self, settings: OpinionSettings, key: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        if not key.isascii() or any(letter.isspace() or not letter.isprintable() for letter in key):
            raise InputError(f"{KEY_VARIABLE} is not a key", hint="set it to the key alone, without blanks and quotes")
        self._settings, self._key = settings, key
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=settings.timeout,
            transport=transport,
            # A proxy from the environment must not get requests to this machine.
            trust_env=not is_this_machine(settings.url),
            limits=httpx.Limits(max_connections=settings.requests_at_once),
        )

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def ask(self, prompt: str, *, repeat: int) -> ServerReply:
        """Send one prompt and wait for the whole answer."""
        begun = time.monotonic()
        status, wait, body = None, None, ""
        try:
            async with asyncio.timeout(self._settings.timeout):
                async with self._http.stream(
                    "POST", address_of(self._settings), json=self._request(prompt, repeat)
                ) as got:
                    content = bytearray()
                    async for piece in got.aiter_bytes():
                        content += piece
                        if len(content) > LONGEST_BODY:
                            raise httpx.DecodingError(f"an answer of more than {LONGEST_BODY:,} bytes")
                status, wait = got.status_code, _asked_to_wait(got.headers)
                body = content.decode("utf-8", "replace")
        except TimeoutError:
            body = f"no answer within {self._settings.timeout:g} s"
        except httpx.HTTPError as error:
            body = f"{type(error).__name__}: {error}".rstrip(": ")
        return ServerReply(status, self._without_key(body), time.monotonic() - begun, wait)

    def _request(self, prompt: str, repeat: int) -> Mapping[str, Any]:
        return {
            "model": self._settings.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._settings.temperature,
            "seed": self._settings.seed + repeat - 1,
            self._settings.limit_called: self._settings.longest_answer,
            "stream": False,
        }

    def _without_key(self, text: str) -> str:
        text = text.replace("\0", "\ufffd")
        return text.replace(self._key, BLOTTED) if self._key else text


def address_of(settings: OpinionSettings) -> str:
    """Where questions go."""
    return f"{settings.url.rstrip('/')}/chat/completions"


def is_this_machine(url: str) -> bool:
    """Whether the address can only be this machine.

    >>> is_this_machine("http://localhost:11434/v1"), is_this_machine("http://10.0.0.7/v1")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _asked_to_wait(headers: httpx.Headers) -> float | None:
    """The seconds of `Retry-After`, or until its moment; None if the server does not ask for a wait."""
    said = headers.get("Retry-After", "")
    if said.replace(".", "", 1).isdecimal():
        return float(said)
    with suppress(ValueError):
        moment = parsedate_to_datetime(said)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
    return None
