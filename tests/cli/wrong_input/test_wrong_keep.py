"""Wrong input for the commands of Keep: one clear message, the exit code of the README, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from wrong import Wrong, commands_of

WRONG: dict[str, Wrong] = {
    "backup: a file that is there": Wrong("backup", "papers.jsonl", ("papers.jsonl: is there already",)),
    "restore: a file that is no backup": Wrong("restore", "papers.jsonl new", ("papers.jsonl: not a whole backup",)),
    "restore: no file": Wrong("restore", "none.tar.gz new", ("none.tar.gz: no such file", "annot backup")),
    "verify: an option that is none": Wrong("verify", "--relase out", ("No such option: --relase", "--release")),
    "migrate: an option that is none": Wrong("migrate", "--to 3", ("No such option: --to",)),
    "rebuild: a study that is there": Wrong("rebuild", "", ("holds a plan", "annot restore"), "planned"),
    "rebuild: no plan": Wrong("rebuild", "", ("plan.jsonl: not there",), "pooled"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_told_and_changes_nothing(
    name: str, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    WRONG[name].is_told(study, monkeypatch)


def test_every_command_has_a_wrong_input_of_its_own() -> None:
    assert {wrong.command for wrong in WRONG.values()} == commands_of("Keep")
