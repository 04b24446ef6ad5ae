"""A plan that grows or loses a person: who completes a team, and where new pairs and repeats come, by hand."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from annot.base.errors import InputError
from annot.base.records import Assignment, Query
from annot.judging.planning import FEWEST_FOR_REPEATS, draw_plan

Plan = tuple[Assignment, ...]


def grown(documents: Mapping[str, Sequence[str]], people: Sequence[str], **more: Any) -> Plan:
    queries = {name: Query(name, name, "method", (0,)) for name in documents}
    usual: dict[str, Any] = {"per_pair": 2, "assignment": "per-query", "repeats": 0.0, "seed": 1}
    return draw_plan(documents, queries, people, **{**usual, **more})


def had(query: str, documents: str, *people: str, behind: int = 0) -> list[Assignment]:
    """Each of these people has these documents (letters) of a query."""
    return [Assignment(query, doc, name, at) for name in people for at, doc in enumerate(documents, 1 + behind)]


def whose(plan: Plan, query: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in plan:
        if one.query_id == query and one.occasion == 1:
            found.setdefault(one.doc_id, []).append(one.assessor)
    return {doc: sorted(names) for doc, names in sorted(found.items())}


def test_a_query_that_grows_keeps_its_team_though_others_have_less() -> None:
    current = [*had("q", "ab", "a1", "a2"), *had("p", "c", "a1", "a3", behind=2)]
    plan = grown({"q": "abcd", "p": "c"}, ["a1", "a2", "a3"], current=current)
    assert whose(plan, "q") == {doc: ["a1", "a2"] for doc in "abcd"}
    single = grown({"q": "abcd", "p": "c"}, ["a1", "a2", "a3"], current=current, assignment="per-pair")
    assert "a3" in {name for names in whose(single, "q").values() for name in names}


def test_a_pair_that_lost_somebody_goes_to_the_other_of_its_query_before_anyone_else() -> None:
    current = [*had("q", "a", "a1", "gone"), *had("q", "bcd", "a1", "a2", behind=1)]
    without = [one for one in current if one.assessor != "gone"]
    plan = grown({"q": "abcd"}, ["a1", "a2", "a3"], current=without)
    assert whose(plan, "q") == {doc: ["a1", "a2"] for doc in "abcd"}


def test_who_left_gets_nothing_new_of_their_query() -> None:
    plan = grown({"q": "abc"}, ["a1", "a2"], current=had("q", "a", "a1", "gone"))
    assert whose(plan, "q") == {"a": ["a1", "gone"], "b": ["a1", "a2"], "c": ["a1", "a2"]}


def test_too_few_people_are_enough_for_what_is_assigned_already() -> None:
    current = had("q", "ab", "a1", "gone")[:3]
    assert grown({"q": "ab"}, ["a1"], current=current) == tuple(current)
    with pytest.raises(InputError, match="1 assessor, expected at least 2"):
        grown({"q": "abc"}, ["a1"], current=current)


def test_what_people_have_counts_once_when_new_pairs_are_spread() -> None:
    current = had("q", "ab", "a1")
    plan = grown({"q": "abcdef"}, ["a1", "a2"], per_pair=1, assignment="per-pair", current=current)
    assert Counter(one.assessor for one in plan) == {"a1": 3, "a2": 3}


def test_hours_that_are_not_named_are_one() -> None:
    plan = grown({"q": "abcdefghij"}, ["a1", "a2"], per_pair=1, assignment="per-pair", shares={"a1": 1.0})
    assert Counter(one.assessor for one in plan) == {"a1": 5, "a2": 5}


def test_the_team_is_the_one_whose_heaviest_member_stays_lightest() -> None:
    """Four pairs more: x would need 4/4, y 4/0.5 and z (4 + 4)/2 of their hours."""
    shares = {"x": 4.0, "y": 0.5, "z": 2.0}
    current = had("p", "abcd", "z", "gone")
    plan = grown({"p": "abcd", "q": "abcd"}, ["x", "y", "z"], shares=shares, current=current)
    assert whose(plan, "q") == {doc: ["x", "z"] for doc in "abcd"}


def test_new_pairs_come_behind_what_each_person_has() -> None:
    current = [*had("q", "abc", "a1", "a2"), *had("p", "a", "a1", "a3", behind=3)]
    current[-1] = Assignment("p", "a", "a3", 1)
    plan = grown({"q": "abc", "p": "a", "r": "abcde"}, ["a1", "a2", "a3"], current=current, per_pair=2)
    for name in ("a1", "a2", "a3"):
        places = [one.position for one in plan if one.assessor == name]
        assert places == list(range(1, len(places) + 1))
    assert len(plan) == 8 + 10


def repeats(sizes: Sequence[int], rate: float, *, seed: int = 1) -> list[tuple[int, int]]:
    """Of each repeat of one person: the place of its pair, and its own."""
    documents = {f"q{at}": [f"d{doc}" for doc in range(size)] for at, size in enumerate(sizes)}
    plan = grown(documents, ["a1"], per_pair=1, repeats=rate, seed=seed)
    first = {one.pair: one.position for one in plan if one.occasion == 1}
    return [(first[one.pair], one.position) for one in plan if one.occasion == 2]


def test_from_42_pairs_on_there_are_repeats() -> None:
    assert FEWEST_FOR_REPEATS == 42
    assert [len(repeats([size], 0.1)) > 0 for size in (41, 42)] == [False, True]


@pytest.mark.parametrize("seed", range(5))
def test_a_share_of_one_pair_is_one_repeat(seed: int) -> None:
    assert len(repeats([42], 1 / 42, seed=seed)) == 1
    assert repeats([42], 0.0, seed=seed) == []


def test_at_most_a_third_of_the_early_pairs_of_a_query_is_asked_again() -> None:
    """90 pairs, 45 repeats wanted and 30 pairs between: the first 15 may be asked again, and a third of them is 5."""
    assert len(repeats([90], 0.5)) == 5


def test_pairs_from_all_of_the_first_half_are_asked_again() -> None:
    places = [first for seed in range(20) for first, _ in repeats([30] * 4, 0.1, seed=seed)]
    assert 40 < max(places) <= 66
    assert min(places) < 10


def test_twenty_other_pairs_are_between_a_pair_and_its_repeat() -> None:
    places = [pair for seed in range(20) for pair in repeats((6,) * 7, 0.25, seed=seed)]
    assert all(again - first - 1 >= 20 for first, again in places)


def test_a_pair_goes_to_no_one_who_settled_it() -> None:
    current = had("q", "abcd", "a1")
    plan = grown({"q": "abcd"}, ["a1", "a2", "j1"], current=current, barred={("q", "a"): ["a2"], ("q", "b"): ["j1"]})
    new = whose(plan, "q")
    assert (new["a"], new["b"]) == (["a1", "j1"], ["a1", "a2"])
    nobody = grown({"q": "ab"}, ["a1", "j1"], current=had("q", "ab", "a1"), barred={("q", "a"): ["j1"]})
    assert whose(nobody, "q") == {"a": ["a1"], "b": ["a1", "j1"]}


def test_a_plan_for_more_people_than_annot_toml_says_by_now_names_their_number() -> None:
    current = had("q", "ab", "a1", "a2", "a3")
    with pytest.raises(InputError, match="2 faults") as error:
        grown({"q": "ab"}, ["a1", "a2", "a3"], current=current, per_pair=2)
    assert "per_pair = 3" in (error.value.hint or "")
