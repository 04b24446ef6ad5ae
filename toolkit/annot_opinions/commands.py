"""Commands that ask models for their opinion, and measure it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.names import counted
from annot.cli import options
from annot.cli.commands import command, group
from annot.cli.options import argument, flag, option
from annot.cli.output import Output, confirmed, is_attended, listing, progress, rendered, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

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
    from annot_opinions import steps as step

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
    return Output(done, rendered("opinion-asked", done=done), done.notes, finding=step.error_without_answers(done))


def _may_leave(url: str) -> bool:
    return confirmed(f"Titles and texts of this study would be sent to {url}. May they leave this machine?")


@command("opinion list", csv=True)
def opinion_list(ws: "Workspace") -> Output:
    """List the opinions on record: model, pairs, answers without a grade, requests, tokens and cost.

    "Set aside" are pairs on which the model read another version of a text than they are judged on: ask again.
    """
    from annot_opinions import steps as step

    empty = "no model was asked yet; ask one with `annot opinion ask`"
    return listing(step.OPINIONS, step.listing(ws), empty=empty)


@command("opinion qrels", alone=True)
def opinion_qrels(ws: "Workspace", name: NameArgument, before_judging: BeforeJudgingOption = None) -> Output:
    """Write a model's opinion as qrels of its own, to exports/opinions/NAME.qrels.

    The second column names the model. A release refuses such a file as the qrels of the study.
    """
    from annot_opinions import steps as step

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

    from annot_opinions import steps as step

    measured = step.measure(ws, name, before_judging=before_judging)
    return Output(measured, step.describe(measured, ws.vocabulary), tuple(step.notes(ws, measured)))
