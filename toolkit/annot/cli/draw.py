"""Vectors and the index, and the pools that are drawn with them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annot.base.errors import InputError
from annot.base.names import counted
from annot.cli import options
from annot.cli.commands import command, group
from annot.cli.options import argument, file_names, flag, option, recorded, refuse_beside
from annot.cli.output import Output, listing, progress, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# Prepare: paper vectors, word vectors, and the index that ranking methods need.
# ----------------------------------------------------------------------------------------------------------------------


group("vectors", help="Add paper vectors and word vectors, from files or with an encoder.")


@command("vectors add", free_with="encoder")
def vectors_add(
    ws: "Workspace",
    name: Annotated[
        str | None,
        argument(
            "Name of the set. It becomes a pooling method and a system of this name.", metavar="NAME", shown=False
        ),
    ] = None,
    files: Annotated[list[Path] | None, argument("Files, all in one format.", metavar="FILES", shown=False)] = None,
    words: Annotated[
        Path | None,
        option(
            "Use these word vectors instead of training some: word2vec text or binary, fastText .vec or .bin, or .gz."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        option(
            "Make the vectors with this encoder: specter, specter2 or scincl, a folder of weights, or a model of "
            "sentence-transformers or transformers in the cache of the Hugging Face hub.",
            metavar="MODEL",
        ),
    ] = None,
    format: Annotated[
        str | None, option("Format: semantic-scholar (JSON Lines), npy or parquet.", shown="by file name")
    ] = None,
    ids: Annotated[Path | None, option("npy: file with the id of each row, one per line.")] = None,
    id_column: Annotated[str | None, option("parquet: column of the ids.", shown="by name")] = None,
    vector_column: Annotated[str | None, option("parquet: column of vectors.", shown="detected")] = None,
    space: Annotated[
        str | None, option("Vector space, such as allenai/specter2.", shown="in the files, or NAME")
    ] = None,
    model: Annotated[str | None, option("Model that made the vectors in the files.", shown="the space")] = None,
    metric: Annotated[
        Literal["l2", "cosine"] | None, option("How to compare vectors: l2 or cosine.", shown="the encoder's, or l2")
    ] = None,
    float16: Annotated[
        bool,
        flag(
            "--float16", "Store in half precision, which halves the disk space. On a GPU, encoders also compute in it."
        ),
    ] = False,
    device: Annotated[str | None, option("--encoder: cpu, cuda, cuda:1, ...", shown="a GPU if there is one")] = None,
    batch: Annotated[int | None, option("--encoder: papers read at once, more on a GPU.", min=1, shown="32")] = None,
    cluster: options.ClusterOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Add paper vectors, from files or with an encoder, or word vectors (--words). Lists entries that do not fit.

    Vectors of different spaces are never mixed. SPECTER v1 and v2 from Semantic Scholar are two spaces, and
    allenai/specter is a third. An encoder encodes only new papers, and continues if it was interrupted. Word vectors
    are used until you remove corpus/word-vectors.
    """
    from annot.ranking.given_vectors import Form
    from annot.steps import vectors as step

    of_files = {"format": format, "ids": ids, "id_column": id_column, "vector_column": vector_column, "space": space}
    of_encoder = {"device": device, "batch": batch, "cluster": cluster}
    if words is not None:
        of_papers = {"NAME": name, "encoder": encoder, "model": model, "metric": metric, "float16": float16}
        refuse_beside("vectors add --words", **of_papers, **of_files, **of_encoder)
        with progress("indexing") as advance:
            read = step.add_words(ws, words, dry_run=dry_run, advance=advance)
        return Output(read, rendered("word-vectors", imported=read), step.word_notes(read))
    if name is None or bool(files) == (encoder is not None):
        raise InputError("expected NAME FILES, NAME --encoder MODEL, or --words FILE")
    if encoder is not None:
        refuse_beside("vectors add --encoder", **of_files, model=model)
        with progress("encoding papers", forecast=True) as advance:
            encoded = step.encode(
                ws.replaced("machine", cluster=cluster),
                name,
                model=encoder,
                metric=metric,
                half=float16,
                device=device,
                batch=batch or 32,
                dry_run=dry_run,
                advance=advance,
            )
        encoded_papers = f"{encoded.encoded} {'to encode' if dry_run else 'newly encoded'}"
        topics = f" and {counted(encoded.topics, 'topic')}" if encoded.topics else ""
        return Output(encoded, f"{encoded.path}: {counted(encoded.papers, 'paper')}{topics}, {encoded_papers}")
    refuse_beside("vectors add FILES", **of_encoder)
    with progress("reading vectors") as advance:
        imported = step.add_files(
            ws,
            name,
            files or (),
            form=Form(format, ids, id_column, vector_column),
            space=space,
            model=model,
            metric=metric or "l2",
            half=float16,
            dry_run=dry_run,
            advance=advance,
        )
    return Output(imported, rendered("vectors", imported=imported), imported.notes)


@command("vectors list")
def vectors_list(ws: "Workspace") -> Output:
    """List the sets of paper vectors, with their space, metric and number of papers."""
    from annot.steps import vectors as step

    return listing(step.SETS, step.list_sets(ws), empty="no vectors yet; add some with `annot vectors add`")


