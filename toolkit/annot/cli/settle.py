"""Settle: agreement, adjudication, qrels, and what assessors talk over: comments and meetings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.names import counted
from annot.cli import options
from annot.cli.commands import command
from annot.cli.options import argument, flag, option, refuse_without_condition, setting
from annot.cli.output import Output, say, tabled

if TYPE_CHECKING:
    from pandas import DataFrame

    from annot.study.workspace import Workspace


@command("agreement", csv=True)
def agreement(
    ws: "Workspace",
    by: Annotated[
        str | None,
        option(
            "assessor: the grades, pace and changes of each assessor, and why they disagree. guidelines: agreement "
            "before adjudication with each version of the guidelines.",
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
    per_query: options.PerQueryOption = False,
    every: Annotated[
        bool, flag("--all", "Print every coefficient, with its mean, quartiles and pooled value.")
    ] = False,
    binarised_at: Annotated[
        int | None, option("Split the scale in two: this grade or higher, and lower.", shown="the whole scale")
    ] = None,
    query: Annotated[
        list[str] | None,
        option("With --by assessor: show all hard candidates of this query. May be repeated.", "--query", "-q"),
    ] = None,
) -> Output:
    """Print how well assessors agree on each facet, before and after adjudication, with intervals.

    Every coefficient, per query and per facet, is also written to exports/agreement.json.
    """
    from annot.base.names import check_name
    from annot.publishing.report.sections.agreement import by_guidelines
    from annot.publishing.report.terminal import table_text
    from annot.steps import agreement as step

    if by is not None:
        check_name(by, (step.ASSESSOR, step.GUIDELINES), what="--by")
        refuse_without_condition(
            "the table by facet (without --by)",
            missing=missing,
            per_query=per_query,
            all=every,
            binarised_at=binarised_at,
        )
    if by != step.ASSESSOR:
        refuse_without_condition("--by assessor", query=query or None)
    if by == step.ASSESSOR:
        queries = tuple(query or ())
        looked = step.by_assessor(ws, queries=queries)
        words = ws.vocabulary
        tables = step.assessor_tables(looked, words, queries=queries)
        return Output(looked, step.describe_assessors(looked, tables, words), tables=tables)
    if by == step.GUIDELINES:
        versions = step.by_guidelines(ws)
        changes = by_guidelines(versions, ws.vocabulary)
        text = table_text(changes) if versions else "no guidelines were changed after they were sent"
        return Output(versions, text, tables=[changes])
    measured = step.measure(ws, missing=missing, binarised_at=binarised_at, tell=say)
    words = ws.vocabulary
    text = step.describe(measured, words, per_query=per_query, every=every)

    def frame() -> "DataFrame":
        from annot.publishing.report import tidy

        return tidy.agreement_by_query(measured, words) if per_query else tidy.agreement(measured, words)

    return Output(measured, text, frame=frame)


@command("qrels", csv=True)
def qrels(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Write the final grades even if pairs are still open; these stay unjudged.")
    ] = False,
    allow_single: Annotated[
        str | None,
        option(
            "Accept pairs with fewer judgements than planned after an assessor has left. Give the reason: every page "
            "repeats it.",
            "--allow-single",
        ),
    ] = None,
) -> Output:
    """Write the final grades as TREC qrels.

    Pairs with fewer judgements than planned have no final grade, unless you accept them with --allow-single.
    """
    from annot.publishing.report.terminal import table_text
    from annot.steps import qrels as step

    written = step.write(ws, partial=partial, allow_single=allow_single)
    grades = step.grade_columns(written).of(written.grades.items(), words=ws.vocabulary)
    left_out = "".join(f"\nleft out: {pair}" for pair in written.short)
    text = f"{table_text(grades)}\n\n{written.path}: {counted(written.pairs, 'pair')}{left_out}"
    return Output(written, text, written.notes, tables=[grades])


@command("qrels compare", csv=True)
def qrels_compare(
    ws: "Workspace",
    a: Annotated[Path, argument("The reference, as TREC qrels.")],
    b: Annotated[Path, argument("TREC qrels of the same queries.")],
    convention: options.ConventionOption = None,
    measure: Annotated[str | None, option("Measure that orders the runs.", shown="NDCG%20; nDCG in trec")] = None,
) -> Output:
    """Compare two qrels: the grades of each query, the order of the runs, and the runs that change sides."""
    from annot.steps import qrels as step
    from annot.steps.evaluate import chosen

    measures = () if measure is None else (measure,)
    compared = step.compare(ws, a, b, conventions=chosen(ws, convention, measures), measures=measures)
    tables = step.tables(compared, ws.vocabulary)
    return Output(compared, step.describe(compared, tables), compared.notes, tables=tables)


@command("comments", csv=True)
def comments(
    ws: "Workspace",
    since: Annotated[str | None, option("Only comments since this day, such as 2031-03-14.", shown="all")] = None,
) -> Output:
    """List the comments that assessors wrote with their answers, newest first, from the answers pulled so far."""
    from annot.steps import agreement as step

    return tabled(step.listing(ws, since=since), empty="no comments")


@command("meeting")
def meeting(
    ws: "Workspace",
    since: Annotated[
        str | None, option("First day of the period, such as 2031-03-14.", shown="7 days before the newest answer")
    ] = None,
    out: options.OutOption = None,
) -> Output:
    """Write the page for the meeting between two batches, meeting.html, and the same as Markdown.

    It shows the widest gaps, grades that often differ on the same pair, comments, and agreement in the period and
    before it, without names. Pairs that an assessor will be asked about again are left out.
    """
    from annot.steps import agreement as step

    written = step.write(ws, since=since, out=out)
    text = f"{written.path}: {counted(written.pairs, 'pair')} from {written.since[:10]} to {written.until[:10]}"
    return Output(written, f"{text}; the grades of {written.differing} differ")
