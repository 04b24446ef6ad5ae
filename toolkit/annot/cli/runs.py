"""Measure: the runs, our own and others'."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command
from annot.cli.options import DryRunOption, flag
from annot.cli.output import Answer, progress, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("run", alone=True, verbs=True)
def run(
    ws: "Workspace",
    methods: Annotated[
        list[str] | None,
        typer.Argument(help="fabs_tfidf, fabs_bm25, fabs_cbow200, fabs_tfidfcbow200.", show_default="all"),
    ] = None,
) -> Answer:
    """Write baseline runs: the pools ranked by the query's facet sentences against whole candidate abstracts."""
    from annot.steps import run as step

    with progress("ranking pools") as advance:
        made = step.make(ws, methods=tuple(methods or ()), advance=advance)
    return Answer(made, table("files.runs", made))


@command("run import")
def run_import(
    ws: "Workspace",
    files: Annotated[
        list[Path], typer.Argument(help="A TREC run, or ranked pools in CSFCube's JSON, one file a facet.")
    ],
    tag: Annotated[str, typer.Option(help="The run's name in this study.")],
    meta: Annotated[
        Path | None,
        typer.Option(help="Its metadata, YAML or JSON, with ir_metadata's fields.", show_default="the file's head"),
    ] = None,
    facet: Annotated[
        str | None,
        typer.Option("--facet", "-f", help="Facet of ranked pools.", show_default="in the file's name"),
    ] = None,
    system: Annotated[
        str | None, typer.Option(help="The system that this is one of several runs of.", show_default="the tag")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The seed that tells it from the others.", show_default=False)
    ] = None,
    foreign: Annotated[
        str | None,
        typer.Option(help="Documents that are in no pool: drop, or keep as unjudged.", show_default="refused"),
    ] = None,
    duplicates: Annotated[
        str | None, typer.Option(help="Documents that are there twice: best.", show_default="refused")
    ] = None,
    missing: Annotated[str, typer.Option(help="Candidates that the run lacks: out, or last.")] = "out",
    distances: Annotated[bool, flag("--distances", "Scores are distances: smaller is better.")] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import a run that was made elsewhere; it is evaluated, reported and released like our own.

    What is missing, foreign, there twice or tied is counted, with examples.
    """
    from annot.evaluation.submission import Rules
    from annot.steps import run_import as step

    imported = step.bring_in(
        ws,
        files,
        tag=tag,
        meta=meta,
        facet=facet,
        system=system,
        seed=seed,
        rules=Rules(foreign, duplicates, missing),
        distances=distances,
        dry_run=dry_run,
    )
    return Answer(imported, step.describe(imported))
