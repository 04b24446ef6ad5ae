"""Pool: rank the corpus for each query paper and draw what is to be judged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command
from annot.cli.options import (
    ClusterOption,
    DryRunOption,
    GrowOption,
    argument,
    file_names,
    flag,
    option,
    recorded,
)
from annot.cli.output import Answer, progress, table, told

if TYPE_CHECKING:
    from annot.pools.pool_versions import Grown
    from annot.study.workspace import Workspace


@command("pool", csv=True)
def pool_build(
    ws: "Workspace",
    mode: Annotated[str | None, recorded("round-robin, blocks or depth (the best of each, as TREC).")] = None,
    per_method: Annotated[
        int | None, recorded("New documents each method draws; with depth, the depth of the pool.", min=1)
    ] = None,
    ranking_depth: Annotated[
        int | None, recorded("Documents kept of each ranking; not the depth of the pool.", min=1)
    ] = None,
    method: Annotated[
        list[str] | None,
        recorded("Method that draws, our own or one of `pool import-run`; may be repeated.", callback=file_names),
    ] = None,
    without: Annotated[
        list[str] | None, recorded("Method to leave out; recorded with the pool; may be repeated.", callback=file_names)
    ] = None,
    seed: Annotated[int | None, recorded("Seed of the method order.", min=0)] = None,
    query: Annotated[
        list[str] | None, option("Draw the pools of these queries only; may be repeated.", shown="all")
    ] = None,
    redraw: Annotated[
        bool, flag("--redraw", "Draw as annot.toml says, not as the pools on record were drawn.")
    ] = False,
    frozen: Annotated[bool, flag("--frozen", "Draw from the rankings already in pools/rankings/.")] = False,
    cluster: ClusterOption = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Write the pools: rank the corpus by every method and draw a pool for each query paper; prints their sizes.

    Pools that stand are drawn again as they were, whatever annot.toml says by now. Pairs that were sent or judged never
    leave, and after a push none is added without --grow.
    """
    from annot.steps import pool as step

    with progress("ranking") as advance:
        built = step.build(
            ws.replaced("machine", cluster=cluster),
            asked={
                "mode": mode,
                "per_method": per_method,
                "ranking_depth": ranking_depth,
                "methods": tuple(method) if method else None,
                "without": tuple(without) if without else None,
                "seed": seed,
            },
            only=tuple(query or ()),
            redraw=redraw,
            frozen=frozen,
            grow=grow,
            dry_run=dry_run,
            advance=advance,
        )
    return Answer(built, table("pool.built", built.pools), built.notes)


@command("pool import-run")
def pool_import_run(
    ws: "Workspace",
    file: Annotated[Path, argument("A TREC run; its topics are query papers or queries.")],
    method: Annotated[str, option("The name of the method.")],
    meta: Annotated[
        Path | None, option("Its metadata, YAML or JSON, with ir_metadata's fields.", shown="the file's head")
    ] = None,
    foreign: Annotated[
        str | None, option("Topics that are no query, documents not in the corpus: drop.", shown="refused")
    ] = None,
    duplicates: Annotated[str | None, option("Documents that are there twice: best.", shown="refused")] = None,
    distances: Annotated[bool, flag("--distances", "Scores are distances: smaller is better.")] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import a run of another engine as a pooling method; `annot pool --method NAME` or pool.methods lets it draw.

    All facets of a paper share its pool: of several topics of one paper, each document's best rank counts.
    """
    from annot.base.templating import counted
    from annot.measuring.engine_runs import take_in

    imported = take_in(
        ws,
        file,
        method=method,
        meta=meta,
        foreign=foreign,
        duplicates=duplicates,
        distances=distances,
        dry_run=dry_run,
    ).told
    return Answer(imported, told("ranking-imported", imported=imported, counted=counted))


@command("pool add", csv=True)
def pool_add(
    ws: "Workspace",
    query: Annotated[str, argument("A query id, or the id of a query paper.")],
    documents: Annotated[list[str], argument("Papers of the corpus.", metavar="DOC...")],
    reason: Annotated[str, option("Why: how they were found.")],
    by: Annotated[str | None, option("Who added them.", shown="your account here")] = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Add candidates that were found by hand to the pool of a query paper; their origin is `manual` everywhere.

    After a push none is added without --grow.
    """
    from annot.steps import pool_add as step

    with progress("comparing papers") as advance:
        added = step.add(ws, query, tuple(documents), reason=reason, by=by, grow=grow, dry_run=dry_run, advance=advance)
    return Answer(added, _added(added), added.notes)


@command("pool topup", csv=True)
def pool_topup(
    ws: "Workspace",
    method: Annotated[str, option("The method: our own, or one of `pool import-run`.", callback=file_names)],
    file: Annotated[Path | None, argument("Its run, to bring it in first.", shown="brought in already")] = None,
    depth: Annotated[int | None, option("How many of its best.", shown="as each method drew", min=1)] = None,
    query: Annotated[list[str] | None, option("Add to the pools of these queries only; may be repeated.")] = None,
    reason: Annotated[str | None, option("Why.", shown=False)] = None,
    by: Annotated[str | None, option("Who added them.", shown="your account here")] = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Add what the pools lack of a new system's best papers, as a new version; a push sends these alone.

    Once they are judged, `annot evaluate` shows the old scores beside the new ones.
    """
    from annot.steps import pool_topup as step

    with progress("ranking") as advance:
        grown = step.top_up(
            ws,
            method=method,
            file=file,
            depth=depth,
            only=tuple(query or ()),
            reason=reason,
            by=by,
            grow=grow,
            dry_run=dry_run,
            advance=advance,
        )
    return Answer(grown, _added(grown), grown.notes)


def _added(grown: "Grown") -> str:
    """The pools that something was added to; all of them where nothing was."""
    return table("pool.added", [pool for pool in grown.pools if pool.added] or grown.pools)


@command("pool show", csv=True)
def pool_show(ws: "Workspace", query: Annotated[str, argument("A query id, or the id of a query paper.")]) -> Answer:
    """Print the pool of one query: which method drew each document, at which rank, and which others ranked it."""
    from annot.steps import pool as step

    shown = step.show(ws, query)
    return Answer(shown.pool, step.describe(shown))


@command("pool stats")
def pool_stats(ws: "Workspace") -> Answer:
    """Print the pools in figures: sizes, what each method drew alone, how far methods overlap, hubs."""
    from annot.steps import pool_facts as step

    with progress("comparing papers") as advance:
        facts = step.stats(ws, advance=advance)
    return Answer(facts, step.describe_stats(facts))


@command("pool compare", needs_study=False)
def pool_compare(
    ws: "Workspace | None",
    first: Annotated[Path, argument("A study's folder.")],
    second: Annotated[Path, argument("Another one.")],
) -> Answer:
    """Print what the pools of two studies share, query paper by query paper."""
    from annot.steps import pool_facts as step

    found = step.compare(first, second)
    return Answer(found, table("pool.compared", found))
