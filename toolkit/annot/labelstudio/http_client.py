"""HTTP client of a Label Studio server: limits on responses, and refusals in plain words."""

from __future__ import annotations

import ipaddress
import json
import logging
import math
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from itertools import islice
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from annot.base.errors import StudioError
from annot.labelstudio.tasks import TaskKeys

# ----------------------------------------------------------------------------------------------------------------------
# Label Studio's refusals and silences, in words with a remedy. No header, token or cookie gets into a message.
# ----------------------------------------------------------------------------------------------------------------------


_LONGEST_DETAIL = 600
_LONGEST_WAIT = 1e9
"""Seconds; a number that a server makes up may be infinite."""
_CHECK_ADDRESS = "check LABEL_STUDIO_URL: it may point to another service, or to a sign-in page in front of the server"


_HINTS = {
    401: "set LABEL_STUDIO_API_KEY to a token from Account & Settings; it may have expired, or be a legacy token on a "
    "server that does not accept them",
    403: "use the token of an account with this permission",
    404: "check that the address is a Label Studio server and that the project was not deleted",
}
"""Remedies by status."""
TOO_MANY = 429


class UncertainWrite(StudioError):
    """Raised when a write got no answer that settles whether it was done; look before sending it again."""


class TooManyRequests(UncertainWrite):
    """Raised when the server takes no more requests for now. Nothing was done; a write is looked for all the same."""

    @classmethod
    def after(cls, seconds: float | None, *, url: str, doing: str = "") -> TooManyRequests:
        """seconds: how long the server asks to wait; None if it does not say."""
        wait = "a minute" if seconds is None else f"{math.ceil(seconds)} s"
        return cls(
            f"{url} accepts no more requests for now (429){f' while {doing}' if doing else ''}",
            hint=f"wait {wait}, then run the command again; it continues where it stopped. Another program may be "
            "using the server, or the proxy in front of it allows too few requests",
        )


