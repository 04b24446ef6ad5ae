"""Facts of the corpus, corrected texts of papers, and texts that changed without a correction."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from annot.base.errors import AnnotError, InputError, MissingInput
from annot.base.libraries import pyarrow
from annot.base.names import counted, sha256_of
from annot.base.records import Paper, Query, Source
from annot.store import facet_labels, papers
from annot.store.citations import cited_by
from annot.store.facet_labels import read_labels, remove_labels
from annot.store.models import ImportedSource, Session
from annot.store.papers import replace_papers
from annot.store.pools import move_sentences, read_queries
from annot.store.runs import put_import, read_imports
from annot.store.shown import ShownVersion, hash_of_text, read_histories, read_versions, record_versions, version
from annot.study.shown_versions import text_content, with_text
from annot.study.workspace import Workspace, read_manifest, write_file, write_manifest

# ----------------------------------------------------------------------------------------------------------------------
# Facts of the corpus: hash, size, years, and the papers and labels that must be there.
# ----------------------------------------------------------------------------------------------------------------------


MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """The papers by number and year; a study that was judged elsewhere has none."""

    papers: int
    years: tuple[int, int] | None
    """The first and the last; None if no paper has one."""
    without_year: int


def corpus_facts(ws: Workspace, *, without: Collection[str] = ()) -> CorpusFacts:
    """Count the papers and their years. without: papers that are not counted."""
    papers_read = papers.read_papers(ws.corpus, columns=("year",)) if ws.has_corpus else ()
    years = Counter(paper.year for paper in papers_read if paper.paper_id not in without)
    known_years = sorted(year for year in years if year is not None)
    return CorpusFacts(years.total(), (known_years[0], known_years[-1]) if known_years else None, years[None])


def write_corpus_manifest(ws: Workspace) -> str:
    """Write the manifest of the corpus as it is now, and return the hash of its content."""
    digest = papers.corpus_sha256(ws.corpus)
    facts = {"papers": papers.count_papers(ws.corpus), "content_sha256": digest}
    write_manifest(ws.corpus / MANIFEST, files=sorted(ws.corpus.glob("*.parquet")), inputs={}, facts=facts)
    return digest


def recorded_sha256(ws: Workspace) -> str:
    """The hash of the corpus as its manifest has it: to hash a large corpus anew takes long."""
    manifest = read_manifest(ws.corpus / MANIFEST, hint="add papers with `annot corpus add`")
    return str(manifest["content_sha256"])


def papers_of(ws: Workspace, paper_ids: Iterable[str]) -> dict[str, Paper]:
    """The papers by id, with the citations that were added to them. Raises MissingInput with every one that is not in
    the corpus."""
    ids = sorted(set(paper_ids))
    papers_by_id = papers.find_papers(ws.corpus, ids) if ids else {}
    if absent := [paper_id for paper_id in ids if paper_id not in papers_by_id]:
        raise MissingInput(
            f"{counted(len(absent), 'paper')} not found in the corpus",
            faults=[f"{paper_id}: not in the corpus" for paper_id in absent],
            hint="add them with `annot corpus add`",
        )
    return with_citations(ws, {paper_id: papers_by_id[paper_id] for paper_id in ids})


def with_citations(ws: Workspace, papers_by_id: Mapping[str, Paper]) -> dict[str, Paper]:
    """These papers, by id, with the citations that were added to them behind their own."""
    added = cited_by(ws.corpus, papers_by_id)

    def citing(paper: Paper) -> Paper:
        cited = dict.fromkeys((*paper.citations, *added.get(paper.paper_id, ())))
        return replace(paper, citations=tuple(doc_id for doc_id in cited if doc_id != paper.paper_id))

    return {paper_id: citing(paper) if paper_id in added else paper for paper_id, paper in papers_by_id.items()}


def labels_of(session: Session, paper_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The label of each sentence by paper. Raises MissingInput when a paper has none."""
    ids = set(paper_ids)
    labels = {labelled.paper_id: labelled.labels for labelled in facet_labels.read_labels(session, sorted(ids))}
    if absent := sorted(ids - labels.keys()):
        fault = f"{counted(len(absent), 'paper')} without sentence labels: {absent[0]}{', ...' if absent[1:] else ''}"
        raise MissingInput(fault, hint="label them with `annot facets`")
    return labels


