"""A person leaves: the plan stays sound, answered pairs stay, the rest is spread evenly, and who gets what."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from annot.base.records import Assignment, PairKey, Query
from annot.judging.planning import FEWEST_BETWEEN, PlanHandedOn, draw_plan, faults_of, give_back, hand_on
from hypothesis import given, settings
from hypothesis import strategies as st

Plan = tuple[Assignment, ...]
PEOPLE = ("a1", "a2", "a3", "a4", "a5")


def drawn(sizes: list[int], people: Collection[str], *, assignment: str, repeats: float, seed: int, k: int = 2) -> Plan:
    queries = {f"q{n}": Query(f"q{n}", f"p{n}", "method", (0,)) for n in range(len(sizes))}
    return draw_plan(
        documents(sizes), queries, list(people), per_pair=k, assignment=assignment, repeats=repeats, seed=seed
    )


def documents(sizes: list[int]) -> dict[str, list[str]]:
    return {f"q{n}": [f"d{at}" for at in range(size)] for n, size in enumerate(sizes)}


def faults(
    plan: Plan, sizes: list[int], *, left: str = "", answered: Collection[tuple[str, PairKey]] = ()
) -> list[str]:
    found = faults_of(
        plan,
        documents=documents(sizes),
        per_pair=2,
        left={left},
        answered=answered,
        settling={},
        may_assess=False,
        accepted=(),
    )
    return list(found)


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 24), min_size=1, max_size=6),
    assignment=st.sampled_from(["per-query", "per-pair"]),
    repeats=st.sampled_from([0.0, 0.3]),
    done=st.floats(0, 1),
    successor=st.sampled_from([None, "a5", "a2"]),
    seed=st.integers(0, 1000),
)
def test_whoever_leaves_whenever_the_plan_stays_sound(
    sizes: list[int], assignment: str, repeats: float, done: float, successor: str | None, seed: int
) -> None:
    plan = drawn(sizes, PEOPLE[:4], assignment=assignment, repeats=repeats, seed=seed)
    mine = sorted((one for one in plan if one.assessor == "a4"), key=lambda one: one.position)
    answered = {one.pair_key for one in mine[: round(done * len(mine))]}
    assert not faults(plan, sizes)
    left = hand_on(
        plan,
        leaver="a4",
        answered=answered,
        successor=successor,
        others=["a1", "a2", "a3", *([successor] if successor == "a5" else [])],
        together=assignment == "per-query",
        open_loads={},
        shares={},
        barred={},
    )
    assert not faults(left.plan, sizes, left="a4", answered={("a4", asked) for asked in answered})
    # What was answered stays with who answered it; nobody else loses anything or changes order.
    assert {one.pair_key for one in left.plan if one.assessor == "a4"} == answered
    for name in PEOPLE[:3]:
        before = [one.pair_key for one in sorted(plan, key=lambda one: one.position) if one.assessor == name]
        after = [one.pair_key for one in sorted(left.plan, key=lambda one: one.position) if one.assessor == name]
        assert after[: len(before)] == before
    open_pairs = [one.pair_key.pair for one in mine if one.occasion == 1 and one.pair_key not in answered]
    assert [*left.moved] == open_pairs
    assert None not in left.moved.values()
    if successor == "a5":
        # A newcomer has none of the pairs: all go there, in the leaver's order.
        assert {*left.moved.values()} <= {"a5"}
        theirs = sorted((one for one in left.plan if one.assessor == "a5"), key=lambda one: one.position)
        assert [one.pair_key.pair for one in theirs if one.occasion == 1] == open_pairs
        for one in theirs:
            if one.occasion == 2:
                first = next(other.position for other in theirs if other.pair_key == PairKey(*one.pair_key.pair))
                assert one.position - first > FEWEST_BETWEEN
    # The same again finds nothing to do.
    again = hand_on(
        left.plan, leaver="a4", answered=answered, successor=successor, others=["a1", "a2", "a3"], together=False,
        open_loads={}, shares={}, barred={},
    )  # fmt: skip
    assert (again.plan, again.moved, again.given_up) == (left.plan, {}, ())


def test_a_pair_that_nobody_may_take_is_not_assigned_and_a_later_plan_gives_it_away() -> None:
    sizes = [3]
    plan = drawn(sizes, ["a1", "a2"], assignment="per-query", repeats=0.0, seed=1)
    barred = {("q0", "d1"): {"j1"}}
    left = hand_on(
        plan, leaver="a2", answered={PairKey("q0", "d0")}, successor=None, others=["a1", "j1"], together=True,
        open_loads={}, shares={}, barred=barred,
    )  # fmt: skip
    assert left.moved == {("q0", "d1"): None, ("q0", "d2"): "j1"}
    assert faults(left.plan, sizes) == ["q0 d1: 1 assessor (a1), expected 2"]
    queries = {"q0": Query("q0", "p0", "method", (0,))}
    later = draw_plan(
        documents(sizes), queries, ["a1", "a3"], per_pair=2, assignment="per-query", repeats=0.0, seed=1,
        current=left.plan,
    )  # fmt: skip
    assert set(later) - set(left.plan) == {Assignment("q0", "d1", "a3", 1)}
    assert not faults(later, sizes)


def test_what_was_answered_meanwhile_goes_back_unless_somebody_has_begun_with_it() -> None:
    sizes = [12]
    plan = drawn(sizes, ["a1", "a2"], assignment="per-query", repeats=0.3, seed=4)
    left = hand_on(
        plan, leaver="a2", answered=(), successor="a3", others=[], together=True, open_loads={}, shares={}, barred={}
    )
    first, second = [one.pair_key for one in sorted(plan, key=lambda one: one.position) if one.assessor == "a2"][:2]
    bound = {("a1", one.pair_key) for one in plan if one.assessor == "a1"}
    back, returned = give_back(left.plan, assessor="a2", answered={first, second}, per_pair=2, bound=bound)
    assert set(returned) == {first, second}
    assert not faults(back, sizes, left="a2", answered={("a2", first), ("a2", second)})
    assert {one.pair_key for one in back if one.assessor == "a2"} == {first, second}
    # Whatever somebody was sent stays with them.
    begun = {*bound, ("a3", first)}
    back, returned = give_back(left.plan, assessor="a2", answered={first, second}, per_pair=2, bound=begun)
    assert returned == (second,)
    assert not faults(back, sizes, left="a2", answered={("a2", second)})
    assert give_back(back, assessor="a2", answered={second}, per_pair=2, bound=begun) == (back, ())


SOUND = (
    Assignment("q0", "d0", "a1", 1),
    Assignment("q0", "d0", "a2", 1),
    Assignment("q0", "d1", "a1", 2),
    Assignment("q0", "d1", "a2", 2),
    Assignment("q0", "d0", "a1", 3, 2),
)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (SOUND[:3] + SOUND[4:], "q0 d1: 1 assessor (a1), expected 2"),
        ((*SOUND, Assignment("q0", "d1", "a3", 1)), "q0 d1: 3 assessors (a1, a2, a3), expected 2"),
        (
            (*SOUND, Assignment("q0", "d9", "a1", 4), Assignment("q0", "d9", "a2", 3)),
            "q0 d9: planned, but not in the pool",
        ),
        (
            (*SOUND[:3], replace(SOUND[3], position=5), SOUND[4]),
            "a2: the positions should run from 1 to 2, but 2 is missing or used twice",
        ),
        (
            (*SOUND[:4], replace(SOUND[4], position=2)),
            "a1: the positions should run from 1 to 3, but 3 is missing or used twice",
        ),
        (
            (*SOUND[:4], replace(SOUND[4], assessor="a3", position=1)),
            "q0 d0: a hidden repeat for a3, who does not judge the pair",
        ),
        (
            (replace(SOUND[0], position=3), *SOUND[1:4], replace(SOUND[4], position=1)),
            "q0 d0: the hidden repeat comes before the pair for a1",
        ),
    ],
)
def test_every_fault_is_found(plan: Plan, said: str) -> None:
    assert not faults(SOUND, [2])
    assert said in faults(plan, [2])


def test_who_left_with_open_pairs_and_who_settles_their_own_are_found() -> None:
    assert faults(SOUND, [2], left="a1", answered={("a1", PairKey("q0", "d0"))}) == [
        "a1: has left, with 2 unanswered pairs; reassign them with `annot assessor leave a1`"
    ]
    settling = {("q0", "d0"): {"a2", "j1"}}
    for may_assess, found in ((False, ("q0 d0: a2 both judges and settles it",)), (True, ())):
        assert found == faults_of(
            SOUND,
            documents=documents([2]),
            per_pair=2,
            left=(),
            answered=(),
            settling=settling,
            may_assess=may_assess,
            accepted=(),
        )


def test_a_pair_that_the_lead_accepts_with_fewer_assessors_is_no_fault() -> None:
    alone = [one for one in SOUND if one.pair != ("q0", "d0") or one.assessor == "a1"]
    asked: Any = {"per_pair": 2, "left": (), "answered": (), "settling": {}, "may_assess": False}
    short, *others = faults_of(alone, documents=documents([2]), accepted=(), **asked)
    assert short.startswith("q0 d0: 1 assessor (a1), expected 2")
    assert faults_of(alone, documents=documents([2]), accepted={("q0", "d0")}, **asked) == tuple(others)


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
    return [tuple(one.pair_key) for one in plan if one.assessor == name]


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
