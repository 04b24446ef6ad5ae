"""Facts about pools: their sizes and methods, their origins, and their differences from a new draw."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from annot.base.errors import InputError, MissingInput
from annot.base.records import CITED, Advance, Pool
from annot.corpus.corpus_facts import papers_of
from annot.pools.admission import Admission, passed_over_in, recorded_admissions
from annot.pools.drawn_pools import admitted_to, draw_pools, unlike_record, with_additions
from annot.pools.frozen_rankings import Rankings, method_settings, needed, rankings_manifest, read_rankings
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import recorded_designs
from annot.pools.pooling import MethodShare, Version, as_of, shares, versions_of
from annot.ranking.wordvectors import FewAbstracts, trained_on_few
from annot.store.citations import MANIFEST, AddedFile, added_files
from annot.store.papers import known_ids
from annot.store.pools import read_pools
from annot.study.workspace import Workspace, sha256_of


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """One method over all pools."""

    method: str
    pools: int
    """Number of pools in which it took part."""
    drawn: int
    alone: int
    """Documents that no other method came to: each draws down to some rank, and ranks these further down."""
    deepest: int | None
    dry: int
    """Pools in which it ran out of new documents."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """All pools of a study."""

    sizes: tuple[int, ...]
    """Sizes in ascending order."""
    documents: int
    """Different ones, over all pools."""
    hubs: tuple[str, ...]
    """Documents in at least half of the pools."""
    methods: tuple[MethodFacts, ...]
    drought: dict[str, tuple[str, ...]]
    """Topics in whose pools a method ran out of new documents, by method."""
    versions: tuple[Version, ...]
    """Additions after the draw."""
    passed_over: int | None = None
    """Near-duplicates of other papers that the draws passed over; None if the rankings are not on disk."""


def facts_of(pools: Mapping[str, Pool]) -> PoolFacts:
    """pools: by topic."""
    times = Counter(entry.doc_id for pool in pools.values() for entry in pool.entries)
    return PoolFacts(
        sizes=tuple(sorted(len(pool.entries) for pool in pools.values())),
        documents=len(times),
        hubs=tuple(sorted(doc_id for doc_id, n in times.items() if len(pools) > 2 and 2 * n >= len(pools))),
        methods=tuple(_methods(pools)),
        drought={
            method: tuple(sorted(topic_id for topic_id, pool in pools.items() if method in pool.dry))
            for method in sorted({method for pool in pools.values() for method in pool.dry})
        },
        versions=versions_of(pools.values()),
    )


def _methods(pools: Mapping[str, Pool]) -> Iterator[MethodFacts]:
    shares_of = {topic_id: {share.method: share for share in shares(pool)} for topic_id, pool in pools.items()}
    alone = Counter(method for topic_id, pool in pools.items() for method in _alone(pool, shares_of[topic_id].values()))
    for method in sorted({method for by_method in shares_of.values() for method in by_method}):
        shares_of_method = [by_method[method] for by_method in shares_of.values() if method in by_method]
        yield MethodFacts(
            method,
            pools=len(shares_of_method),
            drawn=sum(share.drawn for share in shares_of_method),
            alone=alone[method],
            deepest=max((share.deepest for share in shares_of_method if share.deepest is not None), default=None),
            dry=sum(share.dry for share in shares_of_method),
        )


def _alone(pool: Pool, shares: Iterable[MethodShare]) -> Iterator[str]:
    """Method of each document that one method alone came to."""
    reach = {share.method: inf if share.dry else max(share.deepest or 0, pool.per_method or 0) for share in shares}
    reach |= {
        addition.method: max(addition.depth, reach[addition.method])
        for addition in pool.additions
        if addition.depth is not None
    }
    for entry in pool.entries:
        if not any(draw.rank is None or draw.rank <= reach[draw.method] for draw in entry.also):
            yield entry.drawn.method


def _difference_of_version(recorded: Pool, redrawn: Pool) -> str | None:
    """First difference between two drawings of one pool, in words; None if they are the same. Scores may differ by
    rounding."""
    for place, (recorded_entry, drawn_entry) in enumerate(itertools.zip_longest(recorded.entries, redrawn.entries), 1):
        if recorded_entry is None or drawn_entry is None:
            return f"{len(recorded.entries)} documents on record, {len(redrawn.entries)} drawn"
        summaries = [
            (entry.doc_id, *((draw.method, draw.rank, draw.turn) for draw in (entry.drawn, *entry.also)))
            for entry in (recorded_entry, drawn_entry)
        ]
        if summaries[0] != summaries[1]:
            recorded_name, drawn_name = (
                f"{entry.doc_id} ({entry.drawn.method})" for entry in (recorded_entry, drawn_entry)
            )
            return f"document {place} is {recorded_name} on record, {drawn_name} drawn"
    return None


@dataclass(frozen=True, slots=True)
class PoolOrigins:
    """Origins of the pools, for the report and the datasheet."""

    alike: int
    """Papers of the corpus with nearly the same abstract as another."""
    groups: int
    """Number of groups of such papers."""
    passed_over: int | None
    """Number of times the draws passed one over; None if that is not on record."""
    citations: tuple[AddedFile, ...]
    earlier: int
    """Pools that were drawn before the last of these citations were added."""
    few_abstracts: FewAbstracts | None
    """Methods that ranked by word vectors trained on too few abstracts."""


def origins_of(ws: Workspace, pools: Mapping[str, Pool], *, without: Collection[str] = ()) -> PoolOrigins:
    """Origins of pools, from the corpus and the files of the pools; nothing is written.

    pools: those on record, by topic. without: papers that are not counted. Works although a file of the rankings is
    missing or has changed.
    """
    # A report needs no cluster that runs.
    ws = ws.replaced("machine", cluster="")
    groups = near_duplicates(ws, keep=False, advance=_silent).texts if pools and ws.has_corpus else ()
    counted = (tuple(paper_id for paper_id in group if paper_id not in without) for group in groups)
    duplicates = [group for group in counted if len(group) > 1]
    passed = None
    with suppress(InputError):
        passed = passed_over(ws, pools, drawn_rankings(ws, pools), advance=_silent) if duplicates else None
    added = added_files(ws.corpus) if pools else ()
    current_sha256 = sha256_of(ws.corpus / MANIFEST) if added else None
    earlier = sum(
        topic_id in pools and CITED in pools[topic_id].methods and admission.citations_sha256 != current_sha256
        for topic_id, admission in (recorded_admissions(ws).items() if added else ())
    )
    drew = {method for pool in pools.values() for method in pool.methods}
    few_abstracts = trained_on_few({name: settings for name, settings in method_settings(ws).items() if name in drew})
    return PoolOrigins(sum(map(len, duplicates)), len(duplicates), passed, added, earlier, few_abstracts)


def drawn_rankings(ws: Workspace, pools: Mapping[str, Pool]) -> Rankings:
    """Rankings that the pools were drawn from; none for imported pools, or if they are not on disk."""
    designs = recorded_designs(pools.values())
    return read_rankings(ws, needed(designs, pools)) if designs and rankings_manifest(ws).is_file() else {}


def passed_over(ws: Workspace, pools: Mapping[str, Pool], rankings: Rankings, *, advance: Advance) -> int | None:
    """Number of near-duplicates of other papers that the draws came by and left; None without rankings."""
    if not rankings:
        return None
    designs = recorded_designs(pools.values())
    admitted = admitted_to(ws, set(designs), rankings, pools, proved=False, advance=advance)
    return passed_over_in([pools[topic_id] for topic_id in designs], rankings, admitted)


def _silent(done: int, total: int | None) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Replayed:
    """Pools that were drawn again, and their differences from those on record."""

    pools: int
    documents: int
    added_to: int
    """Pools, imported ones among them, that were added to after the draw."""
    imported: int
    """Pools without a recorded draw; only the additions to them are compared."""
    cited_since: int
    """Citations of query papers that have come into the corpus since, by `import --as citations` or with new papers."""
    cited_gone: int
    """Citations of query papers that pools were drawn with, and that the corpus no longer has."""
    differences: dict[str, str]
    """First difference by topic."""


def replay(ws: Workspace, *, advance: Advance) -> Replayed:
    """Draw every pool again from the files in `pools/` as it was drawn, and compare it with the one on record.

    Citations, papers and near-duplicates that came later change nothing. Raises InputError if a file is not the one
    that its manifest names, MissingInput if it is missing.
    """
    recorded = recorded_pools(ws)
    designs = recorded_designs(recorded.values())
    added_to = {topic_id: pool for topic_id, pool in recorded.items() if pool.additions}
    topics_by_method = needed(designs, recorded)
    rankings = read_rankings(ws, topics_by_method) if topics_by_method else {}
    admitted = admitted_to(ws, {*designs, *added_to}, rankings, recorded, proved=True, advance=advance)
    redrawn = draw_pools(rankings, designs, admitted, current=recorded)
    redrawn += [
        with_additions(as_of(pool, 1), pool.additions, rankings, barred=admitted[topic_id].barred)
        for topic_id, pool in added_to.items()
        if topic_id not in designs
    ]
    compared = {pool.topic_id: first_difference(recorded[pool.topic_id], pool) for pool in redrawn}
    with ws.reading() as session:
        differences = dict(unlike_record(ws, session)) | {name: text for name, text in compared.items() if text}
    with_citations = {name: admission for name, admission in admitted.items() if CITED in recorded[name].methods}
    return Replayed(
        pools=len(designs),
        documents=sum(len(pool.entries) for pool in redrawn if pool.topic_id in designs),
        added_to=len(added_to),
        imported=len(recorded) - len(designs),
        differences=dict(sorted(differences.items())),
        **_citations_since(ws, with_citations),
    )


def recorded_pools(ws: Workspace) -> dict[str, Pool]:
    """The pools on record, by topic. Raises MissingInput if there are none."""
    with ws.reading() as session:
        pools = read_pools(session)
    if not pools:
        raise MissingInput(f"{ws.root}: no pools", hint="draw them with `annot pool`")
    return pools


def _citations_since(ws: Workspace, admitted: Mapping[str, Admission]) -> dict[str, int]:
    if not admitted or not ws.has_corpus:
        return {"cited_since": 0, "cited_gone": 0}
    cites = {name: set(paper.citations) for name, paper in papers_of(ws, admitted).items()}
    in_corpus = known_ids(ws.corpus, set().union(*cites.values()))
    current = {(name, doc_id) for name, cited in cites.items() for doc_id in cited & in_corpus}
    recorded = {(name, doc_id) for name, admission in admitted.items() for doc_id in admission.cited}
    return {"cited_since": len(current - recorded), "cited_gone": len(recorded - current)}


def first_difference(recorded: Pool, redrawn: Pool) -> str | None:
    """First difference between two drawings of one pool, in the first version that has one; None if they are the
    same."""
    for version in (1, *(addition.version for addition in recorded.additions)):
        difference = _difference_of_version(as_of(recorded, version), as_of(redrawn, version))
        if difference:
            return difference if version == 1 and not recorded.additions else f"version {version}: {difference}"
    return None
