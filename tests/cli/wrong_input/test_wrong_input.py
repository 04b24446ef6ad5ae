"""Wrong input for every command: one clear message, the exit code of the README, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from annot.cli.commands import PANEL_OF, PANELS
from command_line import commands
from wrong import Wrong

WRONG: dict[str, dict[str, Wrong]] = {panel: import_module(f"wrong_{panel.lower()}").WRONG for panel in PANELS}


@pytest.mark.parametrize(("panel", "name"), [(panel, name) for panel, cases in WRONG.items() for name in cases])
def test_wrong_input_is_told_and_changes_nothing(
    panel: str, name: str, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    WRONG[panel][name].is_told(study, monkeypatch)


@pytest.mark.parametrize("panel", PANELS)
def test_every_command_has_a_wrong_input_of_its_own(panel: str) -> None:
    listed = {command.name for command in commands() if PANEL_OF[command.name.split()[0]] == panel}
    assert {wrong.command for wrong in WRONG[panel].values()} == listed
