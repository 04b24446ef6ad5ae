"""The command `annot`: the commands in the order of the work, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from annot import __version__
from annot.cli import judge, measure, pool, prepare, publish, settle, support
from annot.errors import AnnotError, InputError

ORDER = (
    *("init", "corpus", "import", "facets", "query"),
    *("pool",),
    *("assessor", "guidelines", "plan", "push", "status", "pull"),
    *("agreement", "adjudicate", "qrels"),
    *("run", "evaluate"),
    *("report",),
    *("studio", "demo"),
)
"""The commands in the order of the work, as `annot --help` lists them."""


class InOrder(TyperGroup):
    """A group that lists its commands in the order of the work, not groups first."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    name="annot",
    cls=InOrder,
    help="From a corpus of paper abstracts to a published retrieval test collection, judged in Label Studio.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"annot {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """From a corpus of paper abstracts to a published retrieval test collection, judged in Label Studio."""


for room in (prepare, pool, judge, settle, measure, publish, support):
    room.register(app)


def run() -> None:
    """The console script: exit 0 done, 1 a finding, 2 bad input or usage, 3 Label Studio, 130 interrupted."""
    try:
        app()
    except AnnotError as error:
        report(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("interrupted; run the same command again and it goes on", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away (`annot ... | head`): nothing is wrong, and nobody is left to tell.
        sys.stderr.close()
        sys.exit(0)


SHOWN_FAULTS = 20


def report(error: AnnotError) -> None:
    """The message, the faults and the hint, to stderr."""
    typer.echo(f"annot: {error.message}", err=True)
    faults = error.faults if isinstance(error, InputError) else ()
    for fault in faults[:SHOWN_FAULTS]:
        typer.echo(f"  {fault}", err=True)
    if len(faults) > SHOWN_FAULTS:
        typer.echo(f"  ... and {len(faults) - SHOWN_FAULTS} more", err=True)
    if error.hint:
        typer.echo(f"hint: {error.hint}", err=True)
