"""Label Studio's refusals and silences, in words with a remedy. No header, token or cookie gets into a message."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from annot.base.errors import StudioError

_LONGEST_DETAIL = 600
_LONGEST_WAIT = 1e9
"""Seconds; a number that a server makes up may be infinite."""
_CHECK_ADDRESS = "check LABEL_STUDIO_URL: it may point to another service, or to a sign-in page in front of the server"


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
    """Turn what the client library and the network raise into StudioError; nothing of theirs is chained on."""
    import httpx

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


def short(*, url: str, doing: str, expected: int, found: int, what: str) -> StudioError:
    """The error for an answer that holds less than the server itself counts."""
    return StudioError(
        f"{url} answered incompletely while {doing}: it counts {expected} {what} and sent {found}",
        hint="this answer was not used; run the command again",
    )


def _refused(status: int | None, body: Any, *, url: str, doing: str) -> StudioError:
    """The error for an HTTP answer that the client library took badly, to what we were `doing` at `url`."""
    detail = _detail(body)
    said = f": {detail}" if detail else ""
    if status == 401:
        return StudioError(
            f"{url} does not accept the token (401) while {doing}",
            hint="set LABEL_STUDIO_API_KEY to a token from Account & Settings; it may have expired, or be a legacy "
            "token on a server that does not accept them",
        )
    if status == 403:
        return StudioError(
            f"{url} refuses {doing} (403){said}", hint="use the token of an account with this permission"
        )
    if status == 404:
        return StudioError(
            f"{url} found nothing (404) while {doing}{said}",
            hint="check that the address is a Label Studio server and that the project was not deleted",
        )
    if status == 429:
        return TooManyRequests.after(None, url=url, doing=doing)
    if status is not None and status >= 500:
        return UncertainWrite(
            f"{url} failed ({status}) while {doing}{said}", hint="look at the server's log, then run the command again"
        )
    if status is not None and status < 400:
        return UncertainWrite(
            f"{url} answers, but not like Label Studio, while {doing} ({status}){said}", hint=_CHECK_ADDRESS
        )
    return StudioError(
        f"{url} refuses {doing} ({status or 'no status'}){said}",
        hint="correct what the message names and run the command again",
    )


def _unanswered(error: Exception, *, url: str, doing: str) -> StudioError:
    """The error for a request that got no HTTP answer at all."""
    import httpx

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
    if isinstance(error, httpx.TimeoutException):
        return UncertainWrite(
            f"{url} did not answer in time while {doing}",
            hint="the server may be busy; run the command again, and it continues where it stopped",
        )
    return UncertainWrite(
        f"the connection to {url} broke while {doing} ({type(error).__name__})",
        hint="run the command again, and it continues where it stopped",
    )


def _detail(body: Any) -> str:
    if isinstance(body, str):
        with suppress(ValueError):
            body = json.loads(body)
    if isinstance(body, dict):
        said = body.get("validation_errors") or body.get("detail") or body
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
    else:
        text = "" if body is None else str(body)
    if "<html" in text.lower():
        return "a web page instead of data"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + " ..."
