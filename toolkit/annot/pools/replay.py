"""Pools drawn again from the frozen rankings, and where they part from those on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annot.base.errors import MissingInput
from annot.base.records import CITED, Advance, Pool
from annot.corpus.corpus_facts import papers_of
from annot.pools.admission import Admission
from annot.pools.drawn_pools import admitted_to, draw_pools, unlike_record, with_additions
from annot.pools.frozen_rankings import needed, read_rankings
from annot.pools.pool_design import recorded_designs
from annot.pools.pool_facts import first_difference
from annot.pools.pooling import as_of
from annot.store import pools
from annot.store.database import open_store
from annot.store.papers import known_ids
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Replayed:
    """The pools that were drawn again, and where they part from those on record."""

    pools: int
    documents: int
    added_to: int
    """Pools, imported ones among them, that were added to after the draw."""
    imported: int
    """Pools that do not tell how they were drawn; only what was added to them is looked at."""
    cited_since: int
    """Citations of query papers that have come into the corpus since, by `import --as citations` or with new papers."""
    cited_gone: int
    """Citations of query papers that pools were drawn with, and that the corpus no longer has."""
    differences: dict[str, str]
    """By query paper."""


def replay(ws: Workspace, *, advance: Advance) -> Replayed:
    """Draw every pool again from what is below `pools/` as it was drawn, and hold it against the one on record.

    Citations, papers and near-duplicates that came later change nothing. Raises InputError where a file is not the one
    that its manifest names, MissingInput where it is gone.
    """
    recorded = recorded_pools(ws)
    designs = recorded_designs(recorded.values())
    added_to = {paper_id: pool for paper_id, pool in recorded.items() if pool.additions}
    wanted = needed(designs, recorded)
    rankings = read_rankings(ws, wanted) if wanted else {}
    admitted = admitted_to(ws, {*designs, *added_to}, rankings, recorded, proved=True, advance=advance)
    drawn = draw_pools(rankings, designs, admitted, current=recorded)
    drawn += [
        with_additions(as_of(pool, 1), pool.additions, rankings, barred=admitted[paper_id].barred)
        for paper_id, pool in added_to.items()
        if paper_id not in designs
    ]
    found = {pool.paper_id: _first_difference(recorded[pool.paper_id], pool) for pool in drawn}
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        found = {**dict(unlike_record(ws, session)), **{name: one for name, one in found.items() if one}}
    return Replayed(
        pools=len(designs),
        documents=sum(len(pool.entries) for pool in drawn if pool.paper_id in designs),
        added_to=len(added_to),
        imported=len(recorded) - len(designs),
        differences={paper_id: difference for paper_id, difference in sorted(found.items()) if difference},
        **_citations_since(ws, {name: one for name, one in admitted.items() if CITED in recorded[name].methods}),
    )


def recorded_pools(ws: Workspace) -> dict[str, Pool]:
    """The pools on record, by query paper. Raises MissingInput where there are none."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        found = pools.read_pools(session)
    if not found:
        raise MissingInput(f"{ws.root}: no pools", hint="draw them with `annot pool`")
    return found


def _citations_since(ws: Workspace, admitted: Mapping[str, Admission]) -> dict[str, int]:
    if not admitted or not ws.has_corpus:
        return {"cited_since": 0, "cited_gone": 0}
    cites = {name: set(paper.citations) for name, paper in papers_of(ws, admitted).items()}
    there = known_ids(ws.corpus, set().union(*cites.values()))
    now = {(name, doc_id) for name, own in cites.items() for doc_id in own & there}
    then = {(name, doc_id) for name, one in admitted.items() for doc_id in one.cited}
    return {"cited_since": len(now - then), "cited_gone": len(then - now)}


def _first_difference(recorded: Pool, drawn: Pool) -> str | None:
    """Where the pool parts, in the first of its versions that does."""
    for version in (1, *(addition.version for addition in recorded.additions)):
        difference = first_difference(as_of(recorded, version), as_of(drawn, version))
        if difference:
            return difference if version == 1 and not recorded.additions else f"version {version}: {difference}"
    return None
