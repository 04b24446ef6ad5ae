"""Which Label Studio: the one that is named, or the local one of this study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from annot.errors import StudioError
from annot.exchange.task_keys import task_keys
from annot.labelstudio import server
from annot.labelstudio.accounts import make_accounts
from annot.labelstudio.gateway import Gateway
from annot.study.workspace import Workspace


def studio_folder(ws: Workspace) -> Path:
    """Where the study's own local server keeps its data."""
    return ws.cache / "studio"


def passwords_file(ws: Workspace) -> Path:
    """The accounts of the local server with their passwords; only its owner can read it."""
    return studio_folder(ws) / "passwords.tsv"


@contextmanager
def connect(ws: Workspace, *, url: str | None, api_key: str | None) -> Iterator[Gateway]:
    """A gateway to the server, its token checked, for as long as the context lasts.

    `url` and `api_key` come from the options or from LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY; without a URL the
    local server is taken. Raises StudioError when there is none, or it refuses.
    """
    if url is None:
        folder = studio_folder(ws)
        running = server.status(folder)
        if running is None:
            raise StudioError(
                "no Label Studio is named, and no local one runs here",
                hint="set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, or start one with `annot studio up`",
            )
        # A key in the environment is for the server named there, not for the local one.
        url, api_key = running.url, server.credentials(folder).token
    if not api_key:
        raise StudioError(f"no token for {url}", hint="set LABEL_STUDIO_API_KEY to a token from Account & Settings")
    with Gateway(url, api_key, keys=partial(task_keys, ws)) as gateway:
        gateway.whoami()
        yield gateway


def open_accounts(ws: Workspace, gateway: Gateway, addresses: Sequence[str]) -> tuple[str, ...]:
    """Accounts on the study's own local server, made where they are missing; the token of each."""
    return make_accounts(gateway.url, addresses, invitation=gateway.invitation, passwords=passwords_file(ws))
