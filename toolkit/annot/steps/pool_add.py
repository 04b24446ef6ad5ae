"""Candidates that were found by hand, added to a pool."""

from __future__ import annotations

from collections.abc import Sequence

from annot.base.errors import InputError
from annot.base.records import Addition, Pool
from annot.base.shards import Advance
from annot.pools.drawn_pools import write_pools
from annot.pools.frozen_rankings import needed, read_rankings
from annot.pools.named_pools import papers_named
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import recorded_designs
from annot.pools.pool_versions import (
    Grown,
    GrownPool,
    grown_pools,
    is_guarded,
    made_now,
    next_version,
    queries_of,
    record_version,
    refuse_without_reason,
)
from annot.pools.pooling import MANUAL, extended
from annot.publishing.report.words import sentences
from annot.store import papers, pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.workspace import Workspace


def add(
    ws: Workspace,
    query: str,
    doc_ids: tuple[str, ...],
    *,
    reason: str,
    by: str | None,
    grow: bool,
    dry_run: bool,
    advance: Advance,
) -> Grown:
    """Add the documents to the pool of a query paper as a version of its own; what is in it already stays as it is.

    query: a query or a query paper, whose queries share the pool. by: who adds them; None takes the account of this
    machine. grow: pairs may be added to a study that was sent or judged. Raises InputError for an unknown query, for
    documents that are not in the corpus, have the query paper's title, or nearly the text of the query paper or of
    another paper of the pool, and where the study would grow unasked.
    """
    refuse_without_reason(reason)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            queries = read_queries(session)
            (paper_id,) = papers_named(queries, [query])
            before = pools.read_pool(session, paper_id)
            standing = pools.read_pools(session)
            guarded = is_guarded(session)
        there = {entry.doc_id for entry in before.entries}
        new = tuple(dict.fromkeys(doc_id for doc_id in doc_ids if doc_id not in there))
        if new:
            _refuse(ws, before, new, keep=not dry_run, advance=advance)
        known = [(entry.doc_id, entry.drawn) for entry in before.entries if entry.doc_id in doc_ids]
        if not new:
            if before.additions and not dry_run:
                # An earlier run may have ended before its files were written.
                write_pools(ws, list(standing.values()))
            unchanged = GrownPool(paper_id, queries_of(queries, paper_id), (), len(before.entries))
            notes = sentences("commands.grown", known=known, added=0, version=None)
            return Grown(None, MANUAL, None, (unchanged,), guarded, notes)
        # Which methods had them is told by the rankings that the pool was drawn from.
        wanted = needed(recorded_designs([before]), {paper_id: before})
        rankings = read_rankings(ws, wanted) if wanted else {}
        version = next_version(standing)
        addition = Addition(version, MANUAL, None, new, reason.strip(), **made_now(by))
        of_paper = {method: by_paper[paper_id] for method, by_paper in rankings.items()}
        after = {paper_id: extended(before, addition, of_paper, excluded=())}
        found = grown_pools(standing, after, queries)
        if not dry_run:
            record_version(ws, store, after, rankings=rankings, grow=grow)
    notes = sentences(
        "commands.grown",
        known=known,
        added=len(new),
        version=version,
        wants_grow=guarded and dry_run and not grow,
        dry_run=dry_run,
    )
    return Grown(version, MANUAL, None, tuple(found), guarded, notes)


def _refuse(ws: Workspace, pool: Pool, doc_ids: Sequence[str], *, keep: bool, advance: Advance) -> None:
    """Raise InputError with everything that speaks against these papers, which are not in the pool."""
    there = papers.find_papers(ws.corpus, doc_ids)
    alike = near_duplicates(ws, keep=keep, advance=advance)
    twins = alike.twins([pool.paper_id])[pool.paper_id]
    group_of = {doc_id: group for group in alike.texts for doc_id in group}
    taken = {pool.paper_id: "the query paper"} | {
        entry.doc_id: f"{entry.doc_id}, in the pool" for entry in pool.entries
    }
    faults = []
    for doc_id in doc_ids:
        same = next((one for one in group_of.get(doc_id, ()) if one in taken), None)
        if doc_id not in there:
            faults.append(f"{doc_id}: not in the corpus")
        elif doc_id == pool.paper_id or doc_id in twins:
            faults.append(f"{doc_id}: is the query paper, or has its title")
        elif same is not None:
            faults.append(f"{doc_id}: nearly the same text as {taken[same]}")
        taken.setdefault(doc_id, f"{doc_id}, named here, too")
    if faults:
        raise InputError(
            f"{len(faults)} of {len(doc_ids)} papers cannot be added",
            faults=faults,
            hint="leave them out; papers come into the corpus with `annot corpus add`",
        )
