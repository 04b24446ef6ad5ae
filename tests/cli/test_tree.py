"""The list of commands and the functions behind it agree, and a module of commands is loaded when it is needed."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from annot.cli.commands import BY_WORDS, COMMANDS, EVERY_STUDY, MODULES, _help_texts
from command_line import TREE

LOADED = """
import contextlib, io, json, sys
from annot.cli.main import app
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    app(json.loads(sys.argv[1]))
print(json.dumps(sorted(name for name in sys.modules if name.startswith("annot.cli."))))
"""


def loaded(*arguments: str) -> set[str]:
    """The modules of `annot.cli` that a call loads, apart from those which every call does."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(arguments)], capture_output=True, text=True, check=True
    )
    shared = {"main", "commands", "options", "output", "tree", "waiting"}
    return {name.removeprefix("annot.cli.") for name in json.loads(done.stdout)} - shared


def made() -> set[str]:
    """The words of every command that the modules make."""
    found = set()
    for first in MODULES:
        top = TREE.commands[first]
        verbs = getattr(top, "commands", {})
        found |= {f"{first} {verb}" for verb in verbs}
        if not verbs or top.invoke_without_command:
            found.add(first)
    return found


def test_the_list_and_the_functions_agree() -> None:
    assert made() == set(BY_WORDS)
    assert len(BY_WORDS) == sum(map(len, COMMANDS.values()))
    assert BY_WORDS.keys() >= EVERY_STUDY


def test_the_help_that_is_read_from_the_source_is_that_of_the_command() -> None:
    for words in {*BY_WORDS, *MODULES}:
        text = _help_texts(MODULES[words.split()[0]])[words]
        assert text == TREE.at(words).help


def test_every_module_of_commands_is_in_the_list() -> None:
    toolkit = Path(import_module("annot").__path__[0]).parent
    with_commands = {
        ".".join(path.relative_to(toolkit).with_suffix("").parts)
        for path in toolkit.rglob("*.py")
        if "\n@command(" in path.read_text(encoding="utf-8")
    }
    assert with_commands == set(MODULES.values())


@pytest.mark.parametrize(("arguments", "modules"), [(["--help"], set()), (["release", "--help"], {"keep"})])
def test_a_module_is_loaded_when_one_of_its_commands_is_called(arguments: list[str], modules: set[str]) -> None:
    assert loaded(*arguments) == modules


@pytest.mark.parametrize(
    ("typed", "offered", "reads_options"), [("annot corpus sh", "show", False), ("annot pool sh", "show", True)]
)
def test_the_shell_completes_a_command(typed: str, offered: str, *, reads_options: bool) -> None:
    asked = {"_ANNOT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import atexit, sys; atexit.register(lambda: print('pydantic' in sys.modules, file=sys.stderr))\n"
            "from annot.cli.main import run; run()",
        ],
        env=os.environ | asked, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == [offered]
    # It takes half of the time between a key and the answer.
    assert done.stderr == f"{reads_options}\n"
