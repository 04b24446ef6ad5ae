"""The figures of pools, against plain counting; pools drawn again, and after a change."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from annot.base.records import Pool, Ranking, ScoredDoc
from annot.pools.drawn_pools import facts_of
from annot.pools.pooling import draw
from annot.store.database import open_store
from annot.store.pools import read_pools
from annot.study.workspace import Workspace
from command_line import annot, annot_done


def listed(doc_ids: Sequence[str]) -> Ranking:
    return tuple(ScoredDoc(doc_id, -float(place)) for place, doc_id in enumerate(doc_ids))


def two_methods(seed: int) -> dict[str, Ranking]:
    chance = np.random.default_rng(seed)
    docs = [f"d{at:02}" for at in range(40)]
    return {name: listed([docs[at] for at in chance.permutation(40)[:30]]) for name in ("one", "two")}


def drawn(rankings: dict[str, Ranking], paper_id: str = "q") -> Pool:
    return draw(
        rankings, topic_id=paper_id, cited=None, cited_outside=None, mode="round-robin", per_method=6,
        ranking_depth=20, seed=3, without=(), excluded=(),
    )  # fmt: skip


def test_figures_are_what_counting_gives() -> None:
    rankings = {f"q{at}": two_methods(at) for at in range(5)}
    pools = {paper_id: drawn(own, paper_id) for paper_id, own in rankings.items()}
    found = facts_of(pools)
    assert found.sizes == (12,) * 5
    times = [entry.doc_id for pool in pools.values() for entry in pool.entries]
    assert found.documents == len(set(times))
    assert found.hubs == tuple(sorted({doc_id for doc_id in times if times.count(doc_id) >= 3}))
    for method in found.methods:
        other = "two" if method.method == "one" else "one"
        alone = []
        for paper_id, pool in pools.items():
            names = (method.method, other)
            own, others = ([entry.doc_id for entry in pool.entries if entry.drawn.method == one] for one in names)
            ids = [doc.doc_id for doc in rankings[paper_id][other]]
            alone += [doc_id for doc_id in own if doc_id not in ids[: ids.index(others[-1]) + 1]]
        assert (method.pools, method.drawn, method.alone) == (5, 30, len(alone))


def test_pools_are_drawn_again_as_they_are_and_a_changed_one_is_found(study: Callable[[str], Path]) -> None:
    folder = study("pooled")
    ws = Workspace.open(folder)
    again = annot_done("check", "pools", "--json", folder=folder).data["pools"]
    with open_store(ws.database_url) as store, store.begin() as session:
        pools = read_pools(session)
        assert again["pools"] == len(pools)
        assert again["differences"] == {}
        paper_id = min(pools)
        first, *others = pools[paper_id].entries
        other = others[-1].doc_id
        rows = "UPDATE pool_entry SET position = ? WHERE topic_id = ? AND doc_id = ?"
        for position, doc_id in ((99, first.doc_id), (1, other), (len(others) + 1, first.doc_id)):
            session.connection().exec_driver_sql(rows, (position, paper_id, doc_id))
    found = annot("check", "pools", folder=folder)
    assert found.exit_code == 1
    assert f"{paper_id}: document 1 is" in found.stdout
