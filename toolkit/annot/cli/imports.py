"""Prepare: import data that was made elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annot.base.errors import InputError
from annot.cli.commands import command
from annot.cli.options import DryRunOption, argument, flag, one_of, option
from annot.cli.output import Output, progress, rendered, table

if TYPE_CHECKING:
    from annot.formats.studio_export import ExportKeys
    from annot.study.workspace import Workspace

FIELDS = ("query", "document", "assessor", "grade", "time", "seconds", "occasion", "comment")
OF_PEOPLE = ("--adjudicator", "--foreign", "--same-person", "--different-people")
OPTIONS: dict[str, frozenset[str]] = {
    "csfcube": frozenset(),
    "judgements": frozenset({*(f"--{field}-column" for field in FIELDS), "--facet", *OF_PEOPLE}),
    "grades": frozenset({"--format", "--facet", "--per-topic", "--foreign"}),
    "labelstudio": frozenset({"--rating", "--query", "--document", "--comment", "--grade", "--facet", *OF_PEOPLE}),
    "citations": frozenset(),
}
"""The options of each kind of file, apart from --dry-run."""


def column(field: str, text: str, *, found: bool = False) -> Any:
    """The option that names the column of a field; without it, one that is `found` has a name that is known."""
    return option(text, f"--{field}-column", shown="found by name" if found else False, rich_help_panel="Judgements")


def of(kind: str, text: str, *names: str, **more: Any) -> Any:
    """An option of one kind of file, shown under its name."""
    return option(text, *names, rich_help_panel=kind, **more)


@command("import")
def import_files(
    ws: "Workspace",
    files: Annotated[list[Path], argument("The files; for csfcube the folder of a release, complete or partial.")],
    kind: Annotated[
        str | None, option(f"Kind of file: {', '.join(OPTIONS)}. You can leave it out if the content is clear.", "--as")
    ] = None,
    facet: Annotated[
        str | None, option("judgements, grades: the facet of query ids that have no facet suffix.", "--facet", "-f")
    ] = None,
    adjudicator: Annotated[
        list[str] | None,
        option("judgements, labelstudio: who settled disputes, by their name or account in the file; may be repeated."),
    ] = None,
    foreign: Annotated[
        str | None,
        option(
            "judgements, labelstudio, grades: rows of documents or query papers that are not in the corpus: drop, or "
            "keep without a text.",
            shown="refuse",
        ),
    ] = None,
    same_person: Annotated[
        bool, flag("--same-person", "judgements, labelstudio: names that differ only in case or blanks are one person.")
    ] = False,
    different_people: Annotated[
        bool, flag("--different-people", "judgements, labelstudio: names that differ only in case are several people.")
    ] = False,
    query_column: Annotated[str | None, column("query", "Column of the query id.", found=True)] = None,
    document_column: Annotated[str | None, column("document", "Column of the document id.", found=True)] = None,
    assessor_column: Annotated[str | None, column("assessor", "Column of the assessor.", found=True)] = None,
    grade_column: Annotated[str | None, column("grade", "Column of the grade (number or name).", found=True)] = None,
    time_column: Annotated[
        str | None, column("time", "Column of when it was judged, or of the seconds it took.")
    ] = None,
    seconds_column: Annotated[str | None, column("seconds", "Column of the seconds it took.")] = None,
    occasion_column: Annotated[str | None, column("occasion", "Column with 1, or 2 for the repeat of a pair.")] = None,
    comment_column: Annotated[str | None, column("comment", "Column of the comment.")] = None,
    form: Annotated[
        str | None, of("Grades", "qrels (TREC, BEIR), relish or treccovid-rf.", "--format", shown="qrels")
    ] = None,
    per_topic: Annotated[int | None, of("Grades", "treccovid-rf: query papers per topic.", min=1, shown="1")] = None,
    rating: Annotated[str | None, of("Labelstudio", "Name of the labelling control for the grade.")] = None,
    query: Annotated[str | None, of("Labelstudio", "Key of the query id in the task data.")] = None,
    document: Annotated[str | None, of("Labelstudio", "Key of the document id in the task data.")] = None,
    comment: Annotated[str | None, of("Labelstudio", "Name of the labelling control for comments.")] = None,
    grade: Annotated[
        list[str] | None,
        of(
            "Labelstudio",
            "The grade of a value, as in 'Highly relevant=3', or 'Broken=none' if the pair could not be judged; may "
            "be repeated. Not needed for numbers and for names of the scale.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Import judgements, grades, citations or a whole collection (CSFCube) made elsewhere.

    judgements: CSV with a header, or JSON Lines, with one judgement per row. The assessors become a1, a2, ...

    labelstudio: the JSON export of any project. All annotations are kept; if a person annotated a pair more than once,
    the one that was changed last counts.

    grades: qrels of TREC or BEIR whose topics are in the study (`annot query add --file`), or a collection whose
    queries are papers in the corpus, such as SciDocs or RELISH. With several files, the one with `test` in its name is
    the test set. If the queries are whole abstracts, first add a facet without labels to annot.toml: whole = [].

    citations: two columns (citing, cited), Semantic Scholar's `citations`, or papers with their references, as from
    PubMed or OpenAlex. Only citations by papers in the corpus are kept.

    csfcube: papers, queries, pools, ratings, final grades, splits and runs.
    """
    from annot.steps import citations, import_csfcube
    from annot.steps import imports as step

    kind = kind or step.kind_of(files)
    columns = {
        **{"query": query_column, "document": document_column, "assessor": assessor_column, "grade": grade_column},
        **{"time": time_column, "seconds": seconds_column, "occasion": occasion_column, "comment": comment_column},
    }
    given: dict[str, object] = {f"--{field}-column": name for field, name in columns.items()}
    given |= {"--rating": rating, "--query": query, "--document": document, "--comment": comment, "--grade": grade}
    given |= {"--facet": facet, "--adjudicator": adjudicator, "--format": form, "--per-topic": per_topic}
    given |= {"--foreign": foreign, "--same-person": same_person, "--different-people": different_people}
    one_of(same_person=same_person, different_people=different_people)
    _check_options(kind, {name for name, value in given.items() if value})
    if kind == "csfcube":
        release = import_csfcube.csfcube(ws, _one(files, kind), dry_run=dry_run)
        return _counts(release, release.counts, release.notes)
    if kind == "citations":
        with progress("reading citations") as advance:
            added = citations.add(ws, files, dry_run=dry_run, advance=advance)
        return Output(added, rendered("citations", added=added))
    if kind == "grades":
        form, per_topic = form or "qrels", per_topic or 1
        graded = step.grades_from(
            ws, files, form=form, facet=facet, per_topic=per_topic, foreign=foreign, dry_run=dry_run
        )
        counts = {"queries": graded.queries, "pairs": graded.pairs}
        counts |= {f"grade {grade}": pairs for grade, pairs in graded.grades.items()}
        counts |= {f"queries in {fold}": queries for fold, queries in graded.folds.items()}
        return _counts(graded, counts, graded.notes)
    imported = step.judgements_from(
        ws,
        _one(files, kind),
        columns={field: name for field, name in columns.items() if name is not None},
        export=_keys(rating, query, document, comment) if kind == "labelstudio" else None,
        grades=tuple(grade or ()),
        facet=facet,
        adjudicators=tuple(adjudicator or ()),
        foreign=foreign,
        same_person=same_person if same_person or different_people else None,
        dry_run=dry_run,
    )
    return Output(imported, rendered("imported", imported=imported), imported.notes)


def _keys(rating: str | None, query: str | None, document: str | None, comment: str | None) -> "ExportKeys":
    from annot.formats.studio_export import ExportKeys

    if rating is None or query is None or document is None:
        raise InputError("--as labelstudio needs --rating, --query and --document, which name the places in the export")
    return ExportKeys(rating, query, document, comment)


def _check_options(kind: str, given: set[str]) -> None:
    if kind not in OPTIONS:
        raise InputError(f"--as: found {kind!r}, expected one of {', '.join(OPTIONS)}")
    for name in sorted(given - OPTIONS[kind]):
        others = " and ".join(other for other, names in OPTIONS.items() if name in names)
        raise InputError(f"{name} can only be used with --as {others}, found --as {kind}")


def _one(files: list[Path], kind: str) -> Path:
    if len(files) > 1:
        raise InputError(f"--as {kind}: found {len(files)} files, expected one; import them one at a time")
    return files[0]


def _counts(imported: object, counts: dict[str, int], notes: tuple[str, ...]) -> Output:
    from annot.publishing.report import commands

    return Output(imported, table(commands.counts("imported", "count"), counts.items()), notes)
