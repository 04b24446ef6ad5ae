"""The pools of a study: drawn from rankings or judged elsewhere, with later additions, and their files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlmodel import Session

from annot.base.errors import InputError
from annot.base.names import file_name
from annot.base.records import CITED, MANUAL, Addition, Advance, Draw, Pool, PoolEntry, Query, Ranking, nested
from annot.formats.judgements_file import FileJudgement, pool_lines
from annot.formats.trec import rankings_sha256
from annot.pools.admission import FILE, Admission, Barred, admissions, recorded_admissions
from annot.pools.frozen_rankings import MANIFEST, Rankings, lines_on_disk, rankings_manifest
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import PoolDesign, recorded_designs
from annot.pools.pooling import draw, extended
from annot.pools.topics import topics_of
from annot.store.citations import MANIFEST as CITATIONS
from annot.store.pools import UNKNOWN_RANKINGS, read_pools, read_rankings_sha256, replace_pools
from annot.store.queries import read_topics
from annot.study.workspace import Workspace, sha256_of, write_file, write_manifest


def draw_pools(
    rankings: Rankings,
    designs: Mapping[str, PoolDesign],
    admitted: Mapping[str, Admission],
    *,
    current: Mapping[str, Pool],
) -> list[Pool]:
    """Pools of every topic that has a design, drawn by it, with the additions of the one on record.

    Raises InputError if a method would draw that was added later.
    """
    pools = []
    for topic_id, design in designs.items():
        additions = current[topic_id].additions if topic_id in current else ()
        _refuse_twice(topic_id, design, additions)
        admission = admitted[topic_id]
        with_cited = CITED in design.methods
        pool = draw(
            {method: rankings[method][topic_id] for method in design.ranked_methods},
            topic_id=topic_id,
            cited=admission.cited if with_cited else None,
            cited_outside=len(admission.cited_outside) if with_cited else None,
            mode=design.mode,
            per_method=design.per_method,
            ranking_depth=design.ranking_depth,
            seed=design.seed,
            without=design.without,
            excluded=admission.barred.get(1, {}),
        )
        pools.append(with_additions(pool, additions, rankings, barred=admission.barred))
    return pools


def with_additions(
    pool: Pool, additions: Sequence[Addition], rankings: Rankings, *, barred: Mapping[int, Barred]
) -> Pool:
    """The pool with every addition, one after the other; barred: by version."""
    of_topic: dict[str, Ranking] = {
        method: by_topic[pool.topic_id] for method, by_topic in rankings.items() if pool.topic_id in by_topic
    }
    for addition in additions:
        pool = extended(pool, addition, of_topic, excluded=barred.get(addition.version, {}))
    return pool


def admitted_to(
    ws: Workspace,
    topic_ids: set[str],
    rankings: Rankings,
    recorded: Mapping[str, Pool],
    *,
    proved: bool,
    advance: Advance,
) -> dict[str, Admission]:
    """Admissions that the pools of these topics were drawn with; if a pool has none on record, those that hold now.

    proved: raise InputError if a file on disk is not the one that its manifest names.
    """
    on_record = recorded_admissions(ws, proved=proved)
    admission_of = {topic_id: on_record[topic_id] for topic_id in on_record if topic_id in topic_ids}
    if unrecorded := sorted(topic_ids - admission_of.keys()):
        with ws.reading() as session:
            texts = read_topics(session)
        citations = topics_of(ws, unrecorded, texts).citations
        duplicates = near_duplicates(ws, keep=False, advance=advance)
        admission_of |= admissions(ws, citations, rankings, duplicates=duplicates, current=recorded)
    return admission_of


def write_pools(ws: Workspace, pools: Sequence[Pool]) -> None:
    """Write a file for each pool, and their manifest; files of other pools go."""
    files = {ws.query_pools / file_name(pool.topic_id, ".jsonl"): pool for pool in pools}
    for path, pool in files.items():
        write_file(path, pool_lines(pool))
    for stale in set(ws.query_pools.glob("*.jsonl")) - set(files):
        stale.unlink()
    manifest, admission = rankings_manifest(ws), ws.pools / FILE
    inputs = {"rankings/manifest.json": sha256_of(manifest)} if manifest.is_file() else {}
    if sources := {
        admission.citations_sha256 for admission in recorded_admissions(ws).values() if admission.citations_sha256
    }:
        # Of pools that were drawn before and after citations were added, those from before are named.
        citations = ws.corpus / CITATIONS
        latest = sha256_of(citations) if citations.is_file() else ""
        inputs[f"corpus/{CITATIONS}"] = min(sources - {latest}, default=latest)
    facts = {name: _of_all(pools, name) for name in ("mode", "per_method", "ranking_depth", "without", "seed")}
    vouched = [*files, admission] if admission.is_file() else files
    write_manifest(ws.pools / MANIFEST, files=vouched, inputs=inputs, facts=facts)


def unlike_record(ws: Workspace, session: Session) -> Iterator[tuple[str, str]]:
    """Topics whose pool files differ from the database, each with the difference.

    An imported pool has no file before something is added to it.
    """
    recorded, hashes = read_pools(session), read_rankings_sha256(session)
    designs = recorded_designs(recorded.values())
    lines = lines_on_disk(ws)
    for topic_id, pool in recorded.items():
        if topic_id not in designs and not pool.additions:
            continue
        path = ws.query_pools / file_name(topic_id, ".jsonl")
        name = path.relative_to(ws.root).as_posix()
        if not path.is_file():
            yield topic_id, f"{name}: missing, but the database has this pool"
        elif path.read_text(encoding="utf-8") != pool_lines(pool):
            yield topic_id, f"{name}: differs from the pool in the database"
        methods = [method for method in pool.methods if method not in (CITED, MANUAL)]
        if topic_id in designs and hashes[topic_id] != UNKNOWN_RANKINGS and lines.keys() >= {*methods}:
            of_pool = {method: {topic_id: lines[method].get(topic_id, "")} for method in methods}
            if rankings_sha256(of_pool, topic_id) != hashes[topic_id]:
                yield (
                    topic_id,
                    f"{topic_id}: this pool does not follow from the rankings in pools/rankings/",
                )


def _of_all(pools: Sequence[Pool], name: str) -> Any:
    """Value that the pools have in common, or the list of their values."""
    values = list(dict.fromkeys(getattr(pool, name) for pool in pools))
    return values[0] if len(values) == 1 else values


def _refuse_twice(topic_id: str, design: PoolDesign, additions: Sequence[Addition]) -> None:
    twice = sorted({addition.method for addition in additions} & set(design.methods))
    if twice:
        raise InputError(
            f"query paper {topic_id}: {', '.join(twice)} was added after the draw",
            hint=f"leave it out with --without {twice[0]}",
        )


METHOD = "judged"
"""Method name of every document in such a pool."""


def put_judged_pools(
    session: Session, rows: Iterable[FileJudgement], queries: Mapping[str, Query], *, with_text: Collection[str]
) -> int:
    """Give each topic a pool of its rows' documents, in the order of the file; an existing pool gets the new ones at
    its end. A drawn pool does not change: returns the number of documents that are in no pool for that reason.

    queries: by their name in the rows. with_text: the topics that have a text; others get no pool.
    """
    documents = nested(
        (topic_id, row.document, None) for row in rows if (topic_id := queries[row.query].topic_id) in with_text
    )
    current, hashes = read_pools(session), read_rankings_sha256(session)
    outside = 0
    for topic_id, judged in documents.items():
        existing = current.get(topic_id)
        entries = existing.entries if existing else ()
        new = judged.keys() - {entry.doc_id for entry in entries}
        if existing and existing.methods != (METHOD,):
            outside += len(new)
            continue
        current[topic_id] = Pool(
            topic_id=topic_id,
            mode="blocks",
            per_method=None,
            ranking_depth=None,
            seed=None,
            methods=(METHOD,),
            without=(),
            dry=(),
            cited_outside=None,
            entries=(*entries, *(PoolEntry(doc, Draw(METHOD, None, None, None)) for doc in judged if doc in new)),
        )
        hashes.setdefault(topic_id, METHOD)
    replace_pools(session, current.values(), rankings_sha256=hashes)
    return outside
