"""The report, the page on which the collection is read, the datasheet and the release."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from annot.base.errors import FindingError, InputError, MissingInput
from annot.base.names import check_name, counted
from annot.base.records import Assignment, Judgement, Paper, Ranking
from annot.base.settings import CollectionSettings
from annot.base.stats.values import Undefined
from annot.corpus.corpus_facts import corpus_facts
from annot.formats import beir, trec
from annot.judging.comments import PublishedWords, consent
from annot.judging.stage import PRODUCTS
from annot.judging.states import remembered_findings
from annot.measuring.evaluation.comparisons import FAR_DOWN, NEAR_TOP, error_cases
from annot.measuring.evaluation.evaluated import mean_of_all
from annot.measuring.evaluation.measures import TIES, MeasureSelection
from annot.measuring.measured import graded_pools, matches_file, matches_of, primary_of, read_run_files
from annot.measuring.sampled.estimates import GradedPools
from annot.pools.admission import drawn_citations
from annot.pools.one_version import snapshot_in
from annot.publishing import paper
from annot.publishing.browse_page import BrowsedRun, page, page_data, write_pages
from annot.publishing.release import citing, collection_facts, leaks, prose, released_files
from annot.publishing.report import pages, side_by_side
from annot.publishing.report.figures import BROWSE_FILE
from annot.publishing.report.notices import RESTS_ON, notices
from annot.publishing.report.sections.whole import tables
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, Columns, Table
from annot.publishing.terms import Terms, terms_of
from annot.store import facet_labels, papers, people, projects, trials
from annot.store.models import Notice, Session, StoredRound
from annot.store.pools import read_corpus_versions
from annot.study import snapshot as snapshots
from annot.study.outcome import TRIAL_ROUNDS, Pair
from annot.study.provenance import ANSWERS_FILE, States, note
from annot.study.workspace import Workspace, read_kinds, remove_dead_stages, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The report: everything that was measured, on one page, from the records.
# ----------------------------------------------------------------------------------------------------------------------


def write_report(ws: Workspace, *, out: Path | None = None) -> Path:
    """Write `report.html`, the same as Markdown, its tables as LaTeX, and its figures as JSON; the path of the page.

    out: the folder to write into instead of `exports/`, for a study that may only be read.
    """
    folder, snapshot = ws.exports if out is None else out, snapshots.read_snapshot(ws)
    written = pages.report_files(Study(snapshot))
    write_pages(folder, written)
    if out is None:
        for product in (name for name, file in PRODUCTS.items() if file in written):
            note(ws, product, snapshot.states)
    return folder / pages.REPORT_FILE


FIGURES = "figures"


def write_figures(ws: Workspace, *, purpose: str, out: Path | None = None) -> tuple[Path, ...]:
    """Write every drawing of the report as SVG, PDF and PNG, with data and caption; returns the drawings' paths.

    purpose: `screen`, or `paper` for one column and two, in greys and with the fonts. out: the folder to write into
    instead of `exports/`.
    """
    study = Study(snapshots.read_snapshot(ws))
    files = dict(paper.figure_files(paper.drawings(study), paper.SURFACES[purpose]))
    folder = (ws.exports if out is None else out) / FIGURES / purpose
    paper.write_folder(folder, files, inputs=study.snapshot.states)
    return tuple(folder / name for name in files if name.endswith(".svg"))


DRAFT_FILE = "paper.tex"


def write_paper(ws: Workspace, *, out: Path | None = None) -> Path:
    """Write the folder for a paper: scores, tables, drawings, methods and a missing draft; returns its path.

    out: the folder to write into instead of `exports/`.
    """
    study = Study(snapshots.read_snapshot(ws))
    draft = (ws.exports if out is None else out) / "paper" / DRAFT_FILE
    files = dict(paper.paper_files(study, draft=not draft.exists()))
    if DRAFT_FILE in files:
        write_file(draft, files.pop(DRAFT_FILE))
    paper.write_folder(draft.parent, files, inputs=study.snapshot.states)
    return draft


def table(ws: Workspace, name: str) -> Table:
    """A table of the report, by its name."""
    tables_by_name = {}
    for report_table in tables(Study(snapshots.read_snapshot(ws))):
        tables_by_name[report_table.name] = report_table
        if report_table.name == name:
            break
    check_name(name, tuple(tables_by_name), what="--table")
    return tables_by_name[name]


# ----------------------------------------------------------------------------------------------------------------------
# The page on which the collection is read: queries, ranked abstracts, grades, two systems side by side.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """Path of the page, and figures on it."""

    path: Path
    queries: int
    systems: int
    size: int
    """Bytes."""
    graded: bool
    """True if final grades are shown."""
    notes: tuple[str, ...]


def write_browse_page(ws: Workspace, *, partial: bool, out: Path | None = None) -> WrittenPage:
    """Write `browse.html` with the runs of `exports/runs/`, except those that were tested on their training queries.

    It shows no grade while judging is in progress; with `partial`, it shows the settled grades. With grades, the best
    run comes first.
    out: the folder to write into instead of `exports/`.
    """
    if not ws.has_corpus:
        raise MissingInput("no corpus yet, so there is nothing to browse", hint="add papers with `annot corpus add`")
    with ws.reading() as session:
        snapshot = snapshots.snapshot_of(session, ws)
        waiting = tuple(_waiting(session, snapshot))
        named = snapshot.pooled | {doc_id for _, doc_id in snapshot.outcome.planned}
        labels = {paper.paper_id: paper.labels for paper in facet_labels.read_labels(session, named)}
    judged = side_by_side.judged_versions(snapshot)
    snapshot = replace(snapshot, queries=side_by_side.with_judged_sentences(snapshot.queries, judged))
    labels |= _judged_labels(judged)
    texts = {
        paper.paper_id: paper
        for paper in side_by_side.with_judged_texts(papers.find_papers(ws.corpus, named).values(), judged)
    }
    runs = read_run_files(snapshot.ws)
    graded = bool(snapshot.outcome.decisions) and (partial or not waiting)
    qrels = snapshot.outcome.qrels if graded else ()
    relevant_from = ws.settings.evaluation.relevant_from
    query_papers = {query: topic for query, topic in snapshot.topics.items() if topic not in snapshot.texts}
    compared = primary_of(ws.settings)
    pools = graded_pools(snapshot, qrels, unfinished=True) if qrels else None
    measured = {
        tag: _measured(rankings, pools, *compared, relevant_from=relevant_from) for tag, rankings in runs.items()
    }
    order = sorted(runs, key=lambda tag: -mean_of_all(measured[tag], snapshot.splits)) if graded else list(runs)
    systems = [
        BrowsedRun(
            tag,
            runs[tag],
            _matches(ws, tag, query_papers, texts),
            {query_id: value for query_id, value in measured[tag].items() if runs[tag].get(query_id)},
        )
        for tag in order
    ]
    data = page_data(
        snapshot,
        systems,
        papers=texts,
        labels=labels,
        measure=compared[1],
        cases=error_cases(runs, qrels, relevant_from=relevant_from) if graded else None,
        kinds=read_kinds(ws) if graded else {},
    )
    study, rests_on = Study(snapshot), RESTS_ON["browse"]
    text = page(
        data,
        words=study.words,
        collection=ws.settings.collection,
        notice=study.notice,
        untrue=notices(remembered_findings(ws, snapshot.states, on=rests_on), rests_on, study.words),
        waiting=waiting,
        graded=graded,
        measure=compared[1],
        sampled=snapshot.sample is not None,
        errors=(NEAR_TOP, FAR_DOWN),
        relevant_from=relevant_from,
        overrides=ws.root / "templates",
    )
    path = (ws.exports if out is None else out) / BROWSE_FILE
    write_pages(path.parent, {BROWSE_FILE: text})
    if out is None:
        note(ws, "browse", snapshot.states)
    return WrittenPage(
        path, len(snapshot.queries), len(systems), path.stat().st_size, graded, tuple(_notes(ws, waiting, graded))
    )


def _notes(ws: Workspace, waiting: tuple[str, ...], graded: bool) -> Iterator[str]:
    if waiting:
        shown = "the page shows the settled grades" if graded else "the page shows no grades"
        yield f"judging is in progress ({', '.join(waiting)}): {shown}; do not show it to assessors"
    if not ws.settings.collection.text_licence:
        yield "the page contains the texts, and collection.text_licence is empty: do not publish it"


def _measured(
    rankings: Mapping[str, Ranking], pools: GradedPools | None, convention: str, measure: str, *, relevant_from: int
) -> dict[str, float]:
    """The measure of the report on each query; none without grades, or if an estimate cannot be its value."""
    if pools is None:
        return {}
    measured = pools.measured(rankings, pools.query_ids, MeasureSelection(convention, (), relevant_from), ties=TIES[0])
    shown = ((query.query_id, query.shown(measure)) for query in measured.queries)
    return {query_id: value for query_id, value in shown if value is not None}


def _matches(
    ws: Workspace, tag: str, query_papers: Mapping[str, str], texts: Mapping[str, Paper]
) -> Mapping[Pair, tuple[trec.Match, ...]]:
    """Sentences that the run matched, if it has any. Raises InputError if a text has no such sentence."""
    matches_by_pair, path = matches_of(ws, tag), matches_file(ws, tag)
    faults = [
        f"{path}: query {query_id!r}, document {doc_id!r}: sentence {at}, expected 0 to {len(paper.sentences) - 1}"
        for (query_id, doc_id), matches in matches_by_pair.items()
        for match in matches
        for at, paper_id in zip(match[:2], (query_papers.get(query_id), doc_id), strict=True)
        if (paper := texts.get(paper_id or "")) is not None and at >= len(paper.sentences)
    ]
    if faults:
        raise InputError(
            f"{path}: found {counted(len(faults), 'sentence')} that papers do not have",
            faults=faults,
            hint="make the run again",
        )
    return matches_by_pair


def _judged_labels(judged: Mapping[str, side_by_side.JudgedVersion]) -> dict[str, tuple[str, ...]]:
    """Labels of the versions of texts that were judged, by text, if they have any."""
    return {text_id: version.labels for text_id, version in judged.items() if version.labels}


def _waiting(session: Session, snapshot: snapshots.Snapshot) -> Iterator[str]:
    """Counts of missing answers, in words; nothing once everything has ended.

    They count pairs without a final grade, and tasks whose answers must not depend on that grade: hidden
    repeats, hidden gold, training, the sub-study. Tasks of people who have left do not count.
    """
    open_pairs = len(snapshots.unfinished(snapshot.outcome))
    if open_pairs:
        yield f"{counted(open_pairs, 'pair')} without a final grade"
    left = {person.assessor for person in snapshot.people if person.left_on is not None}

    def unanswered(expected: Iterator[tuple[str, str, str]], answers: tuple[Judgement, ...]) -> int:
        given = {(answer.assessor, answer.query_id, answer.doc_id) for answer in answers if answer.counts}
        return sum(pair not in given and pair[0] not in left for pair in expected)

    repeats = unanswered(
        (_who(assignment) for assignment in snapshot.assignments if assignment.occasion > 1),
        tuple(answer for answer in snapshot.outcome.everything if answer.occasion > 1),
    )
    if repeats:
        yield f"{counted(repeats, 'pair')} to judge again"
    hidden = unanswered(
        ((name, *pair) for name, pairs in projects.read_hidden(session).items() for pair in pairs),
        _answers(session, "hidden-gold"),
    )
    in_trials = hidden + sum(
        unanswered(map(_who, trials.read_assignments(session, round)), _answers(session, round))
        for round in TRIAL_ROUNDS
    )
    if in_trials:
        yield f"{counted(in_trials, 'answer')} of training or the sub-study"


def _who(assignment: Assignment) -> tuple[str, str, str]:
    return assignment.assessor, assignment.query_id, assignment.doc_id


def _answers(session: Session, round: StoredRound) -> tuple[Judgement, ...]:
    return tuple(answer.record for answer in trials.read_answers(session, round))


# ----------------------------------------------------------------------------------------------------------------------
# The datasheet: numbers from the records, prose from `datasheet.toml`, where each question is asked once.
# ----------------------------------------------------------------------------------------------------------------------


MARKDOWN_FILE = "datasheet.md"
PAGE_FILE = "datasheet.html"


@dataclass(frozen=True, slots=True)
class WrittenDatasheet:
    """Paths of the datasheet and of its answers, and the open questions."""

    markdown: Path
    page: Path
    answers: Path
    answers_written: bool
    """True if questions were added to the file of answers."""
    unanswered: tuple[prose.OpenQuestion, ...]


def write_datasheet(ws: Workspace) -> WrittenDatasheet:
    """Write `exports/datasheet.md` and `.html`, and put every question that it lacks into `datasheet.toml`.

    Whether the texts are part of the collection follows from `collection.text_licence`, as in `annot release`.
    """
    answers = prose.read_answers(ws)
    snapshot = snapshots.read_snapshot(ws)
    collection = ws.settings.collection
    terms, _ = terms_of(collection, with_text=None, licence=None, published=None)
    # A licence that is none is refused, not left out.
    terms = replace(terms, licence=collection.licence)
    study = Study(snapshot)
    facts = collection_facts.CollectionFacts(study, corpus_facts(ws, without=set(study.added)), terms)
    overrides = ws.root / "templates"
    markdown = prose.datasheet_markdown(facts, answers, overrides=overrides)
    page = prose.datasheet_html(facts, markdown, overrides=overrides)
    topics = bool(snapshot.texts)
    added = prose.ask(prose.answers_file(ws), answers, topics=topics)
    open_ones = prose.open_questions(answers, topics=topics)
    paths = ws.exports / MARKDOWN_FILE, ws.exports / PAGE_FILE
    write_pages(ws.exports, {MARKDOWN_FILE: markdown, PAGE_FILE: page})
    note(ws, "datasheet", snapshot.states, open=len(open_ones))
    return WrittenDatasheet(*paths, prose.answers_file(ws), added, open_ones)


# ----------------------------------------------------------------------------------------------------------------------
# The release: everything that others need to use the collection, searched for what must stay here, byte for byte.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """Files of the release by path, also in a dry run, and notes for the lead."""

    folder: Path
    with_text: bool
    licence: str
    files: dict[str, tuple[int, str]]
    """Size in bytes and SHA-256."""
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    """Parts that a draft lacks to be a release."""


PLACES = ("Hugging Face", "Zenodo")
FILES = Columns[tuple[str, tuple[int, str]]](
    [Column("file", lambda file: file[0])],
    [Column("bytes", lambda file: file[1][0]), Column("SHA-256", lambda file: file[1][1][:12])],
)


def release(
    ws: Workspace,
    folder: Path,
    *,
    with_text: bool | None,
    licence: str | None,
    published: date | None,
    allowed: Sequence[str],
    draft: bool,
    dry_run: bool,
    consented: str | None = None,
    consenting: Sequence[str] = (),
    may_publish: Callable[[Sequence[str]], bool] | None = None,
    corpus: str | None = None,
) -> ReleaseResult:
    """Write the release into `folder`, which must be new, empty or an earlier release of this collection.

    If the corpus has versions, each has a folder of its name in it that is complete; what was released of an earlier
    version stays as it is. corpus: this version alone, again if it was released before.
    with_text: include titles and abstracts; None includes them if `collection.text_licence` is set.
    licence, published: None takes annot.toml's. allowed: texts that are meant to be public although they look like an
    identity. draft: write an incomplete release; its title and description mark it as a
    draft, and `MISSING.md` lists what is missing. Pairs without a final grade stay unjudged in it.
    consented: the way in which people agreed to the publication of words that they wrote before they knew of it; it
    goes on record with the release. consenting: these people; without any, everyone who wrote such words.
    may_publish: asks the lead about texts of people that name a person, a path or an address; None refuses them.

    The release does not depend on the time and the place of writing. Raises FindingError, and writes nothing, with
    all missing parts, unless it is a draft, and all places that would reveal a person or a server.
    """
    # A release that was killed may have left its folder next to its place.
    remove_dead_stages(ws.root)
    snapshots.refuse_qrels_of_models(ws)
    names, kept = _versions_to_release(ws, folder, corpus)
    terms_for = partial(terms_of, with_text=with_text, licence=licence, published=published)
    agree = partial(_agreed, consented=consented, consenting=consenting)
    parts = [
        _prepared(ws, folder, name, terms_for=terms_for, agree=agree, allowed=allowed, draft=draft) for name in names
    ]
    missing, revealing, mentions = map(_each_once, zip(*(part.found for part in parts), strict=True))
    notes, last = _each_once(part.notes for part in parts), parts[-1]
    notes += tuple(f"version {name} was released before and stays as it is" for name in kept)
    if dry_run:
        notes = (*notes, *map("a text of a person has {}".format, mentions))
        mentions = ()
    _refuse(() if draft else missing, revealing, mentions, may_publish=may_publish)
    if not last.terms.published:
        notes = (*notes, "no date is given, but Croissant asks for one: set collection.published or use --date")
    if last.agreed and not dry_run:
        ws.write(people.record_notices, last.agreed)
    for part in () if dry_run else parts:
        released_files.write_folder(ws.root, part.folder, part.files)
    if not (dry_run or draft):
        note(ws, "release", last.states, folder=os.path.relpath(last.folder, ws.root))
    sizes = {
        (part.folder / path).relative_to(folder).as_posix(): (len(content), hashlib.sha256(content).hexdigest())
        for part in parts
        for path, content in part.files.items()
    }
    return ReleaseResult(last.folder, last.terms.with_text, last.terms.licence, sizes, notes, missing)


def _versions_to_release(ws: Workspace, folder: Path, corpus: str | None) -> tuple[Sequence[str | None], Sequence[str]]:
    """The versions of the corpus to release, or None if it has only one; and those that were released and stay."""
    versions = [version.version for version in ws.read(read_corpus_versions)]
    if corpus is not None:
        check_name(corpus, versions, what="--corpus")
    if corpus or not versions:
        return [corpus], []
    kept = [name for name in versions[:-1] if released_files.is_final(folder / name)]
    return [name for name in versions if name not in kept], kept


def _each_once(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """All of these in one list, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


