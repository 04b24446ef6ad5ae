"""Pool: rank the corpus for each topic and draw the documents to judge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.errors import InputError
from annot.cli.commands import command
from annot.cli.options import (
    ClusterOption,
    DistancesOption,
    DryRunOption,
    DuplicatesOption,
    GrowOption,
    MetaOption,
    argument,
    file_names,
    flag,
    option,
    recorded,
    refuse_beside,
)
from annot.cli.output import Output, listing, progress, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("pool", csv=True)
def pool_build(
    ws: "Workspace",
    mode: Annotated[
        str | None, recorded("round-robin, blocks, or depth (the top of each ranking, as in TREC).")
    ] = None,
    per_method: Annotated[
        int | None, recorded("New documents that each method draws; with depth, the depth of the pool.", min=1)
    ] = None,
    ranking_depth: Annotated[int | None, recorded("Documents to keep of each ranking, not of the pool.", min=1)] = None,
    method: Annotated[
        list[str] | None,
        recorded("Pooling method to use, built in or from `annot pool import`; may be repeated.", callback=file_names),
    ] = None,
    without: Annotated[
        list[str] | None,
        recorded("Pooling method to leave out; the pool records it; may be repeated.", callback=file_names),
    ] = None,
    seed: Annotated[int | None, recorded("Random seed of the order of methods.", min=0)] = None,
    query: Annotated[
        list[str] | None, option("Draw only the pool of this query; may be repeated.", shown="all")
    ] = None,
    redraw: Annotated[
        bool, flag("--redraw", "Use the settings in annot.toml instead of those that earlier pools were drawn with.")
    ] = False,
    frozen: Annotated[bool, flag("--frozen", "Draw from the rankings already in pools/rankings/.")] = False,
    cluster: ClusterOption = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Rank the corpus with each method and draw a pool of candidates for each topic.

    Prints the sizes. Existing pools are drawn again with the settings that they were drawn with, even if annot.toml has
    changed. Pairs that were sent or judged never leave a pool. After a push, pairs are added only with --grow.
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
    return listing(step.columns(built.pools), built.pools, data=built, notes=built.notes)


@command("pool import")
def pool_import(
    ws: "Workspace",
    file: Annotated[Path, argument("A TREC run of the study's topics or queries.")],
    method: Annotated[str, option("Name for the method.")],
    meta: MetaOption = None,
    foreign: Annotated[str | None, option("drop: leave out unknown topics and documents.", shown="refuse it")] = None,
    duplicates: DuplicatesOption = None,
    distances: DistancesOption = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Import a run of another search engine as a pooling method.

    To draw with it, use `annot pool --method NAME` or add it to `methods` in annot.toml. All facets of a paper share
    one pool. If a paper has several topics in the run, each document gets its best rank.
    """
    from annot.measuring.engine_runs import take_in

    imported = take_in(
        ws, file, method=method, meta=meta, foreign=foreign, duplicates=duplicates, distances=distances, dry_run=dry_run
    )[1]
    return Output(imported, rendered("ranking-imported", imported=imported))


@command("pool add", csv=True)
def pool_add(
    ws: "Workspace",
    query: Annotated[str | None, argument("Id of a query or a topic.", metavar="QUERY", shown=False)] = None,
    documents: Annotated[list[str] | None, argument("Papers in the corpus.", metavar="DOC...", shown=False)] = None,
    method: Annotated[
        str | None, option("Add the top papers of this method instead, built in or imported.", callback=file_names)
    ] = None,
    run: Annotated[Path | None, option("First import this run for the method.", metavar="FILE", shown="none")] = None,
    depth: Annotated[int | None, option("How many of its top papers.", shown="as each method drew", min=1)] = None,
    only: Annotated[
        list[str] | None, option("Add only to this query's pool; may be repeated.", "--query", shown="all")
    ] = None,
    reason: Annotated[
        str | None,
        option("Why they are added, such as how they were found. Required for papers found by hand.", shown=False),
    ] = None,
    by: Annotated[str | None, option("Who adds them.", shown="your user name")] = None,
    grow: GrowOption = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Add candidates to a pool: papers found by hand, or the top papers of a new system (--method).

    This makes a new version of the pools, and the next push sends only the added pairs. After a push, pairs are added
    only with --grow. Papers found by hand are marked `manual` everywhere. Once the papers of a method are judged,
    `annot evaluate` shows its old scores next to the new ones.
    """
    from annot.publishing.report import commands
    from annot.steps import pool_growth as step

    if method is None:
        refuse_beside("pool add QUERY DOC...", run=run, depth=depth, query=only)
        if query is None or not documents or reason is None:
            raise InputError(
                "expected QUERY DOC... --reason WHY, or --method NAME", hint="`annot pool add --help` explains both"
            )
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
    # If nothing was added, all pools are listed.
    text = table(commands.ADDED, [one for one in grown.pools if one.added] or grown.pools)
    return Output(grown, text, grown.notes, tables=[commands.ADDED.of(grown.pools)])


@command("pool show", csv=True)
def pool_show(
    ws: "Workspace",
    query: Annotated[str | None, argument("Id of a query or a topic.", shown="figures for all pools")] = None,
) -> Output:
    """Show the pool of a query: which method drew each document, and which others ranked it.

    Without a query, shows figures for all pools: sizes, documents that only one method drew, and documents that are in
    many pools.
    """
    from annot.publishing.report import commands
    from annot.steps import pool as step

    if query is not None:
        shown = step.show(ws, query)
        documents = commands.documents(shown.pool, {}).of(shown.pool.entries)
        return Output(shown.pool, step.describe(shown), tables=[documents])
    with progress("comparing papers") as advance:
        facts = step.stats(ws, advance=advance)
    return Output(facts, rendered("pool-stats", facts=facts), tables=[commands.METHODS.of(facts.methods)])
