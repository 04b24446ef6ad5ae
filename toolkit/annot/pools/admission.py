"""Papers that enter a pool besides those ranked, and papers that may not enter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from annot.base.array_files import integers_of, truths
from annot.base.errors import InputError
from annot.base.libraries import pyarrow
from annot.base.names import sha256_of
from annot.base.records import MANUAL, Advance, Paper, Pool, Ranking
from annot.corpus import corpus_facts, corpus_filters
from annot.formats.input_files import json_lines
from annot.pools import frozen_rankings, pooling
from annot.ranking.index import each_on
from annot.store import papers
from annot.store.citations import MANIFEST as CITATIONS
from annot.store.papers import RowGroups, groups_for, ids_at, known_ids
from annot.study.workspace import Workspace, read_manifest, write_file

# ----------------------------------------------------------------------------------------------------------------------
# The papers of one title or of nearly one text: found once for a corpus, and kept by its hash.
# ----------------------------------------------------------------------------------------------------------------------


Groups = tuple[tuple[str, ...], ...]
"""Ids of papers, each group in the order of the corpus."""


class NearDuplicates(NamedTuple):
    """The papers of a corpus that are alike."""

    texts: Groups
    """Near-duplicates of one another: a pool has one of a group."""
    titles: Groups
    """Papers of one normalised title, whichever texts they have; titles are compared by hashes of 64 bits."""

    def of_same_title(self, query_papers: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Other papers with the title of each query paper: they never enter its pool."""
        group_of = {doc_id: group for group in self.titles for doc_id in group}
        return {name: tuple(doc_id for doc_id in group_of.get(name, ()) if doc_id != name) for name in query_papers}


def near_duplicates(ws: Workspace, *, keep: bool, advance: Advance) -> NearDuplicates:
    """Papers that are alike: from the cache, or else computed, and with `keep` cached."""
    digest = corpus_facts.current_sha256(ws, keep=False)
    path = ws.cache / "near-duplicates" / f"{digest[:16]}.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if (record["corpus"], record["settings"]) == (digest, corpus_filters.SETTINGS):
            return NearDuplicates(*(tuple(map(tuple, record[name])) for name in NearDuplicates._fields))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    duplicates = _near_duplicates_found(ws, advance)
    if keep:
        record = {"corpus": digest, "settings": corpus_filters.SETTINGS, **duplicates._asdict()}
        write_file(path, json.dumps(record, ensure_ascii=False) + "\n")
    return duplicates


def sketches_of(group: RowGroups) -> corpus_filters.Sketches:
    """The sketches of one group of rows."""
    table = pyarrow.Table.from_batches(papers.read_columns([group], ("title", "sentences", papers.PART_OF)))
    parts = [
        corpus_filters.sketch(*corpus_filters.shingles(batch.column("sentences")))
        for batch in table.to_batches(max_chunksize=1_000)
    ]
    titles = np.array(list(map(corpus_filters.title_mark, table.column("title").to_pylist())), np.uint64)
    passage: NDArray[np.bool_] = np.zeros(len(titles), np.bool_)
    if papers.PART_OF in table.column_names:
        passage = truths(table.column(papers.PART_OF).is_valid())
    return corpus_filters.Sketches(
        titles, np.concatenate([np.zeros((0, corpus_filters.BANDS), np.uint64), *parts]), passage
    )


def shingles_of(rows: tuple[RowGroups, NDArray[np.int64]]) -> list[NDArray[np.uint64]]:
    """The different shingles of some rows of a group."""
    group, places = rows
    batches = papers.read_columns([group], ["sentences"])
    chosen = pyarrow.Table.from_batches(batches).take(integers_of(places)).column(0).combine_chunks()
    hashes, bounds = corpus_filters.shingles(chosen)
    return [np.unique(hashes[bounds[place] : bounds[place + 1]]) for place in range(len(places))]


