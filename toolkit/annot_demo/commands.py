"""Command of the demonstration."""

from pathlib import Path
from typing import Annotated, Literal

from annot.cli.commands import command
from annot.cli.options import argument, option
from annot.cli.output import Output, progress, rendered, say


@command("demo")
def demo(
    folder: Annotated[Path, argument("Folder of the demonstration; created if it does not exist.")] = Path(
        "demo-workspace"
    ),
    kind: Annotated[
        Literal["facets", "questions"], option("What is judged: facets of papers, or answers to questions.")
    ] = "facets",
    sample: Annotated[
        float | None, option("Judge only a sample with this share of the pools.", shown="all", min=0.0001, max=1.0)
    ] = None,
    corpus_only: Annotated[Path | None, option("Only write the sample papers to this file.", metavar="FILE")] = None,
) -> Output:
    """Run a complete study on fictional papers, with simulated assessors, up to the report."""
    if corpus_only is not None:
        from annot_demo.simulated_people import write_corpus

        papers = write_corpus(corpus_only)
        return Output({"file": str(corpus_only), "papers": papers}, f"{corpus_only}: {papers} fictional papers")

    from annot_demo import whole_way as step

    done = step.go(folder, kind=kind, sample=sample, tell=say, watch=progress)
    return Output(done, rendered("demo", done=done))
