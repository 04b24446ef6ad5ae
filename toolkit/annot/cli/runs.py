"""Measure: the runs of systems, our own and others', and encoders trained as the papers trained theirs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, argument, flag, option
from annot.cli.output import Output, progress, rendered, say, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("run", alone=True)
def run(
    ws: "Workspace",
    systems: Annotated[
        list[str] | None,
        argument("Names that `annot run list` shows.", shown="the four term baselines of CSFCube", metavar="SYSTEM"),
    ] = None,
    replace: Annotated[bool, flag("--replace", "Write over an imported run of the same name.")] = False,
) -> Output:
    """Write runs: the pools ranked by systems, the query's sentences against whole candidate abstracts."""
    from annot.steps import run as step

    with progress("ranking pools") as advance:
        made = step.make(ws, systems=tuple(systems or ()), replace=replace, advance=advance)
    notes = (
        f"{one.tag}: the optimal transport of {one.given_up} of {one.documents} documents was given up before it was "
        "exact; their scores are approximate"
        for one in made
        if one.given_up
    )
    return Output(made, table(step.RUNS, made), (*notes, *step.warnings(ws, made)))


@command("run list", needs_study=False)
def run_list(ws: "Workspace | None") -> Output:
    """Print every system: its family, its source, what it sees of query and candidate, and what it needs."""
    from annot.publishing.report import commands
    from annot.steps import run as step

    systems = step.every_system()
    return Output(systems, table(commands.SYSTEMS, systems))


@command("run matches")
def run_matches(
    ws: "Workspace",
    run: Annotated[str, argument("A run of a system that compares sentences.")],
    query: Annotated[str, argument("The query's id.")],
    document: Annotated[str, argument("The document's id.")],
) -> Output:
    """Print which sentences of a query and of a document a run matched, heaviest first."""
    from annot.steps import run as step

    matched = step.matches(ws, run, query_id=query, doc_id=document)
    return Output(matched, table(step.MATCHES, matched))


