"""Prepare: what was made elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annot.base.errors import InputError
from annot.cli.commands import command
from annot.cli.options import DryRunOption, argument, option
from annot.cli.output import Output, progress, rendered, table

if TYPE_CHECKING:
    from annot.formats.studio_export import ExportKeys
    from annot.study.workspace import Workspace

FIELDS = ("query", "document", "assessor", "grade", "time", "seconds", "occasion", "comment")
OPTIONS: dict[str, frozenset[str]] = {
    "csfcube": frozenset(),
    "judgements": frozenset({*(f"--{field}-column" for field in FIELDS), "--facet", "--adjudicator"}),
    "grades": frozenset({"--format", "--facet", "--per-topic"}),
    "labelstudio": frozenset({"--rating", "--query", "--document", "--comment", "--grade", "--facet", "--adjudicator"}),
    "citations": frozenset(),
}
"""What each kind of file is read by, apart from --dry-run."""


def column(field: str, text: str, *, found: bool = False) -> Any:
    """The option that names the column of a field; without it, one that is `found` has a name that is known."""
    return option(text, f"--{field}-column", shown="found by name" if found else False, rich_help_panel="Judgements")


def of(kind: str, text: str, *names: str, **more: Any) -> Any:
    """An option of one kind of file, shown under its name."""
    return option(text, *names, rich_help_panel=kind, **more)


@command("import")
def import_files(
    ws: "Workspace",
    files: Annotated[list[Path], argument("The files; of csfcube the folder of a release, whole or partial.")],
    kind: Annotated[
        str | None, option(f"{', '.join(OPTIONS)}; may be left out where the content leaves no doubt.", "--as")
    ] = None,
    facet: Annotated[
        str | None, option("Of judgements and grades: facet for query ids without a facet suffix.", "--facet", "-f")
    ] = None,
    adjudicator: Annotated[
        list[str] | None,
        option("Of judgements: who settled disputes, by name or (labelstudio) account in the file; may be repeated."),
    ] = None,
    query_column: Annotated[str | None, column("query", "The query's id.", found=True)] = None,
    document_column: Annotated[str | None, column("document", "The document's id.", found=True)] = None,
    assessor_column: Annotated[str | None, column("assessor", "Who judged.", found=True)] = None,
    grade_column: Annotated[str | None, column("grade", "A number or a name of the scale.", found=True)] = None,
    time_column: Annotated[str | None, column("time", "When it was judged, or the seconds it took.")] = None,
    seconds_column: Annotated[str | None, column("seconds", "The seconds it took.")] = None,
    occasion_column: Annotated[str | None, column("occasion", "1, or 2 for the repeat of a pair.")] = None,
    comment_column: Annotated[str | None, column("comment", "What was written with the grade.")] = None,
    form: Annotated[
        str | None, of("Grades", "qrels (TREC's), relish or treccovid-rf.", "--format", shown="qrels")
    ] = None,
    per_topic: Annotated[
        int | None, of("Grades", "Of treccovid-rf: papers of a topic that become queries.", min=1, shown="1")
    ] = None,
    rating: Annotated[str | None, of("Labelstudio", "Control with which grades were given.")] = None,
    query: Annotated[str | None, of("Labelstudio", "Key of the task's data that holds the query's id.")] = None,
    document: Annotated[str | None, of("Labelstudio", "Key of the task's data that holds the document's id.")] = None,
    comment: Annotated[str | None, of("Labelstudio", "Control with which comments were written.")] = None,
    grade: Annotated[
        list[str] | None,
        of(
            "Labelstudio",
            "What a value stands for: 'Highly relevant=3', or 'Broken=none' where the pair could not be judged; "
            "may be repeated. Numbers and names of the scale need none.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Import what was made elsewhere: judgements, grades, citations, or a whole collection (CSFCube).

    judgements: CSV with a header or JSON Lines, a judgement per row. labelstudio: the export (JSON) of any project;
    every annotation is kept, and of one person's several on a pair the latest counts. The assessors become a1, a2, ...
    grades: a collection whose queries are papers of the corpus (SciDocs, RELISH, TREC-COVID, any qrels); of several
    files, that with `test` in its name is tested on. For whole abstracts, add a facet without labels to annot.toml:
    whole = []. citations: two columns (citing, cited), Semantic Scholar's `citations`, or papers with their list; those
    of papers in the corpus are kept. csfcube: papers, queries, pools, ratings, final grades, splits and runs.
    """
    from annot.steps import imports as step

    kind = kind or step.kind_of(files)
    columns = {
        **{"query": query_column, "document": document_column, "assessor": assessor_column, "grade": grade_column},
        **{"time": time_column, "seconds": seconds_column, "occasion": occasion_column, "comment": comment_column},
    }
    given: dict[str, object] = {f"--{field}-column": name for field, name in columns.items()}
    given |= {"--rating": rating, "--query": query, "--document": document, "--comment": comment, "--grade": grade}
    given |= {"--facet": facet, "--adjudicator": adjudicator, "--format": form, "--per-topic": per_topic}
    _check_options(kind, {name for name, value in given.items() if value})
    if kind == "csfcube":
        return _csfcube(ws, _one(files, kind), dry_run=dry_run)
    if kind == "citations":
        return _citations(ws, files, dry_run=dry_run)
    if kind == "grades":
        return _grades(ws, files, form=form or "qrels", facet=facet, per_topic=per_topic or 1, dry_run=dry_run)
    file, adjudicators = _one(files, kind), tuple(adjudicator or ())
    if kind == "judgements":
        named = {field: name for field, name in columns.items() if name is not None}
        imported = step.judgements_from(
            ws, file, columns=named, facet=facet, adjudicators=adjudicators, dry_run=dry_run
        )
    else:
        keys = _keys(rating, query, document, comment)
        imported = step.export_from(
            ws, file, keys=keys, grades=tuple(grade or ()), facet=facet, adjudicators=adjudicators, dry_run=dry_run
        )
    return Output(imported, rendered("imported", imported=imported), imported.notes)


