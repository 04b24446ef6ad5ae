"""Which Label Studio: the one that is named, or the local one of this workspace."""

from __future__ import annotations

from annot.errors import StudioError
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.server import LocalServer
from annot.workspace import Workspace


def local_server(ws: Workspace) -> LocalServer:
    """The workspace's own local server, running or not."""
    return LocalServer(ws.cache / "studio")


def connect(ws: Workspace, *, url: str | None, api_key: str | None) -> Gateway:
    """A gateway to the server, its token checked.

    `url` and `api_key` come from the options or from LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY; without a URL the
    local server is taken. Raises StudioError when there is none, or it refuses.
    """
    if url is None:
        state = local_server(ws).state()
        if state is None:
            raise StudioError(
                "no Label Studio is named, and no local one runs here",
                hint="set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, or start one with `annot studio up`",
            )
        url, api_key = state.url, api_key or state.token
    if not api_key:
        raise StudioError(f"no token for {url}", hint="set LABEL_STUDIO_API_KEY to a token from Account & Settings")
    gateway = Gateway(url, api_key)
    try:
        gateway.whoami()
    except BaseException:
        gateway.close()
        raise
    return gateway
