"""Drawing the pools: rank the corpus for each query paper by every method, draw, write, remember."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from annot.errors import MissingInput
from annot.formats.judgement_lines import pool_lines
from annot.formats.trec import rankings_sha256, write_run
from annot.names import file_name, known_query
from annot.pooling import CITED, shares
from annot.ranking.methods import rank_all, settings_of
from annot.records import Draw, Pool, Query
from annot.report.terminal import told
from annot.report.words import sentences
from annot.store import papers, pools, projects
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.corpus_facts import papers_of
from annot.study.frozen_rankings import MANIFEST, Rankings, draw_pools, rankings_manifest, read_rankings, twins_of
from annot.study.growth import PoolChange, pool_changes, refuse_growth
from annot.study.index import Advance, open_index
from annot.study.pool_design import asked_design, design_of_settings, differences, recorded_designs, usual_design
from annot.study.workspace import Workspace, sha256_of, write_file, write_manifest


@dataclass(frozen=True, slots=True)
class DrawnPool:
    """One pool in figures."""

    paper_id: str
    queries: int
    size: int
    cited: int
    cited_outside: int | None
    dry: tuple[str, ...]
    added: int
    """Documents that the pool did not have before."""
    leaving: int
    """Documents that it had and has no more."""


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
    asked: Mapping[str, Any],
    redraw: bool,
    frozen: bool,
    grow: bool,
    dry_run: bool,
    advance: Advance,
) -> BuiltPools:
    """Rank, draw and write the pool of every query paper: as those on record were drawn, or else as annot.toml says.

    asked: what the command line names instead, by the names of `PoolDesign`. redraw: annot.toml counts, whatever is on
    record. frozen: draw from the rankings in `pools/rankings/` as they stand. grow: pairs may be added to a study that
    was sent. Raises InputError where they would be without it, and where pairs that were sent or judged would leave.
    """
    by_settings = design_of_settings(ws.settings)
    with open_store(ws.database_url, create=False) as store:
        with store.read() as session:
            queries = read_queries(session)
            standing = pools.read_pools(session)
            sent = projects.was_sent(session)
        if not queries:
            raise MissingInput("no queries", hint="add them with `annot query add` or `annot query choose`")
        recorded = {} if redraw else recorded_designs(standing.values())
        usual = usual_design(recorded)
        design = asked_design(usual or by_settings, asked)
        query_papers = papers_of(ws, [query.paper_id for query in queries])
        designs = {
            paper_id: asked_design(recorded[paper_id], asked) if paper_id in recorded else design
            for paper_id in query_papers
        }
        twins = twins_of(ws, query_papers)
        depth = max(one.ranking_depth for one in designs.values())
        ranked_methods = sorted({name for one in designs.values() for name in one.ranked_methods})
        if frozen:
            rankings, facts = read_rankings(ws, ranked_methods, query_papers), None
        else:
            rankings, facts = _rank(ws, ranked_methods, list(query_papers), twins, depth, advance, keep=not dry_run)
        drawn = draw_pools(ws, rankings, designs, query_papers, twins=twins)
        changes = pool_changes(standing, drawn, queries)
        if not dry_run:
            digests = {paper_id: rankings_sha256(rankings, paper_id) for paper_id in query_papers}
            with store.begin() as session:
                refuse_growth(session, {name: len(one.added) for name, one in changes.items()}, grow=grow)
                pools.replace_pools(session, drawn, rankings_sha256=digests)
            if facts is not None:
                write_rankings(ws, rankings, facts=facts)
            _write_pools(ws, drawn)
    notes = sentences(
        "commands.pools",
        sizes=[len(pool.entries) for pool in drawn],
        left_out=design.without,
        twins=twins,
        dry=[pool.paper_id for pool in drawn if pool.dry],
        differing=[one for one in differences(usual, by_settings) if asked.get(one[0]) is None] if usual else [],
        changes=[one for one in changes.values() if standing and (one.added or one.leaving)],
        wants_grow=sent and dry_run and not grow and any(one.added for one in changes.values()),
        dry_run=dry_run,
    )
    return BuiltPools(tuple(_in_figures(pool, queries, changes) for pool in drawn), sent, notes)


def fresh_rankings(ws: Workspace, *, advance: Advance) -> tuple[Rankings, dict[str, object]]:
    """Rank the corpus for every query paper by the methods of annot.toml; nothing is written."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        query_papers = papers_of(ws, [query.paper_id for query in read_queries(session)])
    methods = list(design_of_settings(ws.settings).ranked_methods)
    twins = twins_of(ws, query_papers)
    return _rank(ws, methods, list(query_papers), twins, ws.settings.pool.ranking_depth, advance, keep=True)


