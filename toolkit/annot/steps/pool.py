"""Drawing the pools: rank the corpus for each topic by every method, draw, write, remember."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import attrgetter
from typing import Any

from annot.base.errors import MissingInput
from annot.base.names import called
from annot.base.records import CITED, Advance, Pool, Query
from annot.formats.trec import rankings_sha256
from annot.pools.admission import admissions, as_recorded, passed_over_in, recorded_admissions, write_admissions
from annot.pools.drawn_pools import draw_pools, write_pools
from annot.pools.frozen_rankings import (
    Rankings,
    joined,
    lines_of,
    method_settings,
    needed,
    not_ranked,
    rank_corpus,
    read_rankings,
    refuse_other_corpus,
    write_rankings,
)
from annot.pools.growth import PoolChange, pool_changes, refuse_growth, topics_named
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import (
    DesignOverrides,
    PoolDesign,
    design_of_settings,
    differences,
    overridden,
    recorded_designs,
    usual_design,
    without,
)
from annot.pools.pool_facts import PoolFacts, drawn_rankings, facts_of, passed_over, recorded_pools
from annot.pools.pooling import shares
from annot.pools.ranked_corpus import ranked_corpus
from annot.pools.topics import for_text, left_out_of, searched, topics_of
from annot.publishing.report.tables import Column, Columns
from annot.publishing.report.terminal import rendered
from annot.publishing.report.words import sentences
from annot.ranking.paper_vectors import absent_by_default
from annot.ranking.wordvectors import trained_on_few
from annot.store import papers, pools, projects
from annot.store.queries import read_queries, read_topics
from annot.study.backups import keep_backup
from annot.study.made import note, states_of
from annot.study.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DrawnPool:
    """One pool in figures."""

    topic_id: str
    queries: int
    size: int
    cited: int
    cited_outside: int | None
    dry: tuple[str, ...]
    added: int
    """Documents that the pool did not have before."""
    leaving: int
    """Documents that it had and has no more."""


def columns(built: Sequence[DrawnPool]) -> Columns[DrawnPool]:
    """What is told of each pool; of citations where a topic has any."""
    of_citations = [
        Column[DrawnPool]("cited", lambda one: one.cited),
        Column[DrawnPool]("cited, not in corpus", lambda one: one.cited_outside, "cited_outside"),
    ]
    of_papers = called().topic != "topic" or any(one.cited_outside is not None for one in built)
    return Columns(
        [Column(called().topic, lambda one: one.topic_id)],
        [
            Column("queries", lambda one: one.queries),
            Column("pool", lambda one: one.size),
            *(of_citations if of_papers else ()),
            Column("exhausted methods", lambda one: " ".join(one.dry)),
            Column("added", lambda one: one.added),
            Column("leaving", lambda one: one.leaving),
        ],
    )


@dataclass(frozen=True, slots=True)
class BuiltPools:
    """What `annot pool` did."""

    pools: tuple[DrawnPool, ...]
    sent: bool
    """Whether tasks of the study were sent: then pairs are added only with `--grow`."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownPool:
    """A pool and the titles of its documents."""

    pool: Pool
    titles: dict[str, str]


