"""Pool: vectors of papers and of words, made elsewhere or by an encoder here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command, group
from annot.cli.options import ClusterOption, DryRunOption, argument, flag, option
from annot.cli.output import Answer, progress, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("vectors", help="Import vectors of papers and of words that were made elsewhere.")

NameArgument = Annotated[
    str, argument("The name of the set; it is a pooling method and a system at once.", metavar="NAME")
]
HalfOption = Annotated[bool, flag("--float16", "Keep half precision: half the disk.")]


@command("vectors import")
def vectors_import(
    ws: "Workspace",
    name: NameArgument,
    files: Annotated[list[Path], argument("Files of one format.")],
    form: Annotated[
        str | None,
        option("semantic-scholar (JSON Lines), npy, parquet or safetensors.", "--format", shown="by file name"),
    ] = None,
    ids: Annotated[Path | None, option("Of npy and safetensors: the id of each row, one a line.", shown=False)] = None,
    id_column: Annotated[str | None, option("Of Parquet: the column of ids.", shown="found by name")] = None,
    vector_column: Annotated[
        str | None, option("Of Parquet: the column of vectors; of safetensors: the tensor.", shown="found")
    ] = None,
    space: Annotated[
        str | None, option("The space they lie in, such as allenai/specter2.", shown="as the files say, else NAME")
    ] = None,
    model: Annotated[str | None, option("What made them.", shown="the space")] = None,
    metric: Annotated[str, option("How they are compared: l2 or cosine.")] = "l2",
    half: HalfOption = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import vectors of the corpus's papers, and print what was missing, foreign, there twice or broken.

    Vectors of two spaces never mix: Semantic Scholar's SPECTER v1 and v2 are two, and neither is allenai/specter.
    """
    from annot.steps import vectors as step

    with progress("reading vectors") as advance:
        imported = step.bring_in(
            ws,
            name,
            files,
            form=step.Form(form, ids, id_column, vector_column),
            space=space,
            model=model,
            metric=metric,
            half=half,
            dry_run=dry_run,
            advance=advance,
        )
    return Answer(imported, table("import.counts", step.counts(imported)), imported.notes)


@command("vectors import-words")
def vectors_import_words(
    ws: "Workspace",
    file: Annotated[Path, argument("word2vec text or binary, fastText .vec or .bin; also as .gz.")],
    dry_run: DryRunOption = False,
) -> Answer:
    """Import word vectors; they are used instead of training some, until corpus/word-vectors is removed.

    Prints how much of the corpus's text they cover, and the most frequent words that have none.
    """
    from annot.steps import vectors_words as step

    with progress("indexing") as advance:
        imported = step.bring_in(ws, file, dry_run=dry_run, advance=advance)
    return Answer(imported, table("import.counts", step.counts(imported)), step.notes(imported))


@command("vectors list")
def vectors_list(ws: "Workspace") -> Answer:
    """Print the sets of paper vectors of the study: space, metric, and how many papers have one."""
    from annot.steps import vectors_list as step

    sets = step.list_sets(ws)
    return Answer(
        sets, table("files.vectors", sets) or "no vectors; `annot encode` and `annot vectors import` make them"
    )


@command("encode", alone=False)
def encode(
    ws: "Workspace",
    name: NameArgument,
    model: Annotated[
        str | None,
        option(
            "A folder of weights, or a model in the hub's cache; sentence-transformers or transformers.",
            shown="the system NAME of `annot run list`",
        ),
    ] = None,
    metric: Annotated[str | None, option("How the vectors are compared: l2 or cosine.", shown="the model's")] = None,
    half: Annotated[bool, flag("--float16", "Keep half precision, and compute in it on a GPU.")] = False,
    device: Annotated[str | None, option("cpu, cuda, cuda:1, ...", shown="a GPU where there is one")] = None,
    batch: Annotated[int, option("Papers read at once; more suits a GPU.", min=1)] = 32,
    cluster: ClusterOption = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Make vectors of all papers with an encoder, as a pooling method and a system; a killed run goes on.

    Papers that were encoded before are not encoded again. specter, specter2 and scincl are known by name.
    """
    from annot.steps import encode as step

    with progress("encoding papers", forecast=True) as advance:
        encoded = step.encode(
            ws.replaced("machine", cluster=cluster),
            name,
            model=model,
            metric=metric,
            half=half,
            device=device,
            batch=batch,
            dry_run=dry_run,
            advance=advance,
        )
    return Answer(encoded, step.describe(encoded, dry_run=dry_run))
