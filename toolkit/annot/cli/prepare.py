"""Prepare: the study's folder, the corpus, sentence facets and queries."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.errors import InputError
from annot.cli.commands import command, group
from annot.cli.options import ClusterOption, DryRunOption, argument, flag, option, setting
from annot.cli.output import Output, needs_a_person, progress, rendered, table

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


REPORTED = 10
"""Papers that are named, of many."""


@command("init")
def init(
    folder: Annotated[Path, argument("The folder of the study; made if it is not there.")] = Path(),
    name: Annotated[str | None, option("The collection's name.", shown="the folder's")] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Make a study: annot.toml, folders, the database."""
    from annot.steps import init as step

    made = step.init(folder, name=name, dry_run=dry_run)
    verb = "would make" if dry_run else "made"
    told_of = f"{folder}: {verb} {', '.join(made.made)}" if made.made else f"{folder}: complete already"
    return Output(made, told_of, made.notes)


group("corpus", help="Add papers, and print what the corpus holds.")


@command("corpus show")
def corpus_contents(ws: "Workspace") -> Output:
    """Print what the corpus holds: papers, years, and near-duplicates, of which a pool has only one."""
    from annot.steps import corpus as step

    with progress("comparing papers") as advance:
        found = step.contents(ws, advance=advance)
    return Output(found, rendered("contents", found=found, reported=step.REPORTED))


