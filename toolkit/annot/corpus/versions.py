"""Versions of the corpus: begun by documents that come, or that are withdrawn, after pools were drawn."""

from __future__ import annotations

import getpass
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from annot.base.errors import InputError
from annot.base.names import counted, moment_now
from annot.store import papers, pools, projects
from annot.store.answers import is_judged
from annot.store.models import CorpusVersion, Session, WithdrawnDocument
from annot.store.pools import (
    VERSION_NAME,
    add_version,
    newest_version,
    read_corpus_versions,
    read_withdrawn,
    withdraw_documents,
)
from annot.study.outcome import answered_of
from annot.study.snapshot import final_qrels
from annot.study.workspace import Workspace

FIRST = "1"
"""Name of the first version if it was given none."""
ASK = 'annot corpus add FILE --version NAME --reason "WHY"'
ASK_WITHDRAWN = ASK.replace(" add ", " withdraw ")


class VersionWanted(NamedTuple):
    """Words of the lead on a version of the corpus."""

    version: str | None = None
    first: str | None = None
    """Name of the version before, if it has none yet."""
    reason: str | None = None


NO_VERSION = VersionWanted()


@dataclass(frozen=True, slots=True)
class BegunVersion:
    """Version that documents were added to."""

    version: str
    before: str
    """Name of the version before."""
    is_new: bool
    """False if it was begun before, and is continued."""


def begin_version(ws: Workspace, wanted: VersionWanted, *, changed: int, dry_run: bool) -> BegunVersion | None:
    """Put the version on record that new documents belong to; None if these need none.

    changed: number of documents that come. Call it before the corpus changes: the same command finishes what one that
    was killed has left. Raises InputError if the study needs a version and none is named, if its name cannot be used,
    and if pools were drawn from it.
    """
    _refuse_unusable(wanted, ASK)
    if wanted.version is not None:
        with ws.reading() if dry_run else ws.writing() as session:
            return _begun(ws, session, wanted, changed, True, dry_run)
    with ws.reading() as session:
        # An emptied corpus is filled again.
        pooled = changed and ws.has_corpus and any(pool.per_method for pool in pools.read_pools(session).values())
        if pooled and (projects.was_sent(session) or is_judged(session)):
            newest = newest_version(session)
            advice = f"--version {newest} continues that version, " if newest else ""
            raise InputError(
                "pools were drawn from this corpus and pairs were sent or judged, so that other documents make a new "
                "version of it",
                hint=f"{advice}{ASK} begins one",
            )
    return None


def _refuse_unusable(wanted: VersionWanted, hint: str) -> None:
    """Raise InputError for words that can name no version."""
    faults = [
        f"--{option} {name!r}: expected letters, digits and . _ -, and a letter or digit first"
        for option, name in (("version", wanted.version), ("first", wanted.first))
        if name is not None and not VERSION_NAME.fullmatch(name)
    ]
    if wanted.version is None and (wanted.first, wanted.reason) != (None, None):
        faults.append("found --first or --reason without --version")
    if wanted.version is not None and not (wanted.reason or "").strip():
        faults.append("--reason: found no words, expected why the corpus changes")
    if faults:
        raise InputError("the version of the corpus cannot be used", faults=faults, hint=hint)


def _begun(
    ws: Workspace, session: Session, wanted: VersionWanted, changed: int, adding: bool, dry_run: bool
) -> BegunVersion | None:
    """Version that documents come with, or leave with if they are not `adding`; it goes on record."""
    names = [version.version for version in read_corpus_versions(session)]
    name, drawn = wanted.version or "", pools.read_pools(session).values()
    before = names or [wanted.first or FIRST]
    closed = adding and changed > 0 and any(pool.of_corpus == name for pool in drawn)
    if problem := _problem(name, wanted.first or before[0], before, drawn=bool(drawn), closed=closed):
        raise InputError(f"--version {name}: {problem}", hint=ASK if adding else ASK_WITHDRAWN)
    if name in names:
        return BegunVersion(name, before[-2], is_new=False)
    if changed and not dry_run:
        now, reason = moment_now(), " ".join((wanted.reason or "").split())
        last = papers.files_of(ws.corpus)[-1].name
        if not names:
            add_version(session, CorpusVersion(before[0], 1, "", None, None, now))
        add_version(session, CorpusVersion(name, len(before) + 1, last, reason, getpass.getuser(), now))
        # The qrels of a finished version stay as they are at this moment.
        final_qrels(session, ws)
    return BegunVersion(name, before[-1], is_new=True) if changed else None


