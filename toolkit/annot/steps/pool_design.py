"""What pools of other depths would hold and cost, from the rankings on disk; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from annot.base.records import Pool, Query, Ranking
from annot.base.shards import Advance
from annot.base.stats.values import Estimate, Undefined
from annot.corpus.corpus_facts import papers_of
from annot.judging.progress import rules_of
from annot.measuring.forecast.hours import HOUR, cost_of, hours_for, seconds_of, speed_of
from annot.pools.admission import admissions, as_recorded, recorded_admissions
from annot.pools.drawn_pools import draw_pools
from annot.pools.frozen_rankings import needed, read_rankings
from annot.pools.near_duplicates import near_duplicates
from annot.pools.pool_design import asked_design, design_of_settings, recorded_designs, usual_design
from annot.publishing.report.terminal import told
from annot.store import pools
from annot.store.database import open_store
from annot.store.queries import read_queries
from annot.study.outcome import outcome_of
from annot.study.workspace import Workspace

DEPTHS = (5, 10, 13, 20, 33, 50)
"""13 and 33 are the quotas of CSFCube's pools of about 100 and 250."""


@dataclass(frozen=True, slots=True)
class DesignedPools:
    """The pools by one depth."""

    per_method: int
    shared: float
    """Of a method's best that many, the share that another has among its own; the mean over methods and pools."""
    smallest: int
    mean: float
    largest: int
    """Documents of a pool."""
    pairs: int
    """Of a query and a document, over all queries."""
    new: int
    """Of these, pairs that the pools on record do not have."""
    judgements: int
    dry: int
    """Pools for which a method runs out of documents."""
    hours: Estimate
    """Of judging."""
    cost: Estimate


@dataclass(frozen=True, slots=True)
class Designed:
    """The depths side by side."""

    mode: str
    methods: tuple[str, ...]
    queries: int
    pools: int
    per_pair: int
    timed: int
    """Judgements with a time behind the hours; 0 where the time was given."""
    level: float
    """Of the intervals."""
    currency: str
    depths: tuple[DesignedPools, ...]


def design(
    ws: Workspace,
    *,
    depths: Sequence[int],
    mode: str | None,
    seconds: float | None,
    advance: Advance,
) -> Designed:
    """Draw the pools by every depth from the rankings on disk, as the pools on record were drawn otherwise.

    depths: without any, `DEPTHS` and that on record, as far as the rankings go. mode: None takes the one on record.
    seconds: what a judgement takes; None learns it from the judgements there are.
    Raises MissingInput where there are no rankings.
    """
    settings = ws.settings
    with open_store(ws.database_url, create=False) as store, store.read() as session:
        queries = read_queries(session)
        standing = pools.read_pools(session)
        given = [answer for answer in outcome_of(session, settings).judgements if answer.counts]
    usual = asked_design(
        usual_design(recorded_designs(standing.values())) or design_of_settings(settings), {"mode": mode}
    )
    query_papers = papers_of(ws, sorted({query.paper_id for query in queries}))
    designs = dict.fromkeys(query_papers, usual)
    rankings = read_rankings(ws, needed(designs, standing))
    alike = near_duplicates(ws, keep=False, advance=advance)
    now = admissions(ws, query_papers, rankings, alike=alike, standing=standing)
    admitted = as_recorded(now, recorded_admissions(ws))
    rules = rules_of(settings)
    by_assessor = {name: [one for one in given if one.assessor == name] for name in {one.assessor for one in given}}
    speed = speed_of(by_assessor, fence=rules.fence)
    chosen = tuple(depths) or tuple(sorted({*DEPTHS, usual.per_method}))

    def of_depth(depth: int) -> DesignedPools:
        deep = dict.fromkeys(query_papers, replace(usual, per_method=depth))
        found = draw_pools(rankings, deep, admitted, standing=standing)
        pairs = _pairs(found, queries)
        judgements = len(pairs) * settings.judging.per_pair
        if seconds is None:
            hours = hours_for(speed, _evenly(judgements, sorted(by_assessor)), rules)
        else:
            hours = Estimate(judgements * seconds / HOUR, Undefined("the time of a judgement was given"))
        sizes = [len(pool.entries) for pool in found]
        return DesignedPools(
            per_method=depth,
            shared=mean(
                _shared([rankings[method][paper_id] for method in usual.ranked_methods], depth) for paper_id in designs
            ),
            smallest=min(sizes),
            mean=mean(sizes),
            largest=max(sizes),
            pairs=len(pairs),
            new=len(pairs - _pairs(standing.values(), queries)),
            judgements=judgements,
            dry=sum(bool(pool.dry) for pool in found),
            hours=hours,
            cost=cost_of(hours, rules),
        )

    return Designed(
        mode=usual.mode,
        methods=usual.methods,
        queries=len(queries),
        pools=len(query_papers),
        per_pair=settings.judging.per_pair,
        timed=sum(seconds_of(one) is not None for one in given) if seconds is None else 0,
        level=rules.level,
        currency=settings.forecast.currency,
        depths=tuple(of_depth(depth) for depth in chosen),
    )


def describe(designed: Designed) -> str:
    """The depths as a table, and what the hours rest on."""
    return told("pool-design", designed=designed)


def _pairs(found: Iterable[Pool], queries: Sequence[Query]) -> set[tuple[str, str]]:
    documents = {pool.paper_id: [entry.doc_id for entry in pool.entries] for pool in found}
    return {(query.query_id, doc_id) for query in queries for doc_id in documents.get(query.paper_id, ())}


def _evenly(judgements: int, names: Sequence[str]) -> dict[str, float]:
    """So many judgements each, of those whose speed is known; where nobody's is, of somebody."""
    return {name: judgements / len(names) for name in names} or {"": float(judgements)}


def _shared(rankings: Sequence[Ranking], depth: int) -> float:
    tops = [{doc.doc_id for doc in ranking[:depth]} for ranking in rankings]
    shares = [mean(any(doc_id in other for other in tops if other is not top) for doc_id in top) for top in tops if top]
    return mean(shares) if shares else 0.0
