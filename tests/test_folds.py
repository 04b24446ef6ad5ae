"""Test folds: whole papers, even facets, and the averages that are taken over them."""

from __future__ import annotations

from collections import Counter

import pytest
from annot.errors import InputError
from annot.evaluation.folds import draw_folds
from annot.records import Query
from hypothesis import given
from hypothesis import strategies as st

FACETS = ("background", "method", "result")


def queries_of(facets: list[set[str]]) -> list[Query]:
    return [Query(f"p{at}-{facet}", f"p{at}", facet, (0,)) for at, own in enumerate(facets) for facet in sorted(own)]


@given(
    st.lists(st.sets(st.sampled_from(FACETS), min_size=1), min_size=3, max_size=40),
    st.integers(2, 3),
    st.integers(0, 5),
)
def test_every_query_is_tested_once_and_no_paper_is_parted(facets: list[set[str]], n: int, seed: int) -> None:
    queries = queries_of(facets)
    splits = draw_folds(queries, n=n, seed=seed)
    fold_of = {}
    for name, folds in splits.items():
        tests = [folds[f"fold{at}_test"] for at in range(1, n + 1)]
        of_name = [query.query_id for query in queries if name in (query.facet, "all")]
        assert sorted(one for test in tests for one in test) == sorted(of_name)
        for at, test in enumerate(tests, start=1):
            assert set(folds[f"fold{at}_dev"]) == set(of_name) - set(test)
            for query_id in test:
                assert fold_of.setdefault(query_id.partition("-")[0], at) == at
    assert splits == draw_folds(queries[::-1], n=n, seed=seed)


def test_facets_are_spread_evenly_and_the_seed_draws_others() -> None:
    queries = queries_of([{FACETS[at % 3], FACETS[(at + at % 2) % 3]} for at in range(40)])
    splits = draw_folds(queries, n=2, seed=1)
    for facet in FACETS:
        sizes = Counter(name for name, ids in splits[facet].items() for _ in ids if name.endswith("test"))
        assert abs(sizes["fold1_test"] - sizes["fold2_test"]) <= 2
    assert draw_folds(queries, n=2, seed=2) != splits


def test_fewer_papers_than_folds_are_refused() -> None:
    with pytest.raises(InputError, match="1 query paper"):
        draw_folds(queries_of([{"method", "result"}]), n=2, seed=1)
