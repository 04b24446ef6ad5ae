"""Settle: agreement, adjudication, qrels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annot.cli.commands import command, group
from annot.cli.options import (
    ConventionOption,
    DryRunOption,
    PerQueryOption,
    argument,
    flag,
    option,
    setting,
)
from annot.cli.output import Answer, say, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("agreement", csv=True, verbs=True)
def agreement_measure(
    ws: "Workspace",
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
) -> Answer:
    """Print how far assessors agree, per facet, before and after adjudication, with intervals.

    Also writes every coefficient, per query and per facet, to exports/agreement.json.
    """
    from annot.steps import agreement as step

    measured = step.measure(ws, missing=missing, binarised_at=binarised_at, tell=say)
    text = step.describe(measured, per_query=per_query, every=every)
    return Answer(measured, text, table="agreement --per-query" if per_query else "")


@command("agreement assessors", csv=True)
def agreement_assessors(
    ws: "Workspace",
    query: Annotated[
        list[str] | None, option("Show all hard candidates of this query; repeatable.", "--query", "-q")
    ] = None,
) -> Answer:
    """Print how assessors compare with each other and the final grades, their pace, and why they disagree."""
    from annot.steps import agreement_assessors as step

    queries = tuple(query or ())
    looked = step.look(ws, queries=queries)
    return Answer(looked, step.describe(looked, queries=queries))


@command("agreement guidelines")
def agreement_guidelines(ws: "Workspace") -> Answer:
    """Print agreement before adjudication by each version of the guidelines, where they were changed in the study."""
    from annot.steps import agreement as step

    versions = step.by_guidelines(ws)
    return Answer(versions, step.describe_guidelines(versions))


group("adjudicate", help="Put pairs before their assessors again, and see how far disputes are settled.")


@command("adjudicate return")
def adjudicate_return(
    ws: "Workspace",
    query_id: Annotated[str | None, argument("A query.")] = None,
    doc_id: Annotated[str | None, argument("A document that the assessor has judged for it.")] = None,
    to: Annotated[str | None, option("The assessor, by pseudonym.", "--to")] = None,
    why: Annotated[str | None, option("What to look at again; the assessor reads it above the pair.", "--why")] = None,
    file: Annotated[Path | None, option("Many pairs: a table with query_id, doc_id, to and why.", "--file")] = None,
    undo: Annotated[bool, flag("--undo", "Take back returned pairs that are not answered yet.")] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Send pairs back to their assessors, with a reason; `annot push` puts them into their projects.

    Both answers are kept. The new one counts for the final grade, the first one for agreement before adjudication. The
    assessor does not see their earlier answer. Say what to look at in the texts, never what others answered. Of a file
    with one wrong row, nothing goes back.
    """
    from annot.steps import returning as step

    if file is not None and (query_id, doc_id, to, why) == (None,) * 4:
        changes = step.change(ws, file, undo=undo, dry_run=dry_run)
    elif file is None and query_id is not None and doc_id is not None and to is not None:
        pair = (query_id, doc_id)
        changes = step.change_one(ws, pair, assessor=to, why=why or "", undo=undo, dry_run=dry_run)
    else:
        raise typer.BadParameter("expected QUERY DOC --to NAME with --why REASON or --undo, or --file FILE alone")
    return Answer(changes, step.describe(changes, undo=undo))


@command("adjudicate status", csv=True)
def adjudicate_status(
    ws: "Workspace",
    returned: Annotated[
        bool, flag("--returned", "List the pairs that were put before an assessor again, and what came of them.")
    ] = False,
) -> Answer:
    """Print how many pairs are agreed, disputed, adjudicated and open; or which were returned to an assessor."""
    if returned:
        from annot.steps import returning

        back = returning.listing(ws)
        text = table("status.returned", back) if back else "no pair was returned"
        return Answer(back, text, returning.notes(back), table="adjudicate status --returned")
    from annot.steps import adjudicate as step

    found = step.status(ws)
    return Answer(found, table("status.queries", found))


@command("qrels", csv=True, verbs=True)
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
    from annot.steps import qrels_compare as step
    from annot.steps.evaluate import chosen

    measures = () if measure is None else (measure,)
    compared = step.compare(ws, a, b, conventions=chosen(convention, measures), measures=measures)
    return Answer(compared, step.describe(compared), compared.notes)
