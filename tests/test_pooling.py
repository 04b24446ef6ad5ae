"""Pools are drawn to the letter: quotas, order, provenance, and nothing that depends on anything else."""

import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import CITED, Draw, Pool, PoolEntry, Ranking, ScoredDoc, ranked
from annot.pools.pooling import draw, method_order, shares
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
