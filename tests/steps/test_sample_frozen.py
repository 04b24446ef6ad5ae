"""The ranks that a sample was drawn by are frozen: pools may be ranked again, and what was changed is found."""

from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.records import Draw, Pool, PoolEntry
from annot.judging.plan_on_record import MANIFEST_FILE, check
from annot.judging.pool_samples import sample_of
from annot.store import pools
from annot.store.models import PoolSample
from annot.store.pools import read_queries
from annot.study.workspace import Workspace
from sampled_study import pooled
from test_sample_grown import grow, of_batch
from test_sample_planned import make, on_record


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return pooled(tmp_path)


def ranked_again(ws: Workspace) -> None:
    """The corpus grew: all methods rank every pool again, in another order, and bring two new documents."""
    with ws.writing() as session:
        current = pools.read_pools(session)
        for name, pool in current.items():
            entries = [
                replace(one, drawn=replace(one.drawn, rank=place), also=())
                for place, one in enumerate(pool.entries[::-1], 3)
            ]
            new = [
                PoolEntry(doc_id, Draw("abs_tfidf", rank, 1.0, rank)) for rank, doc_id in enumerate(("e00", "e01"), 1)
            ]
            current[name] = replace(pool, entries=(*entries, *new))
        pools.replace_pools(session, current.values(), rankings_sha256=dict.fromkeys(current, "def"))


def pools_of_study(ws: Workspace) -> dict[str, Pool]:
    with ws.reading() as session:
        return pools.read_pools(session)


def record(ws: Workspace, sample: PoolSample) -> None:
    with ws.writing() as session:
        pools.replace_sample(session, sample)


def test_ranks_that_were_frozen_stay_right_when_the_pools_are_ranked_again(ws: Workspace) -> None:
    make(ws, 0.3)
    before = on_record(ws)
    ranked_again(ws)
    assert check(ws).faults == ()
    make(ws)
    after = on_record(ws)
    assert {pair: after.pairs[pair] for pair in before.pairs} == before.pairs
    assert len(of_batch(after, 2)) == 8
    assert check(ws).faults == ()
    make(ws, 0.5)
    assert check(ws).faults == ()
    # Two documents of one batch change places, and the draw follows: only the hash knows.
    sample, name = on_record(ws), "p2-method"
    with ws.reading() as session:
        queries = read_queries(session)
    one, other = sample.pairs[name, "d01"], sample.pairs[name, "d59"]
    changed = {one.pair: replace(one, ranks=other.ranks, rank=other.rank)}
    changed |= {other.pair: replace(other, ranks=one.ranks, rank=one.rank)}
    swapped = sample_of(
        pools_of_study(ws), queries, design=sample.design, before=sample._replace(pairs={**sample.pairs, **changed})
    )
    record(ws, swapped)
    for _ in range(2):
        faults = check(ws).faults
        (found,) = (fault for fault in faults if "hash" in fault)
        assert found.startswith(f"{name}: the frozen ranks have the hash ")
        # A plan that is made again does not make it right.
        grow(ws)
    record(ws, sample)
    assert not any("hash" in fault for fault in check(ws).faults)


def test_without_the_manifest_frozen_ranks_are_compared_with_the_pools(ws: Workspace) -> None:
    make(ws, 0.3)
    (ws.pools / MANIFEST_FILE).unlink()
    assert check(ws).faults == ()
    ranked_again(ws)
    assert "p1-method d59: rank 60 by abs_tfidf on record, 3 by the pool" in check(ws).faults