def show(ws: Workspace, name: str) -> ShownPool:
    """The pool of a query, or of a query paper."""
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        known = {query.query_id: query for query in read_queries(session)}
        if name not in known and any(query.paper_id == name for query in known.values()):
            paper_id = name
        else:
            paper_id = known_query(known, name).paper_id
        pool = pools.read_pool(session, paper_id)
    found = papers.find_papers(ws.corpus, [entry.doc_id for entry in pool.entries])
    return ShownPool(pool, {doc_id: paper.title for doc_id, paper in found.items()})


def describe(shown: ShownPool) -> str:
    """How the pool came about, in a line or two, and its documents."""
    return told("pool", pool=shown.pool, shares=shares(shown.pool), titles=shown.titles, also=_also)


def _also(draws: Iterable[Draw]) -> str:
    return " ".join(draw.method if draw.rank is None else f"{draw.method}:{draw.rank}" for draw in draws)


def write_rankings(ws: Workspace, rankings: Rankings, *, facts: Mapping[str, object]) -> None:
    """Write each method's rankings as a TREC run whose topics are the query papers, and the manifest."""
    for method, by_paper in rankings.items():
        write_file(ws.rankings / f"{method}.run", write_run(by_paper, tag=method))
    for stale in ws.rankings.glob("*.run"):
        if stale.stem not in rankings:
            stale.unlink()
    inputs = {"corpus": str(facts["corpus_sha256"])}
    told = {name: value for name, value in facts.items() if name != "corpus_sha256"}
    write_manifest(rankings_manifest(ws), files=ws.rankings.glob("*.run"), inputs=inputs, facts=told)


def _rank(
    ws: Workspace,
    methods: list[str],
    paper_ids: list[str],
    twins: Mapping[str, tuple[str, ...]],
    depth: int,
    advance: Advance,
    *,
    keep: bool,
) -> tuple[Rankings, dict[str, object]]:
    done = count(1)
    with TemporaryDirectory(prefix="annot-") as scratch:
        index = open_index(ws, methods=methods, advance=advance, scratch=None if keep else Path(scratch))
        rankings = rank_all(
            index.bench,
            methods=methods,
            paper_ids=paper_ids,
            excluded=twins,
            ranking_depth=depth,
            after_method=lambda _name: advance(next(done), len(methods)),
        )
        facts = {
            "corpus_sha256": index.corpus_sha256,
            "ranking_depth": depth,
            "query_papers": paper_ids,
            "methods": {method: settings_of(index.bench, method) for method in methods},
        }
    return rankings, facts


def _write_pools(ws: Workspace, drawn: list[Pool]) -> None:
    files = {ws.query_pools / file_name(pool.paper_id, ".jsonl"): pool for pool in drawn}
    for path, pool in files.items():
        write_file(path, pool_lines(pool))
    for stale in set(ws.query_pools.glob("*.jsonl")) - set(files):
        stale.unlink()
    inputs = {"rankings/manifest.json": sha256_of(rankings_manifest(ws))}
    facts = {name: getattr(drawn[0], name) for name in ("mode", "per_method", "ranking_depth", "without", "seed")}
    write_manifest(ws.pools / MANIFEST, files=files, inputs=inputs, facts=facts)


def _in_figures(pool: Pool, queries: tuple[Query, ...], changes: Mapping[str, PoolChange]) -> DrawnPool:
    own = [changes[query.query_id] for query in queries if query.paper_id == pool.paper_id]
    return DrawnPool(
        paper_id=pool.paper_id,
        queries=sum(query.paper_id == pool.paper_id for query in queries),
        size=len(pool.entries),
        cited=sum(entry.drawn.method == CITED for entry in pool.entries),
        cited_outside=pool.cited_outside,
        dry=pool.dry,
        added=len(own[0].added),
        leaving=len(own[0].leaving),
    )
