"""Commands that train encoders."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli import options
from annot.cli.commands import command, group
from annot.cli.options import argument, option
from annot.cli.output import Output, progress, rendered, say

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("encoder", help="Train an encoder as its paper did, in three steps: contexts, examples, train.")

SystemArgument = Annotated[
    str,
    argument(
        "System to train: specter-id, specter-cocite, cosentbert, ictsentbert, or one of Aspire's (ts-aspire, ...)."
    ),
]


@command("encoder contexts", alone=False)
def encoder_contexts(
    ws: "Workspace",
    files: Annotated[list[Path], argument("Full texts in S2ORC's JSON Lines, with cite_spans in body_text.")],
    out: Annotated[Path, option("File for the contexts.", "--out", "-o")],
    field: Annotated[
        list[str] | None, option("Use citing papers of this field of study only; may be repeated.", shown="all fields")
    ] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Extract co-citation contexts from full texts: the sentences that cite several papers of the corpus.

    Counts the contexts that are left out, by reason.
    """
    from annot_systems import encoder_training as step

    with progress("reading full texts") as advance:
        written = step.write_contexts(ws, files, out=out, fields=field or (), dry_run=dry_run, advance=advance)
    return Output(written, rendered("encoder-contexts", written=written))


@command("encoder examples", alone=False)
def encoder_examples(
    ws: "Workspace",
    system: SystemArgument,
    out: Annotated[Path, option("Folder for the examples.", "--out", "-o")],
    contexts: Annotated[Path | None, option("File from `annot encoder contexts`, if the system needs it.")] = None,
    examples: Annotated[int | None, option("Number of training examples.", shown="as in the paper", min=1)] = None,
    dev: Annotated[int, option("Maximum number of dev examples.", min=1)] = 2000,
    dev_share: Annotated[
        float,
        option("Share of papers, or of sets of papers cited together, held out for dev examples.", min=0.0, max=1.0),
    ] = 0.2,
    seed: Annotated[int, option("Random seed.")] = 0,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Write the training examples of a system to train.jsonl and dev.jsonl.

    Leaves out the query papers of the study, because a system must not be tested on papers that it was trained on.
    """
    from annot_systems import encoder_training as step
    from annot_systems.training_examples import recipe_of

    written = step.write_examples(
        *(ws, recipe_of(system)),
        contexts=contexts,
        out=out,
        examples=examples,
        dev=dev,
        dev_share=dev_share,
        seed=seed,
        dry_run=dry_run,
    )
    return Output(written, rendered("encoder-examples", written=written))


@command("encoder train", needs_study=False, alone=False)
def encoder_train(
    ws: "Workspace | None",
    system: SystemArgument,
    data: Annotated[Path, option("Folder from `annot encoder examples`.")],
    start: Annotated[
        str | None,
        option(
            "Initial weights: a folder, or a system such as specter or scibert-uncased.",
            "--from",
            shown="as in the paper",
        ),
    ] = None,
    align: Annotated[
        str | None,
        option("ts-aspire, abs-aspire: the encoder that aligns sentences, a folder or a system.", shown="cosentbert"),
    ] = None,
    out: Annotated[Path | None, option("Folder for the weights.", "--out", "-o", shown="weights/SYSTEM")] = None,
    device: Annotated[str | None, option("Device: cpu, cuda, cuda:1, ...", shown="a GPU if there is one")] = None,
    setting: Annotated[
        list[str] | None,
        option(
            "Change a setting of the paper, as in learning_rate=1e-5; may be repeated. Settings: batch, at_once, "
            "learning_rate, warm_up, epochs, loss, margin, check_every, patience, temperature, entropy, seed.",
            "--set",
            shown="as in the paper",
        ),
    ] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Train an encoder and write its weights for `annot run`. Shows the learning curve while it trains.

    If training is interrupted, the same command continues from the last test on the dev examples.
    """
    from annot_systems import encoder_training as step
    from annot_systems.training_examples import recipe_of

    values = {name.strip(): value for name, _, value in (text.partition("=") for text in setting or ())}
    recipe = recipe_of(system, **values)
    with progress("training") as advance:
        trained = step.make(
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
    return Output(trained, rendered("encoder-trained", found=trained, curve=step.CURVE), trained.notes)