class _Prepared(NamedTuple):
    """A complete release in memory: of one version of the corpus, or of a corpus that has only one."""

    folder: Path
    files: Mapping[str, bytes]
    terms: Terms
    notes: tuple[str, ...]
    found: tuple[Sequence[str], Sequence[str], Sequence[str]]
    """Missing parts, places that would reveal people, and names in texts."""
    agreed: tuple[Notice, ...]
    states: States


def _prepared(
    ws: Workspace,
    folder: Path,
    version: str | None,
    *,
    terms_for: Callable[[CollectionSettings], tuple[Terms, Sequence[str]]],
    agree: Callable[[snapshots.Snapshot], tuple[Notice, ...]],
    allowed: Sequence[str],
    draft: bool,
) -> _Prepared:
    """Make the files of a release for `folder`, or for the one in it that has the name of the version."""
    ids = [beir.dataset_id(ws.settings.collection.name)]
    limit: partial[snapshots.Snapshot] | None = None
    if version is not None:
        if (folder / released_files.SUMS_FILE).is_file():
            raise InputError(
                f"{folder}: a release from before the corpus had versions, expected a folder with one for each",
                hint="name another folder, and move this one into it under the name of the first version",
            )
        collection, folder, limit = ws.settings.collection, folder / version, partial(snapshot_in, corpus=version)
        name, title = f"{collection.name}-{version}", f"{collection.title}, version {version}"
        ws = ws.replaced("collection", name=name, title=title)
        ids.append(beir.dataset_id(name))
    released_files.check_folder(folder, *ids)
    answers = prose.read_answers(ws)
    snapshot, records = snapshots.read_for_release(_draft_workspace(ws) if draft else ws, limit)
    agreed = agree(snapshot)
    snapshot = replace(snapshot, notices=(*snapshot.notices, *agreed))
    words = PublishedWords(snapshot)
    corpus = tuple(papers.read_papers(ws.corpus)) if ws.has_corpus else ()
    terms, unnamed = terms_for(ws.settings.collection)
    lacking = [*_papers_missing(snapshot, corpus), *(_texts_missing(snapshot) if terms.with_text else ())]
    # Empty texts would be taken for the real ones.
    terms = replace(terms, with_text=terms.with_text and not lacking)
    study = Study(snapshot, terms)
    added = set(study.added)
    judged = side_by_side.judged_versions(snapshot)
    corpus = tuple(side_by_side.with_judged_texts((paper for paper in corpus if paper.paper_id not in added), judged))
    runs, runs_missing, run_notes = released_files.run_files(snapshot)
    questions = prose.open_questions(answers, topics=bool(snapshot.texts))
    not_ready = (*unnamed, *lacking, *_unfinished_parts(study, words, runs_missing))
    missing = (*not_ready, *prose.describe_open(questions))
    in_full = (*not_ready, *(f"{ANSWERS_FILE}: {question.question}: {question.text}" for question in questions))
    released = released_files.ReleasedStudy(
        replace(snapshot, queries=side_by_side.with_judged_sentences(snapshot.queries, judged)),
        corpus,
        drawn_citations(ws, {paper.paper_id: paper for paper in corpus if paper.paper_id in snapshot.pooled}),
        records.labels | _judged_labels(judged),
        study,
    )
    added_part = released_files.part_added(released)
    contents, notes = released_files.release_files(
        released,
        pages.report_files(study),
        collection_facts.CollectionFacts(study, corpus_facts(ws, without=added), terms),
        answers,
        words=words,
        runs=runs,
        added=added_part,
        notes=(*run_notes, *words.notes, *_report_notes(study)),
        versions=side_by_side.version_records(
            snapshot,
            judged,
            others=added_part.versions,
            with_text=terms.with_text,
        ),
        missing=in_full if draft else None,
    )
    notes = (*notes, *added_part.told)
    files = released_files.bundle(contents)
    secrets = leaks.secrets_of(snapshot, records, environ=os.environ, allowed=allowed)
    texts = leaks.free_texts(
        snapshot,
        words,
        answers,
        added=added_part.texts,
    )
    revealing = tuple(_revealing(snapshot, secrets, corpus, files, answers, allowed))
    mentions = leaks.mentioned(texts, leaks.known_people(snapshot, secrets), allowed=allowed, excerpts=not revealing)
    return _Prepared(folder, files, terms, notes, (missing, revealing, mentions), agreed, snapshot.states)


