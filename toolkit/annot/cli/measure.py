"""Measure: evaluate runs with the qrels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command
from annot.cli.options import ConventionOption, PerQueryOption, TiesOption, argument, flag, option
from annot.cli.output import Output, needs_a_person, say

if TYPE_CHECKING:
    from pandas import DataFrame

    from annot.study.workspace import Workspace


@command("evaluate", csv=True)
def evaluate(
    ws: "Workspace",
    runs: Annotated[list[str] | None, argument("Run tags, systems, or TREC run files.", shown="exports/runs/")] = None,
    convention: Annotated[str | None, option("Evaluation convention: csfcube or trec.", shown="both")] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "A measure to show, by its name in ir_measures (nDCG@10). May be repeated; the first compares the runs.",
            shown="NDCG%20; nDCG in trec",
        ),
    ] = None,
    ties: TiesOption = "order",
    average: Annotated[
        str,
        option(
            "Which queries to average over. test: mean of the test folds' means, if there are folds; dev: the first "
            "development fold; plain: all queries."
        ),
    ] = "test",
    per_query: PerQueryOption = False,
    every: Annotated[bool, flag("--all", "Also print all pairs of runs, and every measure on every facet.")] = False,
    against: Annotated[
        str | None,
        option("Instead, compare your figures with a paper's: csfcube, aspire, scisearch, ..., or a TOML file."),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "Write the comparison into this folder: tables (LaTeX, Markdown, CSV, JSON) and a drawing (SVG).",
            "--out",
            "-o",
        ),
    ] = None,
    so_far: Annotated[
        bool, flag("--so-far", "With a sample: measure what is judged so far. This assumes that chance chose it.")
    ] = False,
) -> Output:
    """Print which run is best, whether that is certain, and which differences are significant:
    a row per run, a column per facet.

    Measures are computed as in CSFCube's release and as in trec_eval; runs are compared as in CSFCube's release.
    Without runs, --convention or --measure, the figures are also written to exports/evaluation.json.
    """
    from annot.measuring.results import evaluation_data
    from annot.steps import evaluate as step

    if against is not None:
        if out is not None:
            raise typer.BadParameter("found --against and --out, expected only one of them")
        found = step.against(ws, against, runs=tuple(runs or ()))
        differing = range(found.differing if found.same_collection else 0)
        finding = needs_a_person(differing, "figure", "other than the paper's")
        table = step.beside_paper(found)
        return Output(found, step.describe_against(found, table), tables=[table], finding=finding)
    evaluated = step.evaluate(
        ws,
        runs=tuple(runs or ()),
        convention=convention,
        measures=tuple(measure or ()),
        ties=ties,
        average=average,
        at_least_two=out is not None,
        tell=say,
        so_far=so_far,
    )
    text = step.describe(evaluated, per_query=per_query, measured=every or len(measure or ()) > 1, paired=every)
    written = [] if out is None else [str(path) for path in step.write(evaluated, out)]

    def frame() -> "DataFrame":
        from annot.api import tidy

        return tidy.evaluation_by_query(evaluated) if per_query else tidy.evaluation_and_comparisons(evaluated)

    return Output(evaluation_data(evaluated), text, [*step.notes(evaluated), *written], frame=frame)


@command("assessor-effect", csv=True)
def assessor_effect(
    ws: "Workspace",
    convention: ConventionOption = None,
    measure: Annotated[
        str | None, option("A measure of the convention, as `annot evaluate` names it.", shown="NDCG%20; nDCG in trec")
    ] = None,
) -> Output:
    """Print whether it matters who judged: the runs ranked by each assessor's, the final and randomly chosen grades."""
    from annot.publishing.report.sections.effect import terminal
    from annot.steps import assessor_effect as step

    found = step.measure(ws, convention=convention, measure_name=measure, tell=say)
    tables = terminal(found)
    return Output(found, step.describe(found, tables), tables=tables)


@command("reusability")
def reusability(ws: "Workspace") -> Output:
    """Test whether new systems can be scored fairly on this collection.

    Each pool method is scored as if it were a new system, without the papers that it alone found. The page
    exports/certificate.html also shows how much of each run is judged.
    """
    from annot.steps import reusability as step

    found, path = step.certificate(ws, tell=say)
    return Output(found, f"{step.describe(found)}\n\n{path}")


@command("errors")
def errors(ws: "Workspace") -> Output:
    """Write errors.csv, a list of what systems get wrong, in which you enter the kind of each error.

    It has one row per pair: irrelevant papers in the first fifth of a ranking, and relevant papers in its lower half.
    Run it again at any time: your entries in the columns kind and note stay. `annot report` counts the kinds, `annot
    browse` shows them.
    """
    from annot.base.names import counted
    from annot.steps import errors as step

    written = step.write(ws)
    told = f"{written.path}: {counted(written.pairs, 'pair')}, {written.with_kind} with a kind"
    return Output(written, told, notes=tuple(step.notes(ws)))
