"""Prepare: collections that were made elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annot.cli.commands import command, group
from annot.cli.options import DryRunOption, FacetOption, argument, option
from annot.cli.output import Answer, table, told

if TYPE_CHECKING:
    from annot.study.workspace import Workspace

group("import", help="Import a collection that was made elsewhere.")


@command("import csfcube")
def import_csfcube(
    ws: "Workspace",
    folder: Annotated[Path, argument("A folder of a CSFCube release, whole or partial.")],
    dry_run: DryRunOption = False,
) -> Answer:
    """Import a CSFCube release: papers, queries, pools, double ratings, final grades, splits, runs."""
    from annot.publishing.report import commands
    from annot.steps import import_csfcube as step

    imported = step.csfcube(ws, folder, dry_run=dry_run)
    return Answer(imported, table(commands.counts("imported", "count"), imported.counts.items()), imported.notes)


def column(field: str, text: str, *, found: bool = False) -> Any:
    """The option that names the column of a field; without it, one that is `found` has a name that is known."""
    return option(text, f"--{field}-column", shown="found by name" if found else False)


@command("import judgements")
def import_judgements(
    ws: "Workspace",
    file: Annotated[Path, argument("CSV with a header, or JSON Lines; one judgement per row.")],
    query: Annotated[str | None, column("query", "The query's id.", found=True)] = None,
    document: Annotated[str | None, column("document", "The document's id.", found=True)] = None,
    assessor: Annotated[str | None, column("assessor", "Who judged.", found=True)] = None,
    grade: Annotated[str | None, column("grade", "The grade: a number or a name of the scale.", found=True)] = None,
    time: Annotated[str | None, column("time", "When it was judged, or the seconds it took.")] = None,
    seconds: Annotated[str | None, column("seconds", "The seconds it took.")] = None,
    occasion: Annotated[str | None, column("occasion", "1, or 2 for the repeat of a pair.")] = None,
    comment: Annotated[str | None, column("comment", "What was written with the grade.")] = None,
    facet: FacetOption = None,
    adjudicator: Annotated[list[str] | None, option("Name of an adjudicator in the file; may be repeated.")] = None,
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
    return Answer(imported, told("imported", imported=imported), imported.notes)


@command("import grades")
def import_grades(
    ws: "Workspace",
    files: Annotated[
        list[Path], argument("The file, or one for each fold; that with `test` in its name is tested on.")
    ],
    form: Annotated[str, option("qrels (TREC's), relish or treccovid-rf.", "--format")] = "qrels",
    facet: FacetOption = None,
    per_topic: Annotated[int, option("Of treccovid-rf: papers of a topic that become queries.", min=1)] = 1,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import the grades of a collection whose queries are papers: SciDocs, RELISH, TREC-COVID, any qrels.

    The papers are in the corpus first. For whole abstracts, add a facet without labels to annot.toml: whole = [].
    """
    from annot.publishing.report import commands
    from annot.steps import import_grades as step

    imported = step.grades_from(ws, files, form=form, facet=facet, per_topic=per_topic, dry_run=dry_run)
    counts = {"queries": imported.queries, "pairs": imported.pairs}
    counts |= {f"grade {grade}": pairs for grade, pairs in imported.grades.items()}
    counts |= {f"queries in {fold}": queries for fold, queries in imported.folds.items()}
    return Answer(imported, table(commands.counts("imported", "count"), counts.items()), imported.notes)


@command("import labelstudio")
def import_labelstudio(
    ws: "Workspace",
    file: Annotated[Path, argument("An export of a Label Studio project in the format JSON.")],
    rating: Annotated[str, option("Name of the control with which grades were given.")],
    query: Annotated[str, option("Key of the task's data that holds the query's id.")],
    document: Annotated[str, option("Key of the task's data that holds the document's id.")],
    comment: Annotated[str | None, option("Name of the control with which comments were written.")] = None,
    grade: Annotated[
        list[str] | None,
        option(
            "What a value stands for: 'Highly relevant=3', or 'Broken=none' where the pair could not be judged; "
            "may be repeated. Numbers and names of the scale need none."
        ),
    ] = None,
    facet: FacetOption = None,
    adjudicator: Annotated[
        list[str] | None, option("Address or number of an adjudicator's account in the export; may be repeated.")
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
    return Answer(imported, told("imported", imported=imported), imported.notes)
