"""Measure: the runs of systems."""

from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command
from annot.cli.output import Answer, progress, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("run", alone=True, verbs=True)
def run(
    ws: "Workspace",
    systems: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SYSTEM",
            help="Names that `annot run list` shows.",
            show_default="the four term baselines of CSFCube",
        ),
    ] = None,
) -> Answer:
    """Write runs: the pools ranked by systems, the query's sentences against whole candidate abstracts."""
    from annot.steps import run as step

    with progress("ranking pools") as advance:
        made = step.make(ws, systems=tuple(systems or ()), advance=advance)
    return Answer(made, table("files.runs", made))


@command("run list", needs_study=False)
def run_list(ws: "Workspace | None") -> Answer:
    """Print every system: its family, its source, what it sees of query and candidate, and what it needs."""
    from annot.steps import run as step

    known = step.known(ws)
    return Answer(known, table("files.systems", known))


@command("run matches")
def run_matches(
    ws: "Workspace",
    run: Annotated[str, typer.Argument(help="A run of a system that compares sentences.")],
    query: Annotated[str, typer.Argument(help="The query's id.")],
    document: Annotated[str, typer.Argument(help="The document's id.")],
) -> Answer:
    """Print which sentences of a query and of a document a run matched, heaviest first."""
    from annot.steps import run_matches as step

    matched = step.show(ws, run, query_id=query, doc_id=document)
    return Answer(matched, table("files.matches", matched))
