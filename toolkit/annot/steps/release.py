"""The release: everything that others need to use the collection, searched for what must stay here, byte for byte."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from annot.base.errors import FindingError, InputError
from annot.base.names import counted
from annot.base.records import Paper
from annot.base.stats.values import Undefined
from annot.corpus.corpus_facts import corpus_facts
from annot.formats.beir import dataset_id
from annot.judging.own_words import consent, own_words
from annot.pools.admission import drawn_citations
from annot.publishing.judged_papers import (
    judged_versions,
    version_records,
    with_judged_sentences,
    with_judged_texts,
)
from annot.publishing.release.collection_facts import facts_of
from annot.publishing.release.free_texts import free_texts, known_people, mentioned
from annot.publishing.release.identities import secrets_of, telling_pseudonyms
from annot.publishing.release.leaks import Secret, addresses, leaks
from annot.publishing.release.opinion_files import opinion_files
from annot.publishing.release.questions import describe_open, open_questions, read_answers
from annot.publishing.release.released_files import (
    bundle,
    check_folder,
    release_files,
    run_files,
    write_folder,
)
from annot.publishing.report.pages import report_files
from annot.publishing.report.study import Study
from annot.publishing.report.tables import Column, Columns
from annot.publishing.terms import terms_of
from annot.store import papers
from annot.store.people import Notice, record_notices
from annot.store.shown import texts_in
from annot.study.exports import refuse_qrels_of_models, unfinished
from annot.study.made import ANSWERS_FILE, note
from annot.study.snapshot import Snapshot, read_for_release
from annot.study.stages import remove_dead_stages
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Released:
    """What was written (or would be), by path; and what a person should know."""

    folder: Path
    with_text: bool
    licence: str
    files: dict[str, tuple[int, str]]
    """Size in bytes and SHA-256."""
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    """What a draft lacks to be a release."""


FILES = Columns[tuple[str, tuple[int, str]]](
    [Column("file", lambda one: one[0])],
    [Column("bytes", lambda one: one[1][0]), Column("SHA-256", lambda one: one[1][1][:12])],
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
) -> Released:
    """Write the release into `folder`: one that is not there, empty, or an earlier release of this collection.

    with_text: whether titles and abstracts go out; None: when `collection.text_licence` says under which licence.
    licence, published: None takes annot.toml's. allowed: texts that are meant to be public although they look like an
    identity. draft: write what is there although something is missing; its title and description say that it is a
    draft, and `MISSING.md` lists what is missing. Pairs without a final grade stay unjudged in it.
    consented: how people agreed that what they wrote is published although they had not known; it goes on record with
    the release.
    consenting: who; without any, all who had not.
    may_publish: asks the lead about texts of people that name a person, a path or an address; None refuses them.

    Nothing in it depends on when and where it is made. Raises FindingError, and writes nothing, with everything that
    is missing, unless it is a draft, and everything in it that would tell who a person or where a server is.
    """
    # A release that was killed may have left its folder next to its place.
    remove_dead_stages(ws.root)
    refuse_qrels_of_models(ws)
    check_folder(folder, name=dataset_id(ws.settings.collection.name))
    answers = read_answers(ws)
    study, records = read_for_release(_as_draft(ws) if draft else ws)
    if (consenting and consented is None) or (consented is not None and not consented.strip()):
        raise InputError('--consented: empty, expected how people agreed, such as "by mail of 3 March"')
    agreed: tuple[Notice, ...] = ()
    if consented is not None:
        agreed = consent(study, how=consented, people=consenting)
        study = replace(study, notices=(*study.notices, *agreed))
    words = own_words(study)
    corpus = tuple(papers.read_papers(ws.corpus)) if ws.has_corpus else ()
    terms, unnamed = terms_of(ws.settings.collection, with_text=with_text, licence=licence, published=published)
    lacking = [*_papers_missing(study, corpus), *(_texts_missing(study) if terms.with_text else ())]
    # Empty texts would be taken for the real ones.
    terms = replace(terms, with_text=terms.with_text and not lacking)
    measured = Study(study, terms)
    added = set(measured.added)
    corpus = tuple(paper for paper in corpus if paper.paper_id not in added)
    judged = judged_versions(study)
    corpus = tuple(with_judged_texts(corpus, judged))
    runs, runs_missing, notes = run_files(study)
    asked = open_questions(answers, topics=bool(study.texts))
    there = (*_pools_missing(study), *runs_missing, *words.undecided, *unfinished(study.outcome))
    there += tuple(line for finding in measured.findings if finding.state.refused for line in finding.lines)
    others = (*unnamed, *lacking, *there)
    missing = (*others, *describe_open(asked))
    in_full = (*others, *(f"{ANSWERS_FILE}: {one.question}: {one.text}" for one in asked))
    facts = facts_of(measured, corpus_facts(ws, without=added), terms)
    report = report_files(measured)
    unmeasured = {part.reason for part in (measured.evaluated, measured.effect) if isinstance(part, Undefined)}
    unmended = (line for finding in measured.findings if not finding.state.refused for line in finding.lines)
    notes = (*notes, *words.notes, *unmended, *(f"the report: {reason}" for reason in sorted(unmeasured)))
    reported = [one for one in measured.opinions_on_record if one.standing.reported]
    pooled = study.pooled
    made, notes = release_files(
        replace(study, queries=with_judged_sentences(study.queries, judged)),
        corpus,
        drawn_citations(ws, {paper.paper_id: paper for paper in corpus if paper.paper_id in pooled}),
        records.labels | {text_id: one.labels for text_id, one in judged.items() if one.labels},
        report,
        facts,
        answers,
        words=words,
        runs=runs,
        opinions=opinion_files(reported, study, terms, currency=ws.settings.forecast.currency),
        notes=notes,
        versions=version_records(
            study,
            judged,
            of_models={
                sha256
                for one in reported
                for display in one.displays.values()
                for sha256 in texts_in(display)
                if sha256
            },
            with_text=terms.with_text,
        ),
        missing=in_full if draft else None,
    )
    notes = (*notes, *_trials_left_out(measured))
    files = bundle(made)
    secrets = secrets_of(study, records, environ=os.environ, allowed=allowed)
    early = [why for one in measured.opinions_on_record for _, _, why in one.asked.early]
    texts = free_texts(study, words, answers, early=early)
    revealing = tuple(_revealing(study, secrets, corpus, files, answers, allowed))
    named = mentioned(texts, known_people(study, secrets), allowed=allowed, excerpts=not revealing)
    if dry_run:
        notes = (*notes, *(f"a text of a person has {one}" for one in named))
        named = ()
    _refuse(() if draft else missing, revealing, named, may_publish=may_publish)
    if not terms.published:
        notes = (*notes, "no date is given, but Croissant asks for one: set collection.published or use --date")
    if not dry_run:
        if agreed:
            with ws.writing() as session:
                record_notices(session, agreed)
        write_folder(ws.root, folder, files)
        if not draft:
            note(ws, "release", study.states, folder=os.path.relpath(folder, ws.root))
    sizes = {path: (len(content), hashlib.sha256(content).hexdigest()) for path, content in files.items()}
    return Released(folder, terms.with_text, terms.licence, sizes, notes, missing)


def _trials_left_out(measured: Study) -> Iterator[str]:
    """A note on each opinion that the release does not have."""
    for standing in (one.standing for one in measured.opinions_on_record if not one.standing.reported):
        yield f"the opinion {standing.name} is left out: {standing.why_not_reported}"


def _as_draft(ws: Workspace) -> Workspace:
    """The study under a title that says so: every page that is made of it has the title."""
    collection = ws.settings.collection
    words = f"This is a draft, not for publication; MISSING.md lists what is missing. {collection.description}".strip()
    return ws.replaced("collection", title=f"DRAFT: {collection.title}", description=words)


def _papers_missing(study: Snapshot, corpus: Collection[Paper]) -> Iterator[str]:
    """Every paper that the release would name must be in the corpus."""
    if not corpus:
        yield "no corpus: add the papers to a new study with `annot corpus add`, and import the judgements there"
        return
    named = set(study.topics.values()) - study.texts.keys() | {doc_id for _, doc_id in study.outcome.planned}
    named |= {entry.doc_id for pool in study.pools.values() for entry in pool.entries}
    for paper_id in sorted(named - {paper.paper_id for paper in corpus}):
        yield f"paper {paper_id}: not in the corpus; add it with `annot corpus add` (see [corpus] in annot.toml)"


def _pools_missing(study: Snapshot) -> Iterator[str]:
    """A query must have documents to rank."""
    planned = {query_id for query_id, _ in study.outcome.planned}
    for query in study.queries:
        if query.query_id not in planned and query.topic_id not in study.pools:
            topic = "topic" if query.topic_id in study.texts else "paper"
            yield f"query {query.query_id}: its {topic} has no pool; draw it with `annot pool`"


def _texts_missing(study: Snapshot) -> Iterator[str]:
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
    """Raise FindingError with all of it. named: what only the lead can tell; asked about if there is nothing else."""
    change = (
        f'change the answers in {ANSWERS_FILE}, leave out comments or reasons ("left out" in [release] of annot.toml), '
        "or allow what is meant to be public with --allow TEXT"
    )
    if named and not (missing or revealing) and may_publish is not None:
        if not may_publish(named):
            raise FindingError("nothing written, as you decided", hint=change)
        return
    said = {
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
            f"nothing written: {' and '.join(words for words, found in said.items() if found)}",
            faults=(*revealing, *named, *missing),
            hint="; ".join(words for words, found in remedies.items() if found),
        )


def _revealing(
    study: Snapshot,
    secrets: Sequence[Secret],
    corpus: Collection[Paper],
    files: Mapping[str, bytes],
    answers: Mapping[str, str],
    allowed: Sequence[str],
) -> Iterator[str]:
    """What would tell who a person or where a server is."""
    for name in telling_pseudonyms(study.people, allowed=allowed):
        yield f"the pseudonym {name!r} is part of the name of its account"
    printed = (text for paper in corpus for text in (paper.title, *paper.sentences) if "@" in text)
    # What people wrote into the datasheet, and what papers print, is meant to be read by everyone.
    public = addresses([*answers.values(), study.ws.settings.collection.citation]) | addresses(printed) | set(allowed)
    for finding in leaks(files, secrets, allowed=public):
        place = f"{finding.path}:{finding.line}" if finding.line else f"the name of {finding.path}"
        yield f"{place}: {finding.what}" + (f", {finding.shown}" if finding.shown else "")
