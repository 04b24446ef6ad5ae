"""Pools of what was judged elsewhere, so that systems can rank it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sqlmodel import Session

from annot.base.records import Draw, Pool, PoolEntry, Query
from annot.formats.judgements_file import FileJudgement
from annot.store.pools import read_pools, read_rankings_sha256, replace_pools

METHOD = "judged"
"""How every document came into such a pool."""


def put_judged_pools(
    session: Session, rows: Iterable[FileJudgement], queries: Mapping[str, Query], *, with_text: Collection[str]
) -> int:
    """Give each query paper a pool of its rows' documents, in the order of the file; one it has gets the new ones
    behind. A pool that was drawn stays as it is: returns how many documents of rows are in no pool for that reason.

    queries: by their name in the rows. with_text: the query papers whose text is there; others get no pool.
    """
    documents: dict[str, dict[str, None]] = {}
    for row in rows:
        if (paper_id := queries[row.query].paper_id) in with_text:
            documents.setdefault(paper_id, {})[row.document] = None
    standing, hashes = read_pools(session), read_rankings_sha256(session)
    outside = 0
    for paper_id, judged in documents.items():
        before = standing.get(paper_id)
        entries = before.entries if before else ()
        new = judged.keys() - {entry.doc_id for entry in entries}
        if before and before.methods != (METHOD,):
            outside += len(new)
            continue
        standing[paper_id] = Pool(
            paper_id=paper_id,
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
        hashes.setdefault(paper_id, METHOD)
    replace_pools(session, standing.values(), rankings_sha256=hashes)
    return outside
