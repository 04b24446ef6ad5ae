"""The release: everything that others need to use the collection, searched for what must stay here, byte for byte."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from annot.errors import FindingError, InputError, MissingInput
from annot.formats.irds import dataset_id
from annot.release.answer_sheet import ANSWERS_FILE, OpenQuestion, describe_open, open_questions, read_answers
from annot.release.collection_facts import Terms, facts_of
from annot.release.identities import secrets_of, telling_pseudonyms
from annot.release.leaks import addresses, leaks
from annot.release.licences import licence as licence_named
from annot.release.release_folder import bundle, check_folder, restore_folder, write_folder
from annot.release.released_files import release_files
from annot.settings import CollectionSettings
from annot.store import papers
from annot.study.corpus_facts import corpus_facts
from annot.study.exports import refuse_unfinished
from annot.study.measured import agreement_of
from annot.study.snapshot import ReleaseRecords, Snapshot, read_for_release
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


def release(
    ws: Workspace,
    folder: Path,
    *,
    with_text: bool | None,
    licence: str | None,
    published: date | None,
    allowed: Sequence[str],
    partial: bool,
    dry_run: bool,
) -> Released:
    """Write the release into `folder`: one that is not there, empty, or an earlier release of this collection.

    with_text: whether titles and abstracts go out; None: when `collection.text_licence` says under which licence.
    licence, published: None takes annot.toml's. allowed: texts that are meant to be public although they look like an
    identity. partial: release although pairs have no final grade; they stay unjudged.

    Nothing in it depends on when and where it is made. Raises FindingError, and writes nothing, while questions of the
    datasheet are open, or when something in it would tell who a person or where a server is.
    """
    if not dry_run:
        restore_folder(folder)
    _refuse_without_corpus(ws)
    terms = terms_of(ws.settings.collection, with_text=with_text, licence=licence, published=published)
    check_folder(folder, name=dataset_id(ws.settings.collection.name))
    answers = read_answers(ws)
    study, records = read_for_release(ws)
    _refuse_without_papers(study, with_text=terms.with_text)
    refuse_unfinished(study.outcome, partial=partial)
    _refuse_unanswered(open_questions(answers))
    agreement = agreement_of(study)
    facts = facts_of(study, corpus_facts(ws), agreement, terms)
    made, notes = release_files(study, records.labels, agreement, facts, answers)
    files = bundle(made)
    _refuse_leaks(study, records, files, answers, allowed)
    if not terms.published:
        notes = (*notes, "no date is given, but Croissant asks for one: set collection.published or use --date")
    if not dry_run:
        write_folder(folder, files)
    sizes = {path: (len(content), hashlib.sha256(content).hexdigest()) for path, content in files.items()}
    return Released(folder, terms.with_text, terms.licence, sizes, notes)


def terms_of(
    collection: CollectionSettings, *, with_text: bool | None, licence: str | None, published: date | None
) -> Terms:
    """The terms. Raises InputError with everything that is missing for a release."""
    faults = []
    with_text = bool(collection.text_licence) if with_text is None else with_text
    name = licence or collection.licence
    if not name:
        faults.append('collection.licence: empty, expected an SPDX identifier such as "CC-BY-4.0" or a URL (--licence)')
    else:
        try:
            licence_named(name)
        except InputError as error:
            faults.append(error.message)
    needed = {
        "creators": "the names of its makers, as they want to be named in public",
        "description": "two or three sentences",
        "url": "the address where the collection can be found",
    }
    faults += [
        f"collection.{key}: empty, expected {what}" for key, what in needed.items() if not getattr(collection, key)
    ]
    if with_text and not collection.text_licence:
        faults.append("collection.text_licence: empty, expected the licence of the texts; or release with --ids-only")
    if faults:
        raise InputError(
            f"annot.toml: {len(faults)} entr{'y' if len(faults) == 1 else 'ies'} missing for a release", faults=faults
        )
    day = published or collection.published
    return Terms(with_text, name, collection.text_licence, day.isoformat() if day else "")


def _refuse_without_corpus(ws: Workspace) -> None:
    if not any(ws.corpus.glob("*.parquet")):
        raise MissingInput(
            "no corpus: a release lists its papers, and this study has none",
            hint="to publish judgements made with another tool, make a new study, add the papers "
            "(`annot corpus add`, `annot facets`) and import the judgements there; agreement, qrels, report and "
            "datasheet need no corpus",
        )


def _refuse_without_papers(study: Snapshot, *, with_text: bool) -> None:
    """Every paper that the release would name must be in the corpus, and a query with texts must have one."""
    there = set(papers.paper_ids(study.ws.corpus))
    named = {query.paper_id for query in study.queries} | {doc_id for _, doc_id in study.outcome.planned}
    named |= {entry.doc_id for pool in study.pools.values() for entry in pool.entries}
    if absent := sorted(named - there):
        raise InputError(
            f"{len(absent)} paper(s) of queries, pools and judgements are not in the corpus",
            faults=[f"paper {paper_id}: not in the corpus" for paper_id in absent],
            hint="add them with `annot corpus add`; its filters reject very short and very long abstracts, see "
            "[corpus] in annot.toml",
        )
    silent = [query.query_id for query in study.queries if not query.sentences]
    if with_text and silent:
        raise InputError(
            f"{len(silent)} queries have no sentences, so their texts would be empty",
            faults=[f"query {query_id}: no sentence belongs to its facet" for query_id in silent],
            hint="release with --ids-only; or import the judgements into a new study after `annot corpus add` and "
            "`annot facets`, because a query gets its sentences when it is made",
        )


def _refuse_unanswered(missing: tuple[OpenQuestion, ...]) -> None:
    if missing:
        raise FindingError(
            f"{len(missing)} question(s) of the datasheet are not answered\n{describe_open(missing)}",
            hint=f"answer them in {ANSWERS_FILE}; `annot datasheet` writes this file",
        )


def _refuse_leaks(
    study: Snapshot,
    records: ReleaseRecords,
    files: Mapping[str, bytes],
    answers: Mapping[str, str],
    allowed: Sequence[str],
) -> None:
    found = [
        f"the pseudonym {name!r} is part of the name of its account"
        for name in telling_pseudonyms(study.people, allowed=allowed)
    ]
    printed = (
        text
        for paper in papers.read_papers(study.ws.corpus, columns=("title", "sentences"))
        for text in (paper.title, *paper.sentences)
        if "@" in text
    )
    # What people wrote into the datasheet, and what papers print, is meant to be read by everyone.
    public = addresses([*answers.values(), study.ws.settings.collection.citation]) | addresses(printed) | set(allowed)
    findings = leaks(files, secrets_of(study, records, environ=os.environ, allowed=allowed), allowed=public)
    for finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else f"the name of {finding.path}"
        found.append(f"{place}: {finding.what}" + (f", {finding.shown}" if finding.shown else ""))
    if found:
        raise FindingError(
            f"nothing written: {len(found)} place(s) would reveal people, passwords or the server",
            faults=found,
            hint="remove what was found; or, if it is meant to be public, allow it with --allow TEXT",
        )
