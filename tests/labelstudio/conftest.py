"""A browser in which an assessor has signed in, for the tests of the screens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fixtures_studio import Studio


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
