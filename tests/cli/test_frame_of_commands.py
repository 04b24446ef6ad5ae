"""What all commands share around their functions: words and names, interruptions, backups, the next step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
import typer
from annot.base.errors import AnnotError, FindingError, MissingInput
from annot.cli import commands
from annot.cli.commands import AllCommands, NamesOrVerb
from annot.cli.options import DryRunOption
from annot.cli.output import Output
from annot.judging import stage
from annot.study import backups
from annot.study.workspace import Workspace
from command_line import TREE, annot
from typer.core import TyperGroup

Said = pytest.CaptureFixture[str]


@pytest.mark.parametrize("words", [(), ("query",), ("assessor",)])
def test_words_that_need_more_words_print_their_help(words: tuple[str, ...], tmp_path: Path) -> None:
    said = annot(*words, folder=tmp_path)
    assert "Usage: annot" in said.stdout + said.stderr
    assert "query" in said.stdout if not words else "Missing command" not in said.stderr


def named(*typed: str) -> tuple[str, Any]:
    """What a group with names and the verb `list` makes of these words."""
    done: list[tuple[str, Any]] = []
    own = typer.Typer(cls=NamesOrVerb, invoke_without_command=True)

    @own.callback()
    def names(
        ctx: typer.Context, names: Annotated[list[str] | None, typer.Argument()] = None, fast: bool = False
    ) -> None:
        ctx.obj = fast
        if ctx.invoked_subcommand is None:
            done.append(("names", (names, fast)))

    @own.command("list")
    def listed(ctx: typer.Context, word: Annotated[str | None, typer.Argument()] = None, short: bool = False) -> None:
        done.append(("list, fast" if ctx.obj else "list", (word, short)))

    typer.main.get_command(own)(list(typed), standalone_mode=False)
    (found,) = done
    return found


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", ("names", (None, False))),
        ("a", ("names", (["a"], False))),
        ("a list", ("names", (["a", "list"], False))),
        ("a --fast b", ("names", (["a", "b"], True))),
        ("--fast a b", ("names", (["a", "b"], True))),
        ("list", ("list", (None, False))),
        ("list --short", ("list", (None, True))),
        ("list a --short", ("list", ("a", True))),
        ("list list", ("list", ("list", False))),
        ("--fast list a", ("list, fast", ("a", False))),
    ],
)
def test_the_first_word_is_a_verb_or_the_first_of_the_names(typed: str, expected: tuple[str, Any]) -> None:
    kind, (names, on) = named(*typed.split())
    assert (kind, (names or None, on)) == expected


@pytest.mark.parametrize(("ends", "code"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 0)])
def test_an_interruption_and_a_closed_pipe_have_their_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: Said, ends: BaseException, code: int
) -> None:
    def stopped(*_: object) -> None:
        raise ends

    monkeypatch.setattr(TyperGroup, "invoke", stopped)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(fileno=lambda: 1))
    with pytest.raises(typer.Exit) as end:
        AllCommands.invoke(TREE, None)
    assert end.value.exit_code == code
    said = capsys.readouterr().err
    assert said == ("interrupted; run the same command again to continue\n" if code else "")


# -- backups and the next step -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "recorded", "expected"),
    [("push", [1, 2], True), ("pull", [1, 2], True), ("pull", [7, 7], False), ("pool add", [1, 2], False)],
)
def test_a_push_and_a_pull_with_news_are_followed_by_a_backup(
    monkeypatch: pytest.MonkeyPatch, words: str, recorded: list[int], expected: bool
) -> None:
    taken: list[tuple[str, timedelta]] = []
    at = iter(recorded)
    monkeypatch.setattr(backups, "bring_up", lambda _: None)
    monkeypatch.setattr(backups, "recorded", lambda _: next(at))
    monkeypatch.setattr(backups, "keep_backup", lambda _, why, *, apart: taken.append((why, apart)))
    with commands.backed_up(SimpleNamespace(), words):  # type: ignore[arg-type]
        assert not taken
    assert taken == ([(f"after {words}", timedelta())] if expected else [])


def test_a_command_reports_the_part_that_the_study_lacks(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    lost = MissingInput("the database is gone", hint="restore it")
    monkeypatch.setattr(backups, "missing_part", lambda _: lost)
    damaged: Any = SimpleNamespace(looks_whole=False)
    with pytest.raises(MissingInput, match="the database is gone"), commands.missed(damaged):
        raise MissingInput("no queries")
    with commands.missed(damaged):
        pass
    assert capsys.readouterr().err == "the database is gone; restore it\n"
    for whole in (None, SimpleNamespace(looks_whole=True)):
        with pytest.raises(MissingInput, match="no queries"), commands.missed(whole):  # type: ignore[arg-type]
            raise MissingInput("no queries")


@pytest.mark.parametrize(
    ("words", "changes", "said"),
    [("plan", False, True), ("init", False, True), ("doctor", False, False), ("query remove", True, True)],
)
def test_the_next_step_follows_the_commands_of_every_study_and_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: Said, words: str, changes: bool, said: bool
) -> None:
    monkeypatch.setattr(stage, "next_of", lambda study: f"of {study}")
    monkeypatch.setattr(Workspace, "open", lambda folder: f"the study in {folder}")
    commands._say_next(words, None, Path("there"), changes=changes)
    assert capsys.readouterr().err == ("next: of the study in there\n" if said else "")
    commands._say_next(words, "this study", Path("there"), changes=changes)  # type: ignore[arg-type]
    assert capsys.readouterr().err == ("next: of this study\n" if said else "")


# -- the shared options ------------------------------------------------------------------------------------------------


class Study:
    """A study that is opened and does nothing."""

    def __init__(self) -> None:
        self.settings = SimpleNamespace(machine=SimpleNamespace(processes=None))
        self.looks_whole = True
        self.root = Path("no-such-study")
        self.written = None
        self.stages = ()

    def opened(self) -> AbstractContextManager[Study]:
        return nullcontext(self)


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happens around a function, in order."""
    seen: list[str] = []

    @contextmanager
    def noted(what: str) -> Iterator[None]:
        seen.append(what)
        yield

    def opened(_: Path) -> Study:
        seen.append("open")
        return Study()

    monkeypatch.setattr(Workspace, "open", opened)
    monkeypatch.setattr(commands, "held", lambda *_, wait_seconds: noted(f"held {wait_seconds:g}"))
    monkeypatch.setattr(commands, "backed_up", lambda *_: noted("backed up"))
    monkeypatch.setattr(commands, "hand_down", lambda _: False)
    monkeypatch.setattr(commands, "_nouns", lambda _: str)
    monkeypatch.setattr("annot.base.parallel.limited", lambda _: nullcontext())
    monkeypatch.setattr(
        commands, "_say_next", lambda words, ws, folder, *, changes: seen.append(f"next {folder} {changes}")
    )
    monkeypatch.setattr(
        commands,
        "emit",
        lambda words, answer, *, as_json, as_csv: seen.append(f"{answer.text} {as_json} {as_csv} {len(answer.notes)}"),
    )
    return seen


