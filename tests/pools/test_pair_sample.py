"""The draw of pairs: probabilities that are known, and pairs that a larger share keeps."""

from fractions import Fraction

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import CITED, MANUAL, Addition, ScoredDoc, ranked
from annot.pools.pooling import (
    ACROSS,
    FrozenRank,
    SampleRule,
    draw,
    drawn,
    expected_pairs,
    extend,
    frozen_ranks,
    number_of,
    probabilities,
    ranks_on_record,
    share_within,
)

RULE = SampleRule(seed=7, across="query", floor=0.02, unranked=1.0)
OVER_STUDY = SampleRule(seed=7, across="study", floor=0.02, unranked=1.0)


def pool_of(ranked_documents: int, unranked: int = 0) -> dict[str, FrozenRank]:
    ranks = {f"d{rank:03}": FrozenRank(rank) for rank in range(1, ranked_documents + 1)}
    return ranks | {f"u{at}": FrozenRank(None) for at in range(unranked)}


def test_ranks_are_those_of_the_fused_rankings_and_ties_go_by_id() -> None:
    ranks = {"one": {"a": 1, "b": 2, "x": 3, "c": 4}, "other": {"c": 1, "d": 2, "a": 30}}
    scores = {"a": Fraction(1, 61) + Fraction(1, 90), "b": Fraction(1, 62), "c": Fraction(1, 64) + Fraction(1, 61)}
    assert scores["c"] > scores["a"] > scores["b"]
    found = frozen_ranks(ranks, ["a", "b", "c", "d", "e"])
    # b and d tie at 1 / 62; x is not in the pool, and e has no rank.
    assert {doc_id: place.rank for doc_id, place in found.items()} == {"a": 2, "b": 3, "c": 1, "d": 4, "e": None}


def test_a_pair_has_the_probability_of_its_rank() -> None:
    (pi,) = probabilities({"q": pool_of(100)}, share=0.25, rule=RULE).values()
    below = {int(doc_id[1:]): of for doc_id, of in pi.items() if 0.02 < of < 1}
    products = [of * (rank + 9) for rank, of in below.items()]
    assert len(products) > 80
    assert np.ptp(products) < 1e-4
    assert sum(pi.values()) == pytest.approx(25, abs=1e-4)
    assert all(of == round(of, 6) for of in pi.values())


@pytest.mark.parametrize("across", ACROSS)
def test_the_share_is_of_every_query_or_of_the_study(across: str) -> None:
    rule = SampleRule(seed=7, across=across, floor=0.02, unranked=1.0)
    pi = probabilities({"small": pool_of(40), "large": pool_of(240)}, share=0.3, rule=rule)
    assert expected_pairs(pi).mean == pytest.approx(84, abs=1e-3)
    assert expected_pairs(pi).of == 280
    of_small = sum(pi["small"].values())
    assert of_small == pytest.approx(12, abs=1e-4) if across == "query" else of_small > 18


@pytest.mark.parametrize("rule", [RULE, OVER_STUDY])
def test_eight_pairs_are_expected_of_a_small_pool_and_all_of_a_smaller(rule: SampleRule) -> None:
    pools = {"many": pool_of(200), "few": pool_of(20), "fewer": pool_of(5)}
    pi = probabilities(pools, share=0.1, rule=rule)
    assert sum(pi["few"].values()) == pytest.approx(8, abs=1e-4)
    assert sum(pi["fewer"].values()) == 5
    if rule.across == "study":
        # What small pools have more is taken from the others.
        assert expected_pairs(pi).mean == pytest.approx(22.5, abs=1e-3)


def test_no_pair_is_below_the_floor() -> None:
    (pi,) = probabilities({"q": pool_of(400)}, share=0.1, rule=SampleRule(1, "query", 0.05, 1.0)).values()
    assert min(pi.values()) == 0.05
    assert sum(pi.values()) == pytest.approx(40, abs=1e-3)


def test_documents_without_a_rank_have_a_probability_of_their_own() -> None:
    (certain,) = probabilities({"q": pool_of(90, 10)}, share=0.2, rule=RULE).values()
    assert {certain[f"u{at}"] for at in range(10)} == {1.0}
    assert sum(certain.values()) == pytest.approx(20, abs=1e-4)
    stated = SampleRule(7, "query", 0.02, 0.5)
    (half,) = probabilities({"q": pool_of(90, 10)}, share=0.2, rule=stated).values()
    assert half["u3"] == 0.5
    (all_of_them,) = probabilities({"q": pool_of(90, 10)}, share=1.0, rule=stated).values()
    assert set(all_of_them.values()) == {1.0}


def test_a_pool_without_rankings_has_equal_probabilities() -> None:
    pi = probabilities({"q": pool_of(0, 50), "short": pool_of(0, 16)}, share=0.33, rule=RULE)
    assert set(pi["q"].values()) == {0.33}
    assert set(pi["short"].values()) == {0.5}


