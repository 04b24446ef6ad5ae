"""Pools are drawn to the letter: quotas, order, provenance, and nothing that depends on anything else."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import CITED, Draw, Pool, PoolEntry, Ranking, ScoredDoc, ranked
from annot.pools.pooling import MethodShare, draw, method_order, shares
from hypothesis import given
from hypothesis import strategies as st

METHODS = ("abs_tfidf", "specter", "title_tfidf", "title_cbow200")
DOCUMENTS = [f"d{number:02}" for number in range(30)]

documents = st.sampled_from(DOCUMENTS)
ranking = st.dictionaries(documents, st.integers(0, 5).map(float), max_size=25).map(
    lambda scores: ranked(ScoredDoc(doc_id, score) for doc_id, score in scores.items())
)
rankings = st.dictionaries(st.sampled_from(METHODS), ranking)
setup = st.fixed_dictionaries(
    {
        "topic_id": st.sampled_from(["q1", "q2", "d03"]),
        "cited": st.none() | st.lists(documents, max_size=6),
        "cited_outside": st.none() | st.integers(0, 9),
        "mode": st.sampled_from(["round-robin", "blocks", "depth"]),
        "per_method": st.integers(1, 6),
        "ranking_depth": st.integers(1, 30),
        "seed": st.integers(0, 99),
        "without": st.lists(st.sampled_from(METHODS), max_size=2),
        "excluded": st.lists(documents, max_size=4),
    }
)


def arguments(**changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "topic_id": "q", "cited": None, "cited_outside": None, "mode": "round-robin", "per_method": 2,
        "ranking_depth": 500, "seed": 13, "without": (), "excluded": (),
    }  # fmt: skip
    return plain | changes


def listed(*doc_ids: str) -> Ranking:
    """A ranking of the documents in the order given."""
    return tuple(ScoredDoc(doc_id, float(-place)) for place, doc_id in enumerate(doc_ids))


def brought_by(pool: Pool) -> list[tuple[str, str]]:
    return [(entry.drawn.method, entry.doc_id) for entry in pool.entries]


def ordered_rankings(pattern: dict[str, Ranking], *, seed: int, topic_id: str) -> dict[str, Ranking]:
    """The rankings, first to last, given to the methods in the order in which these will draw."""
    order = method_order(pattern, seed=seed, topic_id=topic_id)
    return dict(zip(order, pattern.values(), strict=True))


def test_round_robin_takes_turns_and_draws_further_down_past_what_is_pooled() -> None:
    given_rankings = {"a": listed("1", "2", "3", "4"), "b": listed("1", "3", "5", "6")}
    first, second = (named := ordered_rankings(given_rankings, seed=13, topic_id="q"))
    pool = draw(named, **arguments())
    assert brought_by(pool) == [(first, "1"), (second, "3"), (first, "2"), (second, "5")]
    assert pool.entries[0] == PoolEntry("1", Draw(first, 1, 0.0, 1), (Draw(second, 1, 0.0, None),))
    assert pool.entries[1] == PoolEntry("3", Draw(second, 2, -1.0, 2), (Draw(first, 3, -2.0, None),))
    assert (pool.methods, pool.dry, pool.per_method, pool.seed) == ((first, second), (), 2, 13)


def test_blocks_give_each_method_its_whole_quota() -> None:
    given_rankings = {"a": listed("1", "2", "3", "4"), "b": listed("1", "3", "2", "6", "7")}
    first, second = (named := ordered_rankings(given_rankings, seed=13, topic_id="q"))
    pool = draw(named, **arguments(mode="blocks"))
    assert brought_by(pool) == [(first, "1"), (first, "2"), (second, "3"), (second, "6")]


@pytest.mark.parametrize("mode", ["round-robin", "blocks"])
def test_cited_papers_come_first_without_a_quota_in_order_of_id(mode: str) -> None:
    named = {"a": listed("9", "1", "2")}
    pool = draw(
        named,
        **arguments(
            mode=mode, cited=["9", "10", "q", "x", "8", "9"], cited_outside=4, excluded=["x", "q"], per_method=1
        ),
    )
    assert brought_by(pool) == [(CITED, "10"), (CITED, "8"), (CITED, "9"), ("a", "1")]
    assert pool.entries[2] == PoolEntry("9", Draw(CITED, 3, None, 3), (Draw("a", 1, 0.0, None),))
    assert (pool.methods, pool.cited_outside) == ((CITED, "a"), 4)


@given(rankings, st.integers(1, 6))
def test_depth_is_the_union_of_every_methods_best(found: dict[str, Ranking], depth: int) -> None:
    pool = draw(found, **arguments(mode="depth", per_method=depth))
    assert {entry.doc_id for entry in pool.entries} == {doc.doc_id for one in found.values() for doc in one[:depth]}
    ranks = [entry.drawn.rank for entry in pool.entries]
    assert ranks == sorted(ranks)
    for entry in pool.entries:
        assert entry.drawn.rank == min(drawn.rank for drawn in (entry.drawn, *entry.also))


@given(rankings, st.integers(1, 6), st.lists(documents, max_size=6))
def test_by_depth_papers_that_may_not_enter_make_room(
    found: dict[str, Ranking], depth: int, excluded: list[str]
) -> None:
    pool = draw(found, **arguments(mode="depth", per_method=depth, excluded=excluded))
    may_enter = {name: [doc.doc_id for doc in one if doc.doc_id not in excluded] for name, one in found.items()}
    assert {entry.doc_id for entry in pool.entries} == {doc_id for one in may_enter.values() for doc_id in one[:depth]}


def test_by_depth_a_method_is_dry_that_has_fewer_documents_than_the_pool_is_deep() -> None:
    named = {"a": listed("1", "2", "x"), "b": listed("1", "3")}
    assert draw(named, **arguments(mode="depth", per_method=2)).dry == ()
    assert draw(named, **arguments(mode="depth", per_method=3, excluded=["x"])).dry == tuple(
        method_order(named, seed=13, topic_id="q")
    )


def test_a_method_that_runs_dry_is_named_and_the_others_go_on() -> None:
    named = {"a": listed("1", "2", "3", "4"), "b": listed("1"), "c": ()}
    for mode in ("round-robin", "blocks"):
        pool = draw(named, **arguments(mode=mode, per_method=3))
        assert set(pool.dry) == {"b", "c"}
        assert [method for method, _ in brought_by(pool)].count("a") == 3


def test_methods_left_out_are_recorded_and_do_not_draw() -> None:
    named = {"a": listed("1"), "b": listed("2")}
    pool = draw(named, **arguments(without=["b", CITED], cited=["7"], cited_outside=1, per_method=1))
    assert brought_by(pool) == [("a", "1")]
    assert (pool.methods, pool.without, pool.cited_outside) == (("a",), ("b", CITED), None)


def test_below_the_ranking_depth_nothing_is_looked_at() -> None:
    named = {"a": listed("1", "2", "3"), "b": listed("4", "5", "1")}
    pool = draw(named, **arguments(ranking_depth=2, per_method=3))
    assert {entry.doc_id for entry in pool.entries} == {"1", "2", "4", "5"}
    assert set(pool.dry) == {"a", "b"}
    assert all(not entry.also for entry in pool.entries)


def test_all_faults_are_told_at_once() -> None:
    broken = {
        "a": (ScoredDoc("1", 1.0), ScoredDoc("2", 2.0)),
        "b": (ScoredDoc("1", 1.0), ScoredDoc("1", 0.5)),
        CITED: (),
    }
    with pytest.raises(InputError) as caught:
        draw(broken, **arguments(mode="depth-k", per_method=0, ranking_depth=500))
    told = caught.value.faults
    assert len(told) == 5
    for part in (
        "'depth-k'",
        "per_method: found 0",
        "a: expected the documents in the order",
        "b: a document",
        "cited: found",
    ):
        assert any(part in fault for fault in told), part


@given(rankings, setup)
def test_what_every_pool_keeps_to(named: dict[str, Ranking], given_setup: dict[str, Any]) -> None:
    pool = draw(named, **given_setup)
    ids = [entry.doc_id for entry in pool.entries]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {*given_setup["excluded"]}
    assert [entry.drawn.turn for entry in pool.entries] == list(range(1, len(ids) + 1))
    cited = sorted(set(given_setup["cited"] or ()) - {*given_setup["excluded"]})
    assert ids[: len(cited)] == cited
    taking_part = set(named) - set(given_setup["without"])
    assert set(pool.methods) - {CITED} == taking_part
    for share in shares(pool):
        if share.method != CITED:
            within = [doc.doc_id for doc in named[share.method][: given_setup["ranking_depth"]]]
            left = set(within) - set(ids) - {*given_setup["excluded"]}
            if given_setup["mode"] != "depth":
                assert share.drawn == given_setup["per_method"] or (share.dry and not left)
            assert share.drawn <= given_setup["per_method"]
            assert share.also == len(set(within) & set(ids)) - share.drawn
    for entry in pool.entries:
        for made in (entry.drawn, *entry.also):
            if made.method != CITED:
                assert made.rank is not None
                assert named[made.method][made.rank - 1] == ScoredDoc(entry.doc_id, made.score)
        assert all(made.turn is None for made in entry.also)


@given(rankings, setup, st.randoms())
def test_the_order_in_which_things_are_given_does_not_matter(
    named: dict[str, Ranking], given_setup: dict[str, Any], random: Any
) -> None:
    shuffled = list(named.items())
    random.shuffle(shuffled)
    again = given_setup | {
        "cited": given_setup["cited"] and given_setup["cited"][::-1],
        "excluded": given_setup["excluded"][::-1],
        "without": given_setup["without"][::-1],
    }
    assert replace(draw(dict(shuffled), **again), without=()) == replace(draw(named, **given_setup), without=())


@given(rankings, setup, st.integers(1, 5))
def test_a_deeper_round_robin_pool_begins_with_the_shallower(
    named: dict[str, Ranking], given_setup: dict[str, Any], more: int
) -> None:
    given_setup = given_setup | {"mode": "round-robin"}
    shallow = draw(named, **given_setup)
    deep = draw(named, **given_setup | {"per_method": given_setup["per_method"] + more})
    assert deep.entries[: len(shallow.entries)] == shallow.entries


def test_method_order_is_a_fair_shuffle_of_its_own_for_each_paper() -> None:
    orders = [method_order(METHODS, seed=13, topic_id=f"paper{number}") for number in range(4000)]
    for place in range(4):
        for method in METHODS:
            # 1,000 expected, standard deviation 27.
            assert 850 < sum(order[place] == method for order in orders) < 1150
    assert len(set(orders)) == 24
    assert orders != [method_order(METHODS, seed=14, topic_id=f"paper{number}") for number in range(4000)]


@given(st.sets(st.sampled_from(METHODS)), st.integers(), st.text())
def test_leaving_a_method_out_does_not_reorder_the_rest(methods: set[str], seed: int, topic_id: str) -> None:
    full = method_order(METHODS, seed=seed, topic_id=topic_id)
    assert method_order(methods, seed=seed, topic_id=topic_id) == tuple(name for name in full if name in methods)


def test_shares_tell_who_drew_what() -> None:
    named = {"a": listed("1", "2"), "b": listed("2", "7", "3")}
    pool = draw(named, **arguments(cited=["7"], cited_outside=0))
    told = {share.method: share for share in shares(pool)}
    assert told[CITED] == MethodShare(CITED, 1, 0, 1, False)
    assert sum(share.drawn for share in told.values()) == len(pool.entries) == 4
    assert told["a"].also + told["a"].drawn == 2
    assert told["b"].also + told["b"].drawn == 3


def test_the_deepest_rank_of_a_method_is_where_its_last_draw_stood() -> None:
    """Both want two; what the other has drawn is passed over."""
    first, second = (
        named := ordered_rankings(
            {"a": listed("1", "2", "3", "4"), "b": listed("1", "3", "5", "6")}, seed=13, topic_id="q"
        )
    )
    told = {share.method: share.deepest for share in shares(draw(named, **arguments()))}
    assert told == {first: 2, second: 3}
    named = {"a": listed("7", "9", "8", "1"), "b": ()}
    told = {
        share.method: share.deepest for share in shares(draw(named, **arguments(cited=["7", "8"], cited_outside=0)))
    }
    assert (told["a"], told["b"]) == (4, None)


def test_blocks_draw_the_pools_of_the_release(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = json.loads((shared / "csfcube" / "test-pid2pool-csfcube.json").read_text())
    quotas = []
    for topic_id, stored in release.items():
        pairs = list(zip(stored["cands"], stored["cand_source"], strict=True))
        runs = [(method, len(list(block))) for method, block in groupby(sources[0] for _, sources in pairs)]
        cited, *blocks = runs
        assert cited[0] == CITED
        assert len({method for method, _ in blocks}) == len(blocks) == 7
        assert len({size for _, size in blocks}) == 1
        quotas.append(blocks[0][1])
        # Each method's ranking as far as the release tells it: all that it had, in the order of the pool.
        named = {name: listed(*(doc_id for doc_id, sources in pairs if name in sources)) for name, _ in blocks}
        order = tuple(name for name, _ in blocks)
        monkeypatch.setattr("annot.pools.pooling.method_order", lambda methods, *, seed, topic_id, order=order: order)
        pool = draw(
            named,
            topic_id="" if topic_id in stored["cands"] else topic_id,
            cited=[doc_id for doc_id, sources in pairs if sources[0] == CITED],
            cited_outside=None,
            mode="blocks",
            per_method=quotas[-1],
            ranking_depth=500,
            seed=0,
            without=(),
            excluded=(),
        )
        drawn = brought_by(pool)
        assert sorted(drawn[: cited[1]]) == sorted((sources[0], doc_id) for doc_id, sources in pairs[: cited[1]])
        assert drawn[cited[1] :] == [(sources[0], doc_id) for doc_id, sources in pairs[cited[1] :]]
        assert pool.dry == ()
    assert set(quotas) == {12, 33}
