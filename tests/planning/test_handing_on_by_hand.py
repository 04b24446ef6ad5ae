"""Who gets what of a person who leaves, and what goes back to them, on plans that are counted by hand."""

from collections.abc import Collection, Mapping, Sequence

import pytest
from annot.base.records import Assignment, PairKey
from annot.judging.planning import PlanHandedOn, give_back, hand_on

Pair = tuple[str, str]


def sequence(name: str, *asked: tuple[str, str] | tuple[str, str, int]) -> list[Assignment]:
    """What a person has, in this order."""
    found = [PairKey(*one) for one in asked]
    return [Assignment(*one.pair, name, place, one.occasion) for place, one in enumerate(found, start=1)]


def handed_on(
    plan: Sequence[Assignment],
    *,
    answered: Collection[PairKey] = (),
    successor: str | None = None,
    others: Sequence[str] = (),
    together: bool = False,
    open_loads: Mapping[str, int] | None = None,
    shares: Mapping[str, float] | None = None,
    barred: Mapping[Pair, Collection[str]] | None = None,
) -> PlanHandedOn:
    """As if `leaver` had left."""
    return hand_on(
        plan, leaver="leaver", answered=answered, successor=successor, others=others, together=together,
        open_loads=open_loads or {}, shares=shares or {}, barred=barred or {},
    )  # fmt: skip


def of(plan: Sequence[Assignment], name: str) -> list[tuple[str, str, int]]:
    return [tuple(one.asked) for one in plan if one.assessor == name]


def test_all_open_pairs_of_a_query_go_to_one_person_the_largest_query_first() -> None:
    mine = [("small", "d1"), *(("large", f"d{at}") for at in range(1, 4)), ("middle", "d1"), ("middle", "d2")]
    found = handed_on(sequence("leaver", *mine), others=["a1", "a2"], together=True)
    assert found.moved == {pair: "a1" if pair[0] == "large" else "a2" for pair in mine}


def test_a_query_that_nobody_can_take_whole_is_divided() -> None:
    mine = [("q", "d1"), ("q", "d2")]
    found = handed_on(
        sequence("leaver", *mine), others=["a1", "a2"], together=True, barred={("q", "d1"): {"a2"}, ("q", "d2"): {"a1"}}
    )
    assert found.moved == {("q", "d1"): "a1", ("q", "d2"): "a2"}


def test_whoever_has_fewer_open_pairs_or_the_first_name_gets_the_next_one() -> None:
    mine = sequence("leaver", ("q", "d1"))
    for loads, gets in (({}, "a1"), ({"a1": 1}, "a2"), ({"a1": 1, "a2": 1}, "a1"), ({"a1": 2, "a2": 1}, "a2")):
        assert handed_on(mine, others=["a2", "a1"], open_loads=loads).moved == {("q", "d1"): gets}
    many = sequence("leaver", *(("q", f"d{at}") for at in range(3)))
    assert [*handed_on(many, others=["a1", "a2"], shares={"a1": 2.0}).moved.values()] == ["a1", "a1", "a2"]


def test_nobody_gets_what_they_have_and_the_leaver_nothing_again() -> None:
    plan = [*sequence("leaver", ("q", "d1"), ("q", "d2")), *sequence("a1", ("q", "d1"))]
    found = handed_on(plan, others=["leaver", "a1"])
    assert found.moved == {("q", "d1"): None, ("q", "d2"): "a1"}
    assert found.given_up == tuple(plan[:2])
    assert (of(found.plan, "leaver"), of(found.plan, "a1")) == ([], [("q", "d1", 1), ("q", "d2", 1)])
    assert handed_on(plan, successor="a1").moved == {("q", "d1"): None, ("q", "d2"): "a1"}


