"""Help: a local Label Studio, and the demonstration."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command, group
from annot.cli.options import argument, flag, option
from annot.cli.output import Output, needs_a_person, progress, rendered, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("studio", help="Start and stop a Label Studio on this machine.")


def _told(ws: "Workspace", *, stopped: bool = False) -> Output:
    """The server of the study; in mode `server` a list of everyone's."""
    from annot.judging.exchange.servers import isolated
    from annot.steps import studio as step

    states, own = step.status(ws), isolated(ws)
    return Output(states if own else states[0], rendered("studio", states=states, own=own, stopped=stopped))


@command("studio up")
def studio_up(
    ws: "Workspace",
    port: Annotated[int | None, option("The port on 127.0.0.1.", shown="a free one", min=1, max=65535)] = None,
    per_assessor: Annotated[
        bool, flag("--per-assessor", 'A server for each person, as isolation = "server" in annot.toml has it.')
    ] = False,
) -> Output:
    """Start a local Label Studio, installed into an environment of its own the first time, and print its address.

    Where annot.toml has isolation = "server", it is one for each person. A server takes up to 0.8 GB of memory.
    """
    from annot.steps import studio as step

    step.up(ws, port=port, per_assessor=per_assessor, tell=say)
    return _told(ws)


@command("studio down")
def studio_down(ws: "Workspace") -> Output:
    """Stop the local Label Studio, or that of each person; the data stay."""
    from annot.steps import studio as step

    running = any(state.running for state in step.status(ws))
    step.down(ws)
    return _told(ws, stopped=running)


@command("studio status")
def studio_status(ws: "Workspace") -> Output:
    """Print whether the local Label Studio runs, and where; or that of each person."""
    return _told(ws)


@command("doctor", needs_study=False, server=True)
def doctor(ws: "Workspace | None") -> Output:
    """Print what is unsafe or in the way, on this machine, in this study and on its server, and how to mend it.

    Looked at: the server's release and known advisories, sign-up without invitation, https, clocks; who can read the
    database; the disk; Python. Exit code 1 where something is found.
    """
    from annot.steps import doctor as step

    examined = step.examine(ws)
    return Output(
        examined,
        rendered("doctor", examined=examined),
        examined.notes,
        finding=needs_a_person(examined.findings, "{} thing(s) to mend"),
    )


@command("demo")
def demo(
    folder: Annotated[Path, argument("The folder of the demonstration; made if it is not there.")] = Path(
        "demo-workspace"
    ),
    fresh: Annotated[bool, flag("--fresh", "Draw from rankings trained just now instead of the frozen ones.")] = False,
    corpus_only: Annotated[
        Path | None, option("Write the papers to this file, to try things on, and do nothing else.", metavar="FILE")
    ] = None,
) -> Output:
    """Make a whole study of a packaged corpus of fictional papers, judged by simulated assessors, up to its report."""
    if corpus_only is not None:
        from annot.demo.packaged import write_corpus

        papers = write_corpus(corpus_only)
        return Output({"file": str(corpus_only), "papers": papers}, f"{corpus_only}: {papers} fictional papers")

    from annot.demo import whole_way as step

    done = step.go(folder, fresh=fresh, tell=say, watch=progress)
    return Output(done, step.describe(done))