@command("corpus add")
def corpus_add(
    ws: "Workspace",
    files: Annotated[list[str], argument("Files of papers, plain or gzip; datasets with irds.")],
    form: Annotated[
        str | None,
        option(
            "annot, csfcube, json, s2orc, semantic-scholar, arxiv, acl, beir, irds, csv or parquet.",
            "--format",
            shown="told from each file",
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Add papers from files, and print what the filters left out, by reason, and what was cleaned of the texts."""
    from annot.publishing.report.words import sentences
    from annot.steps import corpus as step

    with progress("reading papers") as advance:
        added = step.add(ws, files, form=form, dry_run=dry_run, advance=advance)
    cleaned = sentences("commands.cleaned", cleanings=added.cleaned)
    return Output(added, rendered("added", added=added, cleaned=cleaned, reported=step.REPORTED))


@command("facets")
def facets_label(
    ws: "Workspace",
    model: Annotated[Path | None, option("A model made by `annot facets train`.")] = None,
    leave_out: Annotated[bool, flag("--leave-out", "Take papers that have no labels out of the corpus.")] = False,
    cluster: ClusterOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Label each sentence of the corpus and print the counts; labels that the papers came with are kept.

    Where the model has other labels than the study, papers that came without any are listed, with what can be done.
    """
    from annot.base.templating import counted
    from annot.steps import facets as step

    if leave_out:
        if model is not None:
            raise InputError("--leave-out: found --model beside it, expected one or the other")
        gone = step.leave_out(ws, dry_run=dry_run)
        verb = "would leave" if dry_run else "left"
        return Output(gone, f"{counted(len(gone.papers), 'paper')} {verb} the corpus, {gone.in_corpus} stay")
    with progress("labelling sentences") as advance:
        labelled = step.label(ws.replaced("machine", cluster=cluster), model=model, dry_run=dry_run, advance=advance)
    finding = needs_a_person(labelled.without, "{} paper(s) without sentence labels")
    return Output(labelled, rendered("facets", labelled=labelled, reported=REPORTED), finding=finding)


@command("facets train", needs_study=False)
def facets_train(
    ws: "Workspace | None",
    file: Annotated[Path, argument("Labelled abstracts as JSON Lines: `sentences`, `labels`.")],
    out: Annotated[Path, option("Where the model goes.", "--out", "-o")],
    held_out: Annotated[Path | None, option("Labelled abstracts to measure the model on.")] = None,
) -> Output:
    """Train a sentence labeller, write it to a file, and print its scores on held-out abstracts.

    Its labels are those of the study; outside a study, those of the file.
    """
    from annot.steps import facets as step

    trained = step.train(file, out=out, held_out=held_out, ws=ws)
    return Output(trained, rendered("trained", trained=trained))


group("query", help="Choose the queries: a paper and one facet of it.")

SeedOption = Annotated[int | None, setting("Random seed.")]


@command("query sample")
def query_sample(
    ws: "Workspace",
    out: Annotated[Path | None, option("The sheet to fill in.", "--out", "-o", shown="queries.csv")] = None,
    per_period: Annotated[int | None, setting("Papers per period.", min=1)] = None,
    number: Annotated[
        int | None, option("Write no sheet: choose so many queries, unrated, which goes on record.", "--choose", min=1)
    ] = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Draw random papers from each period into a sheet, and print how to fill it in with type and rating."""
    from annot.steps import query_sample as step

    ws = ws.replaced("queries", per_period=per_period).replaced(seed=seed)
    if number is not None:
        if out is not None:
            raise InputError("--choose: found --out beside it, expected one or the other: it writes no sheet")
        chosen = step.choose_unrated(ws, number, dry_run=dry_run)
        return Output(chosen, rendered("chosen", choice=chosen, dry_run=dry_run), chosen.notes)
    sampled = step.sample(ws, out=out or Path(ws.sheet.name), dry_run=dry_run)
    return Output(sampled, rendered("sampled", sampled=sampled, sheet=ws.sheet.name), sampled.notes)


@command("query choose")
def query_choose(
    ws: "Workspace",
    number: Annotated[int, argument("How many queries.", min=1)],
    sheet: Annotated[Path, option("The sheet, filled in.", "--sheet", "-s")] = Path("queries.csv"),
    two_facets: Annotated[float | None, setting("Share of papers that give two queries.", min=0.0, max=1.0)] = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Choose queries from the rated papers, as evenly as possible across periods, types and facets.

    Adds the chosen queries to those of the study. Left out are surveys, papers that are not rated or rated too low
    (`min_rating` in annot.toml), and papers whose facets are all struck out.
    """
    from annot.steps import query_sample as step

    ws = ws.replaced("queries", two_facet_share=two_facets).replaced(seed=seed)
    chosen = step.choose(ws, number, sheet=sheet, dry_run=dry_run)
    return Output(chosen, rendered("chosen", choice=chosen, dry_run=dry_run))


@command("query add")
def query_add(
    ws: "Workspace",
    paper: Annotated[str | None, argument("The id of the query paper.")] = None,
    facet: Annotated[str | None, option("A facet of annot.toml.", "--facet", "-f")] = None,
    file: Annotated[Path | None, option("CSV with the columns paper_id, facet and, where wanted, sentences.")] = None,
    sentences: Annotated[
        str | None, option("The query's sentences, counted from 1: 2,3.", shown="all of the facet")
    ] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Add one query, by facet or by chosen sentences; or all those of a file."""
    from annot.base.templating import counted
    from annot.steps import query as step

    if file is not None:
        if paper is not None or facet is not None or sentences is not None:
            raise InputError("--file: found a paper or its facet beside it, expected one or the other")
        several = step.add_file(ws, file, dry_run=dry_run)
        return Output(several, f"{counted(len(several), 'query')}: {', '.join(query.query_id for query in several)}")
    if paper is None or facet is None:
        found = "found no paper" if paper is None else f"found paper {paper!r} without --facet"
        raise InputError(f"{found}, expected `annot query add PAPER --facet FACET`, or --file")
    added = step.add(ws, paper, facet=facet, sentences=sentences, dry_run=dry_run)
    places = ", ".join(str(place + 1) for place in added.sentences)
    return Output(added, f"{added.query_id}: sentences {places}")


@command("query remove")
def query_remove(
    ws: "Workspace", query: Annotated[str, argument("The id of the query.")], dry_run: DryRunOption = False
) -> Output:
    """Remove one query, and the pool of its paper where no other query needs it; not where pairs of it were planned."""
    from annot.base.templating import counted
    from annot.steps import query as step

    removed = step.remove(ws, query, dry_run=dry_run)
    pool = f", with the pool of {removed.paper_id}; `annot pool` brings pools/ up to date" if removed.with_pool else ""
    verb = "would be removed" if dry_run else "removed"
    return Output(removed, f"{removed.query_id}: {verb}{pool}; the study has {counted(removed.queries, 'query')}")


@command("query list", csv=True)
def query_list(ws: "Workspace") -> Output:
    """Print the queries of the study."""
    from annot.steps import query as step

    listed = step.listing(ws)
    return Output(listed, table(step.QUERIES, listed))


@command("query folds")
def query_folds(
    ws: "Workspace",
    folds: Annotated[int, option("How many.", min=2)] = 2,
    seed: Annotated[int | None, option("Seed of the draw.", shown="annot.toml", min=0)] = None,
    redraw: Annotated[bool, flag("--redraw", "Draw anew although folds are on record.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Draw test folds of the queries; evaluation then takes the mean of the folds' means.

    A paper and its near-copies are in one fold.
    """
    from annot.steps import query as step

    drawn = step.draw(ws, n=folds, seed=seed, redraw=redraw, dry_run=dry_run)
    return Output(drawn, table(step.columns(drawn.facets), drawn.rows), drawn.notes)
