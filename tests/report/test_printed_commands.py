"""The command printed under a table prints that table: its headings, its rows, and the same figures."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from annot.cli.main import app
from annot.steps import publish
from annot.study.workspace import Workspace
from command_line import annot
from study_stages import copied, published


class Shown(NamedTuple):
    """A table of the report as Markdown, and the command under it."""

    command: str
    headings: list[str]
    rows: list[list[str]]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Judged, settled and measured, with four runs and two query papers."""
    ws = copied(published(2), "measured", tmp_path_factory.mktemp("printed") / "study")
    publish.write_report(ws)
    return ws


def tables_of(markdown: str) -> Iterator[Shown]:
    pattern = r"\(`(annot [^`]+)`\)\n\n(\|.*?)(?:\n\n|\Z)"
    for command, table in re.findall(pattern, markdown, re.DOTALL):
        lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
        yield Shown(command, lines[0], [[cell.replace("\\|", "|") for cell in line] for line in lines[2:]])


def same(shown: str, printed: str) -> bool:
    """Whether a cell of the page and one of the terminal are the same, to the digits of the coarser."""
    number = r"[+-]?\d+\.?\d*"
    if re.sub(number, "#", shown) != re.sub(number, "#", printed):
        return False
    for one, other in zip(re.findall(number, shown), re.findall(number, printed), strict=True):
        digits = min(len(part.partition(".")[2]) for part in (one, other))
        if abs(float(one) - float(other)) > 0.501 * 10**-digits:
            return False
    return True


def lines_of(text: str) -> list[list[str]]:
    return [re.split(r" {2,}", line.strip()) for line in text.splitlines()]


def test_every_table_is_printed_by_the_command_under_it(study: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")

    @cache
    def printed(command: str) -> list[list[str]]:
        result = annot(*shlex.split(command)[1:], folder=study.root)
        assert result.exit_code == 0, f"{command}: {result.stderr}"
        return lines_of(result.stdout)

    found = list(tables_of((study.exports / "report.md").read_text(encoding="utf-8")))
    assert len(found) >= 30
    for table in found:
        lines = printed(table.command)
        assert table.headings in lines, (table.command, table.headings)
        for row in table.rows:
            # An empty cell leaves no mark in the terminal.
            cells = [cell for cell in row if cell]
            assert any(len(line) == len(cells) and all(map(same, cells, line)) for line in lines), (
                f"{table.command} does not print {row}"
            )


def test_every_command_in_a_sentence_exists(study: Workspace) -> None:
    import typer

    tree = typer.main.get_command(app)
    text = (study.exports / "report.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"`annot ([a-z -]+?)(?: -|`| [A-Z])", text))
    assert len(commands) >= 6
    for command in commands:
        group = tree
        for name in command.split():
            known = getattr(group, "commands", None)
            if known is None:
                break
            assert name in known, f"annot {command}"
            group = known[name]


def test_a_table_that_is_not_there_is_named_with_those_that_are(study: Workspace) -> None:
    result = annot("report", "--table", "pool", folder=study.root)
    assert result.exit_code == 2
    assert "did you mean 'pools'?" in result.message()


def test_printing_a_table_writes_nothing(study: Workspace) -> None:
    before = {path: path.stat().st_mtime_ns for path in Path(study.exports).iterdir()}
    assert annot("report", "--table", "pools", folder=study.root).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in Path(study.exports).iterdir()} == before
