"""What every command shares: where the workspace is, data to stdout, talk to stderr, progress on a terminal."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annot.cli.waiting import WAITING

__all__ = [
    "CsvOption",
    "DryRunOption",
    "JsonOption",
    "WorkspaceOption",
    "emit",
    "hand_down",
    "progress",
    "say",
    "table",
]

GIVEN = "COMMANDLINE"
"""The source of an option that was typed, not taken from the environment or a default."""
WORKSPACE, DRY_RUN, FORM = "annot.workspace", "annot.dry_run", "annot.form"
"""What a group and its verb both know of the command line."""


def _workspace(ctx: typer.Context, parameter: typer.CallbackParam, value: Path) -> Path:
    """A folder that is named before the verb (`annot pool -C study show`) wins over the environment's."""
    if _is_given(ctx, parameter.name):
        ctx.meta[WORKSPACE] = value
    found: Path = ctx.meta.get(WORKSPACE, value)
    return found


def _dry_run(ctx: typer.Context, value: bool) -> bool:
    if value and DRY_RUN not in ctx.meta:
        ctx.meta[DRY_RUN] = True
        say("dry run: this is what would be done; nothing is changed")
    return value


def _form(ctx: typer.Context, parameter: typer.CallbackParam, value: bool) -> bool:
    if value and ctx.meta.setdefault(FORM, parameter.name) != parameter.name:
        raise typer.BadParameter("found --json and --csv, expected one of them", ctx=ctx)
    return value


WorkspaceOption = Annotated[
    Path,
    typer.Option(
        "--workspace",
        "-C",
        envvar="ANNOT_WORKSPACE",
        help="The study's folder.",
        show_default=".",
        callback=_workspace,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.", callback=_form)]
CsvOption = Annotated[
    bool, typer.Option("--csv", help="Print the figures as one CSV table instead of text.", callback=_form)
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done and change nothing.", callback=_dry_run)
]

Advance = Callable[[int, int | None], None]
"""Called with (done so far, total or None)."""


def say(text: str) -> None:
    """Talk: one line to stderr."""
    WAITING.quiet()
    typer.echo(text, err=True)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for the terminal."""
    from annot.report.text import text_table

    return text_table(headings, rows)


def emit(command: str, data: Any, text: str, *, as_json: bool, as_csv: bool = False, table_of: str = "") -> None:
    """Data: `text` to stdout, or the versioned JSON object that carries `data`, or its table as CSV.

    table_of: the name of the table in `annot.library.tidy.TABLES` where it is not the command's.
    """
    WAITING.quiet()
    if as_json:
        import json

        record = {"annot": 1, "command": command, "data": plain(data)}
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False))
    elif as_csv:
        from annot.library.tidy import csv_text

        typer.echo(csv_text(table_of or command, plain(data)), nl=False)
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
    WAITING.stop()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
    WAITING.__enter__()


def hand_down(ctx: typer.Context) -> bool:
    """True when a verb of the group follows; the options given before it then hold for the verb.

    One that the verb does not have is refused: `annot facets --dry-run train` must not train.
    """
    verb = ctx.invoked_subcommand
    if verb is None:
        return False
    group: Any = ctx.command
    below = group.commands[verb]
    known = {parameter.name for parameter in below.params}
    given = [parameter for parameter in group.params if _is_given(ctx, parameter.name)]
    for parameter in given:
        if parameter.name not in known and not hasattr(below, "commands"):
            raise typer.BadParameter(f"`{verb}` has no such option", ctx=ctx, param_hint=parameter.opts[0])
    ctx.default_map = {verb: {parameter.name: ctx.params[parameter.name] for parameter in given}}
    return True


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == GIVEN


if TYPE_CHECKING:
    from annot.steps import adjudicate, pull, push

UrlOption = Annotated[
    str | None,
    typer.Option("--url", envvar="LABEL_STUDIO_URL", help="Label Studio's address.", show_default="the local one"),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="LABEL_STUDIO_API_KEY",
        help="Personal or legacy token; better in the environment than here.",
        show_default="the local one",
    ),
]


def emit_sent(
    command: str, pushed: push.Pushed | adjudicate.SentDisputes, headings: Sequence[str], *, as_json: bool
) -> None:
    """What stood in each person's project and what was sent, a line a person."""
    rows = [
        [project.assessor, project.planned, project.there, project.sent, project.address] for project in pushed.projects
    ]
    emit(command, pushed, table(headings, rows), as_json=as_json)


def emit_collected(
    command: str, pulled: pull.Pulled | adjudicate.CollectedDecisions, headings: Sequence[str], *, as_json: bool
) -> None:
    """What a person should know, and what came back, a line a person."""
    for note in pulled.notes:
        say(note)
    rows = [
        [assessor.assessor, assessor.assigned, assessor.judged, assessor.new, assessor.changed, assessor.flagged]
        for assessor in pulled.assessors
    ]
    emit(command, pulled, table(headings, rows), as_json=as_json)
