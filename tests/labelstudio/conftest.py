"""A browser in which an assessor has signed in, and a server in memory with its gateway."""

from collections.abc import Iterator
from typing import Any

import pytest
from annot.labelstudio.gateway import Gateway
from faulty import open_gateway, with_project
from fixtures_studio import Studio
from studio_in_memory import StudioInMemory


@pytest.fixture(scope="session")
def signed_in(studio: Studio, chromium: Any) -> Iterator[Any]:
    """A browser window in which an assessor has signed in; its pages share what they have fetched."""
    studio.account("browsing")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{studio.url}/user/login/")
    page.fill("input[name=email]", "browsing@example.org")
    page.fill("input[name=password]", studio.password("browsing"))
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/user/login" not in url)
    page.close()
    yield context
    context.close()


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No waiting for a lost answer, nor between the repeated reads of the library."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def fake() -> StudioInMemory:
    """A server with an empty project, of the id 1."""
    return with_project()


@pytest.fixture
def gateway(fake: StudioInMemory) -> Gateway:
    """What talks to that server."""
    return open_gateway(fake)
