"""Which Label Studio: the one that is named, or the local one of this workspace."""

from __future__ import annotations

from pathlib import Path

from annot.errors import StudioError
from annot.labelstudio import server
from annot.labelstudio.gateway import Gateway
from annot.study.workspace import Workspace


def studio_folder(ws: Workspace) -> Path:
    """Where the workspace's own local server keeps its data."""
    return ws.cache / "studio"


def passwords_file(ws: Workspace) -> Path:
    """The accounts of the local server with their passwords; only its owner can read it."""
    return studio_folder(ws) / "passwords.tsv"


def connect(ws: Workspace, *, url: str | None, api_key: str | None) -> Gateway:
    """A gateway to the server, its token checked.

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
    gateway = Gateway(url, api_key)
    try:
        gateway.whoami()
    except BaseException:
        gateway.close()
        raise
    return gateway
