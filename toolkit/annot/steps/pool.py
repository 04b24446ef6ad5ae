"""Pools drawn for each topic, and what is added to them later."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import called, near
from annot.base.records import CITED, MANUAL, Addition, Advance, Draw, Pool, Query, Ranking
from annot.formats.trec import rankings_sha256
from annot.measuring.engine_runs import import_engine_run
from annot.pools.admission import (
    admissions,
    as_recorded,
    near_duplicates,
    passed_over_in,
    recorded_admissions,
    write_admissions,
)
from annot.pools.drawn_pools import (
    GrownPool,
    PoolChange,
    PoolFacts,
    PoolGrowth,
    draw_pools,
    drawn_rankings,
    facts_of,
    grown_pools,
    is_guarded,
    made_now,
    next_version,
    passed_over,
    pool_changes,
    queries_of,
    record_version,
    recorded_pools,
    refuse_growth,
    refuse_unasked,
    topics_named,
    write_pools,
)
from annot.pools.frozen_rankings import (
    Rankings,
    joined,
    lines_of,
    method_settings,
    needed,
    not_ranked,
    rank_corpus,
    ranked_corpus,
    read_rankings,
    refuse_other_corpus,
    write_rankings,
)
from annot.pools.pool_design import (
    DesignOverrides,
    PoolDesign,
    design_of_settings,
    differences,
    for_text,
    left_out_of,
    overridden,
    recorded_designs,
    searched,
    topics_of,
    usual_design,
    without,
)
from annot.pools.pooling import as_of, extended, shares
from annot.publishing.report.tables import Column, Columns, sentences
from annot.publishing.report.terminal import rendered
from annot.ranking.corpus import Field
from annot.ranking.given_vectors import absent_by_default
from annot.ranking.methods import METHODS
from annot.ranking.submission import imported_methods
from annot.ranking.word_vectors import trained_on_few
from annot.store import papers, pools, projects
from annot.store.pools import read_queries, read_topics
from annot.study.backups import keep_backup
from annot.study.provenance import note, states_of
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Drawing the pools: rank the corpus for each topic by every method, draw, write, remember.
# ----------------------------------------------------------------------------------------------------------------------


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


# ----------------------------------------------------------------------------------------------------------------------
# What is added to pools after the draw: papers found by hand, and the best of a method that came later.
# ----------------------------------------------------------------------------------------------------------------------


class _Ranked(NamedTuple):
    """The rankings of the method, and the facts that `write_rankings` needs of new ones."""

    of_method: dict[str, Ranking]
    new: Rankings
    facts: dict[str, Any] | None


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
) -> PoolGrowth:
    """Add the documents to the pool of a topic as a version of its own; what is in it already stays as it is.

    query: a query or a topic, whose queries share the pool. by: who adds them; None takes the account of this
    machine. grow: pairs may be added to a study that was sent or judged. Raises InputError for an unknown query, for
    documents that are not in the corpus, have the query paper's title, or nearly the text of the query paper or of
    another paper of the pool, and where the study would grow unasked.
    """
    if not reason.strip():
        raise InputError("--reason: found no words, expected how the papers were found")
    with ws.reading() as session:
        queries = read_queries(session)
        (topic_id,) = topics_named(queries, [query])
        before = pools.read_pool(session, topic_id)
        current = pools.read_pools(session)
        guarded, sample = is_guarded(session), pools.read_sample(session)
    there = {entry.doc_id for entry in before.entries}
    new = tuple(dict.fromkeys(doc_id for doc_id in doc_ids if doc_id not in there))
    if new:
        _refuse(ws, before, new, keep=not dry_run, advance=advance)
    known = [(entry.doc_id, entry.drawn) for entry in before.entries if entry.doc_id in doc_ids]
    share = sample and sample.design.share
    grown = partial(_grown, MANUAL, None, known=known, guarded=guarded, share=share, grow=grow, dry_run=dry_run)
    if not new:
        if before.additions and not dry_run:
            # An earlier run may have ended before its files were written.
            write_pools(ws, list(current.values()))
        unchanged = GrownPool(topic_id, queries_of(queries, topic_id), (), len(before.entries))
        return grown(None, [unchanged])
    # The rankings that the pool was drawn from show which methods had them.
    wanted = needed(recorded_designs([before]), {topic_id: before})
    rankings = read_rankings(ws, wanted) if wanted else {}
    version = next_version(current)
    addition = Addition(version, MANUAL, None, new, reason.strip(), **made_now(by))
    of_topic = {method: by_topic[topic_id] for method, by_topic in rankings.items()}
    after = {topic_id: extended(before, addition, of_topic, excluded=())}
    found = grown_pools(current, after, queries)
    if not dry_run:
        record_version(ws, after, rankings=rankings, grow=grow)
    return grown(version, found)


def top_up(
    ws: Workspace,
    *,
    method: str,
    file: Path | None,
    depth: int | None,
    only: tuple[str, ...],
    reason: str | None,
    by: str | None,
    grow: bool,
    dry_run: bool,
    advance: Advance,
) -> PoolGrowth:
    """Add what the pools lack of the first `depth` papers of a method that did not draw them, as one version.

    method: built in or imported; file: its run, which is imported first. depth: None takes how
    many papers each method brought when the pool was drawn. only: queries or topics; without any, all pools.
    The same again adds nothing. by: None takes the account of this machine. Raises InputError if the method drew all
    these pools, if a pool does not tell its depth, and if the study would grow unasked.
    """
    if method in (CITED, MANUAL):
        raise InputError(
            f"--method {method}: has no ranking", hint="to add papers found by hand: `annot pool add QUERY DOC...`"
        )
    given = _taken_in(ws, file, method, dry_run=True)
    with ws.reading() as session:
        queries = read_queries(session)
        current = pools.read_pools(session)
        guarded, sample = is_guarded(session), pools.read_sample(session)
        texts = read_topics(session)
    chosen = topics_named(queries, only) if only else set(current)
    before = {topic_id: pool for topic_id, pool in current.items() if topic_id in chosen}
    if not before:
        raise MissingInput("no pools", hint="draw them with `annot pool`")
    drew = [topic_id for topic_id, pool in before.items() if method in as_of(pool, 1).methods]
    if len(drew) == len(before):
        raise InputError(
            f"--method {method}: already drew these pools", hint="`annot pool --per-method NUMBER` draws deeper pools"
        )
    wanted = {topic_id: _depth_of(pool, depth) for topic_id, pool in before.items() if topic_id not in drew}
    missing = {
        topic_id: at
        for topic_id, at in wanted.items()
        if at > max((one.depth for one in before[topic_id].additions if one.method == method and one.depth), default=0)
    }
    share = sample and sample.design.share
    grown = partial(_grown, method, depth, guarded=guarded, share=share, grow=grow, dry_run=dry_run)
    if not missing:
        if not dry_run:
            # An earlier run may have ended before its files were written.
            write_pools(ws, list(current.values()))
        same = [GrownPool(name, queries_of(queries, name), (), len(before[name].entries)) for name in wanted]
        notes = sentences("commands.topped_up", method=method, drew=drew, shares=[], dry=[])
        return grown(None, same, before=notes)
    topics = topics_of(ws, missing, texts)
    if left_out := left_out_of(ws, [] if given is not None else [method], topics.texts):
        raise InputError(
            f"--method {method}: cannot rank for {', '.join(sorted(left_out[method]))}: a topic that is a text has no "
            "citations, and no vector of it is in the set",
            hint="name the queries that it can rank for, or import a run of the method with --run",
        )
    duplicates = cache(partial(near_duplicates, ws, keep=not dry_run, advance=advance))
    earlier = {topic_id: before[topic_id] for topic_id in missing}
    old = needed(recorded_designs(earlier.values()), earlier)
    known = read_rankings(ws, old) if old else {}
    ranked = _ranking_of(
        ws,
        method,
        earlier,
        given,
        known,
        lambda: duplicates().of_same_title(topics.papers),
        {name: searched(topic) for name, topic in topics.texts.items()},
        keep=not dry_run,
        advance=advance,
    )
    rankings = {**known, method: ranked.of_method}
    version, made = next_version(current), made_now(by)
    on_record = recorded_admissions(ws)
    admitted = as_recorded(
        admissions(ws, topics.citations, rankings, duplicates=duplicates(), current=before, coming=version), on_record
    )
    after = {
        topic_id: extended(
            pool,
            Addition(version, method, missing[topic_id], (), reason, **made),
            {name: of[topic_id] for name, of in rankings.items() if topic_id in of},
            excluded=admitted[topic_id].barred[version],
        )
        for topic_id, pool in earlier.items()
    }
    found = grown_pools(current, after, queries)
    if not dry_run:
        with ws.reading() as session:
            refuse_unasked(session, found, grow=grow)
        _taken_in(ws, file, method, dry_run=False)
        if ranked.facts is not None:
            # Before the pools are on record that follow from it.
            of_all, facts = joined(ws, lines_of(ranked.new), facts=ranked.facts)
            write_rankings(ws, of_all, facts=facts)
        write_admissions(ws, {**on_record, **admitted})
        record_version(ws, after, rankings=rankings, grow=grow)
    notes = sentences(
        "commands.topped_up",
        method=method,
        drew=drew,
        shares=[_share(earlier[topic_id], ranked.of_method[topic_id], at) for topic_id, at in missing.items()],
        dry=[topic_id for topic_id in after if method in after[topic_id].dry],
    )
    return grown(version, found, before=notes)


def _grown(
    method: str,
    depth: int | None,
    version: int | None,
    found: Sequence[GrownPool],
    *,
    known: Sequence[tuple[str, Draw]] = (),
    before: tuple[str, ...] = (),
    guarded: bool,
    share: float | None,
    grow: bool,
    dry_run: bool,
) -> PoolGrowth:
    """The result. version: None if nothing was added. known: what was there already. before: further notes.

    share: of the pools that is judged, where it is a sample.
    """
    notes = sentences(
        "commands.grown",
        known=known,
        added=sum(len(one.added) for one in found),
        version=version,
        wants_grow=guarded and dry_run and not grow,
        guarded=guarded,
        share=share,
        dry_run=dry_run,
    )
    return PoolGrowth(version, method, depth, tuple(found), guarded, before + notes)


def _taken_in(ws: Workspace, file: Path | None, method: str, *, dry_run: bool) -> dict[str, Ranking] | None:
    """The rankings of the run in the file, kept unless it is a dry run; None without a file."""
    if file is None:
        return None
    rules: dict[str, Any] = {"meta": None, "foreign": None, "duplicates": None, "distances": False}
    return import_engine_run(ws, file, method=method, **rules, dry_run=dry_run)[0]


def _depth_of(pool: Pool, depth: int | None) -> int:
    asked = depth if depth is not None else pool.per_method
    if asked is None:
        raise InputError(
            f"query paper {pool.topic_id}: the depth of its pool is not on record", hint="give it with --depth NUMBER"
        )
    if pool.ranking_depth is not None and asked > pool.ranking_depth:
        raise InputError(
            f"--depth {asked}: the rankings of query paper {pool.topic_id} end at {pool.ranking_depth}",
            hint=f"give {pool.ranking_depth} or less",
        )
    return asked


def _ranking_of(
    ws: Workspace,
    method: str,
    before: Mapping[str, Pool],
    given: Mapping[str, Ranking] | None,
    known: Rankings,
    same_title: Callable[[], Mapping[str, tuple[str, ...]]],
    texts: Mapping[str, Mapping[Field, str]],
    *,
    keep: bool,
    advance: Advance,
) -> _Ranked:
    """Pools that the method was added to before use the same ranking; for all others it ranks now."""
    again = {topic_id: known[method][topic_id] for topic_id in known.get(method, ())}
    fresh = [topic_id for topic_id in before if topic_id not in again]
    if not fresh:
        return _Ranked(again, {}, None)
    names = (*METHODS, *imported_methods(ws))
    if given is None and method not in names and not (ws.vectors / method).is_dir():
        raise MissingInput(
            f"--method {method}: no run and no vectors of this name; {near(method, names)}",
            hint=f"import its run with `annot pool add --run FILE --method {method}`, or its vectors with "
            "`annot vectors add`",
        )
    new, facts = rank_corpus(
        ws,
        methods=[method],
        topics=fresh,
        excluded=same_title,
        ranking_depth=max(pool.ranking_depth or ws.settings.pool.ranking_depth for pool in before.values()),
        keep=keep,
        advance=advance,
        given={} if given is None else {method: given},
        texts=texts,
    )
    return _Ranked({**again, **new[method]}, new, facts)


def _share(pool: Pool, ranking: Ranking, depth: int) -> float:
    """How much of the method's best the pool had."""
    best = [doc.doc_id for doc in ranking[:depth]]
    there = {entry.doc_id for entry in pool.entries}
    return mean(doc_id in there for doc_id in best) if best else 1.0