def _near_duplicates_found(ws: Workspace, advance: Advance) -> NearDuplicates:
    each = each_on(ws.machine)
    shards = groups_for(ws.corpus, ws.machine.url)
    sketches = []
    for sketch_of_shard in each(sketches_of, shards):
        sketches.append(sketch_of_shard)
        advance(len(sketches), len(shards))
    pairs = corpus_filters.candidates(sketches)
    places = np.unique(pairs)
    ends = np.cumsum([len(part.title) for part in sketches])
    cuts = np.split(places, np.searchsorted(places, ends))[: len(shards)]
    rows = [
        (shard, cut - (end - len(part.title)))
        for shard, cut, end, part in zip(shards, cuts, ends, sketches, strict=True)
        if len(cut)
    ]
    sets = (shingle_set for some in each(shingles_of, rows) for shingle_set in some)
    by_place = dict(zip(places.tolist(), sets, strict=True))
    titles = np.concatenate([part.title for part in sketches])
    title_marks = np.where(np.concatenate([part.passage for part in sketches]), np.uint64(0), titles)
    group_sets = (corpus_filters.groups(pairs, title_marks, by_place), corpus_filters.together(titles))
    ids = ids_at(ws.corpus, [place for group_set in group_sets for group in group_set for place in group])
    return NearDuplicates(
        *(tuple(tuple(ids[place] for place in group) for group in group_set) for group_set in group_sets)
    )


# ----------------------------------------------------------------------------------------------------------------------
# Admission to pools: besides rankings, citations and bars decide about the papers of a pool.
#
# It is recorded when a pool is drawn or topped up: citations, near-duplicates and the corpus may change later, and
# the pool must still follow from the files on disk.
# ----------------------------------------------------------------------------------------------------------------------


FILE = "admission.jsonl"
"""Name of the file in the folder of the pools."""
Barred = Mapping[str, str | None]
"""Papers that may not enter: by id, the near-duplicate that the pool has instead; None for a paper with the title of
the query paper."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Admission of papers to the pool of one topic."""

    cited: tuple[str, ...]
    """The papers of the corpus that it cites, by id."""
    cited_outside: tuple[str, ...]
    """Cited papers that the corpus does not have."""
    citations_sha256: str | None
    """SHA-256 of the manifest of the added citations; None if there were none."""
    barred: Mapping[int, Barred]
    """Ranked or cited papers that could not enter, by version of the pool."""


_ADMISSION = TypeAdapter(Admission)


def admissions(
    ws: Workspace,
    citations: Mapping[str, Sequence[str] | None],
    rankings: Mapping[str, Mapping[str, Ranking]],
    *,
    duplicates: NearDuplicates,
    current: Mapping[str, Pool],
    coming: int | None = None,
) -> dict[str, Admission]:
    """Admissions by the corpus and its citations as they are now, for the drawn pools and for every top-up on record.

    citations: of each topic; None of a text, to which no rule about papers applies. rankings: by method, then topic.
    current: the pools on record, which keep their documents. coming: the version that is about to be made.
    """
    group_of = {doc_id: group for group in duplicates.texts for doc_id in group}
    same_title = duplicates.of_same_title(name for name, of_topic in citations.items() if of_topic is not None)
    cited = {doc_id for of_topic in citations.values() for doc_id in of_topic or ()}
    in_corpus = known_ids(ws.corpus, cited) if cited else frozenset()
    source = ws.corpus / CITATIONS
    sha256 = sha256_of(source) if source.is_file() else None
    admission_of = {}
    for topic_id, of_topic in citations.items():
        itself = set() if of_topic is None else {topic_id}
        cites = set(of_topic or ()) - itself
        met_ids = {doc.doc_id for by_topic in rankings.values() for doc in by_topic.get(topic_id, ())}
        met_ids |= cites & in_corpus
        met = list(dict.fromkeys(group_of[doc_id] for doc_id in sorted(met_ids) if doc_id in group_of))
        barred = {}
        for version, had, later in _documents_by_version(current.get(topic_id), coming):
            excluded: dict[str, str | None] = {
                **corpus_filters.passed_over(met, standing=itself | had, later=later, cited=of_topic or ()),
                **dict.fromkeys(same_title.get(topic_id, ())),
            }
            barred[version] = {doc_id: excluded[doc_id] for doc_id in sorted(excluded.keys() & met_ids)}
        admission_of[topic_id] = Admission(
            tuple(sorted(cites & in_corpus)), tuple(sorted(cites - in_corpus)), sha256, barred
        )
    return admission_of


