"""Prepare: vectors of papers and of words, and the index of what the ranking methods need."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.errors import InputError
from annot.cli.commands import command, group
from annot.cli.options import ClusterOption, DryRunOption, argument, flag, option, refuse_beside
from annot.cli.output import Output, progress, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("vectors", help="Add vectors of papers and of words, made elsewhere or by an encoder.")


@command("vectors add", free_with="encoder")
def vectors_add(
    ws: "Workspace",
    name: Annotated[
        str | None,
        argument("The name of the set; it is a pooling method and a system at once.", metavar="NAME", shown=False),
    ] = None,
    files: Annotated[list[Path] | None, argument("Files of one format.", metavar="FILES", shown=False)] = None,
    words: Annotated[
        Path | None,
        option(
            "Word vectors, used instead of training some: word2vec text or binary, fastText .vec or .bin; also .gz."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        option(
            "Make the vectors with this encoder: specter, specter2 or scincl, a folder of weights, or a model in the "
            "hub's cache, of sentence-transformers or transformers.",
            metavar="MODEL",
        ),
    ] = None,
    format: Annotated[
        str | None, option("semantic-scholar (JSON Lines), npy, parquet or safetensors.", shown="by file name")
    ] = None,
    ids: Annotated[Path | None, option("Of npy and safetensors: the id of each row, one a line.")] = None,
    id_column: Annotated[str | None, option("Of Parquet: the column of ids.", shown="found by name")] = None,
    vector_column: Annotated[
        str | None, option("Of Parquet: the column of vectors; of safetensors: the tensor.", shown="found")
    ] = None,
    space: Annotated[
        str | None, option("The space they are in, such as allenai/specter2.", shown="as the files say, else NAME")
    ] = None,
    model: Annotated[str | None, option("What made the vectors in the files.", shown="the space")] = None,
    metric: Annotated[
        str | None, option("How they are compared: l2 or cosine.", shown="l2, or as the encoder says")
    ] = None,
    float16: Annotated[
        bool, flag("--float16", "Keep half precision, half the disk; an encoder computes in it on a GPU.")
    ] = False,
    device: Annotated[
        str | None, option("Of an encoder: cpu, cuda, cuda:1, ...", shown="a GPU where there is one")
    ] = None,
    batch: Annotated[
        int | None, option("Of an encoder: papers read at once; more suits a GPU.", min=1, shown="32")
    ] = None,
    cluster: ClusterOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Add vectors of the corpus's papers from files or by an encoder, or word vectors; prints what did not fit.

    Vectors of two spaces never mix: Semantic Scholar's SPECTER v1 and v2 are two, and neither is allenai/specter. An
    encoder encodes the papers that it has not encoded before, and goes on after it was killed. Word vectors are used
    until corpus/word-vectors is removed.
    """
    from annot.publishing.report import commands
    from annot.ranking.given_vectors import Form
    from annot.steps import vectors as step

    of_files = {"format": format, "ids": ids, "id_column": id_column, "vector_column": vector_column, "space": space}
    of_encoder = {"device": device, "batch": batch, "cluster": cluster}
    if words is not None:
        beside = {"NAME": name, "encoder": encoder, "model": model, "metric": metric, "float16": float16}
        refuse_beside("vectors add --words", **beside, **of_files, **of_encoder)
        with progress("indexing") as advance:
            read = step.add_words(ws, words, dry_run=dry_run, advance=advance)
        return Output(read, table(commands.counts("imported", "count"), step.word_counts(read)), step.word_notes(read))
    if name is None or bool(files) == (encoder is not None):
        raise InputError(
            "expected NAME FILES, NAME --encoder MODEL, or --words FILE", hint="`annot vectors add --help`"
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
        return Output(encoded, step.describe(encoded, dry_run=dry_run))
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
    return Output(imported, table(commands.counts("imported", "count"), step.counts(imported)), imported.notes)


@command("vectors list")
def vectors_list(ws: "Workspace") -> Output:
    """Print the sets of paper vectors of the study: space, metric, and how many papers have one."""
    from annot.steps import vectors as step

    sets = step.list_sets(ws)
    return Output(sets, table(step.SETS, sets) or "no vectors; `annot vectors add` adds them")


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
) -> Output:
    """Make what the methods of annot.toml need: tokens, counts, word vectors, averages; a killed build goes on.

    `annot pool` and `annot run` make what is missing by themselves. Papers that were added are indexed alone.
    """
    from annot.steps import index as step

    if listed:
        refuse_beside("index --list", memory=memory, cluster=cluster, repair=repair, clean=clean)
        found = step.listed(ws)
        return Output(found, step.describe_parts(found))
    if clean:
        refuse_beside("index --clean", memory=memory, cluster=cluster, repair=repair)
        removed = step.clean(ws, dry_run=dry_run)
        return Output(removed, step.describe_removed(removed, dry_run=dry_run))
    with progress("indexing") as advance:
        here = ws.replaced("machine", cluster=cluster)
        built = step.build(here, memory=memory or "4G", repair=repair, dry_run=dry_run, advance=advance)
    return Output(built, step.describe(built))