@contextmanager
def asking(url: str, doing: str) -> Iterator[None]:
    """Turn errors of the client library and the network into StudioError, without chaining them."""
    try:
        yield
    except StudioError:
        raise
    except httpx.HTTPStatusError as error:
        raise _refused(error.response.status_code, error.response.text, url=url, doing=doing) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _unanswered(error, url=url, doing=doing) from None
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise StudioError(
            f"{url} answers, but not like Label Studio, while {doing} ({type(error).__name__})", hint=_CHECK_ADDRESS
        ) from None
    except Exception as error:
        if not hasattr(error, "status_code"):
            raise
        raise _refused(error.status_code, getattr(error, "body", None), url=url, doing=doing) from None


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of `Retry-After`, or until its moment; None if a server does not ask for a wait."""
    value = headers.get("Retry-After", "")
    if value.replace(".", "", 1).isdecimal():
        return min(float(value), _LONGEST_WAIT)
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _refused(status: int | None, body: Any, *, url: str, doing: str) -> StudioError:
    """The error for an HTTP answer with a fault; doing: our action at `url`."""
    detail = _detail(body)
    # The answer to a token may repeat it.
    words = f": {detail}" if detail and status != 401 else ""
    if status == TOO_MANY:
        return TooManyRequests.after(None, url=url, doing=doing)
    if status is not None and status >= 500:
        return UncertainWrite(
            f"{url} failed ({status}) while {doing}{words}", hint="look at the server's log, then run the command again"
        )
    if status is not None and status < 400:
        return UncertainWrite(
            f"{url} answers, but not like Label Studio, while {doing} ({status}){words}", hint=_CHECK_ADDRESS
        )
    hint = _HINTS.get(status or 0, "correct what the message names and run the command again")
    return StudioError(f"{url} refuses {doing} ({status or 'no status'}){words}", hint=hint)


def _unanswered(error: Exception, *, url: str, doing: str) -> StudioError:
    """The error for a request that got no HTTP answer at all."""
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return StudioError(
            f"{url}: this machine does not trust its certificate (while {doing})",
            hint="if your institution signs its own certificates, set SSL_CERT_FILE to its certificate file",
        )
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return StudioError(
            f"no server answers at {url} (while {doing})",
            hint="start it (`annot studio up` for a local one) or correct LABEL_STUDIO_URL",
        )
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL | httpx.LocalProtocolError):
        return StudioError(
            f"no request can be made with the address {url!r} and this token",
            hint="LABEL_STUDIO_URL looks like https://studio.example.org",
        )
    return UncertainWrite(
        f"{url} gave no complete answer while {doing} ({type(error).__name__})",
        hint="run the command again, and it continues where it stopped",
    )


def _detail(body: Any) -> str:
    if isinstance(body, str):
        with suppress(ValueError):
            body = json.loads(body)
    if isinstance(body, dict):
        words = body.get("validation_errors") or body.get("detail") or body
        text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False, default=str)
    else:
        text = "" if body is None else str(body)
    if "<html" in text.lower():
        return "a web page instead of data"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + " ..."


# ----------------------------------------------------------------------------------------------------------------------
# The bodies of a server's answers, read under limits: a few bytes can unpack to gigabytes, and some never end.
#
# One layer of gzip is asked for, and unpacked piece by piece. An answer in any other encoding is refused unread.
# Bytes are counted as they come and as they are unpacked, and the time is limited: a body that trickles in would hold
# a command for ever, because each piece comes in time.
# ----------------------------------------------------------------------------------------------------------------------


MOST_BYTES = 500_000_000
"""Bytes of one body, packed and unpacked. The largest answer, an export of 5,000 tasks, has a tenth of it."""
MOST_SECONDS = 600.0
"""Seconds from the first byte of a body to its last."""
GZIP = 16 + zlib.MAX_WBITS


def limit_body(answer: httpx.Response) -> None:
    """Read and unpack the body of an answer.

    Raises UncertainWrite beyond a limit, for an encoding that was not asked for, and if it cannot be unpacked.
    """
    encoding = answer.headers.pop("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise _unusable(answer, f"an answer in the encoding {encoding[:40]!r}, which was not asked for")
    unpacker = zlib.decompressobj(GZIP) if encoding == "gzip" else None
    body, received, deadline = bytearray(), 0, time.monotonic() + MOST_SECONDS
    assert isinstance(answer.stream, httpx.SyncByteStream)
    for piece in answer.stream:
        received += len(piece)
        try:
            body += piece if unpacker is None else unpacker.decompress(piece, MOST_BYTES + 1 - len(body))
        except zlib.error:
            raise _unusable(answer, "a packed answer that cannot be unpacked") from None
        if max(received, len(body)) > MOST_BYTES:
            raise _unusable(answer, f"an answer of more than {MOST_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise _unusable(answer, f"an answer that did not end within {MOST_SECONDS:g} s")
    if received and unpacker is not None and not unpacker.eof:
        raise _unusable(answer, "a packed answer that ends in its middle")
    answer.stream.close()
    answer.stream = httpx.ByteStream(bytes(body))


LIMITED: dict[str, Any] = {"headers": {"Accept-Encoding": "gzip"}, "event_hooks": {"response": [limit_body]}}
"""Options of a client that reads every body under the limits."""


def _unusable(answer: httpx.Response, problem: str) -> UncertainWrite:
    url = answer.request.url
    return UncertainWrite(
        f"{url.scheme}://{url.netloc.decode('ascii')} sent {problem}",
        hint="nothing of it was used. Check LABEL_STUDIO_URL and the proxy in front of the server, then run the "
        "command again",
    )


# ----------------------------------------------------------------------------------------------------------------------
# The door to a Label Studio server: the client library behind it, its errors in our words, and who has an account.
#
# Surprises of the library, and the answers to them:
# - it sends a POST again on 5xx, 408, 409 and 429: writes are sent once (`max_retries` 0), then read back;
# - its pager asks for a page beyond the last one, and takes a 404 in the middle for the end: no more than the total is
#   asked for, and everything listed is counted against it;
# - it does not check answers: everything is converted, with checks, at this door;
# - its errors carry headers with a session cookie: only status and detail get into our messages;
# - it unpacks whatever comes, however large: bodies are read under limits.
# ----------------------------------------------------------------------------------------------------------------------


WARN_AFTER = 10.0
"""Seconds without an answer after which a warning is logged."""
LONGEST_WAIT = 60.0
"""Seconds for which one request waits, all in all, where the server asks for it."""
SAFE_TWICE = ("GET", "HEAD", "PUT", "PATCH", "DELETE")
"""A POST makes something, and is looked for before it is sent again."""
LOGGER = logging.getLogger("annot")


class PatientClient(httpx.Client):
    """A client that waits as long as its timeout allows, and after `WARN_AFTER` seconds logs a warning.

    Raises TooManyRequests if the server asks for a longer wait than there is, or the request cannot be repeated safely,
    and UncertainWrite for a body beyond the limits of `annot.labelstudio.http_client`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**LIMITED, **options)

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request, as httpx does."""
        place = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
        waited = 0.0
        while True:
            warned = threading.Timer(
                WARN_AFTER, LOGGER.warning, ("%s has not answered for %.0f s; still waiting", place, WARN_AFTER)
            )
            warned.start()
            try:
                answer = super().send(request, **options)
            finally:
                warned.cancel()
            seconds = asked_to_wait(answer.headers) if answer.status_code == TOO_MANY else None
            if seconds is None:
                return answer
            answer.close()
            if request.method not in SAFE_TWICE or waited + seconds > LONGEST_WAIT:
                raise TooManyRequests.after(seconds, url=place)
            LOGGER.warning("%s accepts no more requests for now; trying again in %.0f s", place, seconds)
            time.sleep(seconds)
            waited += max(seconds, 1.0)


TIMEOUT_SECONDS = 120.0
PAGE_SIZE = 500
READ: dict[str, Any] = {"max_retries": 2}


class Door:
    """One server, through one account's token (legacy or personal). `transport` replaces the network.

    `keys` seals the keys of tasks on their way out and opens them on their way in; it is called when the first task is
    met. Without it keys are on the server as they are. `address` is where people reach the server, if not at `url`.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        keys: Callable[[], TaskKeys] | None = None,
        transport: httpx.BaseTransport | None = None,
        address: str = "",
    ) -> None:
        if "@" in url:
            raise StudioError(
                "the address of Label Studio contains a user name or a password",
                hint="remove it from LABEL_STUDIO_URL or --url",
            )
        self.url = url.rstrip("/")
        self.address = address or self.url
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
        """Identity of this server's data, independent of its address: its organisation and when that was made."""
        with self._asking("asking which server this is"):
            active = self._client.users.whoami(request_options=READ).active_organization
            created = {group.id: group.created_at for group in self._client.organizations.list(request_options=READ)}
            return f"{active} of {created[active].isoformat()}"

    def whoami(self) -> int:
        """The id of the account whose token this is. Raises StudioError on a wrong token, server or address."""
        with self._asking("checking the token"):
            return integer(self._client.users.whoami(request_options=READ).id)

    def user_ids(self) -> dict[str, int]:
        """The ids of all accounts of the organisation, by address in lower case.

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
        return asking(self.url, doing)

    @contextmanager
    def _deleting(self, name: str) -> Iterator[None]:
        """Accept that the thing to delete is gone already."""
        with self._asking(f"deleting {name}"):
            try:
                yield
            except Exception as error:
                if getattr(error, "status_code", None) != 404:
                    raise

    def _refuse_incomplete(self, received: int, expected: int, *, doing: str, noun: str) -> None:
        """Raise StudioError for an answer that holds less than the server itself counts."""
        if received < expected:
            raise StudioError(
                f"{self.url} answered incompletely while {doing}: it counts {expected} {noun} and sent {received}",
                hint="this answer was not used; run the command again",
            )

    def _listed(self, pager: Any, total: Any, *, doing: str, noun: str) -> dict[int, Any]:
        """Everything that the pages hold, by id; StudioError if that is less than the server counts, or more."""
        expected = integer(total)
        rows = {integer(row.id): row for row in islice(pager, expected)}
        self._refuse_incomplete(len(rows), expected, doing=doing, noun=noun)
        return dict(sorted(rows.items()))


def moment(value: datetime | None) -> str | None:
    """Moment as the server writes it in exports, so that moments compare as text."""
    return None if value is None else value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def integer(value: Any) -> int:
    """`value`, known to be a whole number. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")
    return value


def is_loopback(url: str) -> bool:
    """True if the address is this machine's own."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