def upload_instructions(ws: Workspace, folder: Path) -> tuple[str, ...]:
    """The command that uploads the release in this folder to each place, in words; nothing is uploaded here."""
    commands = citing.upload_commands(folder, ws.settings.collection.name)
    return tuple(f"to put it on {place}: {command}" for place, command in zip(PLACES, commands, strict=True))


def _agreed(snapshot: snapshots.Snapshot, consented: str | None, consenting: Sequence[str]) -> tuple[Notice, ...]:
    """Notices that people agreed to the release of their words, which are not on record yet."""
    if consented is None and not consenting:
        return ()
    if consented is None or not consented.strip():
        raise InputError('--consented: empty, expected how people agreed, such as "by mail of 3 March"')
    return consent(snapshot, how=consented, people=consenting)


def _unfinished_parts(study: Study, words: PublishedWords, runs_missing: Sequence[str]) -> Iterator[str]:
    """Parts of the study that are not finished, or not true any more."""
    yield from _pools_missing(study.snapshot)
    yield from runs_missing
    yield from words.undecided
    yield from snapshots.unfinished(study.snapshot.outcome)
    file = study.snapshot.qrels_file
    if study.snapshot.version and file.is_file() and file.read_text("utf-8") != trec.write_qrels(study.outcome.qrels):
        remedy = "`annot qrels` writes these"
        if file != study.snapshot.ws.qrels:
            remedy = "those of an earlier version stay; take the new grades back, or release a later version: --corpus"
        yield f"{file.name}: differs from the final grades of now; {remedy}"
    for state, shown_by in study.findings.items():
        if state.refused:
            yield from state.lines(shown_by)


