"""What every test of models' opinions needs."""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_loop_of_the_browser() -> Iterator[None]:
    """The loop of a browser that another test has begun counts as running in this thread, where a model is asked."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)
