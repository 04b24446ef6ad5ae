"""What pools follow from beside the draws: near-duplicates in the corpus, and files of citations that were added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annot.base.errors import InputError
from annot.base.records import Pool
from annot.base.shards import Advance
from annot.pools.admission import passed_over_in, recorded_admissions
from annot.pools.drawn_pools import admitted_to
from annot.pools.frozen_rankings import Rankings, method_settings, needed, rankings_manifest, read_rankings
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import recorded_designs
from annot.pools.pooling import CITED
from annot.ranking.small_corpora import FewAbstracts, trained_on_few
from annot.store import papers
from annot.store.papers import AddedFile
from annot.study.workspace import Workspace, sha256_of


@dataclass(frozen=True, slots=True)
class PoolOrigins:
    """For the report and the datasheet."""

    alike: int
    """Papers of the corpus with nearly the same abstract as another."""
    groups: int
    """Of such papers."""
    passed_over: int | None
    """How often the draws passed one over; None where that is not on record."""
    citations: tuple[AddedFile, ...]
    earlier: int
    """Pools that were drawn before the last of these citations were added."""
    few_abstracts: FewAbstracts | None
    """Methods that ranked by word vectors trained on too few abstracts."""


def origins_of(ws: Workspace, pools: Mapping[str, Pool]) -> PoolOrigins:
    """Counted from the corpus and from what is on disk of the pools, and nothing is written.

    pools: those on record, by query paper. A report is made although a file of the rankings is gone or another one.
    """
    # A report needs no cluster that runs.
    ws = ws.replaced("machine", cluster="")
    alike = near_duplicates(ws, keep=False, advance=_silent).texts if pools and ws.has_corpus else ()
    passed = None
    if alike:
        try:
            passed = passed_over(ws, pools, drawn_rankings(ws, pools), advance=_silent)
        except InputError:
            passed = None
    added = papers.added_files(ws.corpus) if pools else ()
    earlier = _earlier(ws, pools) if added else 0
    return PoolOrigins(sum(map(len, alike)), len(alike), passed, added, earlier, _few_abstracts(ws, pools))


def drawn_rankings(ws: Workspace, pools: Mapping[str, Pool]) -> Rankings:
    """The rankings that the pools were drawn from; none of imported pools, or where they are not on disk."""
    designs = recorded_designs(pools.values())
    return read_rankings(ws, needed(designs, pools)) if designs and rankings_manifest(ws).is_file() else {}


def passed_over(ws: Workspace, pools: Mapping[str, Pool], rankings: Rankings, *, advance: Advance) -> int | None:
    """How many near-duplicates of other papers the draws came by and left; None without rankings."""
    if not rankings:
        return None
    designs = recorded_designs(pools.values())
    admitted = admitted_to(ws, set(designs), rankings, pools, proved=False, advance=advance)
    return passed_over_in([pools[paper_id] for paper_id in designs], rankings, admitted)


def _few_abstracts(ws: Workspace, pools: Mapping[str, Pool]) -> FewAbstracts | None:
    drew = {method for pool in pools.values() for method in pool.methods}
    return trained_on_few({name: of for name, of in method_settings(ws).items() if name in drew})


def _earlier(ws: Workspace, pools: Mapping[str, Pool]) -> int:
    now = sha256_of(ws.corpus / papers.MANIFEST)
    return sum(
        paper_id in pools and CITED in pools[paper_id].methods and one.citations_sha256 != now
        for paper_id, one in recorded_admissions(ws).items()
    )


def _silent(done: int, total: int | None) -> None:
    pass
