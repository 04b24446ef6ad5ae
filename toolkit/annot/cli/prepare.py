"""Prepare: the study folder, the corpus, sentence labels and queries."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annot.base.errors import FindingError, InputError
from annot.base.names import counted
from annot.base.settings import Kind
from annot.cli.commands import command, group
from annot.cli.options import ClusterOption, DryRunOption, argument, flag, option, setting
from annot.cli.output import Output, listing, needs_a_person, progress, rendered, table
from annot.formats.corpora import FORMATS

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


REPORTED = 10
"""Papers that are named, of many."""


@command("init")
def init(
    folder: Annotated[Path, argument("Folder of the study; created if it does not exist.")] = Path(),
    name: Annotated[str | None, option("Name of the collection.", shown="name of the folder")] = None,
    kind: Annotated[Kind | None, option("What people judge: facets, topics or questions.", shown="facets")] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Create a study: a folder with annot.toml, subfolders and the database."""
    from annot.steps import init as step

    made = step.init(folder, name=name, kind=kind, dry_run=dry_run)
    verb = "would create" if dry_run else "created"
    text = f"{folder}: {verb} {', '.join(made.made)}" if made.made else f"{folder}: already complete"
    return Output(made, text, made.notes)


group("corpus", help="Add papers to the corpus and show its contents.")


@command("corpus show")
def corpus_contents(ws: "Workspace") -> Output:
    """Show the contents of the corpus: papers, years, files and near-duplicates, of which a pool takes one a group."""
    from annot.corpus.files_read import by_format
    from annot.steps import corpus as step

    with progress("comparing papers") as advance:
        found = step.contents(ws, advance=advance)
    words = {"noun": ws.settings.document_word, "files": found.files, "formats": by_format(found.files)}
    return Output(found, rendered("contents", found=found, reported=step.REPORTED, **words))


