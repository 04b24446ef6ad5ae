"""Measure: evaluate runs with the qrels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command
from annot.cli.options import ConventionOption, PerQueryOption, TiesOption, argument, flag, option
from annot.cli.output import Output, needs_a_person, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("evaluate", csv=True)
def evaluate(
    ws: "Workspace",
    runs: Annotated[list[str] | None, argument("Run tags, systems, or TREC run files.", shown="exports/runs/")] = None,
    convention: Annotated[str | None, option("Evaluation convention: csfcube or trec.", shown="both")] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "Measure to show, by its name in ir_measures, such as nDCG@10; the first one decides. May be repeated.",
            shown="NDCG%20; nDCG in trec",
        ),
    ] = None,
    ties: TiesOption = "order",
    average: Annotated[
        str,
        option(
            "Queries to average over: test (mean of the test folds, if there are any), dev (the first development "
            "fold) or plain (all queries)."
        ),
    ] = "test",
    per_query: PerQueryOption = False,
    every: Annotated[bool, flag("--all", "Also compare every two runs, with every measure, on every facet.")] = False,
    against: Annotated[
        str | None,
        option("Instead, compare with the figures of a paper: csfcube, aspire, scisearch, ..., or a TOML file."),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "Write the comparison to this folder, as tables (LaTeX, Markdown, CSV, JSON) and a figure (SVG).",
            "--out",
            "-o",
        ),
    ] = None,
) -> Output:
    """Show which run is best and which differences are significant, with one row per run and one column per facet.

    Computes the measures in two conventions, that of CSFCube's release and that of trec_eval, and compares runs in the
    first. If you name no runs, convention or measure, it also writes exports/evaluation.json.
    """
    from annot.measuring.results import evaluation_data
    from annot.steps import evaluate as step

    if against is not None:
        if out is not None:
            raise typer.BadParameter("found --against and --out, expected one of them")
        found = step.against(ws, against, runs=tuple(runs or ()))
        differing = range(found.differing if found.same_collection else 0)
        finding = needs_a_person(differing, "figure", "other than the paper's")
        return Output(found, step.describe_against(found), table="evaluate --against", finding=finding)
    evaluated = step.evaluate(
        ws,
        runs=tuple(runs or ()),
        convention=convention,
        measures=tuple(measure or ()),
        ties=ties,
        average=average,
        at_least_two=out is not None,
        tell=say,
    )
    text = step.describe(evaluated, per_query=per_query, measured=every or len(measure or ()) > 1, paired=every)
    written = [] if out is None else [str(path) for path in step.write(evaluated, out)]
    table_of = "evaluate --per-query" if per_query else ""
    notes = [*evaluated.notes, *written]
    return Output(evaluation_data(evaluated), text, notes, table=table_of, records=evaluated)


@command("assessor-effect", csv=True)
def assessor_effect(
    ws: "Workspace",
    convention: ConventionOption = None,
    measure: Annotated[str | None, option("Measure, by its name in `annot evaluate`.", shown="NDCG%20")] = None,
    random_assessors: Annotated[
        int | None, option("Random choices of an assessor per pair.", shown="500", min=1)
    ] = None,
) -> Output:
    """Show whether the ranking of runs depends on who judged: by each assessor, random assessors and final grades."""
    from annot.measuring.measured import CONVENTION, MEASURE, N_RANDOM
    from annot.steps import assessor_effect as step

    found = step.measure(
        ws,
        convention=convention or CONVENTION,
        measure_name=measure or MEASURE,
        n_random=random_assessors or N_RANDOM,
        tell=say,
    )
    return Output(found, step.describe(found))


@command("reusability")
def reusability(ws: "Workspace") -> Output:
    """Test whether new systems can be scored fairly on this collection, and write exports/certificate.html.

    Treats each pooling method in turn as a new system, by leaving out the documents that only it contributed. Also
    tests smaller pools, unjudged papers and halves of the queries.
    """
    from annot.steps import reusability as step

    found, path = step.certificate(ws, tell=say)
    return Output(found, f"{step.describe(found)}\n\n{path}")


@command("errors")
def errors(ws: "Workspace") -> Output:
    """Write errors.csv, a list of what systems get wrong, in which you enter the kind of each error.

    It lists irrelevant papers in the top fifth of a ranking and relevant papers in its lower half. If you run the
    command again, your entries in the columns kind and note are kept. `annot report` counts the kinds and
    `annot browse` shows them.
    """
    from annot.base.templating import counted
    from annot.steps import errors as step

    written = step.write(ws)
    return Output(written, f"{written.path}: {counted(written.pairs, 'pair')}, {written.with_kind} with a kind")
