"""Pools drawn for each topic, and later additions to them."""

from __future__ import annotations

import getpass
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any, NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import StudyVocabulary, moment_now
from annot.base.records import CITED, GROWN, MANUAL, Addition, Advance, Draw, Pool, Query, Ranking
from annot.formats.trec import rankings_sha256
from annot.measuring.engine_runs import import_engine_run
from annot.pools import admission, drawn_pools, frozen_rankings, pool_design, pooling
from annot.publishing.report import tables
from annot.ranking import word_vectors
from annot.store import papers, pools, projects
from annot.store.answers import is_judged
from annot.store.models import CorpusVersion
from annot.store.pools import (
    documents_came,
    last_file,
    read_corpus_versions,
    read_queries,
    read_topics,
    read_withdrawn,
)
from annot.study import backups, provenance
from annot.study.snapshot import Snapshot, read_snapshot
from annot.study.workspace import Workspace

# ----------------------------------------------------------------------------------------------------------------------
# Drawing the pools: rank the corpus for each topic by every method, draw, write, remember.
# ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DrawnPool:
    """Figures of one pool."""

    topic_id: str
    queries: int
    size: int
    cited: int
    cited_outside: int | None
    dry: tuple[str, ...]
    added: int
    """Documents that the pool did not have before."""
    leaving: int
    """Documents that it had before and has no longer."""


def columns(built: Sequence[DrawnPool], words: StudyVocabulary) -> tables.Columns[DrawnPool]:
    """Columns of the list of pools; those about citations if a topic has any."""
    of_citations = [
        tables.Column[DrawnPool]("cited", lambda pool: pool.cited),
        tables.Column[DrawnPool]("cited, not in corpus", lambda pool: pool.cited_outside, "cited_outside"),
    ]
    of_papers = words.document == "paper" or any(pool.cited_outside is not None for pool in built)
    return tables.Columns(
        [tables.Column(words.topic, lambda pool: pool.topic_id)],
        [
            tables.Column("queries", lambda pool: pool.queries),
            tables.Column("pool", lambda pool: pool.size),
            *(of_citations if of_papers else ()),
            tables.Column("exhausted methods", lambda pool: " ".join(pool.dry)),
            tables.Column("added", lambda pool: pool.added),
            tables.Column("leaving", lambda pool: pool.leaving),
        ],
    )


@dataclass(frozen=True, slots=True)
class BuiltPools:
    """Result of `annot pool`."""

    pools: tuple[DrawnPool, ...]
    sent: bool
    """True if tasks of the study were sent: then pairs are added only with `--grow`."""
    notes: tuple[str, ...]


class _Drawn(NamedTuple):
    """New pools by topic, and their sources."""

    pools: dict[str, Pool]
    grown: bool
    """True if documents were added to pools on record; False if the pools were drawn anew."""
    rankings: frozen_rankings.Rankings
    admitted: dict[str, admission.Admission]
    """Empty if papers found by hand were added."""
    new: frozen_rankings.Rankings
    """The rankings that are not on disk yet."""
    facts: dict[str, Any] | None
    """Facts that `write_rankings` needs of the new ones; None if all are on disk."""