@pytest.mark.parametrize(("between", "stays"), [(20, True), (19, False)])
def test_a_repeat_goes_along_if_twenty_other_pairs_are_between_it_and_its_pair(between: int, stays: bool) -> None:
    first = [("q", f"d{at:02}") for at in range(between + 1)]
    found = handed_on(sequence("leaver", *first, ("q", "d00", 2)), successor="a1")
    assert of(found.plan, "a1") == [(*pair, 1) for pair in first] + [("q", "d00", 2)] * stays
    assert [one.position for one in found.plan] == list(range(1, between + 2 + stays))
    assert found.repeats_gone == (not stays)


def test_what_is_handed_on_comes_behind_what_the_receiver_has() -> None:
    own = [("p", f"d{at}") for at in range(5)]
    plan = [*sequence("a1", *own), *sequence("leaver", ("q", "d1"), ("q", "d2"))]
    found = handed_on([plan[0], *reversed(plan)][1:], others=["a1"])
    assert of(found.plan, "a1") == [(*pair, 1) for pair in (*own, ("q", "d1"), ("q", "d2"))]


def test_repeats_that_nobody_takes_or_whose_pair_is_answered_are_gone() -> None:
    mine = sequence("leaver", ("q", "d1"), ("q", "d2"), ("q", "d1", 2), ("q", "d2", 2))
    found = handed_on(mine, answered={PairKey("q", "d1")}, others=["a1"], barred={("q", "d2"): {"a1"}})
    assert (found.moved, found.repeats_gone) == ({("q", "d2"): None}, 2)
    assert of(found.plan, "leaver") == [("q", "d1", 1)]
    assert len(found.plan) == 1


def test_an_answered_pair_goes_back_to_the_end_of_what_its_person_has() -> None:
    plan = [*sequence("back", ("q", "d1"), ("q", "d2")), *sequence("a1", *(("q", f"d{at}") for at in range(3, 9)))]
    changed, returned = give_back(
        plan,
        assessor="back",
        answered={PairKey("q", "d5"), PairKey("q", "d3"), PairKey("q", "d2")},
        per_pair=1,
        bound=(),
    )
    assert returned == (("q", "d3", 1), ("q", "d5", 1))
    assert of(changed, "back") == [("q", f"d{at}", 1) for at in (1, 2, 3, 5)]
    assert of(changed, "a1") == [("q", f"d{at}", 1) for at in (4, 6, 7, 8)]
    places = [one.position for one in changed if one.assessor == "back"]
    assert places == [1, 2, 3, 4]


def test_of_two_holders_the_one_who_has_the_pair_later_gives_it_and_its_repeat_away() -> None:
    early = sequence("early", ("q", "d1"), ("q", "d2"))
    late = sequence("late", ("q", "d2"), ("q", "d3"), ("q", "d1"), ("q", "d1", 2))
    changed, returned = give_back([*late, *early], assessor="back", answered={PairKey("q", "d1")}, per_pair=2, bound=())
    assert returned == (("q", "d1", 1),)
    assert of(changed, "early") == [("q", "d1", 1), ("q", "d2", 1)]
    assert of(changed, "late") == [("q", "d2", 1), ("q", "d3", 1)]
    assert of(changed, "back") == [("q", "d1", 1)]


def test_where_a_pair_lacks_somebody_nobody_gives_it_away() -> None:
    plan = sequence("a1", ("q", "d1"))
    changed, returned = give_back(plan, assessor="back", answered={PairKey("q", "d1")}, per_pair=2, bound=())
    assert (of(changed, "a1"), of(changed, "back"), len(returned)) == ([("q", "d1", 1)], [("q", "d1", 1)], 1)


def test_an_answered_repeat_goes_back_beside_its_pair() -> None:
    plan = sequence("a1", ("q", "d1"), ("q", "d1", 2))
    changed, returned = give_back(
        plan, assessor="back", answered={PairKey("q", "d1", 2), PairKey("q", "d1")}, per_pair=1, bound=()
    )
    assert returned == (("q", "d1", 1), ("q", "d1", 2))
    assert of(changed, "back") == [("q", "d1", 1), ("q", "d1", 2)]
    assert of(changed, "a1") == []
