"""Prepare: the study folder, the corpus, sentence labels, queries, and data made elsewhere."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annot.base.errors import FindingError, InputError
from annot.base.names import counted
from annot.base.plugins import parts
from annot.base.settings import Kind
from annot.cli import options
from annot.cli.commands import command, group
from annot.cli.options import argument, flag, one_of, option, setting
from annot.cli.output import Output, listing, needs_a_person, progress, rendered, say, table, tabled
from annot.formats.corpora import FORMATS

if TYPE_CHECKING:
    from annot.study.workspace import Workspace


# ----------------------------------------------------------------------------------------------------------------------
# Prepare: the study folder, the corpus, sentence labels and queries.
# ----------------------------------------------------------------------------------------------------------------------


FORMATS_LISTED = (*FORMATS, *parts("paper_formats"))
"""Formats that `annot corpus add --help` lists."""
REPORTED = 10
"""Papers that are named, of many."""


@command("init")
def init(
    folder: Annotated[Path, argument("Folder of the study; created if it does not exist.")] = Path(),
    name: Annotated[str | None, option("Name of the collection.", shown="name of the folder")] = None,
    kind: Annotated[Kind | None, option("What people judge: facets, topics or questions.", shown="facets")] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Create a study: a folder with annot.toml, subfolders and the database."""
    from annot.steps import setup as step

    made, notes = step.init(folder, name=name, kind=kind, dry_run=dry_run)
    verb = "would create" if dry_run else "created"
    text = f"{folder}: {verb} {', '.join(made)}" if made else f"{folder}: already complete"
    return Output({"root": folder, "made": made, "notes": notes}, text, notes)


group("corpus", help="Add papers to the corpus and show its contents.")


@command("corpus show")
def corpus_contents(ws: "Workspace") -> Output:
    """Show the contents of the corpus: papers, years, files and near-duplicates, of which a pool takes one a group."""
    from annot.corpus.adding import by_format
    from annot.steps import corpus as step

    with progress("comparing papers") as advance:
        contents = step.contents(ws, advance=advance)
    words = {"noun": ws.settings.document_word, "files": contents.files, "formats": by_format(contents.files)}
    return Output(contents, rendered("contents", found=contents, reported=step.REPORTED, **words))


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
        option(f"Format: {', '.join(FORMATS_LISTED[:-1])} or {FORMATS_LISTED[-1]}.", "--format", shown="detected"),
    ] = None,
    corrected: Annotated[
        str | None,
        option("Replace papers that are in the corpus by those with the same id in the files, and record this reason."),
    ] = None,
    partial: Annotated[
        bool, flag("--partial", "Add the others even if more than one record in twenty cannot be read.")
    ] = False,
    version: Annotated[
        str | None,
        option(
            "Name of a new version of the corpus. Required with new papers once pairs were sent or judged.", shown=False
        ),
    ] = None,
    first: Annotated[str | None, option("Name of the first version, when the second begins.", shown="1")] = None,
    reason: Annotated[str | None, option("Why there is a new version.", shown=False)] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Add papers or other documents from files. Lists what was left out, with reasons, and changes made to texts.

    After pools were drawn, new papers make a new version of the corpus (--version): earlier pools stay, and
    `annot pool --grow` draws from the new papers.

    Without --corrected, a paper whose id is in the corpus already is left out. With it, the new record counts from now
    on. Pairs that were judged on the earlier text wait for your decision: see `annot corpus corrected`.
    """
    from annot.corpus.adding import by_format
    from annot.corpus.versions import VersionWanted
    from annot.publishing.report.tables import sentences
    from annot.steps import corpus as step

    with progress("reading papers") as advance:
        added = step.add(
            ws,
            files,
            form=form,
            dry_run=dry_run,
            advance=advance,
            corrected=corrected,
            partial=partial,
            version=VersionWanted(version, first, reason),
        )
    words = {"noun": ws.settings.document_word, "files": added.files, "reported": step.REPORTED}
    words |= {"formats": by_format(added.files), "labels": ws.settings.labels.names}
    cleaned = sentences("cleaned.cleaned", cleanings=added.cleaned, noun=words["noun"])
    text = rendered("added", added=added, cleaned=cleaned, **words)
    hint = "correct them and add the file again; papers that are kept are not added twice" if added.unreadable else None
    return Output(added, text, finding=FindingError(added.finding, hint=hint) if added.finding else None)


@command("corpus withdraw")
def corpus_withdraw(
    ws: "Workspace",
    file: Annotated[Path, argument("File with the ids of the documents, one a line.")],
    reason: Annotated[str, option("Why they are withdrawn, such as a retraction.")],
    version: Annotated[
        str | None, option("Name of a version of the corpus that begins without them.", shown="the newest")
    ] = None,
    first: Annotated[str | None, option("Name of the first version, when the second begins.", shown="1")] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Remove documents, such as retracted papers, from the newest version of the corpus on.

    They are not shown to people any more, and leave the pools and the qrels of this version. Their answers stay on
    record, and earlier versions keep them. The next `annot push` takes their open tasks back.
    """
    from annot.corpus.versions import VersionWanted, withdraw
    from annot.study.workspace import given_text

    doc_ids = given_text(file, expected="ids of documents, one a line").split()
    withdrawn = withdraw(ws, doc_ids, reason=reason, version=VersionWanted(version, first), dry_run=dry_run)
    verb = "would be withdrawn" if dry_run else "withdrawn"
    known = f", {len(withdrawn.known)} of them before" if withdrawn.known else ""
    documents = counted(len(withdrawn.documents) + len(withdrawn.known), "document")
    pairs = f"{counted(withdrawn.pairs, 'pair')}, {withdrawn.judged} with answers"
    line = f"{documents} {verb} from version {withdrawn.version} of the corpus on{known}: {pairs}"
    stay = f"{', '.join(withdrawn.queries)}: queries about these stay; `annot query remove QUERY` removes one"
    return Output(withdrawn, line, notes=(stay,) if withdrawn.queries else ())


