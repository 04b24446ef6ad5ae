"""The pools of a study with their files and facts, and pools that grow."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from annot.base.errors import InputError, MissingInput
from annot.base.names import counted, file_name, known_query, sha256_of
from annot.base.records import CITED, GROWN, MANUAL, Addition, Advance, Draw, Pool, PoolEntry, Query, Ranking, nested
from annot.corpus.corpus_facts import papers_of
from annot.formats.input_files import ByColumn
from annot.formats.judgements_file import pool_lines
from annot.formats.trec import rankings_sha256
from annot.pools import admission, frozen_rankings
from annot.pools.pool_design import PoolDesign, recorded_designs, topics_of
from annot.pools.pooling import Version, draw, extend, pool_in_version, shares, versions_of
from annot.ranking.word_vectors import FewAbstracts, trained_on_few
from annot.store import papers, projects
from annot.store.answers import is_judged
from annot.store.citations import MANIFEST as CITATIONS
from annot.store.citations import MANIFEST as CORPUS_MANIFEST
from annot.store.citations import AddedFile, added_files
from annot.store.models import Session
from annot.store.pools import UNKNOWN_RANKINGS, any_drawn, read_pools, read_rankings_sha256, read_topics, replace_pools
from annot.study.workspace import Workspace, write_file, write_manifest

# ----------------------------------------------------------------------------------------------------------------------
# The pools of a study: drawn from rankings or judged elsewhere, with later additions, and their files.
# ----------------------------------------------------------------------------------------------------------------------


def draw_pools(
    rankings: frozen_rankings.Rankings,
    designs: Mapping[str, PoolDesign],
    admitted: Mapping[str, admission.Admission],
    *,
    current: Mapping[str, Pool],
    corpus: str | None = None,
) -> list[Pool]:
    """Pools of every topic that has a design, drawn by it, with the additions of the one on record.

    corpus: the version of the corpus that new pools are drawn from. Raises InputError if a method would draw that was
    added later.
    """
    pools = []
    for topic_id, design in designs.items():
        additions = current[topic_id].additions if topic_id in current else ()
        _refuse_twice(topic_id, design, additions)
        rules = admitted[topic_id]
        with_cited = CITED in design.methods
        pool = draw(
            {method: rankings[method][topic_id] for method in design.ranked_methods},
            topic_id=topic_id,
            cited=rules.cited if with_cited else None,
            cited_outside=len(rules.cited_outside) if with_cited else None,
            mode=design.mode,
            per_method=design.per_method,
            ranking_depth=design.ranking_depth,
            seed=design.seed,
            without=design.without,
            excluded=rules.barred.get(1, {}),
        )
        pool = replace(pool, corpus=current[topic_id].corpus if topic_id in current else corpus)
        pools.append(with_additions(pool, additions, rankings, barred=rules.barred))
    return pools


def with_additions(
    pool: Pool,
    additions: Sequence[Addition],
    rankings: frozen_rankings.Rankings,
    *,
    barred: Mapping[int, admission.Barred],
) -> Pool:
    """The pool with every addition, one after the other; barred: by version."""
    of_topic: dict[str, Ranking] = {
        method: by_topic[pool.topic_id] for method, by_topic in rankings.items() if pool.topic_id in by_topic
    }
    for addition in additions:
        pool = extend(pool, addition, of_topic, excluded=barred.get(addition.version, {}))
    return pool


def admitted_to(
    ws: Workspace,
    topic_ids: set[str],
    rankings: frozen_rankings.Rankings,
    recorded: Mapping[str, Pool],
    *,
    proved: bool,
    advance: Advance,
) -> dict[str, admission.Admission]:
    """Admissions that the pools of these topics were drawn with; if a pool has none on record, those that hold now.

    proved: raise InputError if a file on disk is not the one that its manifest names.
    """
    on_record = admission.recorded_admissions(ws, proved=proved)
    admission_of = {topic_id: on_record[topic_id] for topic_id in on_record if topic_id in topic_ids}
    if unrecorded := sorted(topic_ids - admission_of.keys()):
        with ws.reading() as session:
            texts = read_topics(session)
        citations = topics_of(ws, unrecorded, texts).citations
        duplicates = admission.near_duplicates(ws, keep=False, advance=advance)
        admission_of |= admission.admissions(ws, citations, rankings, duplicates=duplicates, current=recorded)
    return admission_of


def write_pools(ws: Workspace, pools: Sequence[Pool]) -> None:
    """Write a file for each pool, and their manifest; files of other pools go."""
    files = {ws.query_pools / file_name(pool.topic_id, ".jsonl"): pool for pool in pools}
    for path, pool in files.items():
        write_file(path, pool_lines(pool))
    for stale in set(ws.query_pools.glob("*.jsonl")) - set(files):
        stale.unlink()
    manifest, admission_file = frozen_rankings.rankings_manifest(ws), ws.pools / admission.FILE
    inputs = {"rankings/manifest.json": sha256_of(manifest)} if manifest.is_file() else {}
    if sources := {
        rules.citations_sha256 for rules in admission.recorded_admissions(ws).values() if rules.citations_sha256
    }:
        # Of pools that were drawn before and after citations were added, those from before are named.
        citations = ws.corpus / CITATIONS
        latest = sha256_of(citations) if citations.is_file() else ""
        inputs[f"corpus/{CITATIONS}"] = min(sources - {latest}, default=latest)
    facts = {name: _common_value(pools, name) for name in ("mode", "per_method", "ranking_depth", "without", "seed")}
    listed = [*files, admission_file] if admission_file.is_file() else files
    write_manifest(ws.pools / frozen_rankings.MANIFEST, files=listed, inputs=inputs, facts=facts)


def unrecorded_differences(
    ws: Workspace, session: Session, recorded: Mapping[str, Pool] | None = None
) -> Iterator[tuple[str, str]]:
    """Topics whose pool files differ from the database, each with the difference. recorded: the pools, if they were
    read before.

    An imported pool has no file before something is added to it.
    """
    if not any_drawn(session):
        return
    recorded, hashes = read_pools(session) if recorded is None else recorded, read_rankings_sha256(session)
    designs = recorded_designs(recorded.values())
    lines = frozen_rankings.lines_on_disk(ws)
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
                yield (topic_id, f"{topic_id}: this pool does not follow from the rankings in pools/rankings/")


def _common_value(pools: Sequence[Pool], name: str) -> Any:
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
    session: Session, rows: ByColumn, queries: Mapping[str, Query], *, with_text: Collection[str]
) -> int:
    """Give each topic a pool of its rows' documents, in the order of the file; an existing pool gets the new ones at
    its end. A drawn pool does not change: returns the number of documents that are in no pool for that reason.

    queries: by their name in the rows. with_text: the topics that have a text; others get no pool.
    """
    pairs = dict.fromkeys(zip(rows["query"], rows["document"], strict=True))
    documents = nested(
        (topic_id, document, None) for query, document in pairs if (topic_id := queries[query].topic_id) in with_text
    )
    judged_draw = Draw(METHOD, None, None, None)
    current, hashes = read_pools(session), read_rankings_sha256(session)
    grown: dict[str, Pool] = {}
    outside = 0
    for topic_id, judged in documents.items():
        existing = current.get(topic_id)
        entries = existing.entries if existing else ()
        new = judged.keys() - {entry.doc_id for entry in entries}
        if existing and not (new and existing.methods == (METHOD,)):
            outside += len(new)
            continue
        grown[topic_id] = Pool(
            topic_id=topic_id,
            mode="blocks",
            per_method=None,
            ranking_depth=None,
            seed=None,
            methods=(METHOD,),
            without=(),
            dry=(),
            cited_outside=None,
            entries=(*entries, *(PoolEntry(doc, judged_draw) for doc in judged if doc in new)),
        )
        hashes.setdefault(topic_id, METHOD)
    if grown:
        replace_pools(session, (current | grown).values(), rankings_sha256=hashes)
    return outside


# ----------------------------------------------------------------------------------------------------------------------
# Pools that grow: additions of a redraw, versions after the draw, and a guard for studies under way.
# ----------------------------------------------------------------------------------------------------------------------


def topics_named(queries: Sequence[Query], names: Iterable[str]) -> set[str]:
    """The topics of these ids of queries or topics. Raises InputError, with the near name, for others."""
    query_of = {query.query_id: query for query in queries}
    topics = {query.topic_id for query in queries}
    return {name if name in topics and name not in query_of else known_query(query_of, name).topic_id for name in names}


def changed_documents(old: Pool | None, new: Pool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Documents that the new pool added to the old one, and those that it dropped."""
    before = dict.fromkeys(entry.doc_id for entry in old.entries) if old else {}
    after = dict.fromkeys(entry.doc_id for entry in new.entries)
    added = tuple(doc_id for doc_id in after if doc_id not in before)
    return added, tuple(doc_id for doc_id in before if doc_id not in after)


