"""Pools in figures, and beside those of another study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from annot.base.shards import Advance
from annot.pools.pool_facts import PoolDifference, PoolFacts, differing, facts_of
from annot.pools.pool_origins import drawn_rankings, passed_over
from annot.pools.replay import recorded_pools
from annot.publishing.report.terminal import told
from annot.study.workspace import Workspace


def stats(ws: Workspace, *, advance: Advance) -> PoolFacts:
    """The pools in figures; the overlap of methods where the rankings are on disk."""
    recorded = recorded_pools(ws)
    rankings = drawn_rankings(ws, recorded)
    facts = facts_of(recorded, rankings)
    return replace(facts, passed_over=passed_over(ws, recorded, rankings, advance=advance))


def compare(first: Path, second: Path) -> tuple[PoolDifference, ...]:
    """The pools of two studies, by query paper."""
    return differing(recorded_pools(Workspace.open(first)), recorded_pools(Workspace.open(second)))


def describe_stats(facts: PoolFacts) -> str:
    """Sizes, methods, overlaps."""
    return told("pool-stats", facts=facts)