@command("corpus corrected", csv=True)
def corpus_corrected(
    ws: "Workspace",
    query: Annotated[str | None, argument("Query id.")] = None,
    doc: Annotated[str | None, argument("Document id.")] = None,
    of: Annotated[str | None, option("Decide on every pair that waits because of this corrected paper.")] = None,
    every: Annotated[bool, flag("--all", "Decide on every pair that waits.")] = False,
    stays: Annotated[str | None, option("Keep the text that was judged, and record this reason.")] = None,
    again: Annotated[str | None, option("Have the pair judged again on the new text, and record this reason.")] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """List pairs that were judged before one of their texts was corrected, or decide what becomes of them.

    Until you decide, a pair waits: its open tasks and its dispute are not sent. With --stays, they are sent with the
    text that was judged. With --again, all answers of the pair go back to their assessors, with the new text. Pairs
    without an answer need no decision: they are sent with the new text.
    """
    from annot.steps import corpus as step

    if stays is None and again is None:
        if (query, doc, of, every) != (None, None, None, False):
            raise InputError('found no decision, expected --stays "WHY" or --again "WHY"')
        return listing(step.PAIRS, step.listing(ws), empty="no pair was judged before one of its texts was corrected")
    one_of(stays=stays, again=again)
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
    cluster: options.ClusterOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Label each sentence in the corpus and print the counts. Labels that came with the papers are kept.

    A paper that this model has labelled keeps its labels, even if a later release gives others.
    If the labels of the model differ from those of the study, lists the papers without labels and what you can do.
    """
    from annot.steps import facets as step

    if not ws.settings.faceted:
        return NOTHING_TO_LABEL
    one_of(leave_out=leave_out, model=model)
    if leave_out:
        papers, in_corpus = step.leave_out(ws, dry_run=dry_run)
        verb = "would be removed" if dry_run else "removed"
        text = f"{counted(len(papers), 'paper')} {verb} from the corpus, {in_corpus:,} left"
        return Output({"papers": papers, "in_corpus": in_corpus}, text)
    for note in step.model_notes(ws, model):
        say(note)
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


@command("query sample")
def query_sample(
    ws: "Workspace",
    out: Annotated[Path | None, option("Rating sheet to write.", "--out", "-o", shown="queries.csv")] = None,
    per_period: Annotated[int | None, setting("Papers to draw from each period.", min=1)] = None,
    number: Annotated[
        int | None, option("Instead, choose this many queries without rating; this is recorded.", "--choose", min=1)
    ] = None,
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Draw random papers from each period into a rating sheet, and explain how to fill it in."""
    from annot.steps import query as step

    ws = ws.replaced("queries", per_period=per_period).replaced(seed=seed)
    if number is not None:
        one_of(choose=number, out=out)
        chosen = step.choose_unrated(ws, number, dry_run=dry_run)
        return Output(chosen, rendered("chosen", choice=chosen, dry_run=dry_run), chosen.notes)
    sampled = step.sample(ws, out=out or Path(ws.sheet.name), dry_run=dry_run)
    return Output(sampled, rendered("sampled", sampled=sampled, sheet=ws.sheet.name), sampled.notes)


@command("query choose")
def query_choose(
    ws: "Workspace",
    number: Annotated[int, argument("Number of queries.", min=1)],
    sheet: Annotated[Path, option("The rating sheet, filled in.", "--sheet", "-s")] = Path("queries.csv"),
    seed: options.SeedOption = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Choose queries from the rated papers, as evenly as possible across periods, types and facets.

    Adds them to the queries of the study. Leaves out surveys, papers without a rating or with one below `min_rating` in
    annot.toml, and papers whose facets are all struck out.
    """
    from annot.steps import query as step

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
    text: Annotated[str | None, option("Add a topic that is a text: its title, or the question. Needs --id.")] = None,
    topic_id: Annotated[str | None, option("Id of the topic that is a text.", "--id")] = None,
    description: Annotated[str | None, option("What --text asks, in a sentence or two.")] = None,
    narrative: Annotated[str | None, option("What counts as an answer to --text, and what does not.")] = None,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Add a query: a facet of a paper, chosen sentences of it, or a topic that is a text. --file adds many."""
    from annot.base.records import Topic
    from annot.steps import query as step

    of_paper = (paper, facet, sentences) != (None, None, None)
    if (text, topic_id, description, narrative) != (None, None, None, None):
        if text is None or topic_id is None:
            raise InputError("found a topic without --text and --id, expected both")
        if file is not None or of_paper:
            raise InputError("found --text and a paper, --facet, --sentences or --file; expected --text alone")
        topic = Topic(topic_id, text, description, narrative)
        query, notes = step.add_text(ws, topic, dry_run=dry_run)
        return Output(query, f"{topic_id}: {text}", notes)
    if file is not None:
        if of_paper:
            raise InputError(
                "found --file and a paper, --facet or --sentences; expected --file alone or PAPER --facet FACET"
            )
        if not step.is_of_papers(file):
            added_topics = step.add_topic_file(ws, file, dry_run=dry_run)
            shown = rendered("topics", added=added_topics, file=file, dry_run=dry_run)
            return Output(added_topics, shown, added_topics.notes)
        new = step.add_file(ws, Path(file), dry_run=dry_run)
        return Output(new, f"{counted(len(new), 'query')}: {', '.join(query.query_id for query in new)}")
    if paper is None or facet is None:
        problem = "found no paper" if paper is None else f"found paper {paper!r} without --facet"
        raise InputError(f"{problem}, expected `annot query add PAPER --facet FACET`, or --file")
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
    dry_run: options.DryRunOption = False,
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
    seed: options.SeedOption = None,
    redraw: Annotated[bool, flag("--redraw", "Replace the folds on record.")] = False,
    dry_run: options.DryRunOption = False,
) -> Output:
    """Split the queries into test folds. Evaluation then reports the mean over folds.

    A paper and its near-duplicates are in the same fold.
    """
    from annot.steps import query as step

    drawn = step.draw(ws.replaced(seed=seed), n=folds, redraw=redraw, dry_run=dry_run)
    folds_drawn = step.columns(drawn.facets).of(drawn.rows, words=ws.vocabulary)
    return tabled(folds_drawn, data=drawn, notes=drawn.notes)


# ----------------------------------------------------------------------------------------------------------------------
# Prepare: import data that was made elsewhere.
# ----------------------------------------------------------------------------------------------------------------------


FIELDS = ("query", "document", "assessor", "grade", "time", "seconds", "occasion", "comment")
OF_PEOPLE = ("--adjudicator", "--foreign", "--same-person", "--different-people")
OPTIONS: dict[str, frozenset[str]] = {
    "judgements": frozenset({*(f"--{field}-column" for field in FIELDS), "--facet", *OF_PEOPLE}),
    "grades": frozenset({"--format", "--facet", "--per-topic", "--foreign"}),
    "labelstudio": frozenset({"--rating", "--query", "--document", "--comment", "--grade", "--facet", *OF_PEOPLE}),
    "citations": frozenset(),
}
"""The options of each kind of file, apart from --dry-run. Kinds of wings and plug-ins have none."""
KINDS_LISTED = (*parts("import_kinds"), *OPTIONS)
"""Kinds of files that `annot import --help` lists."""


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
        str | None,
        option(f"Kind of file: {', '.join(KINDS_LISTED)}. You can leave it out if the content is clear.", "--as"),
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
        bool, flag("--same-person", "judgements, labelstudio: names that differ only in case or spaces are one person.")
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
    dry_run: options.DryRunOption = False,
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
    from annot.steps import imports as step

    added_kinds = step.added_kinds(ws.settings.plugins.names)
    kind = kind or step.kind_of(files, ws.settings.plugins.names)
    columns = {
        **{"query": query_column, "document": document_column, "assessor": assessor_column, "grade": grade_column},
        **{"time": time_column, "seconds": seconds_column, "occasion": occasion_column, "comment": comment_column},
    }
    typed: dict[str, object] = {f"--{field}-column": name for field, name in columns.items()}
    typed |= {"--rating": rating, "--query": query, "--document": document, "--comment": comment, "--grade": grade}
    typed |= {"--facet": facet, "--adjudicator": adjudicator, "--format": form, "--per-topic": per_topic}
    typed |= {"--foreign": foreign, "--same-person": same_person, "--different-people": different_people}
    one_of(same_person=same_person, different_people=different_people)
    _check_options(kind, {name for name, value in typed.items() if value}, added_kinds)
    if kind in added_kinds:
        collection = added_kinds[kind].read(ws, _single_file(files, kind), dry_run=dry_run)
        return _counts(collection, collection.counts, collection.notes)
    if kind == "citations":
        from annot.steps import corpus

        with progress("reading citations") as advance:
            added = corpus.add_citations(ws, files, dry_run=dry_run, advance=advance)
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
        _single_file(files, kind),
        columns={field: name for field, name in columns.items() if name is not None},
        export=_places(rating, query, document, comment) if kind == "labelstudio" else None,
        grades=tuple(grade or ()),
        facet=facet,
        adjudicators=tuple(adjudicator or ()),
        foreign=foreign,
        same_person=same_person if same_person or different_people else None,
        dry_run=dry_run,
    )
    return Output(imported, rendered("imported", imported=imported), imported.notes)


