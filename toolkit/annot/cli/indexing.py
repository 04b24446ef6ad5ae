"""Index: what the ranking methods need of the corpus, made once, listed, checked, cleared away."""

from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command, group
from annot.cli.options import ClusterOption, DryRunOption, flag, option
from annot.cli.output import Answer, progress

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("index", help="What the ranking methods need of the corpus: made once, used by every command.")


@command("index build")
def index_build(
    ws: "Workspace",
    memory: Annotated[str, option("What the processes at work may take together; more is refused beforehand.")] = "4G",
    cluster: ClusterOption = None,
    repair: Annotated[
        bool, flag("--repair", "Hold what stands against its hashes first, and make damaged parts again.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Make tokens, counts, word vectors and averages for the methods of annot.toml; a killed build goes on.

    `annot pool` and `annot run` make what is missing by themselves. Papers that were added are indexed alone.
    """
    from annot.steps import index as step

    with progress("indexing") as advance:
        here = ws.replaced("machine", cluster=cluster)
        built = step.build(here, memory=memory, repair=repair, dry_run=dry_run, advance=advance)
    return Answer(built, step.describe(built))


@command("index list")
def index_list(ws: "Workspace") -> Answer:
    """Print the parts of the index: how large, when made, and whether anything uses them."""
    from annot.steps import index as step

    found = step.listed(ws)
    return Answer(found, step.describe_parts(found))


@command("index gc")
def index_gc(ws: "Workspace", dry_run: DryRunOption = False) -> Answer:
    """Remove what neither the corpus nor the settings of today use, and what killed builds left."""
    from annot.steps import index as step

    removed = step.gc(ws, dry_run=dry_run)
    return Answer(removed, step.describe_removed(removed, dry_run=dry_run))