class _Ranker:
    """Rankings of the corpus for some topics, and the papers that may enter their pools."""

    def __init__(self, ws: Workspace, topics: pool_design.Topics, *, keep: bool, advance: Advance):
        """keep: make and keep missing parts of the index, and near-duplicates."""
        self.ws, self.topics = ws, topics
        self._keep, self._advance = keep, advance
        with ws.reading() as session:
            self._withdrawn = frozenset(read_withdrawn(session))
        self.duplicates = cache(partial(admission.near_duplicates, ws, keep=keep, advance=advance))

    def same_title(self) -> dict[str, tuple[str, ...]]:
        """Papers with the title of a query paper, by topic."""
        return self.duplicates().of_same_title(self.topics.papers)

    def rank(
        self,
        methods: Sequence[str],
        *,
        ranking_depth: int,
        topic_ids: Sequence[str] | None = None,
        imports: Mapping[str, Mapping[str, Ranking]] = MappingProxyType({}),
        new: frozen_rankings.NewDocuments | None = None,
    ) -> tuple[frozen_rankings.Rankings, dict[str, Any]]:
        """Rankings and facts as `rank_corpus` returns them. topic_ids: None takes all topics."""
        return frozen_rankings.rank_corpus(
            self.ws,
            methods=methods,
            topics=self.topics.ids if topic_ids is None else topic_ids,
            texts={name: pool_design.text_by_field(topic) for name, topic in self.topics.texts.items()},
            excluded=self.same_title,
            ranking_depth=ranking_depth,
            keep=self._keep,
            advance=self._advance,
            imports=imports,
            withdrawn=self._withdrawn,
            new=new,
        )

    def new_documents(
        self, pools: Mapping[str, Pool], versions: tuple[CorpusVersion, ...]
    ) -> frozen_rankings.NewDocuments:
        """The documents of the newest version of the corpus that these pools could not draw from before."""
        since = {
            corpus: {*papers.ids_after(self.ws.corpus, last_file(versions, corpus or versions[0].version))}
            for corpus in {pool.of_corpus for pool in pools.values()}
        }
        ids = {topic_id: frozenset(since[pool.of_corpus] - self._withdrawn) for topic_id, pool in pools.items()}
        cited = {
            topic_id: sorted(ids[topic_id] & {*(self.topics.citations[topic_id] or ())})
            for topic_id, pool in pools.items()
            if CITED in pooling.pool_in_version(pool, 1).methods
        }
        return frozen_rankings.NewDocuments(versions[-1].version, ids, cited)