def _documents_by_version(pool: Pool | None, coming: int | None) -> Iterator[tuple[int, set[str], set[str]]]:
    """Version 1, those that a ranking added, and the one to come, each with the documents that the pool had in it, and
    with those that came later. Additions by a person were checked when they were made."""
    additions = pool.additions if pool else ()
    entries = {entry.doc_id for entry in pool.entries} if pool else set[str]()
    versions = [1, *(addition.version for addition in additions if addition.method != MANUAL)]
    for version in versions if coming is None else (*versions, coming):
        earlier = {entry.doc_id for entry in pooling.pool_in_version(pool, version).entries} if pool else set[str]()
        yield version, earlier, entries - earlier


def recorded_admissions(ws: Workspace, *, proved: bool = False) -> dict[str, Admission]:
    """Admissions on record, by topic; pools of an earlier version of this program have none.

    proved: raise InputError if the file is not the one that the manifest of the pools names.
    """
    path, manifest = ws.pools / FILE, ws.pools / frozen_rankings.MANIFEST
    hint = "if a command was killed, run it again; otherwise restore the file from a backup"
    if proved and manifest.is_file():
        expected = read_manifest(manifest, hint=hint).get("files", {}).get(FILE)
        current = sha256_of(path) if path.is_file() else None
        if current != expected:
            current, expected = (str(sha256)[:12] if sha256 else "none" for sha256 in (current, expected))
            raise InputError(f"{path}: its SHA-256 is {current}, expected {expected} as in {manifest}", hint=hint)
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return {json.loads(line)["topic_id"]: _ADMISSION.validate_json(line) for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not what `annot pool` writes: {error}", hint=hint) from None


def as_recorded(current: Mapping[str, Admission], recorded: Mapping[str, Admission]) -> dict[str, Admission]:
    """Admissions for drawing pools from the files on disk: the citations on record, and without any paper that was
    barred."""
    admission_of = dict(current)
    for topic_id in current.keys() & recorded.keys():
        earlier = recorded[topic_id].barred
        barred = {
            version: {**of_version, **earlier.get(version, {})}
            for version, of_version in current[topic_id].barred.items()
        }
        admission_of[topic_id] = replace(recorded[topic_id], barred=barred)
    return admission_of


def write_admissions(ws: Workspace, by_topic: Mapping[str, Admission]) -> None:
    """Write the admissions, a line a topic; the manifest of the pools, which must be written next, names the file."""
    lines = ({"topic_id": topic_id, **asdict(admission)} for topic_id, admission in sorted(by_topic.items()))
    write_file(ws.pools / FILE, json_lines(lines))


def drawn_citations(ws: Workspace, papers: Mapping[str, Paper]) -> dict[str, tuple[str, ...]]:
    """Citations of these papers, by id: of a query paper as its pool was drawn, of any other from the current
    corpus."""
    on_record = recorded_admissions(ws)
    citations = {}
    for paper_id, paper in corpus_facts.with_citations(ws, papers).items():
        admission = on_record.get(paper_id)
        cited = dict.fromkeys(paper.citations if admission is None else (*admission.cited, *admission.cited_outside))
        # In the order of the corpus, as far as it has them.
        citations[paper_id] = tuple(dict.fromkeys((*(doc_id for doc_id in paper.citations if doc_id in cited), *cited)))
    return citations


def passed_over_in(
    pools: Iterable[Pool], rankings: Mapping[str, Mapping[str, Ranking]], admitted: Mapping[str, Admission]
) -> int:
    """Number of near-duplicates that the draws of these pools came by and left: above the last that a method drew."""
    count = 0
    for pool in pools:
        versions = admitted[pool.topic_id].barred.values()
        barred = {doc_id for version in versions for doc_id, duplicate in version.items() if duplicate}
        barred -= {entry.doc_id for entry in pool.entries}
        met: set[str] = set()
        for share in pooling.shares(pool):
            ranking = rankings.get(share.method, {}).get(pool.topic_id, ())[: share.deepest or 0]
            met |= {doc.doc_id for doc in ranking} & barred
        count += len(met)
    return count