def labels_where_asked(
    ws: Workspace, session: Session, papers_by_id: Mapping[str, Paper]
) -> dict[str, tuple[str, ...]]:
    """Sentence labels of these papers; empty if no facet is judged."""
    if ws.settings.faceted:
        return labels_of(session, papers_by_id)
    return {paper_id: ("",) * len(paper.sentences) for paper_id, paper in papers_by_id.items()}


def current_sha256(ws: Workspace, *, keep: bool, last: str | None = None) -> str:
    """Hash of the corpus, as `annot.store.papers.corpus_sha256` gives it. Raises MissingInput when the corpus is empty.

    keep: write down what was found. last: name of the last file that counts; None takes all.

    A file is taken for unchanged while its size, its times and its number in the file system are: whoever exchanges a
    file, even under its old date, changes one of them.
    """
    remembered = ws.cache / ("corpus.json" if last is None else f"corpus-{last}.json")
    files = {name: facts for name, facts in _files(ws).items() if last is None or name <= last}
    if found := _remembered(remembered, "files", files):
        return str(found["sha256"])
    digest = (_manifest_sha256(ws, list(files)) if last is None else None) or papers.corpus_sha256(ws.corpus, last)
    if keep:
        write_file(remembered, json.dumps({"files": files, "sha256": digest}))
    return digest


def _remembered(path: Path, name: str, state: object) -> dict[str, Any]:
    """The result that was written down for this state, which has this name; empty if there is none."""
    try:
        result: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return result if result[name] == state else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _files(ws: Workspace) -> dict[str, list[int]]:
    stats = {path.name: path.stat() for path in sorted(ws.corpus.glob("*.parquet")) if not path.name.startswith(".")}
    return {name: [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino] for name, stat in stats.items()}


def _manifest_sha256(ws: Workspace, names: list[str]) -> str | None:
    """SHA-256 in the corpus's manifest, if its files are the very ones in the folder."""
    try:
        manifest = read_manifest(ws.corpus / MANIFEST, hint="")
    except AnnotError:
        return None
    hashes = {name: sha256_of(ws.corpus / name) for name in names}
    digest = manifest.get("content_sha256")
    return digest if hashes and manifest.get("files") == hashes and isinstance(digest, str) else None


# ----------------------------------------------------------------------------------------------------------------------
# Texts of the corpus that are not those on record, although no correction says so: a corpus that was filled again.
# ----------------------------------------------------------------------------------------------------------------------


UNCORRECTED = (
    'if they were corrected, add them with `annot corpus add --corrected "WHY" FILE`; otherwise restore the corpus '
    "from a backup"
)
"""Remedy that messages give."""
TEXTS_FILE = "texts.json"
"""File below `.annot/` with the result of the last comparison."""


def uncorrected(ws: Workspace, session: Session, states: Mapping[str, str]) -> tuple[str, ...]:
    """The papers whose text is not the one on record, by id. states: of `annot.study.provenance`.

    The corpus is read once for each state that it and its corrections are in.
    """
    if not ws.has_corpus:
        return ()
    key, remembered = [states["corpus"], states["texts"]], ws.cache / TEXTS_FILE
    if all(key) and (found := _remembered(remembered, "of", key)):
        return tuple(found["differing"])
    if not (last := _last_hashes(session)):
        return ()
    differing = _differing(papers.find_papers(ws.corpus, last).values(), last)
    # A study that is only read is compared each time.
    with suppress(OSError):
        write_file(remembered, json.dumps({"of": key, "differing": differing}))
    return differing


def differing_texts(session: Session, corpus: Iterable[Paper]) -> tuple[str, ...]:
    """Papers among these whose text is not the one on record, although no correction says so, by id."""
    return _differing(corpus, _last_hashes(session))


def _last_hashes(session: Session) -> dict[str, str]:
    """The hash of the last text on record, by paper."""
    return {text_id: history[-1][1] for (part, text_id), history in read_histories(session).items() if part == "text"}


def _differing(corpus: Iterable[Paper], last: Mapping[str, str]) -> tuple[str, ...]:
    on_record = (paper for paper in corpus if paper.paper_id in last)
    changed = (paper.paper_id for paper in on_record if hash_of_text(text_content(paper)) != last[paper.paper_id])
    return tuple(sorted(changed))


