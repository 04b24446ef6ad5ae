"""Prepare: the study's folder, the corpus, sentence facets and queries."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, KeyOption, UrlOption, setting
from annot.cli.output import Answer, progress, table
from annot.errors import InputError

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


@command("init")
def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the study; made if it is not there.")] = Path(),
    name: Annotated[str | None, typer.Option(help="The collection's name.", show_default="the folder's")] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Make a study: annot.toml, folders, the database."""
    from annot.steps import init as step

    made = step.init(folder, name=name, dry_run=dry_run)
    verb = "would make" if dry_run else "made"
    return Answer(made, f"{folder}: {verb} {', '.join(made.made)}" if made.made else f"{folder}: complete already")


@command("corpus", verbs=True)
def corpus_contents(ws: "Workspace") -> Answer:
    """Print what the corpus holds: papers, years, and near-duplicates, of which a pool has only one."""
    from annot.steps import corpus as step

    with progress("comparing papers") as advance:
        found = step.contents(ws, advance=advance)
    return Answer(found, step.describe_contents(found))


@command("corpus add")
def corpus_add(
    ws: "Workspace",
    files: Annotated[list[str], typer.Argument(help="Files of papers, plain or gzip; datasets with irds.")],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="annot, csfcube, json, s2orc, semantic-scholar, arxiv, acl, beir, irds, csv or parquet.",
            show_default="told from each file",
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Add papers from files, and print what the filters left out, by reason."""
    from annot.steps import corpus as step

    with progress("reading papers") as advance:
        added = step.add(ws, files, form=form, dry_run=dry_run, advance=advance)
    return Answer(added, step.describe(added))


group("citations", help="Add citations of the papers in the corpus, for pools and tasks.")


@command("citations add")
def citations_add(
    ws: "Workspace",
    files: Annotated[
        list[Path],
        typer.Argument(help="Semantic Scholar's `citations`, two columns (citing, cited), or papers with their list."),
    ],
    dry_run: DryRunOption = False,
) -> Answer:
    """Add who cites whom, and print how many citations were kept: those of papers in the corpus."""
    from annot.steps import citations as step

    with progress("reading citations") as advance:
        added = step.add(ws, files, dry_run=dry_run, advance=advance)
    return Answer(added, step.describe(added))


group("import", help="Import a collection that was made elsewhere.")


@command("import csfcube")
def import_csfcube(
    ws: "Workspace",
    folder: Annotated[Path, typer.Argument(help="A folder of a CSFCube release, whole or partial.")],
    dry_run: DryRunOption = False,
) -> Answer:
    """Import a CSFCube release: papers, queries, pools, double ratings, final grades, splits, runs."""
    from annot.steps import import_csfcube as step

    imported = step.csfcube(ws, folder, dry_run=dry_run)
    return Answer(imported, table("import.counts", imported.counts.items()), imported.notes)


def column(field: str, text: str, *, found: bool = False) -> Any:
    """The option that names the column of a field; without it, one that is `found` has a name that is known."""
    return typer.Option(f"--{field}-column", help=text, show_default="found by name" if found else False)


@command("import judgements")
def import_judgements(
    ws: "Workspace",
    file: Annotated[Path, typer.Argument(help="CSV with a header, or JSON Lines; one judgement per row.")],
    query: Annotated[str | None, column("query", "The query's id.", found=True)] = None,
    document: Annotated[str | None, column("document", "The document's id.", found=True)] = None,
    assessor: Annotated[str | None, column("assessor", "Who judged.", found=True)] = None,
    grade: Annotated[str | None, column("grade", "The grade: a number or a name of the scale.", found=True)] = None,
    time: Annotated[str | None, column("time", "When it was judged, or the seconds it took.")] = None,
    seconds: Annotated[str | None, column("seconds", "The seconds it took.")] = None,
    occasion: Annotated[str | None, column("occasion", "1, or 2 for the repeat of a pair.")] = None,
    comment: Annotated[str | None, column("comment", "What was written with the grade.")] = None,
    facet: Annotated[
        str | None,
        typer.Option("--facet", "-f", help="Facet for query ids without a facet suffix.", show_default=False),
    ] = None,
    adjudicator: Annotated[
        list[str] | None,
        typer.Option(help="Name of an adjudicator in the file; may be repeated.", show_default=False),
    ] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import judgements that were made with another tool; the assessors become a1, a2, ..."""
    from annot.steps import import_judgements as step

    named = {"query": query, "document": document, "assessor": assessor, "grade": grade}
    named |= {"time": time, "seconds": seconds, "occasion": occasion, "comment": comment}
    imported = step.judgements_from(
        ws,
        file,
        columns={field: column for field, column in named.items() if column is not None},
        facet=facet,
        adjudicators=tuple(adjudicator or ()),
        dry_run=dry_run,
    )
    return Answer(imported, step.describe(imported), imported.notes)


@command("import grades")
def import_grades(
    ws: "Workspace",
    files: Annotated[list[Path], typer.Argument(help="The file, or one for each fold.")],
    form: Annotated[str, typer.Option("--format", help="qrels (TREC's), relish or treccovid-rf.")] = "qrels",
    facet: Annotated[
        str | None,
        typer.Option("--facet", "-f", help="Facet for query ids without a facet suffix.", show_default=False),
    ] = None,
    per_topic: Annotated[int, typer.Option(min=1, help="Of treccovid-rf: papers of a topic that become queries.")] = 1,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import the grades of a collection whose queries are papers: SciDocs, RELISH, TREC-COVID, any qrels.

    The papers are in the corpus first. For whole abstracts, add a facet without labels to annot.toml: whole = [].
    """
    from annot.steps import import_grades as step

    imported = step.grades_from(ws, files, form=form, facet=facet, per_topic=per_topic, dry_run=dry_run)
    counts = {"queries": imported.queries, "pairs": imported.pairs}
    counts |= {f"grade {grade}": pairs for grade, pairs in imported.grades.items()}
    counts |= {f"queries in {fold}": queries for fold, queries in imported.folds.items()}
    return Answer(imported, table("import.counts", counts.items()), imported.notes)


@command("import labelstudio")
def import_labelstudio(
    ws: "Workspace",
    file: Annotated[Path, typer.Argument(help="An export of a Label Studio project in the format JSON.")],
    rating: Annotated[str, typer.Option(help="Name of the control with which grades were given.")],
    query: Annotated[str, typer.Option(help="Key of the task's data that holds the query's id.")],
    document: Annotated[str, typer.Option(help="Key of the task's data that holds the document's id.")],
    comment: Annotated[
        str | None, typer.Option(help="Name of the control with which comments were written.", show_default=False)
    ] = None,
    grade: Annotated[
        list[str] | None,
        typer.Option(
            help="What a value stands for: 'Highly relevant=3', or 'Broken=none' where the pair could not be judged; "
            "may be repeated. Numbers and names of the scale need none.",
            show_default=False,
        ),
    ] = None,
    facet: Annotated[
        str | None,
        typer.Option("--facet", "-f", help="Facet for query ids without a facet suffix.", show_default=False),
    ] = None,
    adjudicator: Annotated[
        list[str] | None,
        typer.Option(
            help="Address or number of an adjudicator's account in the export; may be repeated.", show_default=False
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import judgements from any Label Studio project; the accounts become a1, a2, ...

    Every annotation is kept. Of one person's several on a pair the latest counts; skipped ones do not.
    """
    from annot.formats.studio_export import ExportKeys
    from annot.steps import import_judgements as step

    imported = step.export_from(
        ws,
        file,
        keys=ExportKeys(rating, query, document, comment),
        grades=tuple(grade or ()),
        facet=facet,
        adjudicators=tuple(adjudicator or ()),
        dry_run=dry_run,
    )
    return Answer(imported, step.describe(imported), imported.notes)


@command("facets", verbs=True)
def facets_label(
    ws: "Workspace",
    model: Annotated[Path | None, typer.Option(help="A model made by `annot facets train`.")] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Label each sentence of the corpus and print the counts; labels that the papers came with are kept."""
    from annot.steps import facets as step

    with progress("labelling sentences") as advance:
        labelled = step.label(ws, model=model, dry_run=dry_run, advance=advance)
    return Answer(labelled, step.describe(labelled))


@command("facets train", needs_study=False)
def facets_train(
    ws: "Workspace | None",
    file: Annotated[Path, typer.Argument(help="Labelled abstracts as JSON Lines: `sentences`, `labels`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes.")],
    held_out: Annotated[Path | None, typer.Option(help="Labelled abstracts to measure the model on.")] = None,
) -> Answer:
    """Train a sentence labeller, write it to a file, and print its scores on held-out abstracts.

    Its labels are those of the study; outside a study, those of the file.
    """
    from annot.steps import facets as step

    trained = step.train(file, out=out, held_out=held_out, ws=ws)
    return Answer(trained, step.describe_trained(trained))


@command("facets push")
def facets_push(
    ws: "Workspace",
    people: Annotated[list[str], typer.Argument(help="Who corrects: pseudonyms of `annot assessor list`.")],
    url: UrlOption = None,
    api_key: KeyOption = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Send the labelled sentences of the query papers to be corrected in Label Studio; safe to repeat.

    Each paper goes to one of the people named. Do this before `annot push`: what was sent to be judged stays.
    """
    from annot.steps import facets_corrections as step

    with progress("sending abstracts") as advance:
        sent = step.push(ws, tuple(people), url=url, api_key=api_key, dry_run=dry_run, advance=advance)
    return Answer(sent, table("labels.sent", sent))


@command("facets pull")
def facets_pull(
    ws: "Workspace", url: UrlOption = None, api_key: KeyOption = None, dry_run: DryRunOption = False
) -> Answer:
    """Fetch corrected labels: they become the labels of the papers, and the queries' sentences follow."""
    from annot.exchange.connection import away_finding
    from annot.steps import facets_corrections as step

    with progress("reading corrections") as advance:
        rows, notes, away = step.pull(ws, url=url, api_key=api_key, dry_run=dry_run, advance=advance)
    return Answer(rows, table("labels.pulled", rows), notes, finding=away_finding(away, "annot facets pull"))


group("query", help="Choose the queries: a paper and one facet of it.")

SeedOption = Annotated[int | None, setting("Random seed.")]


@command("query sample")
def query_sample(
    ws: "Workspace",
    out: Annotated[Path, typer.Option("--out", "-o", help="The sheet to fill in.")] = Path("queries.csv"),
    per_period: Annotated[int | None, setting("Papers per period.", min=1)] = None,
    seed: SeedOption = None,
) -> Answer:
    """Draw random papers from each period into a sheet, and print how to fill it in with type and rating."""
    from annot.steps import query as step

    sampled = step.sample(ws.replaced("queries", per_period=per_period).replaced(seed=seed), out=out)
    return Answer(sampled, step.describe_sampled(sampled), sampled.notes)


@command("query choose")
def query_choose(
    ws: "Workspace",
    number: Annotated[int, typer.Argument(min=1, help="How many queries.")],
    sheet: Annotated[Path, typer.Option("--sheet", "-s", help="The sheet, filled in.")] = Path("queries.csv"),
    two_facets: Annotated[float | None, setting("Share of papers that give two queries.", min=0.0, max=1.0)] = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Choose queries from the rated papers, as evenly as possible across periods, types and facets.

    Adds the chosen queries to those of the study. Left out are surveys, papers that are not rated or rated too low
    (`min_rating` in annot.toml), and papers whose facets are all struck out.
    """
    from annot.steps import query as step

    ws = ws.replaced("queries", two_facet_share=two_facets).replaced(seed=seed)
    chosen = step.choose(ws, number, sheet=sheet, dry_run=dry_run)
    return Answer(chosen, step.describe_chosen(chosen, dry_run=dry_run))


@command("query add")
def query_add(
    ws: "Workspace",
    paper: Annotated[str | None, typer.Argument(help="The id of the query paper.", show_default=False)] = None,
    facet: Annotated[
        str | None, typer.Option("--facet", "-f", help="A facet of annot.toml.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="CSV with the columns paper_id, facet, sentences.", show_default=False)
    ] = None,
    sentences: Annotated[
        str | None, typer.Option(help="The query's sentences, counted from 1: 2,3.", show_default="all of the facet")
    ] = None,
    dry_run: DryRunOption = False,
) -> Answer:
    """Add one query, by facet or by chosen sentences; or all those of a file."""
    from annot.steps import query as step

    if file is not None:
        if paper is not None or facet is not None or sentences is not None:
            raise InputError("--file: found a paper or its facet beside it, expected one or the other")
        several = step.add_file(ws, file, dry_run=dry_run)
        return Answer(several, f"{len(several)} queries: {', '.join(query.query_id for query in several)}")
    if paper is None or facet is None:
        raise InputError("found no paper and facet, expected `annot query add PAPER --facet FACET`, or --file")
    added = step.add(ws, paper, facet=facet, sentences=sentences, dry_run=dry_run)
    places = ", ".join(str(place + 1) for place in added.sentences)
    return Answer(added, f"{added.query_id}: sentences {places}")


@command("query remove")
def query_remove(
    ws: "Workspace",
    query: Annotated[str, typer.Argument(help="The id of the query.")],
    dry_run: DryRunOption = False,
) -> Answer:
    """Remove one query, and the pool of its paper where no other query needs it; not where pairs of it were planned."""
    from annot.steps import query as step

    removed = step.remove(ws, query, dry_run=dry_run)
    pool = f", with the pool of {removed.paper_id}; `annot pool` brings pools/ up to date" if removed.with_pool else ""
    verb = "would be removed" if dry_run else "removed"
    return Answer(removed, f"{removed.query_id}: {verb}{pool}; the study has {removed.queries} queries")


@command("query list", csv=True)
def query_list(ws: "Workspace") -> Answer:
    """Print the queries of the study."""
    from annot.steps import query as step

    listed = step.listing(ws)
    return Answer(listed, table("query.list", listed))
