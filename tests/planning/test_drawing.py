"""The plan: every pair its assessors, loads and overlaps even, drawn from the seed alone."""

from collections import Counter

import pytest
from annot.base.errors import InputError
from annot.base.records import Assignment, Query
from annot.judging.planning import FEWEST_BETWEEN, FEWEST_FOR_REPEATS, draw_plan, plan_lines
from hypothesis import given, settings
from hypothesis import strategies as st


def study(sizes: list[int]) -> tuple[dict[str, list[str]], dict[str, Query]]:
    facets = ["background", "method"]
    queries = [Query(f"p{n}-{facets[n % 2]}", f"p{n}", facets[n % 2], (0,)) for n in range(len(sizes))]
    documents = {query.query_id: [f"d{k}" for k in range(size)] for query, size in zip(queries, sizes, strict=True)}
    return documents, {query.query_id: query for query in queries}


def members(plan: tuple[Assignment, ...]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for one in plan:
        found.setdefault((one.query_id, one.doc_id), []).append(one.assessor)
    return found


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12),
    people=st.integers(2, 5),
    assignment=st.sampled_from(["per-query", "per-pair"]),
    seed=st.integers(0, 1000),
)
def test_each_pair_gets_exactly_its_assessors(sizes: list[int], people: int, assignment: str, seed: int) -> None:
    documents, queries = study(sizes)
    names = [f"a{n}" for n in range(1, people + 1)]
    plan = draw_plan(documents, queries, names, per_pair=2, assignment=assignment, repeats=0.0, seed=seed)
    pairs = {(query, doc) for query, docs in documents.items() for doc in docs}
    assert set(members(plan)) == pairs
    assert all(len(set(team)) == 2 == len(team) for team in members(plan).values())
    for name in names:
        positions = sorted(one.position for one in plan if one.assessor == name)
        assert positions == list(range(1, len(positions) + 1))


@pytest.mark.parametrize("assignment", ["per-query", "per-pair"])
def test_loads_are_even_and_every_two_assessors_overlap(assignment: str) -> None:
    documents, queries = study([25] * 24)
    plan = draw_plan(
        documents, queries, ["a1", "a2", "a3", "a4"], per_pair=2, assignment=assignment, repeats=0.0, seed=5
    )
    load = Counter(one.assessor for one in plan)
    assert max(load.values()) - min(load.values()) <= 25
    overlap = Counter(tuple(sorted(team)) for team in members(plan).values())
    assert len(overlap) == 6
    assert max(overlap.values()) <= 2 * min(overlap.values())


@pytest.mark.parametrize("seed", range(4))
def test_everyone_has_as_many_pairs_of_each_facet(seed: int) -> None:
    documents, queries = study([5] * 12)
    plan = draw_plan(
        documents, queries, ["a1", "a2", "a3", "a4"], per_pair=2, assignment="per-query", repeats=0.0, seed=seed
    )
    of_facet = Counter((assigned.assessor, queries[assigned.query_id].facet) for assigned in plan)
    assert len(of_facet) == 8
    assert {*of_facet.values()} == {15}


def test_a_query_is_judged_in_one_stretch_and_each_assessor_has_an_order_of_their_own() -> None:
    documents, queries = study([20] * 4)
    plan = draw_plan(documents, queries, ["a1", "a2"], per_pair=2, assignment="per-query", repeats=0.0, seed=1)
    orders = []
    for name in ("a1", "a2"):
        mine = sorted((one for one in plan if one.assessor == name), key=lambda one: one.position)
        runs = [one.query_id for at, one in enumerate(mine) if at == 0 or mine[at - 1].query_id != one.query_id]
        assert len(runs) == len(set(runs)) == 4
        orders.append([(one.query_id, one.doc_id) for one in mine])
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_the_plan_follows_from_the_seed_alone() -> None:
    documents, queries = study([7, 5, 9])
    draw = [
        draw_plan(documents, queries, ["a1", "a2", "a3"], per_pair=2, assignment="per-pair", repeats=0.0, seed=8)
        for _ in "ab"
    ]
    turned = draw_plan(
        dict(reversed(documents.items())),
        queries,
        ["a3", "a2", "a1"],
        per_pair=2,
        assignment="per-pair",
        repeats=0.0,
        seed=8,
    )
    assert plan_lines(draw[0]) == plan_lines(draw[1]) == plan_lines(turned)
    other = draw_plan(documents, queries, ["a1", "a2", "a3"], per_pair=2, assignment="per-pair", repeats=0.0, seed=9)
    assert plan_lines(other) != plan_lines(draw[0])


def test_a_standing_plan_that_lost_a_pair_is_refused_with_every_fault() -> None:
    documents, queries = study([2])
    standing = [Assignment("p0-background", "gone", name, 1) for name in ("a1", "a2")]
    with pytest.raises(InputError) as caught:
        draw_plan(
            documents, queries, ["a1", "a2"], per_pair=2, assignment="per-pair", repeats=0.0, seed=2, current=standing
        )
    assert len(caught.value.faults) == 2


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6), rate=st.floats(0, 0.5), seed=st.integers(0, 1000))
def test_a_repeat_comes_in_the_other_half_behind_many_others(sizes: list[int], rate: float, seed: int) -> None:
    documents, queries = study(sizes)
    plan = draw_plan(documents, queries, ["a1", "a2"], per_pair=2, assignment="per-query", repeats=rate, seed=seed)
    for name in ("a1", "a2"):
        mine = sorted((one for one in plan if one.assessor == name), key=lambda one: one.position)
        assert [one.position for one in mine] == list(range(1, len(mine) + 1))
        assert len({one.pair_key for one in mine}) == len(mine)
        first = {one.pair_key.pair: one.position for one in mine if one.occasion == 1}
        assert sorted(first) == sorted((query, doc) for query, docs in documents.items() for doc in docs)
        again = {one.pair_key.pair: one.position for one in mine if one.occasion == 2}
        assert not again or sum(sizes) >= FEWEST_FOR_REPEATS == 42
        for pair, position in again.items():
            assert first[pair] <= len(mine) / 2 < position
            assert position - first[pair] - 1 >= max(FEWEST_BETWEEN, sum(sizes) // 3)


def test_a_standing_plan_keeps_its_repeats_and_gets_none_anew() -> None:
    documents, queries = study([20, 20, 20, 20])
    names = ["a1", "a2", "a3"]
    standing = draw_plan(documents, queries, names, per_pair=2, assignment="per-query", repeats=0.2, seed=2)
    again = draw_plan(
        documents, queries, names, per_pair=2, assignment="per-query", repeats=0.4, seed=2, current=standing
    )
    assert again == standing
    assert any(one.occasion == 2 for one in standing)