@command("corpus add")
def corpus_add(
    ws: "Workspace",
    files: Annotated[
        list[str],
        argument(
            "Files or folders of papers or other documents, plain or gzipped; with --format irds, names of datasets."
        ),
    ],
    form: Annotated[
        str | None,
        option(
            f"Format: {', '.join([*FORMATS][:-1])} or {[*FORMATS][-1]}.",
            "--format",
            shown="detected",
        ),
    ] = None,
    corrected: Annotated[
        str | None,
        option("Replace papers that are in the corpus by those with the same id in the files, and record this reason."),
    ] = None,
    partial: Annotated[
        bool, flag("--partial", "Add the others even if more than one record in twenty cannot be read.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Add papers or other documents from files. Lists what was left out, with reasons, and changes made to texts.

    Without --corrected, a paper whose id is in the corpus already is left out. With it, the new record counts from now
    on. Pairs that were judged on the earlier text wait for your decision: see `annot corpus corrected`.
    """
    from annot.corpus.files_read import by_format
    from annot.publishing.report.words import sentences
    from annot.steps import corpus as step

    with progress("reading papers") as advance:
        added = step.add(ws, files, form=form, dry_run=dry_run, advance=advance, corrected=corrected, partial=partial)
    words = {"noun": ws.settings.document_word, "files": added.files, "reported": step.REPORTED}
    words |= {"formats": by_format(added.files), "labels": ws.settings.labels.names}
    cleaned = sentences("cleaned.cleaned", cleanings=added.cleaned, noun=words["noun"])
    text = rendered("added", added=added, cleaned=cleaned, **words)
    return Output(added, text, finding=FindingError(added.finding) if added.finding else None)


@command("corpus corrected", csv=True)
def corpus_corrected(
    ws: "Workspace",
    query: Annotated[str | None, argument("Query id.")] = None,
    doc: Annotated[str | None, argument("Document id.")] = None,
    of: Annotated[str | None, option("Decide on every pair that waits because of this corrected paper.")] = None,
    every: Annotated[bool, flag("--all", "Decide on every pair that waits.")] = False,
    stays: Annotated[str | None, option("Keep the text that was judged, and record this reason.")] = None,
    again: Annotated[str | None, option("Have the pair judged again on the new text, and record this reason.")] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """List pairs that were judged before one of their texts was corrected, or decide what becomes of them.

    Until you decide, a pair waits: its open tasks and its dispute are not sent. With --stays, they are sent with the
    text that was judged. With --again, all answers of the pair go back to their assessors, with the new text. Pairs
    without an answer need no decision: they are sent with the new text.
    """
    from annot.steps import corrected as step

    if stays is None and again is None:
        if (query, doc, of, every) != (None, None, None, False):
            raise InputError('found no decision, expected --stays "WHY" or --again "WHY"')
        return listing(step.PAIRS, step.listing(ws), empty="no pair was judged before one of its texts was corrected")
    if stays is not None and again is not None:
        raise InputError("found --stays and --again, expected one of them")
    if (query is None) != (doc is None):
        raise InputError(f"found the query {query} alone, expected QUERY DOC")
    pair = None if query is None or doc is None else (query, doc)
    decided = step.rule(
        ws,
        pair,
        of_text=of,
        every=every,
        ruling="again" if stays is None else "stays",
        why=(again if stays is None else stays) or "",
        dry_run=dry_run,
    )
    return Output(decided, step.describe(decided))


NOTHING_TO_LABEL = Output(None, "Nothing to do: this study judges no facets, so its sentences need no labels.")


@command("facets")
def facets_label(
    ws: "Workspace",
    model: Annotated[Path | None, option("Label with this model, made by `annot facets train`.")] = None,
    leave_out: Annotated[bool, flag("--leave-out", "Instead, remove papers without labels from the corpus.")] = False,
    cluster: ClusterOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Label each sentence in the corpus and print the counts. Labels that came with the papers are kept.

    If the labels of the model differ from those of the study, lists the papers without labels and what you can do.
    """
    from annot.steps import facets as step

    if not ws.settings.faceted:
        return NOTHING_TO_LABEL
    if leave_out:
        if model is not None:
            raise InputError("found --leave-out and --model, expected one of them")
        gone = step.leave_out(ws, dry_run=dry_run)
        verb = "would be removed" if dry_run else "removed"
        return Output(gone, f"{counted(len(gone.papers), 'paper')} {verb} from the corpus, {gone.in_corpus:,} left")
    with progress("labelling sentences") as advance:
        labelled = step.label(ws.replaced("machine", cluster=cluster), model=model, dry_run=dry_run, advance=advance)
    finding = needs_a_person(labelled.without, "paper", "without sentence labels")
    return Output(labelled, rendered("facets", labelled=labelled, reported=REPORTED), finding=finding)


@command("facets train", needs_study=False)
def facets_train(
    ws: "Workspace | None",
    file: Annotated[Path, argument("Labelled abstracts as JSON Lines, with `sentences` and `labels`.")],
    out: Annotated[Path, option("File for the model.", "--out", "-o")],
    held_out: Annotated[Path | None, option("Labelled abstracts for testing the model.")] = None,
) -> Output:
    """Train a model that labels sentences, and print its scores on held-out abstracts.

    It uses the labels of the study; outside a study, those of the file.
    """
    from annot.steps import facets as step

    if ws is not None and not ws.settings.faceted:
        return NOTHING_TO_LABEL
    trained = step.train(file, out=out, held_out=held_out, ws=ws)
    return Output(trained, rendered("trained", trained=trained))


group("query", help="Choose the queries. A query is a paper and one of its facets, or a topic that is a text.")

SeedOption = Annotated[int | None, setting("Random seed.")]


@command("query sample")
def query_sample(
    ws: "Workspace",
    out: Annotated[Path | None, option("Rating sheet to write.", "--out", "-o", shown="queries.csv")] = None,
    per_period: Annotated[int | None, setting("Papers to draw from each period.", min=1)] = None,
    number: Annotated[
        int | None, option("Instead, choose this many queries without rating; this is recorded.", "--choose", min=1)
    ] = None,
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Draw random papers from each period into a rating sheet, and explain how to fill it in."""
    from annot.steps import query_sample as step

    ws = ws.replaced("queries", per_period=per_period).replaced(seed=seed)
    if number is not None:
        if out is not None:
            raise InputError("found --choose and --out, expected one of them: --choose writes no sheet")
        chosen = step.choose_unrated(ws, number, dry_run=dry_run)
        return Output(chosen, rendered("chosen", choice=chosen, dry_run=dry_run), chosen.notes)
    sampled = step.sample(ws, out=out or Path(ws.sheet.name), dry_run=dry_run)
    return Output(sampled, rendered("sampled", sampled=sampled, sheet=ws.sheet.name), sampled.notes)


@command("query choose")
def query_choose(
    ws: "Workspace",
    number: Annotated[int, argument("Number of queries.", min=1)],
    sheet: Annotated[Path, option("The rating sheet, filled in.", "--sheet", "-s")] = Path("queries.csv"),
    seed: SeedOption = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Choose queries from the rated papers, as evenly as possible across periods, types and facets.

    Adds them to the queries of the study. Leaves out surveys, papers without a rating or with one below `min_rating` in
    annot.toml, and papers whose facets are all struck out.
    """
    from annot.steps import query_sample as step

    chosen = step.choose(ws.replaced(seed=seed), number, sheet=sheet, dry_run=dry_run)
    return Output(chosen, rendered("chosen", choice=chosen, dry_run=dry_run), chosen.notes)


@command("query add")
def query_add(
    ws: "Workspace",
    paper: Annotated[str | None, argument("Id of the query paper.")] = None,
    facet: Annotated[str | None, option("Facet, as named in annot.toml.", "--facet", "-f")] = None,
    file: Annotated[
        str | None,
        option(
            "Add many: topics (TREC, BEIR, JSON Lines, CSV, TSV, or irds:NAME for a dataset of ir_datasets), or a CSV "
            "file with the columns paper_id, facet and optionally sentences."
        ),
    ] = None,
    sentences: Annotated[str | None, option("Its sentences, counted from 1, as in 2,3.", shown="the facet's")] = None,
    text: Annotated[
        str | None,
        option("Add a topic that is a text: its title, or the question. Needs --id."),
    ] = None,
    topic_id: Annotated[str | None, option("Id of the topic that is a text.", "--id")] = None,
    description: Annotated[str | None, option("What --text asks, in a sentence or two.")] = None,
    narrative: Annotated[str | None, option("What counts as an answer to --text, and what does not.")] = None,
    dry_run: DryRunOption = False,
) -> Output:
    """Add a query: a facet of a paper, chosen sentences of it, or a topic that is a text. --file adds many."""
    from annot.base.records import Topic
    from annot.steps import query as step
    from annot.steps import topics

    if text is not None or topic_id is not None or description is not None or narrative is not None:
        if text is None or topic_id is None:
            raise InputError("found a topic without --text and --id, expected both")
        if file is not None or paper is not None or facet is not None or sentences is not None:
            raise InputError("found --text and a paper, --facet, --sentences or --file; expected --text alone")
        topic = Topic(topic_id, text, description, narrative)
        query, notes = topics.add_text(ws, topic, dry_run=dry_run)
        return Output(query, f"{topic_id}: {text}", notes)
    if file is not None:
        if paper is not None or facet is not None or sentences is not None:
            raise InputError(
                "found --file and a paper, --facet or --sentences; expected --file alone or PAPER --facet FACET"
            )
        if not topics.is_of_papers(file):
            added_topics = topics.add_file(ws, file, dry_run=dry_run)
            shown = rendered("topics", added=added_topics, file=file, dry_run=dry_run)
            return Output(added_topics, shown, added_topics.notes)
        several = step.add_file(ws, Path(file), dry_run=dry_run)
        return Output(several, f"{counted(len(several), 'query')}: {', '.join(query.query_id for query in several)}")
    if paper is None or facet is None:
        found = "found no paper" if paper is None else f"found paper {paper!r} without --facet"
        raise InputError(f"{found}, expected `annot query add PAPER --facet FACET`, or --file")
    added = step.add(ws, paper, facet=facet, sentences=sentences, dry_run=dry_run)
    places = ", ".join(str(place + 1) for place in added.sentences)
    return Output(added, f"{added.query_id}: sentences {places}")


@command("query remove", server=True)
def query_remove(
    ws: "Workspace",
    query: Annotated[str, argument("Query id.")],
    sent: Annotated[
        bool, flag("--sent", "Also if it was planned or sent: its tasks are taken back from Label Studio first.")
    ] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Remove a query, and its pool if no other query needs it.

    A query that was sent by mistake can be removed with --sent as long as no pair of it has an answer. Judgements are
    never deleted.
    """
    from annot.steps import query as step

    removed = step.remove(ws, query, sent=sent, dry_run=dry_run)
    tasks = f", with {counted(removed.tasks, 'task')} on Label Studio" if removed.tasks else ""
    pool = f", with the pool of {removed.topic_id}; `annot pool` brings pools/ up to date" if removed.with_pool else ""
    verb = "would be removed" if dry_run else "removed"
    return Output(
        removed, f"{removed.query_id}: {verb}{tasks}{pool}; the study has {counted(removed.queries, 'query')}"
    )


@command("query list", csv=True)
def query_list(ws: "Workspace") -> Output:
    """List the queries of the study."""
    from annot.publishing.report.study_tables import query_columns
    from annot.steps import query as step

    listed = step.listing(ws)
    return listing(query_columns(listed), listed, empty="no queries yet; add one with `annot query add`")


@command("query folds")
def query_folds(
    ws: "Workspace",
    folds: Annotated[int, option("Number of folds.", min=2)] = 2,
    seed: Annotated[int | None, option("Random seed.", shown="annot.toml", min=0)] = None,
    redraw: Annotated[bool, flag("--redraw", "Replace the folds on record.")] = False,
    dry_run: DryRunOption = False,
) -> Output:
    """Split the queries into test folds. Evaluation then reports the mean over folds.

    A paper and its near-duplicates are in the same fold.
    """
    from annot.steps import query as step

    drawn = step.draw(ws, n=folds, seed=seed, redraw=redraw, dry_run=dry_run)
    return Output(drawn, table(step.columns(drawn.facets), drawn.rows), drawn.notes)