# ----------------------------------------------------------------------------------------------------------------------
# Corrected records of papers: what they change, put on record before the corpus is written again.
# ----------------------------------------------------------------------------------------------------------------------


SHORTLY_BEFORE = timedelta(seconds=-1)
"""Time between a correction and the moment that the earlier text gets, which no record has."""


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query whose sentences were found again in the corrected text of its paper, or not all of them."""

    query_id: str
    before: tuple[int, ...]
    """Numbers of its sentences from 1 in the earlier text."""
    after: tuple[int, ...]
    """Numbers of its sentences in the corrected text, without those that are not found there."""


@dataclass(frozen=True, slots=True)
class CorrectionSummary:
    """The changes that a correction made."""

    papers: tuple[str, ...] = ()
    """Ids of the papers whose record is another one now."""
    texts: tuple[str, ...] = ()
    """Papers whose title or abstract changed."""
    labels_gone: int = 0
    """Papers that lost their sentence labels, because they have other sentences."""
    queries: tuple[MovedQuery, ...] = ()
    """The queries that have to be looked at."""


_Change = tuple[ShownVersion, ShownVersion]
"""The text of a paper before and after its correction."""


def _sentences(change: _Change) -> tuple[tuple[str, ...], tuple[str, ...]]:
    earlier, after = (tuple(json.loads(text.body)["sentences"]) for text in change)
    return earlier, after


class RecordCorrections:
    """The papers that files correct, until all of them are read. why: the lead's reason; None corrects nothing."""

    def __init__(self, ws: Workspace, reason: str | None) -> None:
        if reason is not None and not reason.strip():
            raise InputError('--corrected: empty, expected why the texts were corrected, such as "erratum of 3 March"')
        self._ws, self._why = ws, reason and " ".join(reason.split())
        self.tables: list[Any] = []
        """Takes tables of the papers that replace one of the corpus."""
        self._met: set[str] = set()
        with ws.reading() as session:
            versions = {} if reason is None else read_versions(session, "text")
        self._recorded = {subject: several for (_, subject), several in versions.items()}

    @property
    def is_wanted(self) -> bool:
        """True if papers are replaced at all."""
        return self._why is not None

    def meet(self, paper_ids: Any) -> None:
        """Take notice of papers that the files have. paper_ids: a pyarrow array of strings.

        A paper of the corpus that is not as it was sent is corrected by a file that has it as it is.
        """
        if self._recorded:
            self._met |= self._recorded.keys() & set(paper_ids.to_pylist())

    def put_on_record(self, *, dry_run: bool) -> CorrectionSummary:
        """Put the corrected texts on record, and move labels and sentences of queries; the corpus is not written."""
        if self._why is None or not (self.tables or self._met):
            return CorrectionSummary()
        new = {paper.paper_id: paper for table in self.tables for paper in papers.papers_in(table.to_batches())}
        old = papers.find_papers(self._ws.corpus, {*new, *self._met})
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        versions, changed = [], {}
        for paper_id, paper in old.items():
            recorded_versions = self._recorded.get(paper_id, ())
            first_version = (
                recorded_versions[-1]
                if recorded_versions
                else version("text", paper_id, text_content(paper), since=_shifted(now, SHORTLY_BEFORE))
            )
            # A machine's clock may have been wrong when an earlier version was noted down.
            since = max(now, _shifted(first_version.since, timedelta(microseconds=1)))
            after = version("text", paper_id, text_content(new.get(paper_id, paper)), since=since, why=self._why)
            if first_version.sha256 != after.sha256:
                versions += [after] if recorded_versions else [first_version, after]
                changed[paper_id] = (first_version, after)
        sentences = {paper_id: _sentences(change) for paper_id, change in changed.items()}
        resentenced = {paper_id for paper_id, (earlier, after) in sentences.items() if earlier != after}
        with self._ws.writing() as session:
            queries = read_queries(session)
            moved = _moved_queries(queries, sentences)
            if new or changed:
                earlier = [
                    _record_before_correction(old[name], changed.get(name))
                    for name in sorted({*new, *changed} & old.keys())
                ]
                texts = {name: earlier.sha256 for name, (earlier, _) in changed.items()}
                _note(session, now, self._why, earlier, texts, queries)
            removed = remove_labels(session, resentenced)
            move_sentences(session, {query.query_id: query.sentences for query, _ in moved})
            record_versions(session, versions)
            if dry_run:
                session.rollback()
        found_again = tuple(
            MovedQuery(query.query_id, _places_from_1(earlier.sentences), _places_from_1(query.sentences))
            for query, earlier in moved
        )
        return CorrectionSummary(tuple(sorted({*new, *changed})), tuple(sorted(changed)), removed, found_again)

    def write(self) -> None:
        """Put the new records in the places of the old ones; killed half-way, the same command finishes."""
        if self.tables:
            replace_papers(self._ws.corpus, pyarrow.concat_tables(self.tables, promote_options="default"))