def refuse_growth(session: Session, added: Mapping[str, int], *, grow: bool, judged: bool = False) -> None:
    """Raise InputError if pairs would be added, by query, to a study after tasks were sent; not with `grow`.

    judged: also to one that was judged elsewhere.
    """
    growing = {query_id: count for query_id, count in sorted(added.items()) if count}
    if not growing or grow:
        return
    was = "sent" if projects.was_sent(session) else "judged" if judged and is_judged(session) else None
    if was:
        raise InputError(
            f"{counted(sum(growing.values()), 'pair')} would be added to a study that was {was}",
            faults=[f"{query_id}: {count} more" for query_id, count in growing.items()],
            hint="add them with --grow; --dry-run shows what would change",
        )


@dataclass(frozen=True, slots=True)
class GrownPool:
    """A pool that was added to, in figures."""

    topic_id: str
    queries: tuple[str, ...]
    added: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class PoolGrowth:
    """Documents added as one version of the pools."""

    version: int | None
    """Number of the version; None if nothing was added."""
    method: str
    depth: int | None
    pools: tuple[GrownPool, ...]
    guarded: bool
    """True if tasks of the study were sent or judged: then pairs are added only with `--grow`."""
    notes: tuple[str, ...]


def queries_of(queries: Iterable[Query], topic_id: str) -> tuple[str, ...]:
    """The queries that share the pool of this topic."""
    return tuple(query.query_id for query in queries if query.topic_id == topic_id)


