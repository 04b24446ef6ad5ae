"""What a test needs and this machine lacks."""

import os
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skip with the reason on a person's machine; fail where everything must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"must run here: {reason}")
    pytest.skip(reason)
