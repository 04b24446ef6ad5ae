"""People with unequal hours: loads follow the shares as closely as teams allow."""

import itertools
from collections import Counter

from annot.base.records import Query
from annot.judging.planning import draw_plan
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ("a1", "a2", "a3", "a4")


def loads(sizes: list[int], shares: dict[str, float], *, assignment: str, k: int, seed: int) -> Counter[str]:
    queries = {f"q{n}": Query(f"q{n}", f"p{n}", "method", (0,)) for n in range(len(sizes))}
    documents = {f"q{n}": [f"d{at}" for at in range(size)] for n, size in enumerate(sizes)}
    plan = draw_plan(
        documents, queries, list(shares), per_pair=k, assignment=assignment, repeats=0.0, seed=seed, shares=shares
    )
    return Counter(one.assessor for one in plan)


def heaviest(load: Counter[str], shares: dict[str, float]) -> float:
    """The longest time anybody needs, in units of one share."""
    return max(load[name] / share for name, share in shares.items())


def best_possible(units: list[int], shares: dict[str, float], k: int) -> float:
    """The smallest such time over all ways of giving each unit (a query's pairs, or one pair) to a team of k."""
    reached = {(0,) * len(shares)}
    for size in units:
        reached = {
            tuple(load + size * (at in team) for at, load in enumerate(state))
            for state in reached
            for team in itertools.combinations(range(len(shares)), k)
        }
    return min(max(load / share for load, share in zip(state, shares.values(), strict=True)) for state in reached)


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    given_shares=st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]), min_size=3, max_size=4),
    k=st.integers(1, 2),
    seed=st.integers(0, 100),
)
def test_whole_queries_are_at_most_one_query_from_the_best_possible(
    sizes: list[int], given_shares: list[float], k: int, seed: int
) -> None:
    shares = dict(zip(NAMES, given_shares, strict=False))
    found = heaviest(loads(sizes, shares, assignment="per-query", k=k, seed=seed), shares)
    assert found <= best_possible(sizes, shares, k) + max(sizes) / min(given_shares) + 1e-9


@settings(max_examples=60)
@given(
    pairs=st.integers(1, 14),
    given_shares=st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]), min_size=3, max_size=4),
    k=st.integers(1, 2),
    seed=st.integers(0, 100),
)
def test_single_pairs_are_at_most_one_pair_from_the_best_possible(
    pairs: int, given_shares: list[float], k: int, seed: int
) -> None:
    shares = dict(zip(NAMES, given_shares, strict=False))
    found = heaviest(loads([pairs], shares, assignment="per-pair", k=k, seed=seed), shares)
    assert found <= best_possible([1] * pairs, shares, k) + 1 / min(given_shares) + 1e-9
