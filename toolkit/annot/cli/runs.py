"""Measure: the runs of systems, our own and others'."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.cli.commands import command
from annot.cli.options import DryRunOption, argument, flag, option
from annot.cli.output import Answer, progress, table, told

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
) -> Answer:
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
    return Answer(made, table("files.runs", made), (*notes, *step.warnings(ws, made)))


@command("run list", needs_study=False)
def run_list(ws: "Workspace | None") -> Answer:
    """Print every system: its family, its source, what it sees of query and candidate, and what it needs."""
    from annot.steps import run as step

    known = step.known(ws)
    return Answer(known, table("files.systems", known))


@command("run matches")
def run_matches(
    ws: "Workspace",
    run: Annotated[str, argument("A run of a system that compares sentences.")],
    query: Annotated[str, argument("The query's id.")],
    document: Annotated[str, argument("The document's id.")],
) -> Answer:
    """Print which sentences of a query and of a document a run matched, heaviest first."""
    from annot.steps import run_matches as step

    matched = step.show(ws, run, query_id=query, doc_id=document)
    return Answer(matched, table("files.matches", matched))


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
    seed: Annotated[int | None, option("The seed that tells it from the others.")] = None,
    foreign: Annotated[
        str | None, option("Documents that are in no pool: drop, or keep as unjudged.", shown="refused")
    ] = None,
    duplicates: Annotated[str | None, option("Documents that are there twice: best.", shown="refused")] = None,
    missing: Annotated[str, option("Candidates that the run lacks: out, or last.")] = "out",
    distances: Annotated[bool, flag("--distances", "Scores are distances: smaller is better.")] = False,
    replace: Annotated[bool, flag("--replace", "Write over a run of this name that was made here.")] = False,
    dry_run: DryRunOption = False,
) -> Answer:
    """Import a run that was made elsewhere; it is evaluated, reported and released like our own.

    What is missing, foreign, there twice or tied is counted, with examples.
    """
    from annot.ranking.submission import Rules
    from annot.steps import run_import as step

    imported = step.bring_in(
        ws,
        files,
        tag=tag,
        meta=meta,
        facet=facet,
        system=system,
        seed=seed,
        rules=Rules(foreign, duplicates, missing),
        distances=distances,
        replace=replace,
        dry_run=dry_run,
    )
    return Answer(imported, told("run-imported", imported=imported))
