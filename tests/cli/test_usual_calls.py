"""Every command where all is well: data on stdout, talk on stderr; a dry run and a second run change nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Command, annot, annot_done, commands, difference, snapshot
from usual import USUAL, WITH_A_SERVER

COMMANDS = {command.name: command for command in commands()}
DRY = [name for name, command in COMMANDS.items() if "--dry-run" in command.options and name in USUAL]
FLOW = (
    *("init", "corpus", "import", "facets", "query", "encode", "index", "pool", "assessor", "guidelines", "train"),
    *("plan", "push", "status", "watch", "pull", "audit", "agreement", "adjudicate", "qrels", "run", "evaluate"),
    *("reusability", "browse", "report", "datasheet", "release", "trace", "backup", "restore", "studio", "doctor"),
    "demo",
)
"""The commands in the order of the work, those yet to come among them."""


def refuse_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def test_every_command_is_called_in_these_tests() -> None:
    assert set(COMMANDS) == {*USUAL, *WITH_A_SERVER}


@pytest.mark.parametrize("name", USUAL)
def test_one_json_object_on_stdout_and_a_second_run_changes_nothing(name: str, study: Callable[[str], Path]) -> None:
    usual = USUAL[name]
    folder = study(usual.stage)
    usual.prepare(folder)
    first = annot_done(*name.split(), *usual.typed.split(), "--json", folder=folder)
    record = json.loads(first.stdout, parse_constant=refuse_constant)
    assert list(record) == ["annot", "command", "data"]
    assert (record["annot"], record["command"]) == (1, name)
    assert record["data"] is not None
    assert "\x1b" not in first.stdout + first.stderr
    assert not re.search(r"[━╸╺█▏]|\d+/\d+ ", first.stderr), "a progress bar without a terminal"
    before = snapshot(folder)
    second = annot(*name.split(), *usual.typed.split(), folder=folder)
    assert second.exit_code == usual.again, second.stderr
    assert not difference(before, snapshot(folder))
    if usual.again == 0:
        assert second.stdout.strip()
        assert not second.stdout.startswith("{")
        assert "\x1b" not in second.stdout + second.stderr


@pytest.mark.parametrize("name", DRY)
def test_a_dry_run_says_what_would_be_done_and_touches_nothing(name: str, study: Callable[[str], Path]) -> None:
    usual = USUAL[name]
    folder = study(usual.stage)
    usual.prepare(folder)
    if name == "init":
        (folder / "annot.toml").unlink()
        (folder / "annot.db").unlink()
    before = snapshot(folder)
    arguments = [*name.split(), *usual.typed.replace("--dry-run", "").split()]
    dry = annot_done(*arguments, "--dry-run", folder=folder)
    assert not difference(before, snapshot(folder))
    assert dry.stderr.startswith("dry run: ")
    assert dry.stdout.strip()
    told = annot_done(*arguments, "--dry-run", "--json", folder=folder)
    assert json.loads(told.stdout)["command"] == name


def test_every_command_that_changes_a_study_and_can_be_undone_by_nothing_has_a_dry_run() -> None:
    without = {name for name, command in COMMANDS.items() if "--dry-run" not in command.options}
    reading = {
        "query list",
        "pool show",
        "assessor list",
        "guidelines",
        "status",
        "adjudicate status",
        "studio status",
        "trace",
    }
    exports = {
        "agreement",
        "agreement assessors",
        "plan simulate",
        "qrels",
        "run",
        "evaluate",
        "reusability",
        "report",
        "datasheet",
        "facets train",
    }
    servers = {"pull", "watch", "adjudicate pull", "studio up", "studio down", "demo"}
    assert without == {*reading, *exports, *servers, "query sample"}


def test_a_dry_run_of_a_first_step_promises_what_the_step_then_does(study: Callable[[str], Path]) -> None:
    folder = study("made")
    for arguments in (("corpus", "add", "papers.jsonl"), ("facets",), ("query", "add", "fic0802", "-f", "method")):
        promised = annot_done(*arguments, "--dry-run", "--json", folder=folder).data
        done = annot_done(*arguments, "--json", folder=folder).data
        promised.pop("sha256", None), done.pop("sha256", None)
        assert promised == done


SAYS_WHAT_IT_DOES = {
    *("Add", "Choose", "Delete", "Draw", "Fetch", "Import", "Label", "Make", "Print", "Pull", "Rank", "Send", "Start"),
    *("Stop", "Train", "Write"),
}
"""With what the first line of a command's help begins: it says what the command prints, writes or changes."""


