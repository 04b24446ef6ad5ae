"""What a Label Studio shows to everyone who finds it: its clock, and whether strangers can sign up."""

from __future__ import annotations

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from annot.labelstudio.door import is_loopback
from annot.labelstudio.refusals import asking

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 30.0
FORBIDDEN = 403


class Exposure(NamedTuple):
    """What anyone can see of a server."""

    sign_up: bool
    """Whether an account can be made without an invitation, as the page for logging in has it."""
    clock: datetime | None
    """What time it is there, to the second; None if it does not say."""
    forms: bool = True
    """Whether it takes a form that it has just given out: else nobody can sign in or sign up in a browser."""


def look(url: str, *, transport: httpx.BaseTransport | None = None) -> Exposure:
    """Open the page for logging in, as a stranger would. Raises StudioError if no Label Studio answers."""
    import httpx

    from annot.labelstudio.bodies import LIMITED

    with (
        asking(url, "opening the page for logging in"),
        httpx.Client(
            timeout=TIMEOUT_SECONDS,
            follow_redirects=True,
            transport=transport,
            trust_env=not is_loopback(url),
            **LIMITED,
        ) as client,
    ):
        page = client.get(f"{url}/user/login/").raise_for_status()
        date = page.headers.get("date")
        sign_up, clock = "/user/signup" in page.text, parsedate_to_datetime(date) if date else None
        # The form without address and password: it is refused by itself, or before that for where it comes from.
        origin = {"Origin": url, "Referer": str(page.url)}
        filled = {"csrfmiddlewaretoken": client.cookies.get("csrftoken", "")}
        taken = client.post(page.url, data=filled, headers=origin).status_code != FORBIDDEN
        return Exposure(sign_up, clock, taken)


def is_older(release: str, than: str) -> bool:
    """Whether one release came before another; False where one cannot be read."""
    one, other = _numbers(release), _numbers(than)
    return one is not None and other is not None and one < other


def _numbers(release: str) -> tuple[int, ...] | None:
    """`1.23.2` and `1.23.2.dev4` as (1, 23, 2)."""
    parts = release.split(".")[:3]
    return tuple(map(int, parts)) if parts and all(part.isdigit() for part in parts) else None
