"""Measure: baselines and their evaluation on the qrels."""

from pathlib import Path
from typing import Annotated

import typer

from annot.cli.output import CsvOption, JsonOption, WorkspaceOption, emit, progress, say, table

PANEL = "Measure"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(run)
    app.command(rich_help_panel=PANEL)(evaluate)
    app.command("assessor-effect", rich_help_panel=PANEL)(assessor_effect)


def run(
    methods: Annotated[
        list[str] | None,
        typer.Argument(help="fabs_tfidf, fabs_bm25, fabs_cbow200, fabs_tfidfcbow200.", show_default="all"),
    ] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write baseline runs: the pools ranked by the query's facet sentences against whole candidate abstracts."""
    from annot.steps import run as step
    from annot.study.workspace import Workspace

    with progress("ranking pools") as advance:
        made = step.make(Workspace.open(workspace), methods=tuple(methods or ()), advance=advance)
    rows = [[one.tag, one.queries, one.documents, one.path] for one in made]
    emit("run", made, table(["run", "queries", "documents", "file"], rows), as_json=as_json)


def evaluate(
    files: Annotated[list[Path] | None, typer.Argument(help="TREC run files.", show_default="exports/runs/")] = None,
    convention: Annotated[str | None, typer.Option(help="csfcube or trec.", show_default="both")] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure on which runs are compared.", show_default="NDCG%20; nDCG in trec")
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print each query too.")] = False,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print which run is best, which differences hold, and all measures by facet with intervals.

    Measures are computed in the convention of CSFCube's release and in trec_eval's; runs are compared in the first.
    Without files, convention or measure it also writes exports/evaluation.json.
    """
    from annot.steps import evaluate as step
    from annot.study.results import evaluation_data
    from annot.study.workspace import Workspace

    evaluated = step.evaluate(
        Workspace.open(workspace), files=tuple(files or ()), convention=convention, measure=measure, tell=say
    )
    for note in evaluated.notes:
        say(note)
    emit(
        "evaluate",
        evaluation_data(evaluated),
        step.describe(evaluated, per_query=per_query),
        as_json=as_json,
        as_csv=as_csv,
        table_of="evaluate --per-query" if per_query else "",
    )


def assessor_effect(
    convention: Annotated[str | None, typer.Option(help="csfcube or trec.", show_default="csfcube")] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="A measure of the convention, as `annot evaluate` names it.", show_default="NDCG%20"),
    ] = None,
    random_assessors: Annotated[
        int | None, typer.Option(min=1, help="Random choices of one assessor per pair.", show_default="500")
    ] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Print whether it matters who judged: the runs ranked by the grades of each, the final and random assessors."""
    from annot.steps import assessor_effect as step
    from annot.study.measured import CONVENTION, MEASURE, N_RANDOM
    from annot.study.workspace import Workspace

    found = step.measure(
        Workspace.open(workspace),
        convention=convention or CONVENTION,
        measure_name=measure or MEASURE,
        n_random=random_assessors or N_RANDOM,
        tell=say,
    )
    emit("assessor-effect", step.as_data(found), step.describe(found), as_json=as_json, as_csv=as_csv)