@dataclass(frozen=True, slots=True)
class PastCorrection:
    """A correction of the corpus that is on record."""

    at: str
    """ISO 8601, UTC."""
    why: str
    before: tuple[Paper, ...]
    """The records as they were."""
    texts: Mapping[str, str]
    """SHA-256 of the text before the correction, by paper."""
    labels: Mapping[str, tuple[str, ...]]
    """Labels of the sentences before the correction, by paper."""
    sentences: Mapping[str, tuple[int, ...]]
    """Sentences before the correction, by query."""


_CORRECTIONS = TypeAdapter(tuple[PastCorrection, ...])


def corrections(session: Session) -> tuple[PastCorrection, ...]:
    """The corrections of the corpus, the oldest first."""
    facts = (imported.facts for imported in read_imports(session) if imported.what == Source.CORRECTED)
    return _CORRECTIONS.validate_python(sorted(facts, key=itemgetter("at")))


def _note(
    session: Session,
    now: str,
    reason: str,
    earlier: Sequence[Paper],
    texts: Mapping[str, str],
    queries: Iterable[Query],
) -> None:
    labels = {labelled.paper_id: labelled.labels for labelled in read_labels(session, texts)}
    sentences = {query.query_id: query.sentences for query in queries if query.topic_id in texts}
    facts = asdict(PastCorrection(now, reason, tuple(earlier), texts, labels, sentences))
    name = hashlib.sha256(json.dumps([now, [paper.paper_id for paper in earlier]]).encode()).hexdigest()
    put_import(session, ImportedSource(Source.CORRECTED, name, facts))


def _record_before_correction(paper: Paper, changed: _Change | None) -> Paper:
    """The record before the correction. If the corpus had the corrected text already, its record has the earlier one,
    and no labels: those that it has are of the corrected sentences."""
    if changed is None or text_content(paper) == changed[0].body:
        return paper
    return with_text(paper, changed[0].body)


def _shifted(moment: str, by: timedelta) -> str:
    return (datetime.fromisoformat(moment) + by).astimezone(UTC).isoformat(timespec="microseconds")


def _moved_queries(
    queries: Collection[Query], changed: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> list[tuple[Query, Query]]:
    """The queries on papers whose sentences changed, with those found again; each with the query as it was."""
    moved = []
    for query in queries:
        old_sentences, after = changed.get(query.topic_id, ((), ()))
        if old_sentences != after and query.sentences:
            places = places_again(old_sentences, after)
            sentences = tuple(sorted(places[place] for place in query.sentences if place in places))
            moved.append((replace(query, sentences=sentences), query))
    return moved


def places_again(earlier: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """New places of the sentences of a text in its corrected version, by their old places from 0.

    A sentence that stayed is found by its words. Of as many changed ones in a row as there were, each is the one at
    its place.

    >>> places_again(["We met.", "We danced.", "It rained."], ["We met.", "We dance.", "It rained.", "We left."])
    {0: 0, 1: 1, 2: 2}
    """
    places: dict[int, int] = {}
    for kind, start, stop, first, last in SequenceMatcher(None, earlier, after, autojunk=False).get_opcodes():
        if kind == "equal" or stop - start == last - first:
            places |= zip(range(start, stop), range(first, last), strict=True)
    return places


def _places_from_1(places: Sequence[int]) -> tuple[int, ...]:
    return tuple(place + 1 for place in places)