def _refuse(ws: Workspace, pool: Pool, doc_ids: Sequence[str], *, keep: bool, advance: Advance) -> None:
    """Raise InputError with everything that speaks against these papers, which are not in the pool."""
    there = papers.find_papers(ws.corpus, doc_ids)
    duplicates = near_duplicates(ws, keep=keep, advance=advance)
    with ws.reading() as session:
        asked = () if pool.topic_id in read_topics(session) else (pool.topic_id,)
    same_title = duplicates.of_same_title(asked).get(pool.topic_id, ())
    group_of = {doc_id: group for group in duplicates.texts for doc_id in group}
    taken = dict.fromkeys(asked, "the query paper") | {
        entry.doc_id: f"{entry.doc_id}, in the pool" for entry in pool.entries
    }
    faults = []
    for doc_id in doc_ids:
        same = next((one for one in group_of.get(doc_id, ()) if one in taken), None)
        if doc_id not in there:
            faults.append(f"{doc_id}: not in the corpus")
        elif doc_id in (*asked, *same_title):
            faults.append(f"{doc_id}: is the query paper, or has its title")
        elif same is not None:
            faults.append(f"{doc_id}: nearly the same text as {taken[same]}")
        taken.setdefault(doc_id, f"{doc_id}, which is also named here")
    if faults:
        raise InputError(
            f"{len(faults)} of {len(doc_ids)} papers cannot be added",
            faults=faults,
            hint="leave them out; `annot corpus add` adds papers to the corpus",
        )
