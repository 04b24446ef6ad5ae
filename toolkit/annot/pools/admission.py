"""What besides rankings decides what a pool holds: the papers that are cited, and those that may not enter.

It is written down when a pool is drawn or topped up: citations, near-duplicates and the corpus may be others later, and
the pool must still follow from what is on disk.
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
"""Below the pools."""
Barred = Mapping[str, str | None]
"""By id, the near-duplicate that the pool has in its place; None for a paper with the title of the query paper."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What holds for the pool of one topic."""

    cited: tuple[str, ...]
    """The papers of the corpus that it cites, by id."""
    cited_outside: tuple[str, ...]
    """Those that it cites and the corpus does not have."""
    citations_sha256: str | None
    """Of the manifest of the citations that had been added; None if there were none."""
    barred: Mapping[int, Barred]
    """By version of the pool, what was ranked or cited and could not enter."""


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
    """What holds by the corpus and its citations as they are now, for the drawn pools and for every top-up on record.

    citations: what each topic cites; None of a text, to which no rule about papers applies. rankings: by method, then
    topic. current: the pools on record, which keep what they have. coming: the version that is about to be made.
    """
    groups = {doc_id: group for group in duplicates.texts for doc_id in group}
    same_title = duplicates.of_same_title(name for name, of_topic in citations.items() if of_topic is not None)
    cited = {doc_id for of_topic in citations.values() for doc_id in of_topic or ()}
    there = known_ids(ws.corpus, cited) if cited else frozenset()
    source = ws.corpus / CITATIONS
    sha256 = sha256_of(source) if source.is_file() else None
    found = {}
    for topic_id, of_topic in citations.items():
        itself = set() if of_topic is None else {topic_id}
        cites = set(of_topic or ()) - itself
        seen = {doc.doc_id for of in rankings.values() for doc in of.get(topic_id, ())} | (cites & there)
        met = list(dict.fromkeys(groups[doc_id] for doc_id in sorted(seen) if doc_id in groups))
        pool = current.get(topic_id)
        barred = {}
        for version in _versions(pool, coming):
            had = {entry.doc_id for entry in as_of(pool, version).entries} if pool else set[str]()
            later = {entry.doc_id for entry in pool.entries} - had if pool else set[str]()
            out: dict[str, str | None] = {
                **passed_over(met, standing=itself | had, later=later, cited=of_topic or ()),
                **dict.fromkeys(same_title.get(topic_id, ())),
            }
            barred[version] = {doc_id: out[doc_id] for doc_id in sorted(out.keys() & seen)}
        found[topic_id] = Admission(tuple(sorted(cites & there)), tuple(sorted(cites - there)), sha256, barred)
    return found


def recorded_admissions(ws: Workspace, *, proved: bool = False) -> dict[str, Admission]:
    """What was written down, by topic; pools of an earlier version of this program have nothing there.

    proved: raise InputError if the file is not the one that the manifest of the pools names.
    """
    path, manifest = ws.pools / FILE, ws.pools / MANIFEST
    hint = "if a command was killed, run it again; otherwise restore the file from a backup"
    if proved and manifest.is_file():
        expected = read_manifest(manifest, hint=hint).get("files", {}).get(FILE)
        found = sha256_of(path) if path.is_file() else None
        if found != expected:
            told = [str(sha256)[:12] if sha256 else "none" for sha256 in (found, expected)]
            raise InputError(f"{path}: its SHA-256 is {told[0]}, expected {told[1]} as in {manifest}", hint=hint)
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return {json.loads(line)["topic_id"]: _ADMISSION.validate_json(line) for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not what `annot pool` writes: {error}", hint=hint) from None


def as_recorded(now: Mapping[str, Admission], recorded: Mapping[str, Admission]) -> dict[str, Admission]:
    """What holds where pools are drawn from what is on disk: the citations on record, and nothing that was barred."""
    return {
        topic_id: replace(
            recorded[topic_id],
            barred={
                version: {**barred, **recorded[topic_id].barred.get(version, {})}
                for version, barred in one.barred.items()
            },
        )
        if topic_id in recorded
        else one
        for topic_id, one in now.items()
    }


def write_admissions(ws: Workspace, found: Mapping[str, Admission]) -> None:
    """Write down what holds, a line a topic; the manifest of the pools, which is to be written next, names it."""
    write_file(ws.pools / FILE, json_lines({"topic_id": name, **asdict(one)} for name, one in sorted(found.items())))


def drawn_citations(ws: Workspace, papers: Mapping[str, Paper]) -> dict[str, tuple[str, ...]]:
    """What these papers, by id, cite: a query paper as its pool was drawn, any other by what is in the corpus now."""
    on_record = recorded_admissions(ws)
    found = {}
    for paper_id, paper in with_citations(ws, papers).items():
        one = on_record.get(paper_id)
        drawn = dict.fromkeys(paper.citations if one is None else (*one.cited, *one.cited_outside))
        # In the order of the corpus, as far as it has them.
        found[paper_id] = tuple(dict.fromkeys((*(doc_id for doc_id in paper.citations if doc_id in drawn), *drawn)))
    return found


def passed_over_in(
    pools: Iterable[Pool], rankings: Mapping[str, Mapping[str, Ranking]], admitted: Mapping[str, Admission]
) -> int:
    """How many near-duplicates the draws of these pools came by and left: above the last that a method drew."""
    count = 0
    for pool in pools:
        out = {doc_id for of in admitted[pool.topic_id].barred.values() for doc_id, stands in of.items() if stands} - {
            entry.doc_id for entry in pool.entries
        }
        met: set[str] = set()
        for share in shares(pool):
            ranking = rankings.get(share.method, {}).get(pool.topic_id, ())[: share.deepest or 0]
            met |= {doc.doc_id for doc in ranking} & out
        count += len(met)
    return count


def _versions(pool: Pool | None, coming: int | None) -> list[int]:
    """The drawn pool and those that a ranking added to: what a person added was looked at when they did."""
    later = [one.version for one in pool.additions if one.method != MANUAL] if pool else []
    return [1, *later, *([] if coming is None else [coming])]
