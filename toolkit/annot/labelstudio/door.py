"""The door to a Label Studio server: the client library behind it, its errors in our words, and who has an account.

What the library does behind one's back, and what is done about it:
- it sends a POST again on 5xx, 408, 409 and 429: writes are sent once (`max_retries` 0), then read back;
- its pager asks for a page beyond the last one, and takes a 404 in the middle for the end: no more than the total is
  asked for, and everything listed is counted against it;
- it does not check answers: everything is converted, with checks, at this door;
- its errors carry headers with a session cookie: only status and detail get into our messages;
- it unpacks whatever comes, however large: bodies are read under limits.
"""

from __future__ import annotations

import ipaddress
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from annot.base.errors import StudioError
from annot.labelstudio import refusals
from annot.labelstudio.bodies import LIMITED
from annot.labelstudio.refusals import TooManyRequests
from annot.labelstudio.tasks import TaskKeys

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

    Raises TooManyRequests if the server asks for a longer wait than there is, or what was asked is not safe twice, and
    UncertainWrite for a body beyond the limits of `annot.labelstudio.bodies`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**LIMITED, **options)

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """As httpx does."""
        place = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
        waited = 0.0
        while True:
            answer = self._send_once(request, place, options)
            seconds = refusals.asked_to_wait(answer.headers) if answer.status_code == TOO_MANY else None
            if seconds is None:
                return answer
            answer.close()
            if request.method not in SAFE_TWICE or waited + seconds > LONGEST_WAIT:
                raise TooManyRequests.after(seconds, url=place)
            LOGGER.warning("%s accepts no more requests for now; trying again in %.0f s", place, seconds)
            time.sleep(seconds)
            waited += max(seconds, 1.0)

    def _send_once(self, request: httpx.Request, place: str, options: dict[str, Any]) -> httpx.Response:
        told = threading.Timer(
            SAID_AFTER, LOGGER.warning, ("%s has not answered for %.0f s; still waiting", place, SAID_AFTER)
        )
        told.start()
        try:
            return super().send(request, **options)
        finally:
            told.cancel()


TIMEOUT_SECONDS = 120.0
PAGE_SIZE = 500
READ: dict[str, Any] = {"max_retries": 2}


class Door:
    """One server, seen through one account's token (legacy or personal). `transport` stands in for the network.

    `keys` seals the keys of tasks on their way out and opens them on their way in, looked up when the first task comes
    by; without it keys stand on the server as they are.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        keys: Callable[[], TaskKeys] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if "@" in url:
            raise StudioError(
                "the address of Label Studio contains a user name or a password",
                hint="remove it from LABEL_STUDIO_URL or --url",
            )
        self.url = url.rstrip("/")
        if not api_key or not api_key.isascii() or any(letter.isspace() for letter in api_key):
            raise StudioError(
                "LABEL_STUDIO_API_KEY is not a token", hint="copy one from Label Studio's Account & Settings"
            )
        self._keys = None if keys is None else cache(keys)
        # A proxy from the environment must not get requests to this machine.
        self._http = PatientClient(
            timeout=TIMEOUT_SECONDS, follow_redirects=True, transport=transport, trust_env=not is_loopback(url)
        )
        with self._asking("reading the token"):
            from label_studio_sdk import LabelStudio

            self._client: Any = LabelStudio(
                base_url=self.url + "/", api_key=api_key, httpx_client=self._http, max_retries=0
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def version(self) -> str:
        """The server's release, such as `1.23.2`."""
        with self._asking("asking for the version"):
            return str(self._client.versions.get(request_options=READ).model_dump()["release"])

    def identity(self) -> str:
        """What tells this server's data from another's, whatever its address: its organisation and when it was made."""
        with self._asking("asking which server this is"):
            active = self._client.users.whoami(request_options=READ).active_organization
            made = {group.id: group.created_at for group in self._client.organizations.list(request_options=READ)}
            return f"{active} of {made[active].isoformat()}"

    def whoami(self) -> int:
        """The id of the account whose token this is. Raises StudioError on a wrong token, server or address."""
        with self._asking("checking the token"):
            return integer(self._client.users.whoami(request_options=READ).id)

    def user_ids(self) -> dict[str, int]:
        """The ids of all accounts of the organisation, by address in small letters.

        An address is an identity: it goes no further than the database.
        """
        with self._asking("listing the accounts"):
            users = self._client.users.list(request_options=READ)
            return {user.email.lower(): integer(user.id) for user in users}

    def invitation(self) -> str:
        """Path and query of the link by which an account can be made."""
        with self._asking("asking for the invitation link"):
            link = self._client.organizations.invites.get_invite_link(request_options=READ).invite_url
            parts = urlsplit(link)
            return f"{parts.path}?{parts.query}"

    # -- inside --------------------------------------------------------------------------------------------------------

    def _asking(self, doing: str) -> AbstractContextManager[None]:
        return refusals.asking(self.url, doing)

    @contextmanager
    def _deleting(self, what: str) -> Iterator[None]:
        """What is gone already is fine."""
        with self._asking(f"deleting {what}"):
            try:
                yield
            except Exception as error:
                if getattr(error, "status_code", None) != 404:
                    raise

    def _listed(self, pager: Any, total: Any, *, doing: str, what: str) -> dict[int, Any]:
        """Everything that the pages hold, by id; StudioError if that is less than the server counts, or more."""
        expected = integer(total)
        found = {integer(one.id): one for one in islice(pager, expected)}
        if len(found) != expected:
            raise refusals.short(url=self.url, doing=doing, expected=expected, found=len(found), what=what)
        return dict(sorted(found.items()))


def moment(value: datetime | None) -> str | None:
    """As the server writes it in exports, so that moments compare as text."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def integer(value: Any) -> int:
    """`value`, known to be a whole number. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")
    return value


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