def _keys(rating: str | None, query: str | None, document: str | None, comment: str | None) -> "ExportKeys":
    from annot.formats.studio_export import ExportKeys

    if rating is None or query is None or document is None:
        raise InputError("--as labelstudio: expected --rating, --query and --document, which say where each is")
    return ExportKeys(rating, query, document, comment)


def _check_options(kind: str, given: set[str]) -> None:
    if kind not in OPTIONS:
        raise InputError(f"--as: found {kind!r}, expected one of {', '.join(OPTIONS)}")
    for name in sorted(given - OPTIONS[kind]):
        others = " and ".join(other for other, names in OPTIONS.items() if name in names)
        raise InputError(f"{name}: an option of --as {others}, found with {kind}")


def _one(files: list[Path], kind: str) -> Path:
    if len(files) > 1:
        raise InputError(f"--as {kind}: found {len(files)} files, expected one; import them one after the other")
    return files[0]


def _csfcube(ws: "Workspace", folder: Path, *, dry_run: bool) -> Output:
    from annot.publishing.report import commands
    from annot.steps import import_csfcube as step

    imported = step.csfcube(ws, folder, dry_run=dry_run)
    return Output(imported, table(commands.counts("imported", "count"), imported.counts.items()), imported.notes)


def _citations(ws: "Workspace", files: list[Path], *, dry_run: bool) -> Output:
    from annot.steps import citations as step

    with progress("reading citations") as advance:
        added = step.add(ws, files, dry_run=dry_run, advance=advance)
    return Output(added, rendered("citations", added=added))


def _grades(
    ws: "Workspace", files: list[Path], *, form: str, facet: str | None, per_topic: int, dry_run: bool
) -> Output:
    from annot.publishing.report import commands
    from annot.steps import imports as step

    imported = step.grades_from(ws, files, form=form, facet=facet, per_topic=per_topic, dry_run=dry_run)
    counts = {"queries": imported.queries, "pairs": imported.pairs}
    counts |= {f"grade {grade}": pairs for grade, pairs in imported.grades.items()}
    counts |= {f"queries in {fold}": queries for fold, queries in imported.folds.items()}
    return Output(imported, table(commands.counts("imported", "count"), counts.items()), imported.notes)
