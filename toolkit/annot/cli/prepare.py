"""Prepare: the workspace, the corpus, sentence facets and queries."""

from pathlib import Path
from typing import Annotated

import typer

from annot.cli.output import (
    CsvOption,
    DryRunOption,
    JsonOption,
    WorkspaceOption,
    emit,
    hand_down,
    progress,
    say,
    table,
)

PANEL = "Prepare"


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(init)
    app.add_typer(corpus, name="corpus", rich_help_panel=PANEL)
    app.add_typer(imports, name="import", rich_help_panel=PANEL)
    app.add_typer(facets, name="facets", rich_help_panel=PANEL)
    app.add_typer(query, name="query", rich_help_panel=PANEL)


def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the study; made if it is not there.")] = Path(),
    name: Annotated[str | None, typer.Option(help="The collection's name.", show_default="the folder's")] = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a study: annot.toml, folders, the database."""
    from annot.steps import init as step

    made = step.init(folder, name=name, dry_run=dry_run)
    verb = "would make" if dry_run else "made"
    text = f"{folder}: {verb} {', '.join(made.made)}" if made.made else f"{folder}: complete already"
    emit("init", made, text, as_json=as_json)


corpus = typer.Typer(help="Add papers to the corpus: filtered, counted, kept as Parquet.", no_args_is_help=True)


@corpus.command("add")
def corpus_add(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines, plain or as CSFCube and S2ORC write them.")],
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add papers from files, and print what the filters left out, by reason."""
    from annot.steps import corpus as step
    from annot.study.workspace import Workspace

    with progress("reading papers") as advance:
        added = step.add(Workspace.open(workspace), files, dry_run=dry_run, advance=advance)
    emit("corpus add", added, step.describe(added), as_json=as_json)


imports = typer.Typer(help="Import a collection that was made elsewhere.", no_args_is_help=True)


