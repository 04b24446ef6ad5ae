"""Settle: agreement, adjudication, qrels, meetings, and the opinions of models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.names import counted
from annot.cli import options
from annot.cli.commands import command, group
from annot.cli.options import argument, flag, only_with, option, setting
from annot.cli.output import Output, confirmed, is_attended, listing, progress, rendered, say

if TYPE_CHECKING:
    from pandas import DataFrame

    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# Settle: agreement, adjudication, qrels, and what assessors talk over: comments and meetings.
# ----------------------------------------------------------------------------------------------------------------------


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
    from annot.study.snapshot import vocabulary_of

    if by is not None:
        check_name(by, (step.ASSESSOR, step.GUIDELINES), what="--by")
        only_with(
            "the table by facet (without --by)",
            missing=missing,
            per_query=per_query,
            all=every,
            binarised_at=binarised_at,
        )
    if by != step.ASSESSOR:
        only_with("--by assessor", query=query or None)
    if by == step.ASSESSOR:
        queries = tuple(query or ())
        looked = step.by_assessor(ws, queries=queries)
        words = vocabulary_of(ws)
        tables = step.assessor_tables(looked, words, queries=queries)
        return Output(looked, step.describe_assessors(looked, tables, words), tables=tables)
    if by == step.GUIDELINES:
        versions = step.by_guidelines(ws)
        changes = by_guidelines(versions, vocabulary_of(ws))
        text = table_text(changes) if versions else "no guidelines were changed after they were sent"
        return Output(versions, text, tables=[changes])
    measured = step.measure(ws, missing=missing, binarised_at=binarised_at, tell=say)
    words = vocabulary_of(ws)
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
    grades = step.grade_columns(written).of(written.grades.items())
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
    from annot.study.snapshot import vocabulary_of

    measures = () if measure is None else (measure,)
    compared = step.compare(ws, a, b, conventions=chosen(ws, convention, measures), measures=measures)
    tables = step.tables(compared, vocabulary_of(ws))
    return Output(compared, step.describe(compared, tables), compared.notes, tables=tables)


@command("comments", csv=True)
def comments(
    ws: "Workspace",
    since: Annotated[str | None, option("Only comments since this day, such as 2031-03-14.", shown="all")] = None,
) -> Output:
    """List the comments that assessors wrote with their answers, newest first, from the answers pulled so far."""
    from annot.publishing.report.study_tables import COMMENTS
    from annot.steps import agreement as step

    return listing(COMMENTS, step.listing(ws, since=since), empty="no comments")


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


# ----------------------------------------------------------------------------------------------------------------------
# Settle: what a model would have judged, held apart from people's grades.
# ----------------------------------------------------------------------------------------------------------------------


group("opinion", help="Ask models for their opinion. It is kept apart from people's grades and measured against them.")

NameArgument = Annotated[str, argument("Name of the opinion: the section [opinions.NAME] of annot.toml.")]
BeforeJudgingOption = Annotated[
    str | None,
    option("Do it although people have not judged yet. Give the reason; the datasheet repeats it.", "--before-judging"),
]


@command("opinion ask", alone=False)
def opinion_ask(
    ws: "Workspace",
    name: NameArgument,
    planned: Annotated[bool, flag("--planned", "Ask only about pairs that are planned for people.")] = False,
    query: Annotated[
        list[str] | None, option("Ask about this query only; may be repeated.", "--query", "-q", shown="all")
    ] = None,
    pairs: Annotated[
        Path | None,
        option("Ask about the pairs of this file: a query id and a document id in each line, or TREC qrels."),
    ] = None,
    before_judging: BeforeJudgingOption = None,
    wait: Annotated[
        bool, flag("--long-waits", "Wait, for a day at most, if the server asks for more than a minute.")
    ] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Ask a model for its opinion of all pooled pairs, as an assessor would be asked.

    To continue after a stop, run the same command again. The server has to speak OpenAI's chat completions: ollama,
    vLLM, llama.cpp or `transformers serve` on your machine, or a service. A key is read from the environment variable
    ANNOT_OPINION_KEY. --dry-run prints one whole prompt, how many requests and tokens it takes, and their cost.
    """
    from annot.steps import opinions as step

    selection = step.Selection(planned, tuple(query or ()), pairs)
    if dry_run:
        preview = step.preview(ws, name, selection, before_judging=before_judging)
        return Output(preview, rendered("opinion-preview", found=preview))
    done = step.ask(
        ws,
        name,
        selection,
        before_judging=before_judging,
        may_leave=_may_leave if is_attended() else None,
        watch=lambda: progress("asking", forecast=True),
        tell=say,
        wait_long=wait,
    )
    return Output(done, rendered("opinion-asked", done=done), done.notes, finding=step.nothing_came(done))


def _may_leave(url: str) -> bool:
    return confirmed(f"Titles and texts of this study would be sent to {url}. May they leave this machine?")


@command("opinion list", csv=True)
def opinion_list(ws: "Workspace") -> Output:
    """List the opinions on record: model, pairs, answers without a grade, requests, tokens and cost.

    "Set aside" are pairs on which the model read another version of a text than they are judged on: ask again.
    """
    from annot.steps import opinions as step

    empty = "no model was asked yet; ask one with `annot opinion ask`"
    return listing(step.OPINIONS, step.listing(ws), empty=empty)


@command("opinion qrels", alone=True)
def opinion_qrels(ws: "Workspace", name: NameArgument, before_judging: BeforeJudgingOption = None) -> Output:
    """Write a model's opinion as qrels of its own, to exports/opinions/NAME.qrels.

    The second column names the model. A release refuses such a file as the qrels of the study.
    """
    from annot.steps import opinions as step

    written = step.write(ws, name, before_judging=before_judging)
    others = f"; {counted(written.without_grade, 'pair')} without a grade" if written.without_grade else ""
    if written.set_aside:
        others += f"; {counted(written.set_aside, 'pair')} left out, on which the model read an earlier text"
    return Output(written, f"{written.path}: {counted(written.pairs, 'pair')} by {written.model}{others}")


@command("opinion report")
def opinion_report(
    ws: "Workspace",
    name: Annotated[str | None, argument("Name of the opinion.", shown="all")] = None,
    before_judging: BeforeJudgingOption = None,
) -> Output:
    """Measure what a model's opinion is worth: agreement with people and with itself, whether it may replace a
    person, and which runs it favours.

    The first sentence is the verdict: it agrees as people do; it is noisy but fair; it favours a run; it does not
    judge; or there are too few topics to tell, and how many it takes. Runs are those of exports/runs/.
    """
    from annot.steps import opinions as step
    from annot.study.snapshot import vocabulary_of

    measured = step.measure(ws, name, before_judging=before_judging)
    return Output(measured, step.describe(measured, vocabulary_of(ws)), tuple(step.notes(ws, measured)))
