"""Settle: agreement, adjudication, qrels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command
from annot.cli.options import (
    ConventionOption,
    PerQueryOption,
    argument,
    flag,
    option,
    setting,
)
from annot.cli.output import Output, say, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("agreement", csv=True)
def agreement(
    ws: "Workspace",
    by: Annotated[
        str | None,
        option(
            "assessor: show each assessor's grades, pace and changes, and the reasons for disagreements. guidelines: "
            "show agreement before adjudication for each version of the guidelines.",
            shown="facet",
        ),
    ] = None,
    missing: Annotated[
        str | None,
        setting(
            "How missing judgements count. drop: leave them out, and compare only pairs with two or more grades. zero: "
            "count them as grade 0."
        ),
    ] = None,
    per_query: PerQueryOption = False,
    every: Annotated[bool, flag("--all", "Show every coefficient, with mean, quartiles and pooled value.")] = False,
    binarised_at: Annotated[
        int | None, option("Compare this grade and above with those below.", shown="the whole scale")
    ] = None,
    query: Annotated[
        list[str] | None,
        option("With --by assessor: show all hard candidates of this query; may be repeated.", "--query", "-q"),
    ] = None,
) -> Output:
    """Measure inter-annotator agreement per facet, before and after adjudication, with intervals.

    Also writes every coefficient, per query and per facet, to exports/agreement.json.
    """
    from annot.steps import agreement as step

    given = {"--missing": missing is not None, "--per-query": per_query, "--all": every}
    given |= {"--binarised-at": binarised_at is not None, "--query": bool(query)}
    step.check_options(by, [name for name, there in given.items() if there])
    if by == step.ASSESSOR:
        queries = tuple(query or ())
        looked = step.by_assessor(ws, queries=queries)
        return Output(looked, step.describe_assessors(looked, queries=queries), table="agreement --by assessor")
    if by == step.GUIDELINES:
        versions = step.by_guidelines(ws)
        return Output(versions, step.describe_guidelines(versions), table="agreement --by guidelines")
    measured = step.measure(ws, missing=missing, binarised_at=binarised_at, tell=say)
    text = step.describe(measured, per_query=per_query, every=every)
    return Output(measured, text, table="agreement --per-query" if per_query else "")


@command("qrels", csv=True)
def qrels(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Write the settled grades even if pairs are still open; those count as unjudged.")
    ] = False,
    allow_single: Annotated[
        str | None,
        option(
            "Accept pairs with fewer judgements than planned, after an assessor left; say why. Every page shows it.",
            "--allow-single",
        ),
    ] = None,
) -> Output:
    """Write the final grades as TREC qrels.

    A pair with fewer judgements than planned has no final grade, unless you accept it with --allow-single.
    """
    from annot.base.templating import counted
    from annot.steps import qrels as step

    written = step.write(ws, partial=partial, allow_single=allow_single)
    text = table(step.grade_columns(written), written.grades.items())
    left_out = "".join(f"\nleft out: {pair}" for pair in written.short)
    return Output(written, f"{text}\n\n{written.path}: {counted(written.pairs, 'pair')}{left_out}", written.notes)


@command("qrels compare", csv=True)
def qrels_compare(
    ws: "Workspace",
    a: Annotated[Path, argument("The reference, as TREC qrels.")],
    b: Annotated[Path, argument("TREC qrels of the same queries.")],
    convention: ConventionOption = None,
    measure: Annotated[str | None, option("Measure that orders the runs.", shown="NDCG%20; nDCG in trec")] = None,
) -> Output:
    """Compare two qrels: grades per query, the order of the runs, and pairs of runs that change places."""
    from annot.steps import qrels as step
    from annot.steps.evaluate import chosen

    measures = () if measure is None else (measure,)
    compared = step.compare(ws, a, b, conventions=chosen(convention, measures), measures=measures)
    return Output(compared, step.describe(compared), compared.notes)
