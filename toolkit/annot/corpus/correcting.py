"""Corrected records of papers: what they change, put on record before the corpus is written anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from typing import Any

from sqlmodel import Session

from annot.base.records import Paper, Query, Source
from annot.corpus.corpus_facts import recorded_sha256, write_corpus_manifest
from annot.store import papers
from annot.store.facet_labels import remove_labels
from annot.store.paper_writing import replace_papers
from annot.store.queries import move_sentences, read_queries
from annot.store.runs import Imported, put_import, read_imports
from annot.store.shown import ShownVersion, read_versions, record_versions, version
from annot.study.shown_contents import text_content
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query whose sentences were found again in the corrected text of its paper, or not all of them."""

    query_id: str
    before: tuple[int, ...]
    """Numbers of its sentences from 1 in the earlier text."""
    after: tuple[int, ...]
    """The same in the corrected text; those that are not found there are missing."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a correction changed."""

    papers: tuple[str, ...] = ()
    """Ids of the papers whose record is another one now."""
    texts: tuple[str, ...] = ()
    """Those of which title or abstract changed."""
    labels_gone: int = 0
    """Papers that lost their sentence labels, because they have other sentences."""
    queries: tuple[MovedQuery, ...] = ()
    """The queries that have to be looked at."""


class Correction:
    """The papers that files correct, until all of them are read. why: the lead's reason; None corrects nothing."""

    def __init__(self, ws: Workspace, why: str | None) -> None:
        self._ws, self._why = ws, why
        self._tables: list[Any] = []
        self._met: set[str] = set()
        with ws.reading() as session:
            self._recorded = {} if why is None else _text_versions(session)

    @property
    def is_wanted(self) -> bool:
        """Whether papers are replaced at all."""
        return self._why is not None

    @property
    def tables(self) -> list[Any]:
        """Takes tables of the papers that replace one of the corpus."""
        return self._tables

    def meet(self, paper_ids: Any) -> None:
        """Take notice of papers that the files have. paper_ids: a pyarrow array of strings.

        A paper of the corpus that is not as it was sent is corrected by a file that has it as it is.
        """
        if self._recorded:
            self._met |= self._recorded.keys() & set(paper_ids.to_pylist())

    def put_on_record(self, *, dry_run: bool) -> Corrected:
        """Note down the texts, and take labels and sentences of queries along; the corpus is as it was."""
        if self._why is None or not (self._tables or self._met):
            return Corrected()
        new = {paper.paper_id: paper for table in self._tables for paper in papers.papers_in(table)}
        old = papers.find_papers(self._ws.corpus, {*new, *self._met})
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        versions, changed = [], {}
        for paper_id, paper in old.items():
            known = self._recorded.get(paper_id, ())
            before = known[-1] if known else version("text", paper_id, text_content(paper), since=_known_since(now))
            after = version("text", paper_id, text_content(new.get(paper_id, paper)), since=now, why=self._why)
            if before.sha256 != after.sha256:
                versions += [after] if known else [before, after]
                changed[paper_id] = (_sentences(before), _sentences(after))
        resentenced = {paper_id for paper_id, (before, after) in changed.items() if before != after}
        with self._ws.writing() as session:
            moved = _moved(read_queries(session), changed)
            gone = remove_labels(session, resentenced)
            move_sentences(session, {query.query_id: query.sentences for query, _ in moved})
            record_versions(session, versions)
            if new:
                _begin(session, recorded_sha256(self._ws), now, self._why, sorted(new))
            if dry_run:
                session.rollback()
        queries = tuple(
            MovedQuery(query.query_id, _from_1(before.sentences), _from_1(query.sentences)) for query, before in moved
        )
        return Corrected(tuple(sorted({*new, *changed})), tuple(sorted(changed)), gone, queries)

    def write(self) -> None:
        """Put the new records in the places of the old ones; killed half-way, the same command finishes."""
        import pyarrow

        with self._ws.reading() as session:
            begun = [one for one in corrections(session) if one["after"] is None]
        if self._tables:
            replace_papers(self._ws.corpus, pyarrow.concat_tables(self._tables, promote_options="default"))
        if begun:
            digest = write_corpus_manifest(self._ws)
            with self._ws.writing() as session:
                _end(session, digest)


def corrections(session: Session) -> list[Mapping[str, Any]]:
    """The corrections of the corpus, the oldest first: `at`, `why`, `papers`, and the hash of the corpus `before` and
    `after`, which is None of one that was killed."""
    return sorted(
        (one.facts for one in read_imports(session) if one.what == Source.CORRECTED), key=lambda one: str(one["at"])
    )


def _begin(session: Session, before: str, now: str, why: str, paper_ids: Sequence[str]) -> None:
    facts = {"at": now, "why": why, "papers": list(paper_ids), "before": before, "after": None}
    put_import(session, Imported(Source.CORRECTED, _name_of(facts), facts))


def _end(session: Session, digest: str) -> None:
    for facts in corrections(session):
        if facts["after"] is None:
            put_import(session, Imported(Source.CORRECTED, _name_of(facts), {**facts, "after": digest}))


def _name_of(facts: Mapping[str, Any]) -> str:
    told = json.dumps([facts["at"], facts["before"], facts["papers"]])
    return hashlib.sha256(told.encode()).hexdigest()


def _text_versions(session: Session) -> dict[str, tuple[ShownVersion, ...]]:
    return {subject: versions for (_, subject), versions in read_versions(session, "text").items()}


def _known_since(now: str) -> str:
    """A moment before the correction: when the earlier text came is on record nowhere."""
    return (datetime.fromisoformat(now) - timedelta(seconds=1)).isoformat(timespec="microseconds")


def _sentences(text: ShownVersion) -> tuple[str, ...]:
    return tuple(json.loads(text.body)["sentences"])


def _moved(
    queries: Collection[Query], changed: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> list[tuple[Query, Query]]:
    """The queries on papers whose sentences changed, with those found again; each with the query as it was."""
    found = []
    for query in queries:
        before, after = changed.get(query.topic_id, ((), ()))
        if before != after and query.sentences:
            places = places_again(before, after)
            found.append(
                (replace(query, sentences=tuple(sorted(places[at] for at in query.sentences if at in places))), query)
            )
    return found


def places_again(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Where the sentences of a text are in its corrected version, by their places from 0.

    A sentence that stayed is found by its words. Of as many changed ones in a row as there were, each is the one at
    its place.

    >>> places_again(["We met.", "We danced.", "It rained."], ["We met.", "We dance.", "It rained.", "We left."])
    {0: 0, 1: 1, 2: 2}
    """
    places: dict[int, int] = {}
    for kind, start, stop, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal" or stop - start == last - first:
            places |= zip(range(start, stop), range(first, last), strict=True)
    return places


def _from_1(places: Sequence[int]) -> tuple[int, ...]:
    return tuple(at + 1 for at in places)


def differing(ws: Workspace, session: Session) -> tuple[str, ...]:
    """The papers whose text in the corpus is not the one on record, although no correction says so, by id."""
    known = {paper_id: versions[-1].sha256 for paper_id, versions in _text_versions(session).items()}
    return tuple(sorted(paper_id for paper_id, text in texts_now(ws, known).items() if text.sha256 != known[paper_id]))


def texts_now(ws: Workspace, paper_ids: Collection[str]) -> dict[str, ShownVersion]:
    """The texts of these papers as the corpus has them; those that it lacks are left out."""
    found: Mapping[str, Paper] = papers.find_papers(ws.corpus, paper_ids) if paper_ids and ws.has_corpus else {}
    return {name: version("text", name, text_content(paper), since="") for name, paper in found.items()}