def _places(rating: str | None, query: str | None, document: str | None, comment: str | None) -> dict[str, str]:
    """The places of the fields of a judgement in an export."""
    if rating is None or query is None or document is None:
        raise InputError("--as labelstudio needs --rating, --query and --document, which name the places in the export")
    places = {"grade": rating, "query": query, "document": document}
    return places if comment is None else places | {"comment": comment}


def _check_options(kind: str, typed: set[str], added_kinds: Iterable[str] = ()) -> None:
    options_of = dict.fromkeys(added_kinds, frozenset[str]()) | OPTIONS
    if kind not in options_of:
        raise InputError(f"--as: found {kind!r}, expected one of {', '.join(options_of)}")
    for name in sorted(typed - options_of[kind]):
        others = " and ".join(other for other, names in options_of.items() if name in names)
        raise InputError(f"{name} can only be used with --as {others}, found --as {kind}")


def _single_file(files: list[Path], kind: str) -> Path:
    if len(files) > 1:
        raise InputError(f"--as {kind}: found {len(files)} files, expected one; import them one at a time")
    return files[0]


def _counts(imported: object, counts: dict[str, int], notes: tuple[str, ...]) -> Output:
    from annot.publishing.report import commands

    return Output(imported, table(commands.counts("imported", "count"), counts.items()), notes)
