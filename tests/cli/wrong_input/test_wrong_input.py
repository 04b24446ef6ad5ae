"""Wrong input for every command: one clear message, the exit code of the README, and nothing changed."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from wrong import Wrong

WRONG: dict[str, dict[str, Wrong]] = {
    path.stem: import_module(path.stem).WRONG for path in sorted(Path(__file__).parent.glob("wrong_*.py"))
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, cases in WRONG.items() for name in cases])
def test_wrong_input_is_told_and_changes_nothing(
    module: str, name: str, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    WRONG[module][name].is_told(study, monkeypatch)
