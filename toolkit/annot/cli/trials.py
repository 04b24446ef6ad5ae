"""Judging beside the collection: the training of assessors, and the sub-study on full texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, SeedOption, argument, option, setting
from annot.cli.output import Answer, table, told

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("train", help="Train assessors on pairs whose grade is known, and see who may judge.")


@command("train gold")
def train_gold(
    ws: "Workspace",
    file: Annotated[
        Path | None, argument("A table with query_id, doc_id, grade and why.", shown="settled pairs, drawn")
    ] = None,
    per_facet: Annotated[int | None, setting("Gold pairs of each facet.", min=1)] = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Make the gold pairs: those of a file, or settled pairs of all grades, drawn; also written to training/gold.tsv.

    Look at the reasons in that file, better them, and read it in again: assessors see them.
    """
    from annot.steps import training as step

    made = step.make(ws.replaced("training", per_facet=per_facet).replaced(seed=seed), file, dry_run=dry_run)
    notes = [f"{made.without_reason} gold pair(s) have no reason"] if made.without_reason else []
    return Answer(made, step.describe(made), notes)


@command("train hide")
def train_hide(
    ws: "Workspace",
    share: Annotated[float, option("Hidden pairs per pair of the plan.", min=0.0, max=0.5)] = 0.05,
    dry_run: DryRunOption = False,
) -> Answer:
    """Add settled pairs, unannounced, to the pairs of assessors who do not know them; `annot push` sends them.

    Their answers are compared with the final grades in `annot train report`, and never count as judgements.
    """
    from annot.steps import training as step

    hidden = step.hide(ws, share=share, dry_run=dry_run)
    return Answer(hidden, table("training.hidden", hidden))


@command("train report", csv=True)
def train_report(ws: "Workspace") -> Answer:
    """Print how each assessor agrees with the gold grades, who has passed, and the pairs furthest from gold."""
    from annot.steps import training as step

    found = step.report(ws)
    return Answer(found, told("training", found=found))


group("substudy", help="Judge a few pairs on abstracts and on full texts, beside the collection, and compare.")


@command("substudy draw")
def substudy_draw(
    ws: "Workspace",
    assessor: Annotated[str, option("Who judges all pairs, in both views.")],
    queries: Annotated[int, option("Queries of each facet.", min=1)] = 3,
    candidates: Annotated[int, option("Candidates of each query.", min=1)] = 5,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Draw the pairs: queries of all types of papers, candidates at random across the final grades.

    The plan goes to substudy/plan.jsonl. Write where each full text is, a link or a file's name, into
    substudy/full-texts.tsv. None of the answers counts as a judgement of the collection.
    """
    from annot.steps import substudy as step

    planned = step.draw(
        ws.replaced(seed=seed), assessor=assessor, queries=queries, candidates=candidates, dry_run=dry_run
    )
    notes = [] if planned.new else ["these pairs were drawn before; nothing is changed"]
    return Answer(planned, step.describe_plan(planned), notes)


@command("substudy report", csv=True)
def substudy_report(ws: "Workspace") -> Answer:
    """Print how abstracts, full texts and final grades agree, with intervals, and the time a pair takes."""
    from annot.steps import substudy as step

    found = step.report(ws)
    return Answer(found, told("substudy", found=found))
