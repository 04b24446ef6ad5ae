"""Papers added to pools: how deep a method goes, what its best share with the pool is, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError, MissingInput
from annot.base.records import Addition, ScoredDoc
from annot.pools.drawn_pools import PoolGrowth
from annot.steps import pool as pool_growth
from annot.store import pools
from annot.study.workspace import Workspace
from small_study import DOCUMENTS, Small, pool_of, write_runs
from study_stages import copied


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Pools of four query papers with d00 to d09; d99 is in the corpus only, and no ranking has it."""
    ranking = [ScoredDoc(doc_id, 1.0 - at / 100) for at, doc_id in enumerate(DOCUMENTS)]
    by_paper = {f"p{at}": ranking for at in range(1, 5)}
    rankings = dict.fromkeys(("title_tfidf", "abs_tfidf"), by_paper)
    monkeypatch.setattr(pool_growth.frozen_rankings, "read_rankings", lambda *_: rankings)
    found = copied(Small(), "planned", tmp_path / "study")
    write_runs(found)
    return found


def quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""


def add(ws: Workspace, *doc_ids: str, query: str = "p1", reason: str = "Found.", **of: bool) -> PoolGrowth:
    wanted = {"grow": False, "dry_run": False} | of
    return pool_growth.add(ws, query, doc_ids, reason=reason, by="me", advance=quietly, **wanted)


def ids(ws: Workspace) -> list[str]:
    with ws.reading() as session:
        return [entry.doc_id for entry in pools.read_pool(session, "p1").entries]


def test_the_depth_is_the_one_asked_for_or_that_of_the_draw_and_within_the_rankings() -> None:
    pool = pool_of("p1")
    assert (pool.per_method, pool.ranking_depth) == (5, 50)
    assert [pool_growth._depth_of(pool, depth) for depth in (None, 1, 50)] == [5, 1, 50]
    with pytest.raises(InputError, match="--depth 51: the rankings of query paper p1 end at 50"):
        pool_growth._depth_of(pool, 51)
    unknown = replace(pool, per_method=None, ranking_depth=None)
    assert pool_growth._depth_of(unknown, 1000) == 1000
    with pytest.raises(InputError, match="the depth of its pool is not on record"):
        pool_growth._depth_of(unknown, None)


def test_the_share_of_a_methods_best_that_the_pool_had() -> None:
    ranking = [ScoredDoc(doc_id, 1.0 - at / 10) for at, doc_id in enumerate(["d00", "x", "d01", "y"])]
    shares = {depth: pool_growth._share(pool_of("p1"), ranking, depth) for depth in (1, 2, 3, 4, 9)}
    assert shares == {1: 1.0, 2: 0.5, 3: 2 / 3, 4: 0.5, 9: 0.5}
    assert pool_growth._share(pool_of("p1"), [], 3) == 1.0


def test_a_paper_found_by_hand_is_added_once_as_the_second_version(ws: Workspace) -> None:
    dry = add(ws, "d99", dry_run=True)
    assert (dry.version, ids(ws)) == (2, [*DOCUMENTS])
    made = add(ws, "d00", "d99", "d99")
    assert (made.version, made.method, made.depth) == (2, "manual", None)
    (one,) = made.pools
    assert (one.topic_id, one.added, one.size) == ("p1", ("d99",), 11)
    assert ids(ws) == [*DOCUMENTS, "d99"]
    again = add(ws, "d99", query="p1-method")
    assert (again.version, [(one.added, one.size) for one in again.pools]) == (None, [((), 11)])
    with ws.reading() as session:
        (addition,) = pools.read_pool(session, "p1").additions
    assert (addition.reason, addition.made_by, addition.documents) == ("Found.", "me", ("d99",))


def test_papers_that_cannot_be_added_are_all_named(ws: Workspace) -> None:
    with pytest.raises(InputError, match="found no words"):
        add(ws, "d99", reason="  ")
    with pytest.raises(InputError, match="2 of 3 papers cannot be added") as error:
        add(ws, "d98", "d99", "p1")
    assert list(error.value.faults) == ["d98: not in the corpus", "p1: is the query paper, or has its title"]
    assert ids(ws) == [*DOCUMENTS]


def top_up(ws: Workspace, method: str = "abs_bm25", **of: Any) -> PoolGrowth:
    wanted: dict[str, Any] = {"file": None, "depth": None, "only": (), "reason": None, "by": "me"}
    return pool_growth.top_up(
        ws, method=method, grow=False, dry_run=True, advance=quietly, **wanted | of
    )  # fmt: skip


@pytest.mark.parametrize("method", ["manual", "cited"])
def test_what_has_no_ranking_tops_nothing_up(ws: Workspace, method: str) -> None:
    with pytest.raises(InputError, match=f"--method {method}: has no ranking"):
        top_up(ws, method)


def test_a_method_that_drew_the_pools_tops_nothing_up(ws: Workspace) -> None:
    with pytest.raises(InputError, match="--method title_tfidf: already drew these pools"):
        top_up(ws, "title_tfidf")


def test_without_pools_there_is_nothing_to_top_up(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no pools"):
        top_up(copied(Small(), "queried", tmp_path / "study"))


def test_a_pool_that_has_the_methods_best_already_stays_as_it_is(ws: Workspace) -> None:
    with ws.writing() as session:
        current = pools.read_pools(session)
        had = Addition(2, "abs_bm25", 5, (), None, "me", None)
        hashes = pools.read_rankings_sha256(session)
        topped = [replace(pool, additions=(had,)) for pool in current.values()]
        pools.replace_pools(session, topped, rankings_sha256=hashes)
    for depth in (None, 4, 5):
        found = top_up(ws, depth=depth)
        assert (found.version, found.depth) == (None, depth)
        assert [(one.added, one.size) for one in found.pools] == [((), 10)] * 4
    assert [one.topic_id for one in top_up(ws, only=("p2",)).pools] == ["p2"]
