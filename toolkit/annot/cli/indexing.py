"""Index: what the ranking methods need of the corpus, made once, listed, checked, cleared away."""

from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command
from annot.cli.options import ClusterOption, DryRunOption, flag, option, refuse_beside
from annot.cli.output import Answer, progress

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("index", free_with="listed")
def index_build(
    ws: "Workspace",
    memory: Annotated[
        str | None, option("What the processes at work may take together; more is refused beforehand.", shown="4G")
    ] = None,
    cluster: ClusterOption = None,
    repair: Annotated[
        bool, flag("--repair", "First check the files against their hashes, and make damaged parts again.")
    ] = False,
    listed: Annotated[
        bool, flag("--list", "Print the parts: how large, when made, and whether anything uses them.")
    ] = False,
    clean: Annotated[
        bool,
        flag("--clean", "Remove what the corpus and the settings of today do not use, and what killed builds left."),
    ] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Make what the methods of annot.toml need: tokens, counts, word vectors, averages; a killed build goes on.

    `annot pool` and `annot run` make what is missing by themselves. Papers that were added are indexed alone.
    """
    from annot.steps import index as step

    if listed:
        refuse_beside("index --list", memory=memory, cluster=cluster, repair=repair, clean=clean)
        found = step.listed(ws)
        return Answer(found, step.describe_parts(found))
    if clean:
        refuse_beside("index --clean", memory=memory, cluster=cluster, repair=repair)
        removed = step.clean(ws, dry_run=dry_run)
        return Answer(removed, step.describe_removed(removed, dry_run=dry_run))
    with progress("indexing") as advance:
        here = ws.replaced("machine", cluster=cluster)
        built = step.build(here, memory=memory or "4G", repair=repair, dry_run=dry_run, advance=advance)
    return Answer(built, step.describe(built))
