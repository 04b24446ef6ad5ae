"""Running `annot` in this process, and seeing what it left behind."""

import contextlib
import io
import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import typer
from annot.cli.commands import BY_WORDS, app
from annot.cli.main import run
from annot.corpus.corpus_facts import TEXTS_FILE
from annot.judging.states import MEMORY_FILE
from annot.study.workspace import CACHE

DATABASE = "annot.db"
REMEMBERED = (CACHE, f"{CACHE}/{MEMORY_FILE}", f"{CACHE}/{TEXTS_FILE}")
TREE: Any = typer.main.get_command(app)


@dataclass(frozen=True)
class Result:
    """What one command gave."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def data(self) -> Any:
        """What `--json` carries."""
        return json.loads(self.stdout)["data"]

    @property
    def next(self) -> list[str]:
        """The words of the command that `next:` names, without `annot`."""
        found = re.search(r"^next: annot (.+?) \(", self.stderr, re.MULTILINE)
        assert found, self.stderr
        return found[1].split()

    def message(self) -> str:
        """All of stderr as one line of words, without the frame that is drawn around usage errors."""
        return " ".join(self.stderr.translate(str.maketrans("╭╮╰╯│─", "      ")).split())


def annot(*arguments: object, folder: Path, stdin: str = "") -> Result:
    """Run `annot` with these arguments in `folder`. An error that the program does not catch reaches the test."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["annot", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        # Made anew for each call, the tree of commands would cost more than most of them do.
        mock.patch.object(typer.main, "get_command", return_value=TREE),
    ):
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Result(code, out.getvalue(), err.getvalue())


def annot_done(*arguments: object, folder: Path) -> Result:
    """Run `annot`; it has to succeed."""
    result = annot(*arguments, folder=folder)
    assert result.exit_code == 0, f"annot {' '.join(map(str, arguments))}: {result.exit_code}\n{result.stderr}"
    return result


def snapshot(folder: Path) -> dict[str, Any]:
    """Every file's bytes, every folder, and every row of the database: what a command may not touch when it fails."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.name.startswith(f"{DATABASE}-"):  # the log and the index of an open database
            continue
        if name in REMEMBERED:  # what was found when files and database had these dates
            continue
        if path.name == DATABASE:
            found[name] = Rows(path)
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


class Rows:
    """All rows of a database as they are now. They are only read if its files differ from those compared with."""

    def __init__(self, database: Path) -> None:
        log = database.with_name(f"{database.name}-wal")
        self._files = {path.name: path.read_bytes() for path in (database, log) if path.exists()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return self._files == other._files or self.read() == other.read()

    def read(self) -> Any:
        """As `rows_of` gives them."""
        with tempfile.TemporaryDirectory(prefix="annot-rows-") as folder:
            for name, content in self._files.items():
                (Path(folder) / name).write_bytes(content)
            return rows_of(Path(folder) / DATABASE)


def rows_of(database: Path) -> Any:
    """All tables with all rows; the file's bytes where it is no database."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            made = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
            tables = [name for kind, name, _ in made if kind == "table"]
            return made, {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables}
    except sqlite3.DatabaseError:
        return database.read_bytes()


def difference(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names that are not the same in two snapshots."""
    return sorted(name for name in {*before, *after} if before.get(name, "none") != after.get(name, "none"))


@dataclass(frozen=True)
class Command:
    """One command of the tree: its words, and whether words may follow that are no command."""

    words: tuple[str, ...]
    click: Any

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def options(self) -> set[str]:
        return {name for parameter in self.click.params for name in (*parameter.opts, *parameter.secondary_opts)}

    @property
    def takes_names(self) -> bool:
        return any(parameter.param_type_name == "argument" for parameter in self.click.params)


def commands() -> Iterator[Command]:
    """Every command of the list, with what typer made of it."""
    for words in BY_WORDS:
        yield Command(tuple(words.split()), TREE.at(words))


def command_of(call: str) -> str:
    """The command that a call begins with: `import` of `import --as grades`."""
    return max((words for words in BY_WORDS if f"{call} ".startswith(f"{words} ")), key=len)


def calls(typed: Collection[str]) -> list[str]:
    """Every command, or in its place the calls among `typed` that begin with it."""
    longer = {call: command_of(call) for call in typed if call not in BY_WORDS}
    return [words for words in BY_WORDS if words in typed or words not in longer.values()] + list(longer)


def wrong_in(mention: str) -> str:
    """What cannot be typed of an `annot ...` that a text names: a command or option that is not there; else empty.

    Words in capitals, as in `annot trace QUERY DOC`, stand for something and are not looked at.
    """
    words = mention.split()[1:]
    if not words or words[0].startswith("-") or not re.fullmatch(r"[a-z-]+", words[0]):
        return ""
    meant = [command for command in commands() if command.words[0] == words[0]]
    verbs = [command for command in meant if len(command.words) > 1]
    if not meant:
        return f"there is no command {words[0]!r}"
    if verbs and len(words) > 1 and re.fullmatch(r"[a-z-]+", words[1]) and not words[1].startswith("-"):
        bare = [command for command in meant if len(command.words) == 1]
        meant = [command for command in verbs if command.words[1] == words[1]]
        if not meant and any(command.takes_names for command in bare):
            meant = bare
        if not meant:
            return f"annot {words[0]} has no {words[1]!r}"
    options = {"--help", *(option for command in meant for option in command.options)}
    unknown = {word.split("=")[0] for word in words if word.startswith("--")} - options
    return f"no such option: {', '.join(sorted(unknown))}" if unknown else ""