def _report_notes(study: Study) -> Iterator[str]:
    """Notes on untrue parts of the study that a release may have, and on figures that could not be measured."""
    for state, shown_by in study.findings.items():
        if not state.refused:
            yield from state.lines(shown_by)
    unmeasured = {part.reason for part in (study.evaluated, study.effect) if isinstance(part, Undefined)}
    for reason in sorted(unmeasured):
        yield f"the report: {reason}"


def _draft_workspace(ws: Workspace) -> Workspace:
    """The study under a title that begins with DRAFT: every page made from it has the title."""
    collection = ws.settings.collection
    words = f"This is a draft, not for publication; MISSING.md lists what is missing. {collection.description}".strip()
    return ws.replaced("collection", title=f"DRAFT: {collection.title}", description=words)


def _papers_missing(study: snapshots.Snapshot, corpus: Collection[Paper]) -> Iterator[str]:
    """Papers that the release would name and that are not in the corpus."""
    if not corpus:
        yield "no corpus: add the papers to a new study with `annot corpus add`, and import the judgements there"
        return
    named = set(study.topics.values()) - study.texts.keys() | {doc_id for _, doc_id in study.outcome.planned}
    named |= {entry.doc_id for pool in study.pools.values() for entry in pool.entries}
    for paper_id in sorted(named - {known.paper_id for known in corpus}):
        yield f"paper {paper_id}: not in the corpus; add it with `annot corpus add` (see [corpus] in annot.toml)"