def build(
    ws: Workspace,
    *,
    overrides: DesignOverrides,
    only: tuple[str, ...] = (),
    redraw: bool,
    frozen: bool,
    grow: bool,
    dry_run: bool,
    advance: Advance,
) -> BuiltPools:
    """Rank, draw and write the pool of every topic: as those on record were drawn, or else as annot.toml says.

    overrides: what the command line names instead. only: queries or topics; the pools
    of all others stay as they are. redraw: annot.toml counts, whatever is on record. frozen: draw from the rankings in
    `pools/rankings/` as they are. grow: pairs may be added to a study that was sent. Raises InputError if they
    would be without it, and if pairs that were sent or judged would leave.
    """
    by_settings = design_of_settings(ws.settings)
    with ws.reading() as session:
        queries = read_queries(session)
        current = pools.read_pools(session)
        hashes = pools.read_rankings_sha256(session)
        sent = projects.was_sent(session)
        texts = read_topics(session)
    if not queries:
        raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
    recorded = recorded_designs(current.values())
    usual, usual_of_texts = (
        None if redraw else usual_design({name: one for name, one in recorded.items() if (name in texts) is text})
        for text in (False, True)
    )
    absent = set(absent_by_default(ws))
    if frozen:
        absent -= {path.stem for path in ws.rankings.glob("*.run")}

    def as_asked(drawn_by: PoolDesign, drew: Collection[str]) -> PoolDesign:
        """drew: the methods by which pools on record were drawn; they are never left out for want of vectors."""
        found = overridden(drawn_by, overrides)
        return found if overrides.methods else without(found, absent - {*drew})

    design = as_asked(by_settings, ()) if usual is None else as_asked(usual, usual.methods)
    chosen = topics_named(queries, only) if only else {query.topic_id for query in queries}
    topics = topics_of(ws, chosen, texts)

    def design_of(topic_id: str) -> PoolDesign:
        drew = None if redraw else recorded.get(topic_id, usual_of_texts if topic_id in texts else None)
        return design if drew is None else as_asked(drew, drew.methods)

    of_texts = {name: design_of(name) for name in topics.texts}
    asked_of_texts = dict.fromkeys(method for one in of_texts.values() for method in one.methods)
    on_disk = not_ranked(ws) if frozen else None
    left_out = left_out_of(ws, asked_of_texts, topics.texts, frozen=on_disk)
    designs = {
        topic_id: for_text(of_texts[topic_id], topic_id, left_out) if topic_id in of_texts else design_of(topic_id)
        for topic_id in topics.ids
    }
    duplicates = cache(partial(near_duplicates, ws, keep=not dry_run, advance=advance))
    wanted = needed(designs, {name: pool for name, pool in current.items() if name in designs})
    facts: dict[str, Any] | None = None
    if frozen:
        rankings = read_rankings(ws, wanted)
    else:
        rankings, facts = rank_corpus(
            ws,
            methods=list(wanted),
            topics=topics.ids,
            texts={name: searched(topic) for name, topic in topics.texts.items()},
            excluded=lambda: duplicates().of_same_title(topics.papers),
            ranking_depth=max(one.ranking_depth for one in designs.values()),
            keep=not dry_run,
            advance=advance,
        )
        if only:
            refuse_other_corpus(ws, facts, corrected_only=ranked_corpus(ws).differs_by_corrections)
    admitted = admissions(ws, topics.citations, rankings, duplicates=duplicates(), current=current)
    if frozen:
        admitted = as_recorded(admitted, recorded_admissions(ws))
    drawn = draw_pools(rankings, designs, admitted, current=current)
    staying = [pool for topic_id, pool in current.items() if only and topic_id not in chosen]
    changes = pool_changes(current, [*drawn, *staying], queries)
    if not dry_run:
        lines = lines_of(rankings)
        hashes |= {
            topic_id: rankings_sha256({name: lines[name] for name in wanted if topic_id in wanted[name]}, topic_id)
            for topic_id in topics.ids
        }
        if facts is not None and only:
            lines, facts = joined(ws, lines, facts=facts, of_topics=True)
        with ws.writing() as session:
            refuse_growth(session, {name: len(one.added) for name, one in changes.items()}, grow=grow)
            pools.replace_pools(session, [*drawn, *staying], rankings_sha256=hashes)
            if redraw:
                keep_backup(ws, "before pool redraw")
        if facts is not None:
            write_rankings(ws, lines, facts=facts)
        on_record = recorded_admissions(ws) if staying else {}
        kept = {pool.topic_id: on_record[pool.topic_id] for pool in staying if pool.topic_id in on_record}
        write_admissions(ws, {**kept, **admitted})
        write_pools(ws, sorted([*drawn, *staying], key=attrgetter("topic_id")) if staying else drawn)
        if redraw or not current:
            note(ws, "pool", states_of(ws))
    made_with = method_settings(ws) if facts is None else facts["methods"]
    asked_out = {*ws.settings.pool.without, *(overrides.without or ())}
    few = trained_on_few({name: of for name, of in made_with.items() if name in wanted})
    notes = sentences(
        "commands.pools",
        sizes=[len(pool.entries) for pool in drawn],
        left_out=[name for name in design.without if name in asked_out],
        out_on_record=[name for name in design.without if name not in absent | asked_out],
        absent=[name for name in design.without if name in absent - asked_out and (redraw or not recorded)],
        same_title=duplicates().of_same_title(topics.papers),
        not_for_texts={
            method: new
            for method, missing in left_out.items()
            if (new := sorted(name for name in missing if redraw or name not in recorded))
        },
        passed_over=passed_over_in(drawn, rankings, admitted),
        dry=[pool.topic_id for pool in drawn if pool.dry],
        differing=[one for one in differences(usual, by_settings) if getattr(overrides, one[0]) is None]
        if usual
        else [],
        changes=[one for one in changes.values() if current and (one.added or one.leaving)],
        wants_grow=sent and dry_run and not grow and any(one.added for one in changes.values()),
        dry_run=dry_run,
    )
    notes += sentences("commands.few_abstracts", few=few)
    return BuiltPools(tuple(_in_figures(pool, queries, changes) for pool in drawn), sent, notes)


def fresh_rankings(ws: Workspace, *, advance: Advance) -> tuple[Rankings, dict[str, Any]]:
    """Rank the corpus for every topic by the methods of annot.toml; nothing is written."""
    with ws.reading() as session:
        topics = topics_of(ws, [query.topic_id for query in read_queries(session)], read_topics(session))
    return rank_corpus(
        ws,
        methods=list(design_of_settings(ws.settings).ranked_methods),
        topics=topics.ids,
        texts={name: searched(topic) for name, topic in topics.texts.items()},
        excluded=lambda: near_duplicates(ws, keep=True, advance=advance).of_same_title(topics.papers),
        ranking_depth=ws.settings.pool.ranking_depth,
        keep=True,
        advance=advance,
    )


def show(ws: Workspace, name: str) -> ShownPool:
    """The pool of a query, or of a topic."""
    with ws.reading() as session:
        (topic_id,) = topics_named(read_queries(session), [name])
        pool = pools.read_pool(session, topic_id)
    return ShownPool(pool, papers.headings(ws.corpus, [entry.doc_id for entry in pool.entries]))


def describe(shown: ShownPool) -> str:
    """How the pool came about, in a line or two, and its documents."""
    return rendered("pool", pool=shown.pool, shares=shares(shown.pool), titles=shown.titles)


def _in_figures(pool: Pool, queries: tuple[Query, ...], changes: Mapping[str, PoolChange]) -> DrawnPool:
    own = [changes[query.query_id] for query in queries if query.topic_id == pool.topic_id]
    return DrawnPool(
        topic_id=pool.topic_id,
        queries=sum(query.topic_id == pool.topic_id for query in queries),
        size=len(pool.entries),
        cited=sum(entry.drawn.method == CITED for entry in pool.entries),
        cited_outside=pool.cited_outside,
        dry=pool.dry,
        added=len(own[0].added),
        leaving=len(own[0].leaving),
    )


def stats(ws: Workspace, *, advance: Advance) -> PoolFacts:
    """The pools in figures."""
    recorded = recorded_pools(ws)
    rankings = drawn_rankings(ws, recorded)
    return replace(facts_of(recorded), passed_over=passed_over(ws, recorded, rankings, advance=advance))
