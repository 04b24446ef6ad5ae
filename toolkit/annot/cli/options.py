"""The options that several commands share, and how those before a verb hold for the verb."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from annot.cli.output import say

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


def setting(text: str, **limits: Any) -> Any:
    """An option whose default stands in annot.toml."""
    return typer.Option(help=text, show_default="annot.toml", **limits)


def recorded(text: str, **limits: Any) -> Any:
    """An option whose default is what the pools on record have, and before there are any, stands in annot.toml."""
    return typer.Option(help=text, show_default="on record, else annot.toml", **limits)


def flag(name: str, text: str) -> Any:
    """An option that is there or not."""
    return typer.Option(name, help=text)


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
AcceptDeletionsOption = Annotated[
    bool,
    typer.Option(
        "--accept-deletions",
        help="Answers that are gone from the server count no longer; `annot judgements restore` takes that back.",
    ),
]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait",
        min=0.0,
        metavar="SECONDS",
        help="Wait so long for another command that is changing this study.",
        show_default="not at all",
    ),
]
GrowOption = Annotated[bool, flag("--grow", "Add pairs also to a study that was sent.")]
HourlyRateOption = Annotated[float | None, setting("What an hour of judging costs.", min=0.0)]
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
