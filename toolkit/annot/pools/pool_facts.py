"""What pools look like, what they follow from, and how they differ from those of another study or from a new draw."""

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
    """In which it took part."""
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
    """From the smallest up."""
    documents: int
    """Different ones, over all pools."""
    hubs: tuple[str, ...]
    """Documents in at least half of the pools."""
    methods: tuple[MethodFacts, ...]
    drought: dict[str, tuple[str, ...]]
    """By method, the topics in whose pools it ran out of new documents."""
    versions: tuple[Version, ...]
    """What was added after the draw."""
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
    of = {topic_id: {share.method: share for share in shares(pool)} for topic_id, pool in pools.items()}
    alone = Counter(method for topic_id, pool in pools.items() for method in _alone(pool, of[topic_id].values()))
    for method in sorted({method for found in of.values() for method in found}):
        mine = [found[method] for found in of.values() if method in found]
        yield MethodFacts(
            method,
            pools=len(mine),
            drawn=sum(share.drawn for share in mine),
            alone=alone[method],
            deepest=max((share.deepest for share in mine if share.deepest is not None), default=None),
            dry=sum(share.dry for share in mine),
        )


def _alone(pool: Pool, shares: Iterable[MethodShare]) -> Iterator[str]:
    """For each document that one method alone came to, the method."""
    reach = {share.method: inf if share.dry else max(share.deepest or 0, pool.per_method or 0) for share in shares}
    reach |= {one.method: max(one.depth, reach[one.method]) for one in pool.additions if one.depth is not None}
    for entry in pool.entries:
        if not any(other.rank is None or other.rank <= reach[other.method] for other in entry.also):
            yield entry.drawn.method


def _difference_of_version(recorded: Pool, drawn: Pool) -> str | None:
    """Where two drawings of one pool part, in words; None if they are the same. Scores may differ by rounding."""
    for at, (one, other) in enumerate(itertools.zip_longest(recorded.entries, drawn.entries), 1):
        if one is None or other is None:
            return f"{len(recorded.entries)} documents on record, {len(drawn.entries)} drawn"
        told = [
            (entry.doc_id, *((draw.method, draw.rank, draw.turn) for draw in (entry.drawn, *entry.also)))
            for entry in (one, other)
        ]
        if told[0] != told[1]:
            first, second = (f"{entry.doc_id} ({entry.drawn.method})" for entry in (one, other))
            return f"document {at} is {first} on record, {second} drawn"
    return None


@dataclass(frozen=True, slots=True)
class PoolOrigins:
    """For the report and the datasheet."""

    alike: int
    """Papers of the corpus with nearly the same abstract as another."""
    groups: int
    """Of such papers."""
    passed_over: int | None
    """How often the draws passed one over; None if that is not on record."""
    citations: tuple[AddedFile, ...]
    earlier: int
    """Pools that were drawn before the last of these citations were added."""
    few_abstracts: FewAbstracts | None
    """Methods that ranked by word vectors trained on too few abstracts."""


def origins_of(ws: Workspace, pools: Mapping[str, Pool], *, without: Collection[str] = ()) -> PoolOrigins:
    """Counted from the corpus and from what is on disk of the pools, and nothing is written.

    pools: those on record, by topic. without: papers that are not counted. A report is made although a file of the
    rankings is gone or another one.
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
    now = sha256_of(ws.corpus / MANIFEST) if added else None
    earlier = sum(
        topic_id in pools and CITED in pools[topic_id].methods and one.citations_sha256 != now
        for topic_id, one in (recorded_admissions(ws).items() if added else ())
    )
    drew = {method for pool in pools.values() for method in pool.methods}
    few = trained_on_few({name: of for name, of in method_settings(ws).items() if name in drew})
    return PoolOrigins(sum(map(len, duplicates)), len(duplicates), passed, added, earlier, few)


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
    return passed_over_in([pools[topic_id] for topic_id in designs], rankings, admitted)


def _silent(done: int, total: int | None) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Replayed:
    """The pools that were drawn again, and where they part from those on record."""

    pools: int
    documents: int
    added_to: int
    """Pools, imported ones among them, that were added to after the draw."""
    imported: int
    """Pools that do not say how they were drawn; only what was added to them is looked at."""
    cited_since: int
    """Citations of query papers that have come into the corpus since, by `import --as citations` or with new papers."""
    cited_gone: int
    """Citations of query papers that pools were drawn with, and that the corpus no longer has."""
    differences: dict[str, str]
    """By topic."""


def replay(ws: Workspace, *, advance: Advance) -> Replayed:
    """Draw every pool again from what is below `pools/` as it was drawn, and hold it against the one on record.

    Citations, papers and near-duplicates that came later change nothing. Raises InputError if a file is not the one
    that its manifest names, MissingInput if it is gone.
    """
    recorded = recorded_pools(ws)
    designs = recorded_designs(recorded.values())
    added_to = {topic_id: pool for topic_id, pool in recorded.items() if pool.additions}
    wanted = needed(designs, recorded)
    rankings = read_rankings(ws, wanted) if wanted else {}
    admitted = admitted_to(ws, {*designs, *added_to}, rankings, recorded, proved=True, advance=advance)
    drawn = draw_pools(rankings, designs, admitted, current=recorded)
    drawn += [
        with_additions(as_of(pool, 1), pool.additions, rankings, barred=admitted[topic_id].barred)
        for topic_id, pool in added_to.items()
        if topic_id not in designs
    ]
    found = {pool.topic_id: first_difference(recorded[pool.topic_id], pool) for pool in drawn}
    with ws.reading() as session:
        found = {**dict(unlike_record(ws, session)), **{name: one for name, one in found.items() if one}}
    return Replayed(
        pools=len(designs),
        documents=sum(len(pool.entries) for pool in drawn if pool.topic_id in designs),
        added_to=len(added_to),
        imported=len(recorded) - len(designs),
        differences={topic_id: difference for topic_id, difference in sorted(found.items()) if difference},
        **_citations_since(ws, {name: one for name, one in admitted.items() if CITED in recorded[name].methods}),
    )


def recorded_pools(ws: Workspace) -> dict[str, Pool]:
    """The pools on record, by topic. Raises MissingInput if there are none."""
    with ws.reading() as session:
        found = read_pools(session)
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


def first_difference(recorded: Pool, drawn: Pool) -> str | None:
    """Where two drawings of one pool part, in the first version that does, in words; None if they are the same."""
    for version in (1, *(addition.version for addition in recorded.additions)):
        difference = _difference_of_version(as_of(recorded, version), as_of(drawn, version))
        if difference:
            return difference if version == 1 and not recorded.additions else f"version {version}: {difference}"
    return None