_Changes = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""Documents that came and left, by topic."""


def build(
    ws: Workspace,
    *,
    overrides: pool_design.DesignOverrides = pool_design.AS_PLANNED,
    only: tuple[str, ...] = (),
    redraw: bool = False,
    frozen: bool = False,
    grow: bool = False,
    dry_run: bool,
    advance: Advance,
) -> BuiltPools:
    """Rank the corpus, and draw and write the pool of every topic: as those on record, or else as annot.toml says.

    overrides: changes of the command line. only: queries or topics; the pools of all others stay as they are. redraw:
    annot.toml counts, whatever is on record. frozen: draw from the rankings in `pools/rankings/` as they are. grow:
    pairs may be added to a study that was sent. Raises InputError if pairs would be added without it, and if pairs that
    were sent or judged would leave.
    """
    snapshot = read_snapshot(ws)
    if not snapshot.queries:
        raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
    with ws.reading() as session:
        sent, versions = projects.was_sent(session), read_corpus_versions(session)
    current = snapshot.pools
    on_disk = frozen_rankings.not_ranked(ws) if frozen else None
    designs = pool_design.Designs(snapshot, overrides, redraw=redraw, frozen=on_disk)
    chosen = drawn_pools.topics_named(snapshot.queries, only) if only else {*snapshot.topics.values()}
    by_version = bool(versions) and not frozen
    growing, staying = (
        _pools_by_version(ws, current, chosen, versions, overrides, redraw=redraw) if by_version else ({}, {})
    )
    chosen -= {*growing, *staying}
    ranker = _Ranker(
        ws, pool_design.topics_of(ws, {*chosen, *growing}, snapshot.texts), keep=not dry_run, advance=advance
    )
    design_of, not_for_texts = designs.of_topics(ranker.topics.only(chosen))
    drawings: list[_Drawn] = []
    if chosen or not versions:
        partly = bool(only) and not versions
        corpus = next(reversed(snapshot.corpora), None)
        drawings.append(_draw_anew(ranker, current, design_of, frozen=frozen, partly=partly, corpus=corpus))
    if growing:
        additions = _new_documents_of(snapshot, growing, versions[-1], overrides.per_method)
        drawings.append(_draw_additions(ranker, snapshot, additions, versions=versions))
    drawn_now = {**staying, **{name: pool for drawn in drawings for name, pool in drawn.pools.items()}}
    changes = {name: drawn_pools.changed_documents(current.get(name), pool) for name, pool in drawn_now.items()}
    if not dry_run:
        whole = not (only or growing or staying)
        _write_all(ws, drawings, current, whole=whole, grow=grow, backup="before pool redraw" if redraw else None)
        if redraw or not current:
            provenance.note(ws, "pool", provenance.states_of(ws))
    words = designs.words(not_for_texts) | {"dry_run": dry_run, "sent": sent and not grow}
    words |= {"without_rule": _topics_without_rule(ws, staying, versions)}
    notes = _notes(ranker, snapshot, drawings, drawn_now, changes=changes, **words)
    return BuiltPools(_figures(snapshot, drawn_now, changes), sent, notes)


def _pools_by_version(
    ws: Workspace,
    current: Mapping[str, Pool],
    chosen: Collection[str],
    versions: tuple[CorpusVersion, ...],
    overrides: pool_design.DesignOverrides,
    *,
    redraw: bool,
) -> tuple[dict[str, Pool], dict[str, Pool]]:
    """The chosen pools that were drawn from an earlier version of the corpus than the newest, and the others on record.

    Raises InputError for options that would draw pools on record in another way. An imported pool has no rule to grow
    by, and stays.
    """
    drawn = pool_design.recorded_designs(current.values())
    growing: dict[str, Pool] = {}
    staying: dict[str, Pool] = {}
    for name in sorted({*chosen} & current.keys()):
        later = name in drawn and documents_came(ws.corpus, versions, current[name].of_corpus)
        (growing if later else staying)[name] = current[name]
    changes = replace(overrides, per_method=None) if growing else overrides
    new = {*chosen} - current.keys()
    if current and (redraw or (changes != pool_design.AS_PLANNED and (growing or not new))):
        raise InputError(
            "the pools on record belong to versions of the corpus, and are not drawn in another way",
            hint="`annot pool --grow` adds documents of the newest version by the rule on record; --per-method gives "
            "another number, and `annot pool add --method` adds the best of another method",
        )
    return growing, staying


def _new_documents_of(
    snapshot: Snapshot, growing: Mapping[str, Pool], version: CorpusVersion, per_method: int | None
) -> dict[str, Addition]:
    """The additions of new documents to these pools. per_method: number that each method draws; None: as before."""
    depths = {
        name: per_method or design.per_method for name, design in pool_design.recorded_designs(growing.values()).items()
    }
    return {name: _addition(snapshot, GROWN, depth, (), version.reason, None) for name, depth in depths.items()}


def _topics_without_rule(ws: Workspace, staying: Mapping[str, Pool], versions: tuple[CorpusVersion, ...]) -> list[str]:
    """Topics of the pools that do not say how they were drawn, and have no new document of the newest version of the
    corpus; none if no document came with it."""
    ruled = pool_design.recorded_designs(staying.values())
    new = {*papers.ids_after(ws.corpus, versions[-1].after)} if len(staying) > len(ruled) and versions else set()
    lacking = (name for name, pool in staying.items() if new.isdisjoint(entry.doc_id for entry in pool.entries))
    return [name for name in lacking if new and name not in ruled]


def _notes(
    ranker: _Ranker,
    snapshot: Snapshot,
    drawings: Sequence[_Drawn],
    pools: Mapping[str, Pool],
    *,
    changes: _Changes,
    **words: Any,
) -> tuple[str, ...]:
    """Notes on these pools. changes: of each pool, the documents that came and left."""
    grown = {name: len(changes[name][0]) for drawn in drawings if drawn.grown for name in drawn.pools}
    drawn_again = [pool for name, pool in pools.items() if drawings and name not in grown]
    notes = tables.sentences(
        "commands.pools",
        words=snapshot.words,
        sizes=[len(pool.entries) for pool in pools.values()],
        empty=[name for name, pool in pools.items() if not pool.entries],
        same_title=ranker.same_title() if drawings else {},
        passed_over=sum(
            admission.passed_over_in(drawn.pools.values(), drawn.rankings, drawn.admitted) for drawn in drawings
        ),
        dry=[pool.topic_id for pool in drawn_again if pool.dry],
        changes={
            query.query_id: changes[query.topic_id]
            for query in (snapshot.queries if snapshot.pools else ())
            if any(changes.get(query.topic_id, ()))
        },
        grown=grown,
        version=next((pools[name].of_corpus for name in grown), None),
        **words,
    )
    few = {few: None for drawn in drawings for few in _few_abstracts(ranker.ws, drawn)}
    return notes + tables.sentences("commands.few_abstracts", words=snapshot.words, few=tuple(few))


def _figures(snapshot: Snapshot, pools: Mapping[str, Pool], changes: _Changes) -> tuple[DrawnPool, ...]:
    return tuple(
        DrawnPool(
            topic_id=topic_id,
            queries=len(drawn_pools.queries_of(snapshot.queries, topic_id)),
            size=len(pool.entries),
            cited=sum(entry.drawn.method == CITED for entry in pool.entries),
            cited_outside=pool.cited_outside,
            dry=pool.dry,
            added=len(changes[topic_id][0]),
            leaving=len(changes[topic_id][1]),
        )
        for topic_id, pool in sorted(pools.items())
    )


def _draw_anew(
    ranker: _Ranker,
    current: Mapping[str, Pool],
    designs: Mapping[str, pool_design.PoolDesign],
    *,
    frozen: bool,
    partly: bool,
    corpus: str | None,
) -> _Drawn:
    """Pools of these designs. partly: other pools stay, so the corpus must be the one that they were drawn from.
    corpus: the version that new pools are drawn from."""
    ws = ranker.ws
    needed = frozen_rankings.needed_topics(designs, {name: pool for name, pool in current.items() if name in designs})
    if frozen:
        return _draw(ranker, current, designs, on_disk=frozen_rankings.read_rankings(ws, needed), corpus=corpus)
    depth = max(design.ranking_depth for design in designs.values())
    new, facts = ranker.rank(list(needed), ranking_depth=depth)
    if partly:
        frozen_rankings.refuse_other_corpus(
            ws, facts, corrected_only=frozen_rankings.ranked_corpus(ws).differs_by_corrections
        )
    return _draw(ranker, current, designs, new=new, facts=facts, corpus=corpus)


def _draw_additions(
    ranker: _Ranker,
    snapshot: Snapshot,
    additions: Mapping[str, Addition],
    *,
    run: Mapping[str, Ranking] | None = None,
    versions: tuple[CorpusVersion, ...] = (),
) -> _Drawn:
    """Pools on record with an addition each, of one method: pools with new documents of the last of these versions of
    the corpus rank all by their own methods, and draw from the new ones by their own rule.

    run: the rankings of the method that are being imported, if they are.
    """
    current = {topic_id: snapshot.pools[topic_id] for topic_id in additions}
    (method,) = {addition.method for addition in additions.values()}
    # The rankings that the pools were drawn from show which methods had the papers.
    designs = pool_design.recorded_designs(current.values())
    needed = frozen_rankings.needed_topics(designs, current)
    on_disk = frozen_rankings.read_rankings(ranker.ws, needed) if needed else {}
    methods, new = [method], None
    not_ranked = [topic_id for topic_id in current if method != MANUAL and topic_id not in on_disk.get(method, ())]
    if method == GROWN:
        drew = {name for design in designs.values() for name in design.ranked_methods}
        methods, new = [name for name in needed if name in drew], ranker.new_documents(current, versions)
    rankings: frozen_rankings.Rankings = {}
    facts = None
    if not_ranked:
        usual_depth = ranker.ws.settings.pool.ranking_depth
        rankings, facts = ranker.rank(
            methods,
            topic_ids=not_ranked,
            ranking_depth=max(pool.ranking_depth or usual_depth for pool in current.values()),
            imports={} if run is None else {method: run},
            new=new,
        )
    return _draw(ranker, snapshot.pools, additions, on_disk=on_disk, new=rankings, facts=facts)


def _draw(
    ranker: _Ranker,
    current: Mapping[str, Pool],
    planned: Mapping[str, pool_design.PoolDesign] | Mapping[str, Addition],
    *,
    on_disk: frozen_rankings.Rankings | None = None,
    new: frozen_rankings.Rankings | None = None,
    facts: dict[str, Any] | None = None,
    corpus: str | None = None,
) -> _Drawn:
    """Pools by their designs, or pools on record with an addition each; additions have one method and one version.

    on_disk: the rankings that are not made again, with the papers that were barred from them; new, facts: rankings
    that were made now; corpus: the version that new pools are drawn from.
    """
    on_disk, new = on_disk or {}, new or {}
    rankings = {name: {**on_disk.get(name, {}), **new.get(name, {})} for name in {**on_disk, **new}}
    designs = {name: design for name, design in planned.items() if isinstance(design, pool_design.PoolDesign)}
    additions = {name: addition for name, addition in planned.items() if isinstance(addition, Addition)}
    coming = next(iter(additions.values()), None)
    admitted: dict[str, admission.Admission] = {}
    if coming is None or coming.method != MANUAL:
        admitted = admission.admissions(
            ranker.ws,
            ranker.topics.citations,
            rankings,
            duplicates=ranker.duplicates(),
            current=current,
            coming=coming.version if coming else None,
        )
        if additions or facts is None:
            admitted = admission.as_recorded(admitted, admission.recorded_admissions(ranker.ws))
    drawn = drawn_pools.draw_pools(rankings, designs, admitted, current=current, corpus=corpus)
    drawn += [
        drawn_pools.with_additions(
            current[name], [addition], rankings, barred=admitted[name].barred if name in admitted else {}
        )
        for name, addition in additions.items()
    ]
    return _Drawn({pool.topic_id: pool for pool in drawn}, bool(additions), rankings, admitted, new, facts)


def _write_all(ws: Workspace, drawings: Sequence[_Drawn], current: Mapping[str, Pool], **how: Any) -> None:
    """Write all that was drawn, as `_write` does; without it, the files of the current pools, as an earlier run may
    have ended before."""
    for drawn in drawings:
        _write(ws, drawn, **how)
    if not drawings:
        drawn_pools.write_pools(ws, list(current.values()))


def _write(ws: Workspace, drawn: _Drawn, *, whole: bool, grow: bool, backup: str | None = None) -> None:
    """Write the pools, and the rankings and admissions that they follow from; the same command finishes what one that
    was interrupted has left.

    whole: remove other pools. backup: reason of a backup to make first. Raises InputError if pairs would be added to a
    study under way without `grow`, and if pairs that were sent or judged would leave.
    """
    lines, facts = frozen_rankings.lines_of(drawn.rankings), drawn.facts
    with ws.writing() as session:
        recorded = pools.read_pools(session)
        drawn_pools.refuse_growth(
            session, _added(recorded, drawn, read_queries(session)), grow=grow, judged=drawn.grown
        )
        staying = {} if whole else {name: pool for name, pool in recorded.items() if name not in drawn.pools}
        changed = dict(sorted({**staying, **drawn.pools}.items()))
        hashes = pools.read_rankings_sha256(session)
        for topic_id, pool in drawn.pools.items():
            methods = [name for name in pool.methods if name not in (CITED, MANUAL)]
            if all(topic_id in lines.get(name, ()) for name in methods):
                hashes[topic_id] = rankings_sha256({name: lines[name] for name in methods}, topic_id)
        pools.replace_pools(session, changed.values(), rankings_sha256=hashes)
        if backup:
            backups.keep_backup(ws, backup)
        if facts is not None:
            new_lines = frozen_rankings.lines_of(drawn.new)
            if not whole:
                new_lines, facts = frozen_rankings.join_rankings(ws, new_lines, facts=facts, of_topics=not drawn.grown)
            frozen_rankings.write_rankings(ws, new_lines, facts=facts)
        if drawn.admitted:
            on_record = admission.recorded_admissions(ws) if staying else {}
            of_others = {name: on_record[name] for name in staying if name in on_record}
            admission.write_admissions(ws, {**of_others, **drawn.admitted})
    drawn_pools.write_pools(ws, list(changed.values()))


def _added(recorded: Mapping[str, Pool], drawn: _Drawn, queries: Iterable[Query]) -> dict[str, int]:
    """Number of pairs that these pools add, by query."""
    return {
        query.query_id: len(drawn_pools.changed_documents(recorded.get(query.topic_id), pool)[0])
        for query in queries
        if (pool := drawn.pools.get(query.topic_id))
    }


def _few_abstracts(ws: Workspace, drawn: _Drawn) -> tuple[word_vectors.FewAbstracts, ...]:
    """Methods of these rankings that were trained on few abstracts."""
    made_with = frozen_rankings.method_settings(ws) if drawn.facts is None else drawn.facts["methods"]
    ranked = {name: made_with[name] for name in made_with if name in drawn.rankings}
    return word_vectors.trained_on_few({name.rpartition("/")[2]: ranked[name] for name in ranked})


def fresh_rankings(ws: Workspace, *, advance: Advance) -> tuple[frozen_rankings.Rankings, dict[str, Any]]:
    """Rankings of the corpus for every topic by the methods of annot.toml, with their facts; nothing is written."""
    with ws.reading() as session:
        topics = pool_design.topics_of(ws, [query.topic_id for query in read_queries(session)], read_topics(session))
    methods = list(pool_design.design_of_settings(ws.settings).ranked_methods)
    return _Ranker(ws, topics, keep=True, advance=advance).rank(methods, ranking_depth=ws.settings.pool.ranking_depth)


def _pool_named(ws: Workspace, name: str) -> Pool:
    with ws.reading() as session:
        (topic_id,) = drawn_pools.topics_named(read_queries(session), [name])
        return pools.read_pool(session, topic_id)


def show(ws: Workspace, name: str) -> tuple[Pool, dict[str, str]]:
    """The pool of a query, or of a topic, and the titles of its documents."""
    pool = _pool_named(ws, name)
    return pool, papers.headings(ws.corpus, [entry.doc_id for entry in pool.entries])


def stats(ws: Workspace, *, advance: Advance) -> drawn_pools.PoolFacts:
    """The pools in figures."""
    recorded = drawn_pools.recorded_pools(ws)
    rankings = drawn_pools.drawn_rankings(ws, recorded)
    return replace(
        drawn_pools.facts_of(recorded), passed_over=drawn_pools.passed_over(ws, recorded, rankings, advance=advance)
    )


# ----------------------------------------------------------------------------------------------------------------------
# Additions to pools after the draw: papers found by hand, and the best of a method that came later.
# ----------------------------------------------------------------------------------------------------------------------


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
) -> drawn_pools.PoolGrowth:
    """Add the documents to the pool of a topic as a version of its own; its other documents stay as they are.

    query: a query or a topic, whose queries share the pool. by: the person who adds them; None takes the account of
    this machine. grow: pairs may be added to a study that was sent or judged. Raises InputError for an unknown query,
    for documents that are not in the corpus, have the query paper's title, or nearly the text of the query paper or of
    another paper of the pool, and if the study would grow without `grow`.
    """
    if not reason.strip():
        raise InputError("--reason: found no words, expected how the papers were found")
    snapshot = read_snapshot(ws)
    pool = _pool_named(ws, query)
    pooled = {entry.doc_id for entry in pool.entries}
    new = tuple(dict.fromkeys(doc_id for doc_id in doc_ids if doc_id not in pooled))
    additions = {}
    if new:
        _refuse(ws, pool, new, keep=not dry_run, advance=advance)
        additions[pool.topic_id] = _addition(snapshot, MANUAL, None, new, reason.strip(), by)
    ranker = _Ranker(ws, pool_design.Topics({}, {}), keep=not dry_run, advance=advance)
    drawn = _grow(ranker, snapshot, additions, [pool], grow=grow, dry_run=dry_run)
    known = [(entry.doc_id, entry.drawn) for entry in pool.entries if entry.doc_id in doc_ids]
    return _growth(snapshot, drawn, [pool], known=known, grow=grow, dry_run=dry_run)


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
) -> drawn_pools.PoolGrowth:
    """Add the first `depth` papers of a method that did not draw the pools, as one version; those in a pool stay.

    method: built in or imported; file: its run, which is imported first. depth: None takes the number of papers that
    each method brought when the pool was drawn. only: queries or topics; without any, all pools.
    The same again adds nothing. by: None takes the account of this machine. Raises InputError if the method drew all
    these pools, if the depth of a pool is not on record, and if the study would grow without `grow`.
    """
    if method in (CITED, MANUAL):
        raise InputError(
            f"--method {method}: has no ranking", hint="to add papers found by hand: `annot pool add QUERY DOC...`"
        )
    run, snapshot = _imported(ws, file, method, dry_run=True), read_snapshot(ws)
    chosen = drawn_pools.topics_named(snapshot.queries, only) if only else set(snapshot.pools)
    current = {topic_id: pool for topic_id, pool in snapshot.pools.items() if topic_id in chosen}
    if not current:
        raise MissingInput("no pools", hint="draw them with `annot pool`")
    drew = [topic_id for topic_id, pool in current.items() if method in pooling.pool_in_version(pool, 1).methods]
    if len(drew) == len(current):
        raise InputError(
            f"--method {method}: already drew these pools", hint="`annot pool --per-method NUMBER` draws deeper pools"
        )
    depths = {topic_id: _depth_of(pool, depth) for topic_id, pool in current.items() if topic_id not in drew}
    additions = {
        topic_id: _addition(snapshot, method, down_to, (), reason, by)
        for topic_id, down_to in depths.items()
        if down_to > _reached(current[topic_id], method)
    }
    topics = pool_design.topics_of(ws, additions, snapshot.texts)
    left_out = pool_design.unranked_texts(ws, [method], topics.texts) if file is None else {}
    if left_out:
        raise InputError(
            f"--method {method}: cannot rank for {', '.join(sorted(left_out[method]))}: a topic that is a text has no "
            "citations, and no vector of it is in the set",
            hint="name the queries that it can rank for, or import a run of the method with --run",
        )
    ranker = _Ranker(ws, topics, keep=not dry_run, advance=advance)
    listed = [current[topic_id] for topic_id in depths]
    drawn = _grow(ranker, snapshot, additions, listed, file=file, run=run, grow=grow, dry_run=dry_run)
    grown, rankings = ({}, {}) if drawn is None else (drawn.pools, drawn.rankings)
    notes = tables.sentences(
        "commands.topped_up",
        words=snapshot.words,
        method=method,
        drew=drew,
        shares=[_share(current[name], rankings[method][name], depths[name]) for name in grown],
        dry=[name for name, pool in grown.items() if method in pool.dry],
    )
    growth = _growth(snapshot, drawn, listed, grow=grow, dry_run=dry_run)
    return replace(growth, method=method, depth=depth, notes=notes + growth.notes)


def _addition(
    snapshot: Snapshot, method: str, depth: int | None, documents: tuple[str, ...], reason: str | None, by: str | None
) -> Addition:
    """The addition of the version that is to come. by: None takes the account of this machine."""
    version, maker, corpus = _next_version(snapshot), by or getpass.getuser(), next(reversed(snapshot.corpora), None)
    return Addition(version, method, depth, documents, reason, maker, moment_now(), corpus)


def _next_version(snapshot: Snapshot) -> int:
    return 1 + max((addition.version for pool in snapshot.pools.values() for addition in pool.additions), default=1)


def _grow(
    ranker: _Ranker,
    snapshot: Snapshot,
    additions: Mapping[str, Addition],
    listed: Sequence[Pool],
    *,
    file: Path | None = None,
    run: Mapping[str, Ranking] | None = None,
    grow: bool,
    dry_run: bool,
) -> _Drawn | None:
    """Draw and write pools on record with these additions; None without any.

    Then only the files of the pools are written, if the `listed` ones were added to: an earlier run may have ended
    before. file, run: the run of the method to import, and its rankings.
    """
    ws, current = ranker.ws, snapshot.pools
    if not additions:
        if not dry_run and any(pool.additions for pool in listed):
            drawn_pools.write_pools(ws, list(current.values()))
        return None
    drawn = _draw_additions(ranker, snapshot, additions, run=run)
    if not dry_run:
        with ws.reading() as session:
            added = _added(current, drawn, snapshot.queries)
            drawn_pools.refuse_growth(session, added, grow=grow, judged=True)
        _imported(ws, file, next(iter(additions.values())).method, dry_run=False)
        _write(ws, drawn, whole=False, grow=grow)
    return drawn


def _growth(
    snapshot: Snapshot,
    drawn: _Drawn | None,
    listed: Sequence[Pool],
    *,
    known: Sequence[tuple[str, Draw]] = (),
    grow: bool,
    dry_run: bool,
) -> drawn_pools.PoolGrowth:
    """The growth in figures; of the `listed` pools if nothing was added. known: documents to add that the pool had."""
    with snapshot.ws.reading() as session:
        guarded = projects.was_sent(session) or is_judged(session)
    grown = tuple(
        drawn_pools.GrownPool(
            pool.topic_id,
            drawn_pools.queries_of(snapshot.queries, pool.topic_id),
            drawn_pools.changed_documents(snapshot.pools[pool.topic_id], pool)[0],
            len(pool.entries),
        )
        for pool in (listed if drawn is None else [drawn.pools[name] for name in sorted(drawn.pools)])
    )
    version = None if drawn is None else _next_version(snapshot)
    notes = tables.sentences(
        "commands.grown",
        known=known,
        added=sum(len(pool.added) for pool in grown),
        version=version,
        wants_grow=guarded and dry_run and not grow,
        guarded=guarded,
        share=snapshot.sample and snapshot.sample.design.share,
        dry_run=dry_run,
    )
    return drawn_pools.PoolGrowth(version, MANUAL, None, grown, guarded, notes)


def _imported(ws: Workspace, file: Path | None, method: str, *, dry_run: bool) -> dict[str, Ranking] | None:
    """The rankings of the run in the file, kept unless it is a dry run; None without a file."""
    if file is None:
        return None
    rules: dict[str, Any] = {"meta": None, "foreign": None, "duplicates": None, "distances": False}
    return import_engine_run(ws, file, method=method, **rules, dry_run=dry_run)[0]


def _depth_of(pool: Pool, depth: int | None) -> int:
    down_to = depth if depth is not None else pool.per_method
    if down_to is None:
        raise InputError(
            f"query paper {pool.topic_id}: the depth of its pool is not on record", hint="give it with --depth NUMBER"
        )
    if pool.ranking_depth is not None and down_to > pool.ranking_depth:
        raise InputError(f"--depth {down_to}: the rankings of query paper {pool.topic_id} end at {pool.ranking_depth}")
    return down_to


def _reached(pool: Pool, method: str) -> int:
    """Depth down to which the method was added to the pool; 0 if it was not."""
    return max((addition.depth or 0 for addition in pool.additions if addition.method == method), default=0)


def _share(pool: Pool, ranking: Ranking, depth: int) -> float:
    """Share of the method's best papers that the pool had."""
    best = [doc.doc_id for doc in ranking[:depth]]
    pooled = {entry.doc_id for entry in pool.entries}
    return mean(doc_id in pooled for doc_id in best) if best else 1.0


