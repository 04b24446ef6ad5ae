"""What forecasts of pools count: pairs, how alike the methods are, and whose the judgements would be."""

from dataclasses import replace

import pytest
from annot.base.records import Query, ScoredDoc
from annot.steps import forecast
from small_study import DOCUMENTS, QUERIES, pool_of


def ranking(*doc_ids: str) -> list[ScoredDoc]:
    return [ScoredDoc(doc_id, 1.0 - at / 10) for at, doc_id in enumerate(doc_ids)]


@pytest.mark.parametrize(
    ("depth", "shared"),
    [
        (1, 0.0),  # a | b | c
        (2, 2 / 6),  # a x | b x | c d
        (3, 1.0),  # a x b | b x a | c d a: all but c and d are elsewhere too, see below
    ],
)
def test_what_methods_share_of_their_best(depth: int, shared: float) -> None:
    rankings = [ranking("a", "x", "b"), ranking("b", "x", "a"), ranking("c", "d", "a")]
    expected = shared if depth < 3 else (1.0 + 1.0 + 1 / 3) / 3
    assert forecast._shared(rankings, depth) == pytest.approx(expected)


def test_a_pair_is_a_query_and_a_document_of_the_pool_of_its_paper() -> None:
    other = Query("p1-result", "p1", "result", (2,))
    pairs = forecast._pairs([pool_of("p1")], [*QUERIES, other])
    assert pairs == {(name, doc_id) for name in ("p1-method", "p1-result") for doc_id in DOCUMENTS}
    assert forecast._pairs([replace(pool_of("p2"), entries=())], QUERIES) == set()


def test_judgements_are_spread_evenly_over_those_whose_speed_is_known() -> None:
    assert forecast._even_shares(10, ["a1", "a2"]) == {"a1": 5.0, "a2": 5.0}
    assert forecast._even_shares(10, []) == {"": 10.0}
