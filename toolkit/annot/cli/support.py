"""Help: a local Label Studio, and the demonstration."""

from pathlib import Path
from typing import Annotated

import typer

from annot.cli.output import JsonOption, WorkspaceOption, emit, progress, say

PANEL = "Help"

studio = typer.Typer(help="Start and stop a Label Studio on this machine.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(studio, name="studio", rich_help_panel=PANEL)
    app.command(rich_help_panel=PANEL)(demo)


@studio.command("up")
def studio_up(
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port on 127.0.0.1.", show_default="a free one")
    ] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Start a local Label Studio, installed into an environment of its own the first time, and print its address."""
    from annot.steps import studio as step
    from annot.study.workspace import Workspace

    state = step.up(Workspace.open(workspace), port=port, tell=say)
    emit("studio up", state, step.describe(state), as_json=as_json)


@studio.command("down")
def studio_down(workspace: WorkspaceOption = Path(), as_json: JsonOption = False) -> None:
    """Stop the local Label Studio; its data stays."""
    from annot.steps import studio as step
    from annot.study.workspace import Workspace

    state = step.down(Workspace.open(workspace))
    emit("studio down", state, step.describe(state), as_json=as_json)


@studio.command("status")
def studio_status(workspace: WorkspaceOption = Path(), as_json: JsonOption = False) -> None:
    """Print whether the local Label Studio runs, and where."""
    from annot.steps import studio as step
    from annot.study.workspace import Workspace

    state = step.status(Workspace.open(workspace))
    emit("studio status", state, step.describe(state), as_json=as_json)


def demo(
    folder: Annotated[Path, typer.Argument(help="The folder of the demonstration; made if it is not there.")] = Path(
        "demo-workspace"
    ),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Draw from rankings trained just now instead of the frozen ones.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a whole study of a packaged corpus of fictional papers, judged by simulated assessors, up to its report."""
    from annot.demo import whole_way as step

    done = step.go(folder, fresh=fresh, tell=say, watch=progress)
    emit("demo", done, step.describe(done), as_json=as_json)