@command("index", free_with="listed")
def index_build(
    ws: "Workspace",
    memory: Annotated[
        str | None,
        option(
            "Memory limit for all processes together. Work that needs more is refused before it starts.", shown="4G"
        ),
    ] = None,
    cluster: options.ClusterOption = None,
    repair: Annotated[bool, flag("--repair", "First check files against their hashes; rebuild damaged parts.")] = False,
    listed: Annotated[
        bool, flag("--list", "Instead, list the parts of the index, with size, date and whether they are in use.")
    ] = False,
    clean: Annotated[
        bool,
        flag(
            "--clean",
            "Instead, remove parts that the current corpus and settings do not use, and remains of interrupted builds.",
        ),
    ] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Build the index for the methods in annot.toml: tokens, counts, word vectors and averages.

    This is optional: `annot pool` and `annot run` build what is missing. Only new papers are indexed. An interrupted
    build continues when you run the command again.
    """
    from annot.steps import vectors as step

    if listed:
        refuse_beside("index --list", memory=memory, cluster=cluster, repair=repair, clean=clean)
        return listing(step.PARTS, step.listed(ws), empty="the index is empty; make it with `annot index`")
    if clean:
        refuse_beside("index --clean", memory=memory, cluster=cluster, repair=repair)
        removed = step.clean(ws, dry_run=dry_run)
        verb, size = "would free" if dry_run else "freed", step.in_words(sum(entry.bytes for entry in removed))
        freed = f"{table(step.PARTS, removed)}\n{verb} {size}"
        return Output(removed, freed if removed else "nothing to remove: all of the index is used")
    with progress("indexing") as advance:
        with_cluster = ws.replaced("machine", cluster=cluster)
        built = step.build(with_cluster, memory=memory or "4G", repair=repair, dry_run=dry_run, advance=advance)
    return Output(built, rendered("indexed", built=built))


# ----------------------------------------------------------------------------------------------------------------------
# Pool: rank the corpus for each topic and draw the documents to judge.
# ----------------------------------------------------------------------------------------------------------------------


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
    cluster: options.ClusterOption = None,
    grow: options.GrowOption = False,
    dry_run: options.DryRunOption = False,
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
    return listing(step.columns(built.pools, ws.vocabulary), built.pools, data=built, notes=built.notes)


@command("pool import")
def pool_import(
    ws: "Workspace",
    file: Annotated[Path, argument("A TREC run of the study's topics or queries.")],
    method: Annotated[str, option("Name for the method.")],
    meta: options.MetaOption = None,
    foreign: Annotated[str | None, option("drop: leave out unknown topics and documents.", shown="refuse it")] = None,
    duplicates: options.DuplicatesOption = None,
    distances: options.DistancesOption = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Import a run of another search engine as a pooling method.

    To draw with it, use `annot pool --method NAME` or add it to `methods` in annot.toml. All facets of a paper share
    one pool. If a paper has several topics in the run, each document gets its best rank.
    """
    from annot.measuring.engine_runs import import_engine_run

    imported = import_engine_run(
        ws, file, method=method, meta=meta, foreign=foreign, duplicates=duplicates, distances=distances, dry_run=dry_run
    )[1]
    return Output(imported, rendered("ranking-imported", words=ws.vocabulary, imported=imported))


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
    grow: options.GrowOption = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Add candidates to a pool: papers found by hand, or the top papers of a new system (--method).

    This makes a new version of the pools, and the next push sends only the added pairs. After a push, pairs are added
    only with --grow. Papers found by hand are marked `manual` everywhere. Once the papers of a method are judged,
    `annot evaluate` shows its old scores next to the new ones.
    """
    from annot.publishing.report import commands
    from annot.steps import pool as step

    if method is None:
        refuse_beside("pool add QUERY DOC...", run=run, depth=depth, query=only)
        if query is None or not documents or reason is None:
            raise InputError("expected QUERY DOC... --reason WHY, or --method NAME")
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
    columns = commands.added(ws.vocabulary)
    text = table(columns, [pool for pool in grown.pools if pool.added] or grown.pools)
    return Output(grown, text, grown.notes, tables=[columns.of(grown.pools)])


@command("pool show", csv=True)
def pool_show(
    ws: "Workspace",
    query: Annotated[str | None, argument("Id of a query or a topic.", shown="figures for all pools")] = None,
) -> Output:
    """Show the pool of a query: which method drew each document, and which others ranked it.

    Without a query, shows figures for all pools: sizes, documents that only one method drew, and documents that are in
    many pools.
    """
    from annot.pools.pooling import shares
    from annot.publishing.report import commands
    from annot.steps import pool as step

    if query is not None:
        pool, titles = step.show(ws, query)
        documents = commands.documents(pool, {}).of(pool.entries)
        return Output(pool, rendered("pool", pool=pool, shares=shares(pool), titles=titles), tables=[documents])
    with progress("comparing papers") as advance:
        facts = step.stats(ws, advance=advance)
    return Output(facts, rendered("pool-stats", facts=facts), tables=[commands.METHODS.of(facts.methods)])
