"""Measure: runs on the qrels."""

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
    runs: Annotated[
        list[str] | None, argument("Tags of runs, systems, or TREC run files.", shown="all of exports/runs/")
    ] = None,
    convention: Annotated[str | None, option("csfcube or trec.", shown="both")] = None,
    measure: Annotated[
        list[str] | None,
        option(
            "A measure to show, by any name of ir_measures (nDCG@10); the first decides. May be repeated.",
            shown="NDCG%20; nDCG in trec",
        ),
    ] = None,
    ties: TiesOption = "order",
    average: Annotated[
        str,
        option(
            "test: mean of the test folds' means, where there are folds; dev: the first development fold; plain: all."
        ),
    ] = "test",
    per_query: PerQueryOption = False,
    every: Annotated[bool, flag("--all", "Print every two runs too, and every measure, on every facet.")] = False,
    against: Annotated[
        str | None,
        option("Print our figures beside a paper's instead: csfcube, aspire, scisearch, ..., or a TOML file."),
    ] = None,
    out: Annotated[
        Path | None,
        option("A folder for the comparison: tables (LaTeX, Markdown, CSV, JSON), drawing (SVG).", "--out", "-o"),
    ] = None,
) -> Output:
    """Print which run is best, whether that is certain, and which differences hold: a row a run, a column a facet.

    Measures are computed in the convention of CSFCube's release and in trec_eval's; runs are compared in the first.
    Without runs, convention or measure it also writes exports/evaluation.json.
    """
    from annot.measuring.results import evaluation_data
    from annot.steps import evaluate as step

    if against is not None:
        if out is not None:
            raise typer.BadParameter("found --against and --out, expected one of them")
        found = step.against(ws, against, runs=tuple(runs or ()))
        differing = range(found.differing if found.same_collection else 0)
        finding = needs_a_person(differing, "{} figure(s) differ from the paper's")
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
    measure: Annotated[
        str | None, option("A measure of the convention, as `annot evaluate` names it.", shown="NDCG%20")
    ] = None,
    random_assessors: Annotated[
        int | None, option("Random choices of one assessor per pair.", shown="500", min=1)
    ] = None,
) -> Output:
    """Print whether it matters who judged: the runs ranked by the grades of each, the final and random assessors."""
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
    """Write the certificate: can systems that did not help to build the pools be measured on this collection?

    Takes each pool method for a system that came later, without what it alone brought; looks at smaller pools, unjudged
    papers and halves of the queries. The page is exports/certificate.html.
    """
    from annot.steps import reusability as step

    found, path = step.certificate(ws, tell=say)
    return Output(found, f"{step.describe(found)}\n\n{path}")


@command("errors")
def errors(ws: "Workspace") -> Output:
    """Write errors.csv: what systems get wrong, a pair a row, in which you enter the kind of error.

    Irrelevant papers in the first fifth of a ranking, relevant ones in its lower half. Written again, it keeps what
    stands in the columns kind and note. `annot report` counts the kinds, `annot browse` shows them.
    """
    from annot.base.templating import counted
    from annot.steps import errors as step

    written = step.write(ws)
    return Output(written, f"{written.path}: {counted(written.pairs, 'pair')}, {written.with_kind} with a kind")