# ----------------------------------------------------------------------------------------------------------------------
# Facts about pools: their sizes and methods, their origins, and their differences from a new draw.
# ----------------------------------------------------------------------------------------------------------------------


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
    alone = Counter(
        method
        for pool in pools.values()
        for methods in methods_by_document(pool)
        if len(methods) == 1
        for method in methods
    )
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


def methods_by_document(pool: Pool) -> Iterator[frozenset[str]]:
    """Methods that came to each document of the pool: each draws down to some rank, and ranks some further down."""
    reach = {
        share.method: inf if share.dry else max(share.deepest or 0, pool.per_method or 0) for share in shares(pool)
    }
    reach |= {
        addition.method: max(addition.depth, reach[addition.method])
        for addition in pool.additions
        if addition.depth is not None and addition.method != GROWN
    }
    for entry in pool.entries:
        ranks = ((draw.method, draw.new_rank or draw.rank) for draw in entry.also)
        also = {method for method, rank in ranks if rank is None or rank <= reach[method]}
        yield frozenset({entry.drawn.method, *also})


def _difference_of_version(recorded: Pool, redrawn: Pool) -> str | None:
    """First difference between two drawings of one pool, in words; None if they are the same. Scores may differ by
    rounding."""
    for place, (recorded_entry, drawn_entry) in enumerate(itertools.zip_longest(recorded.entries, redrawn.entries), 1):
        if recorded_entry is None or drawn_entry is None:
            return f"{len(recorded.entries)} documents on record, {len(redrawn.entries)} drawn"
        summaries = [
            (entry.doc_id, *((draw.method, draw.rank, draw.turn, draw.new_rank) for draw in (entry.drawn, *entry.also)))
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
    few_abstracts: tuple[FewAbstracts, ...]
    """Methods that ranked by word vectors trained on too few abstracts."""


def origins_of(ws: Workspace, pools: Mapping[str, Pool], *, without: Collection[str] = ()) -> PoolOrigins:
    """Origins of pools, from the corpus and the files of the pools; nothing is written.

    pools: those on record, by topic. without: papers that are not counted. Works although a file of the rankings is
    missing or has changed.
    """
    # A report needs no cluster that runs.
    ws = ws.replaced("machine", cluster="")
    groups = admission.near_duplicates(ws, keep=False, advance=_silent).texts if pools and ws.has_corpus else ()
    counted = (tuple(paper_id for paper_id in group if paper_id not in without) for group in groups)
    duplicates = [group for group in counted if len(group) > 1]
    passed = None
    with suppress(InputError):
        passed = passed_over(ws, pools, drawn_rankings(ws, pools), advance=_silent) if duplicates else None
    added = added_files(ws.corpus) if pools else ()
    current_sha256 = sha256_of(ws.corpus / CORPUS_MANIFEST) if added else None
    earlier = sum(
        topic_id in pools and CITED in pools[topic_id].methods and rules.citations_sha256 != current_sha256
        for topic_id, rules in (admission.recorded_admissions(ws).items() if added else ())
    )
    drew = {method for pool in pools.values() for method in pool.methods}
    settings_of = frozen_rankings.method_settings(ws)
    few_abstracts = trained_on_few({name: settings_of[name] for name in settings_of if name in drew})
    return PoolOrigins(sum(map(len, duplicates)), len(duplicates), passed, added, earlier, few_abstracts)


def drawn_rankings(ws: Workspace, pools: Mapping[str, Pool]) -> frozen_rankings.Rankings:
    """Rankings of the whole corpus that the pools were drawn from; none for imported pools, or if they are not on
    disk."""
    designs = recorded_designs(pools.values())
    if not designs or not frozen_rankings.rankings_manifest(ws).is_file():
        return {}
    needed = frozen_rankings.needed_topics(designs, pools)
    return frozen_rankings.read_rankings(ws, {name: needed[name] for name in needed if "/" not in name})


def passed_over(
    ws: Workspace, pools: Mapping[str, Pool], rankings: frozen_rankings.Rankings, *, advance: Advance
) -> int | None:
    """Number of near-duplicates of other papers that the draws came by and left; None without rankings."""
    if not rankings:
        return None
    designs = recorded_designs(pools.values())
    admitted = admitted_to(ws, set(designs), rankings, pools, proved=False, advance=advance)
    return admission.passed_over_in([pools[topic_id] for topic_id in designs], rankings, admitted)


def _silent(done: int, total: int | None) -> None:
    pass


@dataclass(frozen=True, slots=True)
class PoolReplay:
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


def replay(ws: Workspace, *, advance: Advance) -> PoolReplay:
    """Draw every pool again from the files in `pools/` as it was drawn, and compare it with the one on record.

    Citations, papers and near-duplicates that came later change nothing. Raises InputError if a file is not the one
    that its manifest names, MissingInput if it is missing.
    """
    recorded = recorded_pools(ws)
    designs = recorded_designs(recorded.values())
    added_to = {topic_id: pool for topic_id, pool in recorded.items() if pool.additions}
    topics_by_method = frozen_rankings.needed_topics(designs, recorded)
    rankings = frozen_rankings.read_rankings(ws, topics_by_method) if topics_by_method else {}
    admitted = admitted_to(ws, {*designs, *added_to}, rankings, recorded, proved=True, advance=advance)
    redrawn = draw_pools(rankings, designs, admitted, current=recorded)
    redrawn += [
        with_additions(pool_in_version(pool, 1), pool.additions, rankings, barred=admitted[topic_id].barred)
        for topic_id, pool in added_to.items()
        if topic_id not in designs
    ]
    compared = {pool.topic_id: first_difference(recorded[pool.topic_id], pool) for pool in redrawn}
    with ws.reading() as session:
        differences = dict(unrecorded_differences(ws, session, recorded)) | {
            name: text for name, text in compared.items() if text
        }
    with_citations = {name: rules for name, rules in admitted.items() if CITED in recorded[name].methods}
    cited_since, cited_gone = _citations_since(ws, with_citations, recorded)
    return PoolReplay(
        pools=len(designs),
        documents=sum(len(pool.entries) for pool in redrawn if pool.topic_id in designs),
        added_to=len(added_to),
        imported=len(recorded) - len(designs),
        cited_since=cited_since,
        cited_gone=cited_gone,
        differences=dict(sorted(differences.items())),
    )


def recorded_pools(ws: Workspace) -> dict[str, Pool]:
    """The pools on record, by topic. Raises MissingInput if there are none."""
    with ws.reading() as session:
        pools = read_pools(session)
    if not pools:
        raise MissingInput(f"{ws.root}: no pools", hint="draw them with `annot pool`")
    return pools


def _citations_since(
    ws: Workspace, admitted: Mapping[str, admission.Admission], pools: Mapping[str, Pool]
) -> tuple[int, int]:
    if not admitted or not ws.has_corpus:
        return 0, 0
    cites = {name: set(paper.citations) for name, paper in papers_of(ws, admitted).items()}
    in_corpus = papers.known_ids(ws.corpus, set().union(*cites.values()))
    current = {(name, doc_id) for name, cited in cites.items() for doc_id in cited & in_corpus}
    recorded = {(name, doc_id) for name, rules in admitted.items() for doc_id in rules.cited}
    pooled = {(name, doc) for name in admitted for new in pools[name].additions if new.corpus for doc in new.documents}
    return len(current - recorded - pooled), len(recorded - current)


def first_difference(recorded: Pool, redrawn: Pool) -> str | None:
    """First difference between two drawings of one pool, in the first version that has one; None if they are the
    same."""
    for version in (1, *(addition.version for addition in recorded.additions)):
        difference = _difference_of_version(pool_in_version(recorded, version), pool_in_version(redrawn, version))
        if difference:
            return difference if version == 1 and not recorded.additions else f"version {version}: {difference}"
    return None