@command("run import")
def run_import(
    ws: "Workspace",
    files: Annotated[list[Path], argument("A TREC run, or ranked pools in CSFCube's JSON, one file a facet.")],
    tag: Annotated[str, option("The run's name in this study.")],
    meta: Annotated[
        Path | None, option("Its metadata, YAML or JSON, with ir_metadata's fields.", shown="the file's head")
    ] = None,
    facet: Annotated[str | None, option("Facet of ranked pools.", "--facet", "-f", shown="in the file's name")] = None,
    system: Annotated[str | None, option("The system that this is one of several runs of.", shown="the tag")] = None,
    seed: Annotated[int | None, option("The seed that distinguishes it from the others.")] = None,
    foreign: Annotated[
        str | None, option("Documents that are in no pool: drop, or keep as unjudged.", shown="refused")
    ] = None,
    duplicates: Annotated[str | None, option("Documents that are there twice: best.", shown="refused")] = None,
    missing: Annotated[str, option("Candidates that the run lacks: out, or last.")] = "out",
    distances: Annotated[bool, flag("--distances", "Scores are distances: smaller is better.")] = False,
    replace: Annotated[bool, flag("--replace", "Write over a run of this name that was made here.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Import a run that was made elsewhere; it is evaluated, reported and released like our own.

    What is missing, foreign, there twice or tied is counted, with examples.
    """
    from annot.ranking.submission import SubmissionRules
    from annot.steps import run as step

    imported = step.import_files(
        ws,
        files,
        tag=tag,
        meta=meta,
        facet=facet,
        system=system,
        seed=seed,
        rules=SubmissionRules(foreign, duplicates, missing),
        distances=distances,
        replace=replace,
        dry_run=dry_run,
    )
    return Output(imported, rendered("run-imported", imported=imported))


group("encoder", help="Train an encoder as its paper did: contexts, examples, training.")

SystemArgument = Annotated[
    str, argument("specter-id, specter-cocite, cosentbert, ictsentbert, or one of Aspire's: ts-aspire, ...")
]


def own(text: str, **limits: Any) -> Any:
    """An option whose default is that of the system's paper."""
    return option(text, shown="the paper's", **limits)


@command("encoder contexts", alone=False)
def encoder_contexts(
    ws: "Workspace",
    files: Annotated[list[Path], argument("Full texts in S2ORC's JSON Lines: body_text with cite_spans.")],
    out: Annotated[Path, option("The file of contexts.", "--out", "-o")],
    field: Annotated[
        list[str] | None, option("Field of study of the citing paper; may be repeated.", shown="all fields")
    ] = None,
    fewest_words: Annotated[int, option("Words of a context, at least.", min=1)] = 5,
    most_words: Annotated[int, option("Words of a context, at most.", min=1)] = 60,
    dry_run: DryRunOption = False,
) -> Output:
    """Write the co-citation contexts of full texts: which papers of the corpus are cited together, and in what words.

    What is left out is counted by reason.
    """
    from annot.ranking.systems.training.cocitations import Limits
    from annot.steps import encoder_examples as step

    limits = Limits(fewest_words, most_words, tuple(field or ()))
    with progress("reading full texts") as advance:
        written = step.write_contexts(ws, files, out=out, limits=limits, dry_run=dry_run, advance=advance)
    return Output(written, rendered("encoder-contexts", written=written))


@command("encoder examples", alone=False)
def encoder_examples(
    ws: "Workspace",
    system: SystemArgument,
    out: Annotated[Path, option("The folder of the examples.", "--out", "-o")],
    contexts: Annotated[
        Path | None, option("What `annot encoder contexts` wrote; for systems trained on co-citations.")
    ] = None,
    examples: Annotated[int | None, own("Examples to draw.", min=1)] = None,
    dev: Annotated[int, option("Dev examples, at most.", min=1)] = 2000,
    dev_share: Annotated[
        float, option("Share of papers, or of sets cited together, held out for them.", min=0.0, max=1.0)
    ] = 0.2,
    most_cocited: Annotated[int, option("Papers cited together, at most, for pairs of papers.", min=2)] = 3,
    easy: Annotated[int, option("Triplets: random negatives of a paper.", min=0)] = 3,
    hard: Annotated[int, option("Triplets: negatives cited by what the paper cites.", min=0)] = 2,
    sentences: Annotated[int, option("Inverse cloze task: sentences of an abstract.", min=1)] = 2,
    removed: Annotated[
        float, option("Inverse cloze task: how often the sentence is dropped from the abstract.", min=0.0, max=1.0)
    ] = 0.9,
    with_queries: Annotated[bool, flag("--with-queries", "Train on the study's query papers, too.")] = False,
    seed: Annotated[int, option("Random seed.")] = 0,
    dry_run: DryRunOption = False,
) -> Output:
    """Write examples to train a system on: train.jsonl and dev.jsonl.

    Query papers of the study are left out: a system that has seen what they cite would be measured on what it learned.
    """
    from annot.ranking.systems.training.recipes import recipe_of
    from annot.steps import encoder_examples as step

    drawn = (examples, dev, dev_share, most_cocited, easy, hard, sentences, removed, with_queries)
    sampling = step.Sampling(*drawn, seed)
    written = step.write_examples(ws, recipe_of(system), contexts=contexts, out=out, sampling=sampling, dry_run=dry_run)
    return Output(written, rendered("encoder-examples", written=written))


@command("encoder train", needs_study=False, alone=False)
def encoder_train(
    ws: "Workspace | None",
    system: SystemArgument,
    data: Annotated[Path, option("The folder that `annot encoder examples` wrote.")],
    start: Annotated[
        str | None,
        option(
            "Weights to start from: a folder, or a system such as specter or scibert-uncased.",
            "--from",
            shown="the paper's",
        ),
    ] = None,
    align: Annotated[
        str | None,
        option(
            "For ts-aspire and abs-aspire: the encoder that aligns sentences, a folder or a system.", shown="cosentbert"
        ),
    ] = None,
    out: Annotated[Path | None, option("Where the weights go.", "--out", "-o", shown="weights/SYSTEM")] = None,
    device: Annotated[str | None, option("cpu, cuda, cuda:1, ...", shown="the GPU where there is one")] = None,
    setting: Annotated[
        list[str] | None,
        option(
            "A setting in place of the paper's, such as learning_rate=1e-5; may be repeated: batch, at_once, "
            "learning_rate, warm_up, epochs, loss, margin, check_every, patience, temperature, entropy, seed.",
            "--set",
            shown="the paper's",
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Train an encoder and write its weights, which `annot run` then reads; the learning curve is shown as it grows.

    Interrupted, the same command goes on from its last look at the dev examples.
    """
    from annot.ranking.systems.training.recipes import recipe_of
    from annot.steps import encoder_train as step

    given = {name.strip(): value for name, _, value in (one.partition("=") for one in setting or ())}
    recipe = recipe_of(system, **given)
    with progress("training") as advance:
        found = step.make(
            *(ws, recipe),
            data=data,
            start=start,
            align=align,
            out=out,
            device=device,
            dry_run=dry_run,
            advance=advance,
            tell=lambda point, steps: say(step.line(point, steps)),
        )
    return Output(found, rendered("encoder-trained", found=found), found.notes)