def answered(ws: Any, number: int = 3, dry_run: DryRunOption = False) -> Output | None:
    return Output(None, "no study" if ws is None else f"study {number}", ["a note"])


def call(function: Any = answered, *, needs_study: bool = True, alone: bool = True, **given: Any) -> None:
    made = commands._with_shared_options(
        "plan", function, csv=True, needs_study=needs_study, alone=alone, free_with="watch", server=False
    )
    typed: dict[str, Any] = {"workspace": Path(), "wait": 2.0, "quiet": False, "as_json": False, "as_csv": False}
    made(SimpleNamespace(meta={}), **typed | {"number": 3, "dry_run": False} | given)


def test_a_command_that_changes_the_study_has_it_alone_and_is_backed_up(around: list[str]) -> None:
    call()
    assert around == ["open", "held 2", "backed up", "study 3 False False 1", "next None True"]


@pytest.mark.parametrize("free", [{"dry_run": True}, {"watch": True}])
def test_a_command_that_changes_nothing_waits_for_nobody(around: list[str], free: dict[str, bool]) -> None:
    def own(ws: Any, number: int, dry_run: bool = False, watch: bool = False) -> Output:
        return Output(None, "read")

    call(own, **{"watch": False} | free)
    assert around[:2] == ["open", "read False False 0"]


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ({"quiet": True}, ["study 3 False False 0"]),
        ({"as_json": True}, ["study 3 True False 1"]),
        ({"as_csv": True}, ["study 3 False True 1"]),
        ({}, ["study 3 False False 1", "next None False"]),
    ],
)
def test_the_next_step_is_said_to_people_only(around: list[str], given: dict[str, bool], printed: list[str]) -> None:
    call(alone=False, **given)
    assert around == ["open", *printed]


def test_a_command_that_needs_no_study_takes_one_that_is_named(
    around: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call(needs_study=False, alone=False)
    assert around[0] == "no study False False 1"
    around.clear()
    call(needs_study=False, alone=False, workspace=Path("there"))
    assert around[:2] == ["open", "study 3 False False 1"]
    around.clear()
    (tmp_path / "annot.toml").touch()
    call(needs_study=False, alone=False)
    assert around[:2] == ["open", "study 3 False False 1"]


def test_a_finding_ends_a_command_once_all_is_printed(around: list[str]) -> None:
    def wrong(ws: Any, number: int, dry_run: bool = False) -> Output:
        return Output(None, "read", finding=FindingError("two problems"))

    with pytest.raises(AnnotError, match="two problems"):
        call(wrong)
    assert around[-2:] == ["read False False 0", "next None True"]
