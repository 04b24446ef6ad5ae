"""Wrong input: one clear message, the exit code of the README, and nothing changed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from wrong_calls import WRONG


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_told_and_changes_nothing(
    name: str, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    WRONG[name].is_told(study, monkeypatch)