def test_every_machine_draws_the_same_number_for_a_pair() -> None:
    # printf '7\x1fpair\x1fq1\x1fd1' | sha256sum
    first = 0x57E53E3BA3EE8C3C
    assert number_of(7, "q1", "d1") == pytest.approx(first / 2**64, abs=2**-50)


def test_pairs_are_drawn_as_often_as_their_probability_says() -> None:
    pi = probabilities({"a-method": pool_of(30), "a-result": pool_of(30)}, share=0.33, rule=RULE)
    draws = [drawn(pi, seed=seed) for seed in range(4000)]
    for query_id, of in pi.items():
        often = np.array([[doc_id in one[query_id] for doc_id in of] for one in draws]).mean(axis=0)
        expected = np.array([*of.values()])
        assert (abs(often - expected) <= 4 * np.sqrt(expected * (1 - expected) / 4000)).all()
    # The facets of a paper are drawn independently.
    both = np.mean([{"d020"} <= {*one["a-method"]} & {*one["a-result"]} for one in draws])
    assert both == pytest.approx(pi["a-method"]["d020"] ** 2, abs=0.03)


@pytest.mark.parametrize("rule", [RULE, OVER_STUDY])
def test_a_larger_share_only_adds_pairs(rule: SampleRule) -> None:
    pools = {"a": pool_of(120, 4), "b": pool_of(9), "c": pool_of(260), "d": pool_of(0, 30)}
    before: dict[str, set[str]] = {query_id: set() for query_id in pools}
    for share in (0.02, 0.1, 0.15, 0.33, 0.331, 0.5, 0.75, 1.0):
        now = {query_id: {*of} for query_id, of in drawn(probabilities(pools, share=share, rule=rule), seed=7).items()}
        assert all(before[query_id] <= now[query_id] for query_id in pools)
        before = now
    assert before == {query_id: {*of} for query_id, of in pools.items()}


@pytest.mark.parametrize("rule", [RULE, OVER_STUDY])
def test_what_comes_later_has_ranks_of_its_own_and_changes_no_other_pair(rule: SampleRule) -> None:
    pools = {"a": pool_of(100), "b": pool_of(30)}
    new = frozen_ranks({"late": {"n1": 3, "d001": 1, "n2": 90}}, ["n1", "n2"], batch=2)
    assert new == {"n1": FrozenRank(1, 2), "n2": FrozenRank(2, 2)}
    grown = {**pools, "a": pools["a"] | new}
    before, after = (probabilities(of, share=0.4, rule=rule) for of in (pools, grown))
    assert {doc_id: after["a"][doc_id] for doc_id in pools["a"]} == before["a"]
    assert after["b"] == before["b"]
    assert after["a"]["n1"] + after["a"]["n2"] == pytest.approx(0.8, abs=1e-5)
    assert after["a"]["n1"] > after["a"]["n2"]


def test_ranks_on_record_are_those_of_all_methods_that_had_a_document() -> None:
    one, other = (ranked(ScoredDoc(doc_id, -at) for at, doc_id in enumerate(ids)) for ids in ("abcd", "cxda"))
    drawing = {"topic_id": "t", "cited_outside": 0, "ranking_depth": 4, "seed": 1, "without": (), "excluded": ()}
    pool = draw({"one": one, "other": other}, cited=["d", "z"], mode="depth", per_method=2, **drawing)  # type: ignore[arg-type]
    by_hand = Addition(2, MANUAL, None, ("h",), None, None, None)
    found = ranks_on_record(extend(pool, by_hand, {}, excluded=()))
    assert found == {"one": {"a": 1, "b": 2, "c": 3, "d": 4}, "other": {"c": 1, "x": 2, "d": 3, "a": 4}}
    assert CITED not in found


def test_the_largest_share_within_so_many_hours_is_found() -> None:
    pools = {"a": pool_of(120), "b": pool_of(80)}
    hours = 10.0
    share = share_within(pools, limit=hours, acts=lambda pi: expected_pairs(pi).mean * 2 / 12, rule=RULE)
    assert share == pytest.approx(60 / 200, abs=1e-4)
    assert share_within(pools, limit=1e9, acts=lambda pi: expected_pairs(pi).mean, rule=RULE) == 1
    with pytest.raises(InputError, match="16"):
        share_within(pools, limit=3, acts=lambda pi: expected_pairs(pi).mean, rule=RULE)


def test_a_rule_and_a_share_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="sampled") as refused:
        SampleRule(1, "paper", 0.0, 2.0)
    assert len(refused.value.faults) == 3
    for share in (0, -0.5, 1.01):
        with pytest.raises(InputError, match=f"share {share}"):
            probabilities({"q": pool_of(3)}, share=share, rule=RULE)
