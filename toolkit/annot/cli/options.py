"""Options and arguments: how they are declared, those that several commands share, and which go together."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from annot.base.errors import InputError

MOST = 1_000_000_000
FILE_NAME = re.compile(r"\w[\w.+-]{0,99}")
TYPED = "COMMANDLINE"
"""The source of an option that was typed, not taken from the environment or a default."""
WORKSPACE, DRY_RUN, FORM, QUIET = "annot.workspace", "annot.dry_run", "annot.form", "annot.quiet"
"""Parts of the command line that a group and its verb share."""


def _workspace(ctx: typer.Context, parameter: typer.CallbackParam, value: Path) -> Path:
    """A folder that is named before the verb (`annot pool -C study show`) wins over the environment's."""
    if was_typed(ctx, parameter.name):
        ctx.meta[WORKSPACE] = value
    workspace: Path = ctx.meta.get(WORKSPACE, value)
    return workspace


def _dry_run(ctx: typer.Context, value: bool) -> bool:
    if value:
        ctx.meta[DRY_RUN] = True
    return value


def _form(ctx: typer.Context, parameter: typer.CallbackParam, value: bool) -> bool:
    if value and ctx.meta.setdefault(FORM, parameter.name) != parameter.name:
        raise typer.BadParameter("found --json and --csv, expected one of them", ctx=ctx)
    return value


def _quiet(ctx: typer.Context, value: bool) -> bool:
    quiet: bool = ctx.meta.setdefault(QUIET, value) or value
    return quiet


def file_names(names: list[str] | str | None) -> list[str] | str | None:
    """Names after which files are called, as they were given: none that leads to another folder."""
    for name in [names] if isinstance(names, str) else names or ():
        if not FILE_NAME.fullmatch(name):
            raise typer.BadParameter(
                f"found {name!r}, expected letters, digits and _ . + -, with a letter or digit first"
            )
    return names


def _that_ends(value: float | list[int] | None) -> float | list[int] | None:
    for number in value if isinstance(value, list) else [value]:
        if number is not None and not number <= MOST:
            raise typer.BadParameter(f"found {number}, expected at most {MOST}")
    return value


def _url_without_password(url: str | None) -> str | None:
    if url is not None and "@" in url:
        raise typer.BadParameter("found a user name or a password in the address; leave them out")
    return url


def argument(text: str, *, shown: bool | str = True, **more: Any) -> Any:
    """An argument. shown: its default in words."""
    return typer.Argument(help=text, show_default=shown, **more)


def option(text: str, *names: str, shown: bool | str = True, **more: Any) -> Any:
    """An option, called as its parameter where no name is given. shown: its default in words.

    A number that has a least value has a largest too, that of annot.toml, so that the work it asks for ends.
    """
    if "min" in more:
        more.setdefault("callback", _that_ends)
    return typer.Option(*names, help=text, show_default=shown, **more)


def setting(text: str, **limits: Any) -> Any:
    """An option whose default is in annot.toml."""
    return option(text, shown="annot.toml", **limits)


def recorded(text: str, **limits: Any) -> Any:
    """Option whose default is the value of the pools on record, or of annot.toml before there are any."""
    return option(text, shown="on record, else annot.toml", **limits)


def flag(name: str, text: str) -> Any:
    """An option without a value."""
    return option(text, name)


def refuse_without_condition(what: str, /, **given: object) -> None:
    """Refuse options that have no effect. what: the condition that they need."""
    if names := _typed(given):
        raise typer.BadParameter(f"{' and '.join(names)} can only be used with {what}")


def one_of(**given: object) -> None:
    """Refuse several ways of saying one thing."""
    if len(names := _typed(given)) > 1:
        raise typer.BadParameter(f"found {' and '.join(names)}, expected one of them")


WorkspaceOption = Annotated[
    Path, option("Folder of the study.", "--workspace", "-C", shown=".", envvar="ANNOT_WORKSPACE", callback=_workspace)
]
QuietOption = Annotated[bool, option("Leave out the notes and the next step.", "--quiet", callback=_quiet)]
JsonOption = Annotated[bool, option("Print one JSON object instead of text.", "--json", callback=_form)]
CsvOption = Annotated[bool, option("Print the figures as one CSV table instead of text.", "--csv", callback=_form)]
DryRunOption = Annotated[
    bool, option("Show what the command would do, without changing anything.", "--dry-run", callback=_dry_run)
]
GONE = "Stop counting answers that are no longer on the server; `annot answers restore` undoes this."
AcceptDeletionsOption = Annotated[bool, flag("--accept-deletions", GONE)]
WAITS = "How long to wait for another command that is changing this study."
WaitOption = Annotated[float, option(WAITS, "--wait", min=0.0, metavar="SECONDS", shown="not at all")]
CLUSTER = "Do the work on a Dask cluster; the address of its scheduler, such as tcp://login:8786."
ClusterOption = Annotated[str | None, setting(CLUSTER, metavar="ADDRESS")]
CorpusOption = Annotated[
    str | None, option("Version of the corpus, if it has several.", "--corpus", metavar="VERSION", shown="the newest")
]
GrowOption = Annotated[bool, flag("--grow", "Add pairs even if tasks have already been sent.")]
HourlyRateOption = Annotated[float | None, setting("Cost of an hour of judging.", min=0.0)]
UrlOption = Annotated[
    str | None,
    option(
        "Address of Label Studio.",
        "--url",
        envvar="LABEL_STUDIO_URL",
        shown="the local one",
        callback=_url_without_password,
    ),
]
TOKEN = "API token, personal or legacy; safer in the environment variable."
KeyOption = Annotated[str | None, option(TOKEN, "--api-key", envvar="LABEL_STUDIO_API_KEY", shown="the local one")]
SeedOption = Annotated[int | None, setting("Random seed.", min=0)]
OutOption = Annotated[Path | None, option("Folder to write to.", "--out", "-o", shown="exports/")]
ConventionOption = Annotated[
    str | None, option("Evaluation convention: csfcube or trec.", shown="csfcube; for topics trec")
]
TiesOption = Annotated[
    str, option("How tied documents count: order (in the convention's order) or expected (mean over all orders).")
]
META = "A metadata file in YAML or JSON, with the fields of ir_metadata."
MetaOption = Annotated[Path | None, option(META, shown="the header of the run")]
DuplicatesOption = Annotated[str | None, option("best: repeated documents keep the better score.", shown="refuse")]
DistancesOption = Annotated[bool, flag("--distances", "Scores are distances, so smaller is better.")]
PerQueryOption = Annotated[bool, flag("--per-query", "Print the figures for each query too.")]


def refuse_beside(way: str, **given: object) -> None:
    """Raise InputError for options and arguments that do not go with this way of calling the command.

    given: by parameter; an argument in capitals.
    """
    if names := _typed(given):
        raise InputError(f"`annot {way}` cannot be used with {' and '.join(names)}")


def _typed(arguments: dict[str, object]) -> list[str]:
    """Parameters that were typed, under their names on the command line."""
    names = (name for name, value in arguments.items() if not (value is None or value is False or value == []))
    return [name if name.isupper() else f"--{name.replace('_', '-')}" for name in names]


def was_typed(ctx: typer.Context, name: str) -> bool:
    """True if the option is on the command line, not taken from the environment or a default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == TYPED