def _refuse(ws: Workspace, pool: Pool, doc_ids: Sequence[str], *, keep: bool, advance: Advance) -> None:
    """Raise InputError with every reason against adding these papers, which are not in the pool."""
    in_corpus = papers.find_papers(ws.corpus, doc_ids)
    duplicates = admission.near_duplicates(ws, keep=keep, advance=advance)
    with ws.reading() as session:
        query_papers = () if pool.topic_id in read_topics(session) else (pool.topic_id,)
    same_title = duplicates.of_same_title(query_papers).get(pool.topic_id, ())
    group_of = {doc_id: group for group in duplicates.texts for doc_id in group}
    taken = dict.fromkeys(query_papers, "the query paper") | {
        entry.doc_id: f"{entry.doc_id}, in the pool" for entry in pool.entries
    }
    faults = []
    for doc_id in doc_ids:
        duplicate = next((other for other in group_of.get(doc_id, ()) if other in taken), None)
        if doc_id not in in_corpus:
            faults.append(f"{doc_id}: not in the corpus")
        elif doc_id in (*query_papers, *same_title):
            faults.append(f"{doc_id}: is the query paper, or has its title")
        elif duplicate is not None:
            faults.append(f"{doc_id}: nearly the same text as {taken[duplicate]}")
        taken.setdefault(doc_id, f"{doc_id}, which is also named here")
    if faults:
        raise InputError(
            f"{len(faults)} of {len(doc_ids)} papers cannot be added",
            faults=faults,
            hint="leave them out; `annot corpus add` adds papers to the corpus",
        )
