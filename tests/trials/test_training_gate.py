"""Gold pairs, batches and the gate: what is drawn, in which order, and who passes."""

from collections import Counter

import pytest
from annot.base.records import Decision, PairKey, Query
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.judging.trial_draws import batches_of, draw_gold, draw_hidden, sequence_of, verdict, with_hidden

FACETS = ("background", "method")
QUERIES = [Query(f"p{at}-{facet}", f"p{at}", facet, ()) for at in range(4) for facet in FACETS]
DECISIONS = [
    Decision(query.query_id, f"d{at}", at % 4, "adjudicated" if at % 8 < 4 else "agreed")
    for query in QUERIES
    for at in range(16)
]
FACET_OF = {query.query_id: query.facet for query in QUERIES}


@pytest.mark.parametrize("seed", range(3))
def test_gold_is_even_over_grades_origins_and_queries(seed: int) -> None:
    drawn = draw_gold(QUERIES, DECISIONS, set(), per_facet=8, seed=seed)
    assert Counter(FACET_OF[one.query_id] for one in drawn) == {"background": 8, "method": 8}
    for facet in FACETS:
        own = [one for one in drawn if FACET_OF[one.query_id] == facet]
        assert Counter(one.grade for one in own) == {0: 2, 1: 2, 2: 2, 3: 2}
        assert Counter(one.origin for one in own) == {"adjudicated": 4, "agreed": 4}
        assert max(Counter(one.query_id for one in own).values()) <= 3
    # Those that stand are not drawn again, and what is added completes the facet.
    half = {(one.query_id, one.doc_id) for one in drawn if FACET_OF[one.query_id] == "method"}
    more = draw_gold(QUERIES, DECISIONS, half, per_facet=10, seed=seed)
    assert Counter(FACET_OF[one.query_id] for one in more) == {"background": 10, "method": 2}
    assert not half & {(one.query_id, one.doc_id) for one in more}


def test_where_little_is_settled_all_of_it_is_gold_but_no_query_paper_itself() -> None:
    few = [Decision("p0-method", "d1", 2, "agreed"), Decision("p0-method", "p0", 3, "agreed")]
    assert draw_gold(QUERIES, few, set(), per_facet=10, seed=1) == (few[0],)


def test_a_document_with_the_id_of_a_text_may_be_gold() -> None:
    text = Query("7", "7", "whole", ())
    settled = (Decision("7", "7", 2, "agreed"),)
    assert draw_gold([text], settled, set(), per_facet=10, seed=1) == settled


def test_a_batch_is_a_facet_and_new_gold_follows_what_stands() -> None:
    gold = [(query.query_id, f"d{at}") for query in QUERIES for at in range(3)]
    first = sequence_of("a3", gold[:12], FACET_OF, (), facets=FACETS, seed=7)
    assert [{FACET_OF[pair[0]] for pair in batch} for batch in batches_of(first, FACET_OF)] == [
        {"background"},
        {"method"},
    ]
    assert sequence_of("a4", gold[:12], FACET_OF, (), facets=FACETS, seed=7) != first
    grown = sequence_of("a3", gold, FACET_OF, first, facets=FACETS, seed=7)
    assert grown[: len(first)] == first
    assert sorted(grown) == sorted(gold)
    assert len(batches_of(grown, FACET_OF)) == 4


def figure(value: float, low: float) -> Estimate:
    return Estimate(value, Interval(low, 0.9, 0.95, "jackknife"))


@pytest.mark.parametrize(
    ("found", "answered", "gate", "expected"),
    [
        (figure(0.6, 0.3), 30, "estimate", "passed"),
        (figure(0.59, 0.3), 30, "estimate", "not passed"),
        (figure(0.8, 0.59), 30, "interval", "not passed"),
        (figure(0.8, 0.6), 30, "interval", "passed"),
        (figure(0.9, 0.8), 29, "estimate", "not finished"),
        (Estimate(0.9, Undefined("3 queries")), 30, "interval", "undecided"),
        (Estimate(0.9, Undefined("3 queries")), 30, "estimate", "passed"),
        (Estimate(Undefined("every judgement is grade 0"), Undefined("none")), 30, "estimate", "undecided"),
    ],
)
def test_the_gate(found: Estimate, answered: int, gate: str, expected: str) -> None:
    assert verdict(found, n_answered=answered, n_gold=30, threshold=0.6, gate=gate) == expected


def test_hidden_gold_stays_in_its_query_or_comes_as_a_block_and_is_never_known() -> None:
    own = [PairKey(f"p{at}-method", f"e{doc}") for at in range(2) for doc in range(6)]
    known = {("p0-method", f"d{at}") for at in range(13)} | {("p2-method", "d1")}
    queries = {asked.query_id for asked in own}
    for seed in range(20):
        drawn = draw_hidden("a3", DECISIONS, known, queries, count=11, seed=seed)
        assert len(drawn) == len(set(drawn)) == 11
        assert not known & set(drawn)
        # What is left of the own queries first, then others in blocks.
        by_query = Counter(query_id for query_id, _ in drawn)
        assert (by_query["p0-method"], by_query["p1-method"], sorted(by_query.values())) == (3, 5, [3, 3, 5])
        stream = with_hidden(own, drawn, frozenset(), assessor="a3", seed=seed)
        assert [asked for asked in stream if asked in own] == own
        assert sorted(asked.pair for asked in stream if asked not in own) == sorted(drawn)
        assert stream[0] == own[0]
        blocks = [name for at, (name, *_) in enumerate(stream) if at == 0 or stream[at - 1].query_id != name]
        assert len(blocks) == len(set(blocks)) == 3
        # Hidden when seven are answered already: nothing new stands among these, and the order of the others stays.
        later = with_hidden(own, drawn, set(own[:7]), assessor="a3", seed=seed)
        assert later[:7] == own[:7]
        assert later[7:] == [asked for asked in stream if asked not in own[:7]]
    assert draw_hidden("a3", DECISIONS, known, queries, count=-2, seed=1) == ()
    assert with_hidden(own, (), frozenset(), assessor="a3", seed=1) == own


def test_a_hidden_block_comes_anywhere_but_first_and_as_often_at_the_end_as_not() -> None:
    own = [PairKey("p", "d1"), PairKey("q", "d1"), PairKey("q", "d2")]
    places = Counter(
        with_hidden(own, [("r", "x")], frozenset(), assessor="a1", seed=seed).index(PairKey("r", "x"))
        for seed in range(400)
    )
    assert places.keys() == {1, 3}
    assert 160 < places[3] < 240
    assert with_hidden((), [("r", "x")], frozenset(), assessor="a1", seed=1) == [PairKey("r", "x")]


def test_a_hidden_pair_of_an_own_query_comes_anywhere_behind_its_first() -> None:
    own = [PairKey("p", "d1"), PairKey("q", "d1"), PairKey("q", "d2")]
    places = Counter(
        with_hidden(own, [("q", "x")], frozenset(), assessor="a1", seed=seed).index(PairKey("q", "x"))
        for seed in range(400)
    )
    assert places.keys() == {2, 3}
    assert 160 < places[3] < 240
    alone = with_hidden(own, [("p", "x")], frozenset(), assessor="a1", seed=1)
    assert alone == [PairKey("p", "d1"), PairKey("p", "x"), *own[1:]]
