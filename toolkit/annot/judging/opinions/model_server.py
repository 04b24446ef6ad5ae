"""A server that speaks OpenAI's chat completions: one request, and what came of it. By httpx alone.

https://platform.openai.com/docs/api-reference/chat/create; ollama, vLLM, llama.cpp and `transformers serve` speak it
too. The key comes from the environment and goes into one header. It is removed from whatever the server sends back,
also if it comes back with JSON's escapes.

Answers are asked for as they are. One in another encoding is refused unread: unpacked, a few bytes can be gigabytes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from annot.base.errors import InputError
from annot.base.settings import OpinionSettings
from annot.labelstudio.refusals import asked_to_wait

KEY_VARIABLE = "ANNOT_OPINION_KEY"
"""The environment variable with the key."""
LONGEST_BODY = 1_000_000
"""Bytes of one answer; no grade with a reason needs more."""
BLOTTED = "[the key]"
TOO_MANY = 429
TO_COME_AGAIN = (408, 409, 425, TOO_MANY)
"""Refusals that are temporary, as are those of 500 and above."""
DEEPEST = 8
"""Backslashes before one letter of an escaped key: JSON within JSON doubles them."""


class ServerReply(NamedTuple):
    """What came of one request."""

    status: int | None
    """HTTP's; None if no whole answer came."""
    body: str
    """The answer as it came, or what went wrong."""
    seconds: float
    wait: float | None = None
    """Seconds that the server asks to wait."""
    unread: bool = False
    """Whether the answer was not read to its end, because of its encoding or length."""

    @property
    def came(self) -> bool:
        """Whether the model answered."""
        return self.status == 200 and not self.unread

    @property
    def for_now(self) -> bool:
        """Whether the same request may succeed later."""
        if self.unread:
            return False
        return self.status is None or self.status in TO_COME_AGAIN or self.status >= 500

    @property
    def too_many(self) -> bool:
        """Whether the server refuses because it gets too many requests."""
        return self.status == TOO_MANY or (self.status == 503 and self.wait is not None)


class ModelServer:
    """One server with one model. `transport` stands in for the network."""

    def __init__(self, settings: OpinionSettings, key: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        if not key.isascii() or any(letter.isspace() or not letter.isprintable() for letter in key):
            raise InputError(f"{KEY_VARIABLE} is not a key", hint="set it to the key alone, without blanks and quotes")
        self._settings = settings
        self._key = _in_any_escape(key) if key else None
        self._http = httpx.AsyncClient(
            headers={"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {}),
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
        status, wait, body, unread = None, None, "", False
        try:
            async with (
                asyncio.timeout(self._settings.timeout),
                self._http.stream("POST", address_of(self._settings), json=self._request(prompt, repeat)) as answer,
            ):
                body, unread = await _read(answer)
                status, wait = answer.status_code, asked_to_wait(answer.headers)
                if answer.has_redirect_location and not body:
                    body = f"it sends on to {answer.headers['Location']}, which is not followed"
        except TimeoutError:
            body = f"no answer within {self._settings.timeout:g} s"
        except httpx.HTTPError as error:
            body = f"{type(error).__name__}: {error}".rstrip(": ")
        body = self.without_key(body.replace("\0", "\ufffd"))
        return ServerReply(status, body, time.monotonic() - begun, wait, unread)

    def without_key(self, text: str) -> str:
        """The text with the key blotted out, whether plain or with JSON's escapes."""
        return self._key.sub(BLOTTED, text) if self._key else text

    def _request(self, prompt: str, repeat: int) -> Mapping[str, Any]:
        return {
            "model": self._settings.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._settings.temperature,
            "seed": self._settings.seed + repeat - 1,
            self._settings.limit_called: self._settings.longest_answer,
            "stream": False,
        }


async def _read(answer: httpx.Response) -> tuple[str, bool]:
    """The body as text, or why it is not read, and whether that is so."""
    encoding = answer.headers.get("Content-Encoding", "").strip()
    if encoding.lower() not in ("", "identity"):
        return f"an answer in the encoding {encoding[:40]!r}, which was not asked for", True
    content = bytearray()
    async for piece in answer.aiter_raw():
        content += piece
        if len(content) > LONGEST_BODY:
            return f"an answer of more than {LONGEST_BODY:,} bytes", True
    return content.decode("utf-8", "replace"), False


def _in_any_escape(key: str) -> re.Pattern[str]:
    """A pattern of the key, each letter of which may be plain or escaped as JSON does it."""
    letters = (
        rf"(?:\\{{0,{DEEPEST}}}{re.escape(letter)}|\\{{1,{DEEPEST}}}u00(?i:{ord(letter):02x}))" for letter in key
    )
    return re.compile("".join(letters))


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
