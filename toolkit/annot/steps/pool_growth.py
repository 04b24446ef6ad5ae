"""What is added to pools after the draw: papers found by hand, and the best of a method that came later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from annot.base.errors import InputError, MissingInput
from annot.base.names import near
from annot.base.records import CITED, MANUAL, Addition, Advance, Draw, Pool, Ranking
from annot.measuring.engine_runs import take_in
from annot.pools.admission import admissions, as_recorded, recorded_admissions, write_admissions
from annot.pools.drawn_pools import write_pools
from annot.pools.frozen_rankings import Rankings, joined, lines_of, needed, rank_corpus, read_rankings, write_rankings
from annot.pools.growth import (
    Grown,
    GrownPool,
    grown_pools,
    is_guarded,
    made_now,
    next_version,
    queries_of,
    record_version,
    refuse_unasked,
    topics_named,
)
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import recorded_designs
from annot.pools.pooling import as_of, extended
from annot.pools.topics import left_out_of, searched, topics_of
from annot.publishing.report.words import sentences
from annot.ranking.methods import METHODS
from annot.ranking.submission import imported_methods
from annot.ranking.tokens import Field
from annot.store import papers, pools
from annot.store.queries import read_queries, read_topics
from annot.study.workspace import Workspace


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
) -> Grown:
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
) -> Grown:
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
) -> Grown:
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
    return Grown(version, method, depth, tuple(found), guarded, before + notes)


def _taken_in(ws: Workspace, file: Path | None, method: str, *, dry_run: bool) -> dict[str, Ranking] | None:
    """The rankings of the run in the file, kept unless it is a dry run; None without a file."""
    if file is None:
        return None
    rules: dict[str, Any] = {"meta": None, "foreign": None, "duplicates": None, "distances": False}
    return take_in(ws, file, method=method, **rules, dry_run=dry_run)[0]


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
