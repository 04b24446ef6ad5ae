"""Pool: rank the corpus for each query paper and draw what is to be judged."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.errors import InputError
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
    refuse_beside,
)
from annot.cli.output import Output, progress, rendered, table

if TYPE_CHECKING:
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
        recorded("Method that draws, our own or one of `pool import`; may be repeated.", callback=file_names),
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
) -> Output:
    """Write the pools: rank the corpus by every method and draw a pool for each query paper; prints their sizes.

    Pools that stand are drawn again as they were, whatever annot.toml says by now. Pairs that were sent or judged never
    leave, and after a push none is added without --grow.
    """
    from annot.pools.pool_design import DesignOverrides
    from annot.steps import pool as step

    with progress("ranking") as advance:
        built = step.build(
            ws.replaced("machine", cluster=cluster),
            overrides=DesignOverrides(
                mode=mode,
                per_method=per_method,
                ranking_depth=ranking_depth,
                methods=tuple(method) if method else None,
                without=tuple(without) if without else None,
                seed=seed,
            ),
            only=tuple(query or ()),
            redraw=redraw,
            frozen=frozen,
            grow=grow,
            dry_run=dry_run,
            advance=advance,
        )
    return Output(built, table(step.BUILT, built.pools), built.notes)


@command("pool import")
def pool_import(
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
) -> Output:
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
    return Output(imported, rendered("ranking-imported", imported=imported, counted=counted))


@command("pool add", csv=True)
def pool_add(
    ws: "Workspace",
    query: Annotated[
        str | None, argument("A query id, or the id of a query paper.", metavar="QUERY", shown=False)
    ] = None,
    documents: Annotated[list[str] | None, argument("Papers of the corpus.", metavar="DOC...", shown=False)] = None,
    method: Annotated[
        str | None,
        option("Add the best papers of this method in their place: our own, or imported.", callback=file_names),
    ] = None,
    run: Annotated[
        Path | None, option("The method's run, to import it first.", metavar="FILE", shown="imported already")
    ] = None,
    depth: Annotated[int | None, option("How many of its best.", shown="as each method drew", min=1)] = None,
    only: Annotated[
        list[str] | None, option("Add to the pools of these queries only; may be repeated.", "--query", shown="all")
    ] = None,
    reason: Annotated[
        str | None, option("Why: how they were found. Papers found by hand need one.", shown=False)
    ] = None,
    by: Annotated[str | None, option("Who added them.", shown="your account here")] = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Add candidates that were found by hand to a pool, or with --method what the pools lack of a new system's best.

    They are a new version of the pools, and a push sends these alone; after one, none is added without --grow. The
    origin of what was found by hand is `manual` everywhere. Once a method's papers are judged, `annot evaluate` shows
    the old scores beside the new ones.
    """
    from annot.publishing.report import commands
    from annot.steps import pool_growth as step

    if method is None:
        refuse_beside("pool add QUERY DOC...", run=run, depth=depth, query=only)
        if query is None or not documents or reason is None:
            raise InputError("expected QUERY DOC... --reason WHY, or --method NAME", hint="`annot pool add --help`")
        with progress("comparing papers") as advance:
            grown = step.add(
                ws, query, tuple(documents), reason=reason, by=by, grow=grow, dry_run=dry_run, advance=advance
            )
    else:
        refuse_beside("pool add --method", QUERY=query, DOC=documents)
        with progress("ranking") as advance:
            grown = step.top_up(
                ws,
                method=method,
                file=run,
                depth=depth,
                only=tuple(only or ()),
                reason=reason,
                by=by,
                grow=grow,
                dry_run=dry_run,
                advance=advance,
            )
    # All pools where nothing was added.
    return Output(grown, table(commands.ADDED, [one for one in grown.pools if one.added] or grown.pools), grown.notes)


@command("pool show", csv=True)
def pool_show(
    ws: "Workspace",
    query: Annotated[
        str | None, argument("A query id, or the id of a query paper.", shown="all pools in figures")
    ] = None,
    against: Annotated[
        Path | None, option("A second study's folder: what its pools and these share, query paper by query paper.")
    ] = None,
) -> Output:
    """Print the pool of a query: which method drew each document, and which others ranked it; or all in figures.

    The figures are sizes, what each method drew alone, how far methods overlap, and hubs.
    """
    from annot.publishing.report import commands
    from annot.steps import pool as step

    if against is not None:
        refuse_beside("pool show --against", QUERY=query)
        differences = step.compare(ws, against)
        return Output(differences, table(commands.COMPARED_POOLS, differences), table="pool show --against")
    if query is not None:
        shown = step.show(ws, query)
        return Output(shown.pool, step.describe(shown))
    with progress("comparing papers") as advance:
        facts = step.stats(ws, advance=advance)
    return Output(facts, step.describe_stats(facts), table="pool show --all")