def _pools_missing(study: snapshots.Snapshot) -> Iterator[str]:
    """A query must have documents to rank."""
    planned = {query_id for query_id, _ in study.outcome.planned}
    for query in study.queries:
        if query.query_id not in planned and query.topic_id not in study.pools:
            topic = "topic" if query.topic_id in study.texts else "paper"
            yield f"query {query.query_id}: its {topic} has no pool; draw it with `annot pool`"


def _texts_missing(study: snapshots.Snapshot) -> Iterator[str]:
    """A query on a paper must have a text where texts are released."""
    for query in study.queries:
        if not query.sentences and query.topic_id not in study.texts:
            yield f"query {query.query_id}: no sentence of its facet; label the corpus, or release with --ids-only"


def _refuse(
    missing: Sequence[str],
    revealing: Sequence[str],
    named: Sequence[str],
    *,
    may_publish: Callable[[Sequence[str]], bool] | None,
) -> None:
    """Raise FindingError with all problems. named: names in texts, which the lead may allow."""
    change = (
        f'change the answers in {ANSWERS_FILE}, leave out comments or reasons ("left out" in [release] of annot.toml), '
        "or allow what is meant to be public with --allow TEXT"
    )
    if named and not (missing or revealing) and may_publish is not None:
        if not may_publish(named):
            raise FindingError("nothing written, as you decided", hint=change)
        return
    problems = {
        "something is missing": missing,
        f"{counted(len(revealing), 'place')} would reveal people, passwords or the server": revealing,
        f"texts of people have {counted(len(named), 'name, path or address', 'names, paths or addresses')}": named,
    }
    remedies = {
        "write a draft first, with --draft (MISSING.md then lists what is missing); then supply that": missing,
        "remove what was found; or, if it is meant to be public, allow it with --allow TEXT": revealing,
        change: named,
    }
    if missing or revealing or named:
        raise FindingError(
            f"nothing written: {' and '.join(words for words, found in problems.items() if found)}",
            faults=(*revealing, *named, *missing),
            hint="; ".join(words for words, lines in remedies.items() if lines),
        )


def _revealing(
    study: snapshots.Snapshot,
    secrets: Sequence[leaks.Secret],
    corpus: Collection[Paper],
    files: Mapping[str, bytes],
    answers: Mapping[str, str],
    allowed: Sequence[str],
) -> Iterator[str]:
    """Places that would reveal a person or the address of a server."""
    for name in leaks.telling_pseudonyms(study.people, allowed=allowed):
        yield f"the pseudonym {name!r} is part of the name of its account"
    printed = (text for paper in corpus for text in (paper.title, *paper.sentences) if "@" in text)
    # What people wrote into the datasheet, and what papers print, is meant to be read by everyone.
    public = (
        leaks.addresses([*answers.values(), study.ws.settings.collection.citation])
        | leaks.addresses(printed)
        | set(allowed)
    )
    for finding in leaks.leaks(files, secrets, allowed=public):
        place = f"{finding.path}:{finding.line}" if finding.line else f"the name of {finding.path}"
        yield f"{place}: {finding.what}" + (f", {finding.shown}" if finding.shown else "")
