"""Prepare: paper vectors, word vectors, and the index that ranking methods need."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.errors import InputError
from annot.base.names import counted
from annot.cli.commands import command, group
from annot.cli.options import ClusterOption, DryRunOption, argument, flag, option, refuse_beside
from annot.cli.output import Output, listing, progress, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

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
    metric: Annotated[str | None, option("How to compare vectors: l2 or cosine.", shown="the encoder's, or l2")] = None,
    float16: Annotated[
        bool,
        flag(
            "--float16", "Store in half precision, which halves the disk space. On a GPU, encoders also compute in it."
        ),
    ] = False,
    device: Annotated[str | None, option("--encoder: cpu, cuda, cuda:1, ...", shown="a GPU if there is one")] = None,
    batch: Annotated[int | None, option("--encoder: papers read at once, more on a GPU.", min=1, shown="32")] = None,
    cluster: ClusterOption = None,
    dry_run: DryRunOption = False,
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
        beside = {"NAME": name, "encoder": encoder, "model": model, "metric": metric, "float16": float16}
        refuse_beside("vectors add --words", **beside, **of_files, **of_encoder)
        with progress("indexing") as advance:
            read = step.add_words(ws, words, dry_run=dry_run, advance=advance)
        return Output(read, rendered("word-vectors", imported=read), step.word_notes(read))
    if name is None or bool(files) == (encoder is not None):
        raise InputError(
            "expected NAME FILES, NAME --encoder MODEL, or --words FILE",
            hint="`annot vectors add --help` explains them",
        )
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
        made = f"{encoded.encoded} {'to encode' if dry_run else 'newly encoded'}"
        topics = f" and {counted(encoded.topics, 'topic')}" if encoded.topics else ""
        return Output(encoded, f"{encoded.path}: {counted(encoded.papers, 'paper')}{topics}, {made}")
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
    cluster: ClusterOption = None,
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
    dry_run: DryRunOption = False,
) -> Output:
    """Build the index for the methods in annot.toml: tokens, counts, word vectors and averages.

    This is optional: `annot pool` and `annot run` build what is missing. Only new papers are indexed. An interrupted
    build continues when you run the command again.
    """
    from annot.steps import index as step

    if listed:
        refuse_beside("index --list", memory=memory, cluster=cluster, repair=repair, clean=clean)
        return listing(step.PARTS, step.listed(ws), empty="the index is empty; make it with `annot index`")
    if clean:
        refuse_beside("index --clean", memory=memory, cluster=cluster, repair=repair)
        removed = step.clean(ws, dry_run=dry_run)
        verb, size = "would free" if dry_run else "freed", step.in_words(sum(one.bytes for one in removed))
        freed = f"{table(step.PARTS, removed)}\n{verb} {size}"
        return Output(removed, freed if removed else "nothing to remove: all of the index is used")
    with progress("indexing") as advance:
        here = ws.replaced("machine", cluster=cluster)
        built = step.build(here, memory=memory or "4G", repair=repair, dry_run=dry_run, advance=advance)
    return Output(built, rendered("indexed", built=built))
