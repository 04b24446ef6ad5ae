"""Settle: agreement, adjudication, qrels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command, group
from annot.cli.options import (
    AcceptDeletionsOption,
    ConventionOption,
    DryRunOption,
    PerQueryOption,
    argument,
    flag,
    option,
    setting,
)
from annot.cli.output import Answer, progress, say, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("agreement", csv=True)
def agreement(
    ws: "Workspace",
    by: Annotated[
        str | None,
        option(
            "assessor: each one's grades, pace and changes, and why they disagree. guidelines: agreement before "
            "adjudication under each version of them.",
            shown="facet",
        ),
    ] = None,
    missing: Annotated[
        str | None,
        setting(
            "How missing judgements count. drop: they are left out, and only pairs with two or more grades are "
            "compared. zero: as grade 0."
        ),
    ] = None,
    per_query: PerQueryOption = False,
    every: Annotated[bool, flag("--all", "Print every coefficient, with mean, quartiles and pooled.")] = False,
    binarised_at: Annotated[
        int | None, option("Compare this grade or higher against lower.", shown="the whole scale")
    ] = None,
    query: Annotated[
        list[str] | None,
        option("With --by assessor, show all hard candidates of this query; repeatable.", "--query", "-q"),
    ] = None,
) -> Answer:
    """Print how far assessors agree, per facet, before and after adjudication, with intervals.

    Also writes every coefficient, per query and per facet, to exports/agreement.json.
    """
    from annot.steps import agreement as step

    given = {"--missing": missing is not None, "--per-query": per_query, "--all": every}
    given |= {"--binarised-at": binarised_at is not None, "--query": bool(query)}
    step.check_options(by, [name for name, there in given.items() if there])
    if by == step.ASSESSOR:
        queries = tuple(query or ())
        looked = step.by_assessor(ws, queries=queries)
        return Answer(looked, step.describe_assessors(looked, queries=queries), table="agreement --by assessor")
    if by == step.GUIDELINES:
        versions = step.by_guidelines(ws)
        return Answer(versions, step.describe_guidelines(versions), table="agreement --by guidelines")
    measured = step.measure(ws, missing=missing, binarised_at=binarised_at, tell=say)
    text = step.describe(measured, per_query=per_query, every=every)
    return Answer(measured, text, table="agreement --per-query" if per_query else "")


group("adjudicate", help="Send disagreements to an adjudicator, and fetch the decisions.")


@command("adjudicate push", server=True)
def adjudicate_push(ws: "Workspace", dry_run: DryRunOption = False) -> Answer:
    """Send the disputed pairs to Label Studio and print the link to each adjudicator's project; safe to repeat."""
    from annot.steps import adjudicate as step

    with progress("sending disputes") as advance:
        pushed = step.push(ws, dry_run=dry_run, advance=advance)
    text = table("people.sent", pushed.projects, who=["adjudicator"], pairs=["disputes"])
    return Answer(pushed, text, pushed.notes, finding=pushed.finding("annot adjudicate push"))


@command("adjudicate pull", alone=True, server=True)
def adjudicate_pull(ws: "Workspace", accept_deletions: AcceptDeletionsOption = False) -> Answer:
    """Fetch the adjudicators' decisions from Label Studio and print what is new.

    Decisions that counted and that the server no longer has are listed (exit code 1); they count on until you accept
    it.
    """
    from annot.steps import adjudicate as step

    with progress("reading decisions") as advance:
        pulled = step.pull(ws, advance=advance, accept_deletions=accept_deletions)
    text = table("people.pulled", pulled.assessors, who=["adjudicator"], pairs=["disputes", "settled"])
    return Answer(pulled, text, pulled.notes, finding=pulled.finding("annot adjudicate pull"))


@command("qrels", csv=True)
def qrels(
    ws: "Workspace",
    partial: Annotated[
        bool, flag("--partial", "Write what is settled although pairs are still open; they stay unjudged.")
    ] = False,
    allow_single: Annotated[
        str | None,
        option(
            "Why pairs count with fewer judgements than planned, after an assessor left; every page repeats it.",
            "--allow-single",
        ),
    ] = None,
) -> Answer:
    """Write the final grades as TREC qrels.

    Pairs with fewer judgements than planned have no final grade, unless you take them with --allow-single.
    """
    from annot.base.templating import counted
    from annot.steps import qrels as step

    written = step.write(ws, partial=partial, allow_single=allow_single)
    text = table("files.qrels", written.grades.items(), grades=[f"grade {grade}" for grade in written.scale])
    left_out = "".join(f"\nleft out: {pair}" for pair in written.short)
    return Answer(written, f"{text}\n\n{written.path}: {counted(written.pairs, 'pair')}{left_out}", written.notes)


@command("qrels compare", csv=True)
def qrels_compare(
    ws: "Workspace",
    a: Annotated[Path, argument("TREC qrels; the reference.")],
    b: Annotated[Path, argument("TREC qrels of the same queries.")],
    convention: ConventionOption = None,
    measure: Annotated[str | None, option("The measure that orders the runs.", shown="NDCG%20; nDCG in trec")] = None,
) -> Answer:
    """Print how alike two qrels are: grades query by query, the order of the runs, and runs that change sides."""
    from annot.steps import qrels as step
    from annot.steps.evaluate import chosen

    measures = () if measure is None else (measure,)
    compared = step.compare(ws, a, b, conventions=chosen(convention, measures), measures=measures)
    return Answer(compared, step.describe(compared), compared.notes)
