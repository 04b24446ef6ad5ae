"""One wrong input, and what must come of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from command_line import Result, annot, difference, snapshot
from spoiling import Spoil

NOWHERE = "http://127.0.0.1:9"
"""An address where no server answers."""


DOWN = ("--url", NOWHERE, "--api-key", "not-a-real-token")


@dataclass(frozen=True)
class Wrong:
    """One wrong input: the command as typed, in a study of this stage, spoiled so, and what the message must say."""

    command: str
    typed: str
    says: tuple[str, ...]
    stage: str = "made"
    spoil: Spoil = field(default=lambda folder: None)
    exit_code: int = 2
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> list[str]:
        return [*self.command.split(), *self.typed.split()]

    def is_told(self, study: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
        """The message says it all, and the study is as it was."""
        for variable, value in self.environment.items():
            monkeypatch.setenv(variable, value)
        folder = study(self.stage)
        self.spoil(folder)
        before = snapshot(folder)
        result = annot(*self.arguments, folder=folder)
        refused(result, exit_code=self.exit_code)
        for words in self.says:
            assert words in result.message(), result.stderr
        assert not difference(before, snapshot(folder))


def refused(result: Result, *, exit_code: int) -> None:
    """One message on stderr, in words; nothing on stdout."""
    assert result.exit_code == exit_code, result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    first = result.stderr.splitlines()[0]
    assert first.startswith(("annot: ", "Usage: annot ")), result.stderr
    assert sum(line.startswith("annot: ") for line in result.stderr.splitlines()) <= 1
    assert "\x1b" not in result.stderr