@imports.command("csfcube")
def import_csfcube(
    folder: Annotated[Path, typer.Argument(help="A folder of a CSFCube release, whole or partial.")],
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import a CSFCube release: papers, queries, pools, double ratings, final grades, splits, runs."""
    from annot.steps import import_csfcube as step
    from annot.study.workspace import Workspace

    imported = step.csfcube(Workspace.open(workspace), folder, dry_run=dry_run)
    for note in imported.notes:
        say(note)
    rows = [[what, count] for what, count in imported.counts.items()]
    emit("import csfcube", imported, table(["imported", "count"], rows), as_json=as_json)


@imports.command("judgements")
def import_judgements(
    file: Annotated[Path, typer.Argument(help="CSV with a header, or JSON Lines; one judgement per row.")],
    query: Annotated[
        str | None, typer.Option("--query-column", help="The query's id.", show_default="found by name")
    ] = None,
    document: Annotated[
        str | None, typer.Option("--document-column", help="The document's id.", show_default="found by name")
    ] = None,
    assessor: Annotated[
        str | None, typer.Option("--assessor-column", help="Who judged.", show_default="found by name")
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option(
            "--grade-column", help="The grade: a number or a name of the scale.", show_default="found by name"
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time-column", help="When it was judged, or the seconds it took.", show_default=False),
    ] = None,
    seconds: Annotated[
        str | None, typer.Option("--seconds-column", help="The seconds it took.", show_default=False)
    ] = None,
    occasion: Annotated[
        str | None,
        typer.Option("--occasion-column", help="1, or 2 for the repeat of a pair.", show_default=False),
    ] = None,
    comment: Annotated[
        str | None, typer.Option("--comment-column", help="What was written with the grade.", show_default=False)
    ] = None,
    facet: Annotated[
        str | None,
        typer.Option("--facet", "-f", help="Facet for query ids without a facet suffix.", show_default=False),
    ] = None,
    adjudicator: Annotated[
        list[str] | None,
        typer.Option(help="Name of an adjudicator in the file; may be repeated.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import judgements that were made with another tool; the assessors become a1, a2, ..."""
    from annot.steps import import_judgements as step
    from annot.study.workspace import Workspace

    named = {"query": query, "document": document, "assessor": assessor, "grade": grade}
    named |= {"time": time, "seconds": seconds, "occasion": occasion, "comment": comment}
    imported = step.judgements_from(
        Workspace.open(workspace),
        file,
        columns={field: column for field, column in named.items() if column is not None},
        facet=facet,
        adjudicators=tuple(adjudicator or ()),
        dry_run=dry_run,
    )
    for note in imported.notes:
        say(note)
    emit("import judgements", imported, step.describe(imported), as_json=as_json)


facets = typer.Typer(invoke_without_command=True)


@facets.callback()
def facets_label(
    ctx: typer.Context,
    model: Annotated[Path | None, typer.Option(help="A model made by `annot facets train`.")] = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Label each sentence of the corpus and print the counts; labels that the papers came with are kept."""
    if hand_down(ctx):
        return
    from annot.steps import facets as step
    from annot.study.workspace import Workspace

    with progress("labelling sentences") as advance:
        labelled = step.label(Workspace.open(workspace), model=model, dry_run=dry_run, advance=advance)
    emit("facets", labelled, step.describe(labelled), as_json=as_json)


@facets.command("train")
def facets_train(
    file: Annotated[Path, typer.Argument(help="Labelled abstracts as JSON Lines: `sentences`, `labels`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes.")],
    held_out: Annotated[Path | None, typer.Option(help="Labelled abstracts to measure the model on.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a sentence labeller, write it to a file, and print its scores on held-out abstracts."""
    from annot.steps import facets as step

    trained = step.train(file, out=out, held_out=held_out)
    emit("facets train", trained, step.describe_trained(trained), as_json=as_json)


query = typer.Typer(help="Choose the queries: a paper and one facet of it.", no_args_is_help=True)

SEED_HELP = "Random seed."


@query.command("sample")
def query_sample(
    out: Annotated[Path, typer.Option("--out", "-o", help="The sheet to fill in.")] = Path("queries.csv"),
    per_period: Annotated[int | None, typer.Option(min=1, help="Papers per period.", show_default="annot.toml")] = None,
    seed: Annotated[int | None, typer.Option(help=SEED_HELP, show_default="annot.toml")] = None,
    workspace: WorkspaceOption = Path(),
    as_json: JsonOption = False,
) -> None:
    """Draw random papers from each period into a sheet, and print how to fill it in with type and rating."""
    from annot.steps import query as step
    from annot.study.workspace import Workspace

    sampled = step.sample(Workspace.open(workspace), out=out, per_period=per_period, seed=seed)
    for note in sampled.notes:
        say(note)
    emit("query sample", sampled, step.describe_sampled(sampled), as_json=as_json)


@query.command("choose")
def query_choose(
    number: Annotated[int, typer.Argument(min=1, help="How many queries.")],
    sheet: Annotated[Path, typer.Option("--sheet", "-s", help="The sheet, filled in.")] = Path("queries.csv"),
    two_facets: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Share of papers that give two queries.", show_default="annot.toml"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help=SEED_HELP, show_default="annot.toml")] = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Choose queries from the rated papers, as evenly as possible across periods, types and facets.

    Adds the chosen queries to those of the study. Left out are surveys, papers that are not rated or rated too low
    (`min_rating` in annot.toml), and papers whose facets are all struck out.
    """
    from annot.steps import query as step
    from annot.study.workspace import Workspace

    chosen = step.choose(
        Workspace.open(workspace), number, sheet=sheet, two_facet_share=two_facets, seed=seed, dry_run=dry_run
    )
    emit("query choose", chosen, step.describe_chosen(chosen, dry_run=dry_run), as_json=as_json)


@query.command("add")
def query_add(
    paper: Annotated[str, typer.Argument(help="The id of the query paper.")],
    facet: Annotated[str, typer.Option("--facet", "-f", help="A facet of annot.toml.")],
    sentences: Annotated[
        str | None, typer.Option(help="The query's sentences, counted from 1: 2,3.", show_default="all of the facet")
    ] = None,
    workspace: WorkspaceOption = Path(),
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add one query, by facet or by chosen sentences."""
    from annot.steps import query as step
    from annot.study.workspace import Workspace

    added = step.add(Workspace.open(workspace), paper, facet=facet, sentences=sentences, dry_run=dry_run)
    places = ", ".join(str(place + 1) for place in added.sentences)
    emit("query add", added, f"{added.query_id}: sentences {places}", as_json=as_json)


@query.command("list")
def query_list(workspace: WorkspaceOption = Path(), as_json: JsonOption = False, as_csv: CsvOption = False) -> None:
    """Print the queries of the study."""
    from annot.steps import query as step
    from annot.study.workspace import Workspace

    listed = step.listing(Workspace.open(workspace))
    rows = [[one.query_id, one.year, ",".join(str(at) for at in one.sentences), one.title] for one in listed]
    emit("query list", listed, table(["query", "year", "sentences", "title"], rows), as_json=as_json, as_csv=as_csv)
