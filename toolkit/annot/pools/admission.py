"""Admission to pools: besides rankings, citations and bars decide about the papers of a pool.

It is recorded when a pool is drawn or topped up: citations, near-duplicates and the corpus may change later, and the
pool must still follow from the files on disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from pydantic import TypeAdapter

from annot.base.errors import InputError
from annot.base.records import MANUAL, Paper, Pool, Ranking
from annot.corpus.corpus_facts import with_citations
from annot.corpus.near_duplicates import passed_over
from annot.formats.json_lines import json_lines
from annot.pools.frozen_rankings import MANIFEST
from annot.pools.near_duplicates import NearDuplicates
from annot.pools.pooling import as_of, shares
from annot.store.citations import MANIFEST as CITATIONS
from annot.store.papers import known_ids
from annot.study.workspace import Workspace, read_manifest, sha256_of, write_file

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
    groups = {doc_id: group for group in duplicates.texts for doc_id in group}
    same_title = duplicates.of_same_title(name for name, of_topic in citations.items() if of_topic is not None)
    cited = {doc_id for of_topic in citations.values() for doc_id in of_topic or ()}
    in_corpus = known_ids(ws.corpus, cited) if cited else frozenset()
    source = ws.corpus / CITATIONS
    sha256 = sha256_of(source) if source.is_file() else None
    admission_of = {}
    for topic_id, of_topic in citations.items():
        itself = set() if of_topic is None else {topic_id}
        cites = set(of_topic or ()) - itself
        candidates = {doc.doc_id for by_topic in rankings.values() for doc in by_topic.get(topic_id, ())}
        candidates |= cites & in_corpus
        met = list(dict.fromkeys(groups[doc_id] for doc_id in sorted(candidates) if doc_id in groups))
        pool = current.get(topic_id)
        barred = {}
        for version in _versions(pool, coming):
            had = {entry.doc_id for entry in as_of(pool, version).entries} if pool else set[str]()
            later = {entry.doc_id for entry in pool.entries} - had if pool else set[str]()
            excluded: dict[str, str | None] = {
                **passed_over(met, standing=itself | had, later=later, cited=of_topic or ()),
                **dict.fromkeys(same_title.get(topic_id, ())),
            }
            barred[version] = {doc_id: excluded[doc_id] for doc_id in sorted(excluded.keys() & candidates)}
        admission_of[topic_id] = Admission(
            tuple(sorted(cites & in_corpus)), tuple(sorted(cites - in_corpus)), sha256, barred
        )
    return admission_of


def recorded_admissions(ws: Workspace, *, proved: bool = False) -> dict[str, Admission]:
    """Admissions on record, by topic; pools of an earlier version of this program have none.

    proved: raise InputError if the file is not the one that the manifest of the pools names.
    """
    path, manifest = ws.pools / FILE, ws.pools / MANIFEST
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
    for paper_id, paper in with_citations(ws, papers).items():
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
        for share in shares(pool):
            ranking = rankings.get(share.method, {}).get(pool.topic_id, ())[: share.deepest or 0]
            met |= {doc.doc_id for doc in ranking} & barred
        count += len(met)
    return count


def _versions(pool: Pool | None, coming: int | None) -> list[int]:
    """Version 1 and those that a ranking added: additions by a person were checked when they were made."""
    later = [addition.version for addition in pool.additions if addition.method != MANUAL] if pool else []
    return [1, *later, *([] if coming is None else [coming])]
