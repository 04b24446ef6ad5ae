"""What every command shares: where the workspace is, data to stdout, talk to stderr, progress on a terminal."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from annot.report.text import text_table as table

__all__ = ["DryRunOption", "JsonOption", "WorkspaceOption", "emit", "hand_down", "progress", "say", "table"]

WorkspaceOption = Annotated[
    Path,
    typer.Option("--workspace", "-C", envvar="ANNOT_WORKSPACE", help="The study's folder.", show_default="."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be done and change nothing.")]

Advance = Callable[[int, int | None], None]
"""Called with (done so far, total or None)."""


def say(text: str) -> None:
    """Talk: one line to stderr."""
    typer.echo(text, err=True)


def emit(command: str, data: Any, text: str, *, as_json: bool) -> None:
    """Data: `text` to stdout, or the versioned JSON object that carries `data`."""
    if as_json:
        record = {"annot": 1, "command": command, "data": plain(data)}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False))
    elif text:
        typer.echo(text.rstrip("\n"))


def plain(value: Any) -> Any:
    """`value` as what JSON can carry: records become objects, sets lists, paths text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _key(key: Any) -> str:
    return " ".join(str(part) for part in key) if isinstance(key, tuple) else str(key)


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """A progress bar on stderr, and nothing at all without a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def hand_down(ctx: typer.Context, **options: object) -> bool:
    """True when a verb of the group follows; the options given before it then hold for the verb."""
    if ctx.invoked_subcommand is None:
        return False
    ctx.default_map = {ctx.invoked_subcommand: options}
    return True
