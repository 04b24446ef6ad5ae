"""Measure: the evaluation of runs on the qrels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command
from annot.cli.options import flag
from annot.cli.output import Answer, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("evaluate", csv=True)
def evaluate(
    ws: "Workspace",
    files: Annotated[list[Path] | None, typer.Argument(help="TREC run files.", show_default="exports/runs/")] = None,
    convention: Annotated[str | None, typer.Option(help="csfcube or trec.", show_default="both")] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure on which runs are compared.", show_default="NDCG%20; nDCG in trec")
    ] = None,
    per_query: Annotated[bool, flag("--per-query", "Print each query too.")] = False,
) -> Answer:
    """Print which run is best, which differences hold, and all measures by facet with intervals.

    Measures are computed in the convention of CSFCube's release and in trec_eval's; runs are compared in the first.
    Without files, convention or measure it also writes exports/evaluation.json.
    """
    from annot.steps import evaluate as step
    from annot.study.results import evaluation_data

    evaluated = step.evaluate(ws, files=tuple(files or ()), convention=convention, measure=measure, tell=say)
    text = step.describe(evaluated, per_query=per_query)
    table_of = "evaluate --per-query" if per_query else ""
    return Answer(evaluation_data(evaluated), text, evaluated.notes, table=table_of)


@command("assessor-effect", csv=True)
def assessor_effect(
    ws: "Workspace",
    convention: Annotated[str | None, typer.Option(help="csfcube or trec.", show_default="csfcube")] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="A measure of the convention, as `annot evaluate` names it.", show_default="NDCG%20"),
    ] = None,
    random_assessors: Annotated[
        int | None, typer.Option(min=1, help="Random choices of one assessor per pair.", show_default="500")
    ] = None,
) -> Answer:
    """Print whether it matters who judged: the runs ranked by the grades of each, the final and random assessors."""
    from annot.steps import assessor_effect as step
    from annot.study.measured import CONVENTION, MEASURE, N_RANDOM

    found = step.measure(
        ws,
        convention=convention or CONVENTION,
        measure_name=measure or MEASURE,
        n_random=random_assessors or N_RANDOM,
        tell=say,
    )
    return Answer(found, step.describe(found))