def options_without_help(command: Command) -> list[str]:
    return [parameter.opts[0] for parameter in command.click.params if not (parameter.help or "").strip()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help(name: str, tmp_path: Path) -> None:
    command = COMMANDS[name]
    assert (command.click.help or "").split()[0] in SAYS_WHAT_IT_DOES
    assert not options_without_help(command)
    shown = annot_done(*name.split(), "--help", folder=tmp_path)
    assert "Usage: annot" in shown.stdout
    assert shown.stderr == ""
    for option in command.options:
        if option.startswith("--"):
            assert option in shown.stdout


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if "--api-key" in command.options])
def test_help_never_shows_a_secret(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "s3cret-of-a-person")
    monkeypatch.setenv("LABEL_STUDIO_URL", "https://studio.of-a-person.example")
    shown = annot_done(*name.split(), "--help", folder=tmp_path).stdout
    assert "LABEL_STUDIO_API_KEY" in shown
    assert "s3cret" not in shown
    assert "of-a-person" not in shown


def test_help_lists_the_commands_in_the_order_of_the_work(tmp_path: Path) -> None:
    shown = annot_done("--help", folder=tmp_path).stdout
    found: dict[str, list[str]] = {}
    for line in shown.splitlines():
        if heading := re.match(r"╭─ (\w+) ─", line):
            panel = found.setdefault(heading[1], [])
        elif entry := re.match(r"│ ([a-z]+)  +\S", line):
            panel.append(entry[1])
    del found["Options"]
    assert list(found) == ["Prepare", "Pool", "Judge", "Settle", "Measure", "Publish", "Help"]
    listed = [name for names in found.values() for name in names]
    assert listed == [name for name in FLOW if name in listed]
    assert set(listed) == {name.split()[0] for name in COMMANDS}


def test_without_a_command_the_help_is_shown(tmp_path: Path) -> None:
    bare = annot(folder=tmp_path)
    assert "Usage: annot" in bare.stdout + bare.stderr
    assert bare.exit_code == 2


@pytest.mark.parametrize("position", ["before", "after"])
def test_options_hold_before_and_after_the_verb(
    position: str, study: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study("pooled")
    monkeypatch.setenv("ANNOT_WORKSPACE", str(tmp_path / "another"))
    options = ["-C", folder, "--json"]
    words = ["pool", *options, "show"] if position == "before" else ["pool", "show", *options]
    assert annot_done(*words, "fic0407-background", folder=tmp_path).data["paper_id"] == "fic0407"


def test_an_option_that_the_verb_does_not_have_is_refused_before_it(study: Callable[[str], Path]) -> None:
    folder = study("made")
    before = snapshot(folder)
    for words in (["facets", "--dry-run", "train", "x.jsonl", "-o", "y.xz"], ["pool", "--mode", "blocks", "show", "q"]):
        refused = annot(*words, folder=folder)
        assert refused.exit_code == 2
        assert f"`{words[2] if words[0] == 'facets' else words[3]}` has no such option" in refused.message()
    assert not difference(before, snapshot(folder))


def test_the_workspace_comes_from_the_environment(
    study: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANNOT_WORKSPACE", str(study("queried")))
    assert len(annot_done("query", "list", "--json", folder=tmp_path).data) == 18


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("evaluate --dialect trec", "exports/evaluation.json"),
        ("agreement --missing zero", "exports/agreement.json"),
        ("agreement --binarised-at 2", "exports/agreement.json"),
    ],
)
def test_a_look_from_another_side_leaves_what_is_exported(typed: str, kept: str, study: Callable[[str], Path]) -> None:
    folder = study("measured")
    before = snapshot(folder)
    assert kept in before
    annot_done(*typed.split(), folder=folder)
    assert not difference(before, snapshot(folder))
