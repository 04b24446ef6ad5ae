"""Keep: a local Label Studio and the doctor. Prepare: the demonstration."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annot.cli.commands import command, group
from annot.cli.options import argument, flag, option
from annot.cli.output import Output, needs_a_person, progress, rendered, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("studio", help="Start and stop a local Label Studio.")


def _states(ws: "Workspace", *, stopped: bool = False) -> Output:
    """The server of the study; in mode `server` a list of everyone's."""
    from annot.judging.exchange.servers import isolated
    from annot.steps import studio as step

    states, own = step.status(ws), isolated(ws)
    return Output(states if own else states[0], rendered("studio", states=states, own=own, stopped=stopped))


@command("studio up")
def studio_up(
    ws: "Workspace",
    port: Annotated[int | None, option("Port on 127.0.0.1.", shown="a free one", min=1, max=65535)] = None,
    per_assessor: Annotated[
        bool, flag("--per-assessor", 'Start a server for each person, for isolation = "server" in annot.toml.')
    ] = False,
) -> Output:
    """Start a local Label Studio and print its address. Installs it into its own environment the first time.

    With isolation = "server" in annot.toml, starts a server for each person. A server takes up to 0.8 GB of memory.
    """
    from annot.steps import studio as step

    step.up(ws, port=port, per_assessor=per_assessor, tell=say)
    return _states(ws)


@command("studio down")
def studio_down(ws: "Workspace") -> Output:
    """Stop the local Label Studio, or every person's server. The data are kept."""
    from annot.steps import studio as step

    running = any(state.running for state in step.status(ws))
    step.down(ws)
    return _states(ws, stopped=running)


@command("studio status")
def studio_status(ws: "Workspace") -> Output:
    """Show whether the local Label Studio, or every person's server, is running, and its address."""
    return _states(ws)


@command("doctor", needs_study=False, server=True)
def doctor(ws: "Workspace | None") -> Output:
    """Find safety and setup problems of this machine, the study and its server, and explain how to fix them.

    Checks the server's version and known vulnerabilities, open sign-up, https and clocks, who can read the database,
    disk space and the Python version. Exits with 1 if there is a problem.
    """
    from annot.steps import doctor as step

    examined = step.examine(ws)
    return Output(
        examined,
        rendered("doctor", examined=examined),
        examined.notes,
        finding=needs_a_person(examined.findings, "problem", "to fix"),
    )


@command("demo")
def demo(
    folder: Annotated[Path, argument("Folder of the demonstration; created if it does not exist.")] = Path(
        "demo-workspace"
    ),
    kind: Annotated[
        Literal["facets", "questions"], option("What is judged: facets of papers, or answers to questions.")
    ] = "facets",
    sample: Annotated[
        float | None,
        option("Judge only a sample with this share of the pools.", shown="all", min=0.0001, max=1.0),
    ] = None,
    corpus_only: Annotated[Path | None, option("Only write the sample papers to this file.", metavar="FILE")] = None,
) -> Output:
    """Run a complete study on sample papers (fictional), with simulated assessors, up to the report."""
    if corpus_only is not None:
        from annot.demo.packaged import write_corpus

        papers = write_corpus(corpus_only)
        return Output({"file": str(corpus_only), "papers": papers}, f"{corpus_only}: {papers} fictional papers")

    from annot.demo import whole_way as step

    done = step.go(folder, kind=kind, sample=sample, tell=say, watch=progress)
    return Output(done, rendered("demo", done=done))