def _problem(name: str, first: str, before: list[str], *, drawn: bool, closed: bool) -> str | None:
    """Reason why documents cannot be added to the version of this name; None if they can.

    before: the versions on record, or the first. drawn: there are pools; closed: some were drawn from this version.
    """
    if not drawn:
        return "there are no pools yet, so that all documents belong to the first version; add them without --version"
    if first != before[0]:
        return f"found --first {first}, but the first version is called {before[0]}"
    if name in before[:-1] or [name] == before:
        return "an earlier version of the corpus, which does not change any more"
    if closed:
        return "pools were drawn from it, so that no document is added to it; give the new ones a version of their own"
    others = [other for other in before if other != name]
    return "differs from another version only in case" if name.casefold() in map(str.casefold, others) else None


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Documents that were withdrawn."""

    documents: tuple[str, ...]
    known: tuple[str, ...]
    """Documents that were withdrawn before."""
    version: str
    pairs: int
    """Pairs of the pools that have one of them."""
    judged: int
    """Pairs of these with an answer, which stay in earlier versions."""
    queries: tuple[str, ...] = ()
    """Queries about one of the documents, which stay."""


def withdraw(
    ws: Workspace, doc_ids: Iterable[str], *, reason: str, version: VersionWanted, dry_run: bool
) -> Withdrawal:
    """Withdraw documents from the newest version of the corpus on, or from one that begins with it.

    Their pairs are not shown to people any more, and are in no qrels of these versions. Raises InputError for ids that
    the corpus does not have, without a reason, if there is no version to withdraw them from, and if pairs of them are
    under a sample.
    """
    wanted = tuple(dict.fromkeys(doc_ids))
    if not reason.strip():
        raise InputError("--reason: found no words, expected why the documents are withdrawn")
    if unknown := sorted({*wanted} - papers.known_ids(ws.corpus, wanted)):
        raise InputError(
            f"{counted(len(unknown), 'document')} not in the corpus", faults=unknown, hint="check the ids in the file"
        )
    begins = version._replace(reason=version.version and reason)
    _refuse_unusable(begins, ASK_WITHDRAWN)
    with ws.reading() if dry_run else ws.writing() as session:
        recorded = read_withdrawn(session)
        new = tuple(doc_id for doc_id in wanted if doc_id not in recorded)
        _refuse_sampled(session, new)
        begun = _begun(ws, session, begins, len(new), False, dry_run) if begins.version else None
        newest = begun.version if begun else newest_version(session)
        if newest is None:
            raise InputError(
                "the corpus has only one version, whose qrels have these documents",
                hint="begin one without them: add --version NAME",
            )
        if not dry_run:
            now, why, maker = moment_now(), " ".join(reason.split()), getpass.getuser()
            withdraw_documents(session, [WithdrawnDocument(doc_id, newest, why, maker, now) for doc_id in new])
        pooled = pools.documents_by_query(session, withdrawn=True)
        pairs = {(query_id, doc_id) for query_id, docs in pooled.items() for doc_id in {*docs} & {*wanted}}
        judged = {question.pair for _, question in answered_of(session)}
        queries = tuple(query.query_id for query in pools.read_queries(session) if query.topic_id in wanted)
    known = tuple(doc_id for doc_id in wanted if doc_id not in new)
    return Withdrawal(new, known, newest, len(pairs), len(pairs & judged), queries)


def _refuse_sampled(session: Session, doc_ids: Collection[str]) -> None:
    """Raise InputError if pairs of these documents are under a sample: estimates are of all pairs it was drawn from."""
    sample = pools.read_sample(session)
    if sampled := sorted({doc_id for _, doc_id in (sample.pairs if sample else ())} & {*doc_ids}):
        raise InputError(
            f"{counted(len(sampled), 'document')} under the sample that is judged, whose estimates are of all pairs it "
            "was drawn from",
            faults=sampled[: pools.SHOWN],
            hint="keep them, and name them in the datasheet; before the first push, `annot plan --withdraw` takes the "
            "sample back, and a later one is drawn without them",
        )
