"""README.md and the command line say the same: every command in it can be typed so, every command stands in it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Command, commands, wrong_in

README = Path(__file__).resolve().parent.parent / "README.md"
COMMANDS = {command.words: command for command in commands()}


def blocks(text: str) -> Iterator[str]:
    """The code blocks, fenced or indented, without the drawings (`text`)."""
    fenced = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    yield from (code for language, code in fenced.findall(text) if language != "text")
    rest = fenced.sub("", text)
    yield from re.findall(r"(?:^ {4}\S.*\n)+", rest, re.MULTILINE)


def typed(text: str) -> list[str]:
    """Every `annot ...` of the code blocks, each as one line, comments cut off."""
    found = []
    for block in blocks(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = re.sub(r"(^|\s)#.*$", "", line).strip().removeprefix("$ ")
            found += [part.strip() for part in re.split(r"&&|\|\||[|;]", words) if part.strip().startswith("annot ")]
    return found


def mentioned(text: str) -> list[str]:
    """Every `annot ...` between backticks in the prose."""
    fenced = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    return re.findall(r"`(annot [^`]+)`", fenced.sub("", text).replace("\n", " "))


TEXT = README.read_text(encoding="utf-8")
TYPED = typed(TEXT)


def command_of(words: list[str]) -> tuple[Command, list[str]]:
    """The command that is meant by what follows `annot`, and what is left for it."""
    for length in (2, 1):
        found = COMMANDS.get(tuple(words[:length]))
        if found is not None:
            return found, words[length:]
    raise AssertionError(f"annot {' '.join(words)}: there is no such command")


def test_readme_shows_how_a_study_goes() -> None:
    assert len(TYPED) >= 20


@pytest.mark.parametrize("line", dict.fromkeys(TYPED))
def test_a_command_in_readme_can_be_typed_so(line: str) -> None:
    command, arguments = command_of(shlex.split(line)[1:])
    # Parsing alone: options that are not there, words too many and values of another kind are refused here.
    command.click.make_context(command.name, arguments)


@pytest.mark.parametrize("line", dict.fromkeys(mentioned(TEXT)))
def test_a_command_in_the_prose_is_there(line: str) -> None:
    assert not wrong_in(line)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_every_command_stands_in_readme(command: Command) -> None:
    shown = [command_of(shlex.split(line)[1:])[0].words for line in TYPED]
    told = [tuple(line.split()[1 : 1 + len(command.words)]) for line in mentioned(TEXT)]
    assert command.words in [*shown, *told]
