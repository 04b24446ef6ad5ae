"""What is in dispute, and who may settle it."""

from collections.abc import Mapping, Sequence

import pytest
from annot.base.errors import InputError
from annot.base.records import Adjudication, Decision, Judgement, Query
from annot.study.outcome import (
    Dispute,
    PlannedJudgements,
    assign_adjudicators,
    planned_judgements,
    queue,
    rulings_of,
    settle,
    shown_order,
    unexplained_of,
)

PLANNED = {("q", doc): ("a1", "a2") for doc in ("same", "apart", "unsure", "half", "flagged")}


def judgement(doc: str, assessor: str, grade: int | None, **more: object) -> Judgement:
    return Judgement("q", doc, assessor, grade, **more)  # type: ignore[arg-type]


def sorted_out(
    teams: Mapping[tuple[str, str], tuple[str, ...]],
    given: Sequence[Judgement],
    *,
    per_pair: int | None = 2,
    accepted: tuple[tuple[str, str], ...] = (),
) -> tuple[PlannedJudgements, tuple[Decision, ...], tuple[Dispute, ...]]:
    progress = planned_judgements((), teams, (), given, per_pair=per_pair, accepted=accepted)
    return progress, *settle(teams, given, unfinished=progress.unfinished)


def test_pairs_are_agreed_disputed_or_incomplete() -> None:
    progress, agreed, disputed = sorted_out(
        PLANNED,
        [
            judgement("same", "a1", 2),
            judgement("same", "a2", 2),
            judgement("apart", "a1", 0),
            judgement("apart", "a2", 3),
            judgement("unsure", "a1", 1),
            judgement("unsure", "a2", None, cannot_judge="not English"),
            judgement("half", "a1", 1),
            judgement("flagged", "a1", 1),
            judgement("flagged", "a2", 1, flags=("another account",)),
        ],
    )
    assert [(one.doc_id, one.grade, one.origin) for one in agreed] == [("same", 2, "agreed")]
    assert [one[0].doc_id for one in disputed] == ["apart", "unsure"]
    assert progress.unfinished == {("q", "flagged"), ("q", "half")}


def test_a_judgement_from_outside_the_plan_does_not_count() -> None:
    given = [judgement("same", name, 1) for name in ("a1", "a3")]
    progress, agreed, _disputed = sorted_out({("q", "same"): ("a1", "a2")}, given)
    assert progress.unfinished == {("q", "same")}
    assert not agreed


@pytest.mark.parametrize(
    ("team", "per_pair", "accepted", "complete"),
    [(("a1",), 2, (), False), (("a1",), 2, (("q", "same"),), True), (("a1",), None, (), True), ((), 2, (), False)],
    ids=["one of two", "taken all the same", "imported", "nobody's"],
)
def test_a_pair_needs_as_many_judgements_as_planned_whoever_left(
    team: tuple[str, ...], per_pair: int | None, accepted: tuple[tuple[str, str], ...], complete: bool
) -> None:
    progress, agreed, _disputed = sorted_out(
        {("q", "same"): team}, [judgement("same", "a1", 1)], per_pair=per_pair, accepted=accepted
    )
    assert bool(agreed) is complete
    assert progress.unfinished == (set() if complete else {("q", "same")})


def dispute(doc: str, first: int, second: int, names: tuple[str, str] = ("a1", "a2"), *, query: str = "q") -> Dispute:
    return Judgement(query, doc, names[0], first), Judgement(query, doc, names[1], second)


def test_disputes_come_topic_by_topic_then_facet_by_facet_whatever_their_gap() -> None:
    """By ids alone, p-method would stand between the two facets of p."""
    facets = [("p", "background", "p-background"), ("p-1", "method", "p-1-method"), ("p", "result", "p-result")]
    queries = {name: Query(name, topic, facet, ()) for topic, facet, name in facets}
    mixed = [dispute(doc, low, 3, query=name) for low, name in enumerate(queries) for doc in ("y", "x")]
    assert [one[0].pair for one in queue(mixed, queries)] == [
        (name, doc) for name in ("p-background", "p-result", "p-1-method") for doc in ("x", "y")
    ]


def test_neither_place_on_the_screen_belongs_to_one_assessor() -> None:
    first = [shown_order(dispute(f"d{n}", 0, 1), seed=3)[0].assessor for n in range(200)]
    # 200 fair coins: outside 70..130 once in 50,000 draws.
    assert 70 <= first.count("a1") <= 130
    assert first == [shown_order(dispute(f"d{n}", 0, 1), seed=3)[0].assessor for n in range(200)]


def test_nobody_settles_a_pair_they_judged() -> None:
    disputes = [dispute(f"d{n}", 0, 1, ("a1", "a2") if n % 2 else ("a2", "a3")) for n in range(20)]
    given = assign_adjudicators(disputes, ["a1", "a3"], may_assess=False, seed=1, current={}, passed_on={})
    assert all(given["q", f"d{n}"] == ("a3" if n % 2 else "a1") for n in range(20))


def test_a_pair_without_a_free_adjudicator_is_named() -> None:
    with pytest.raises(InputError) as caught:
        assign_adjudicators([dispute("d", 0, 1)], ["a1"], may_assess=False, seed=1, current={}, passed_on={})
    assert caught.value.faults[0].startswith("q d:")
    assert assign_adjudicators([dispute("d", 0, 1)], ["a1"], may_assess=True, seed=1, current={}, passed_on={}) == {
        ("q", "d"): "a1"
    }


def test_a_standing_dispute_keeps_its_adjudicator() -> None:
    disputes = [dispute(f"d{n}", 0, 1) for n in range(4)]
    given = assign_adjudicators(
        disputes, ["e1", "e2"], may_assess=False, seed=1, current={("q", "d0"): "e2"}, passed_on={}
    )
    assert given["q", "d0"] == "e2"
    assert set(given) == {("q", f"d{n}") for n in range(4)}


def ruling(person: str, grade: int | None, doc: str = "d", **more: object) -> Adjudication:
    reason = None if grade is not None or more.get("flags") else "no abstract"
    return Adjudication("q", doc, person, grade, "shown", (), cannot_judge=reason, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "asked", "standing"),
    [
        ([ruling("j1", 2)], 1, "graded"),
        ([ruling("j1", None)], 1, "unjudgeable"),
        ([ruling("j1", None)], 2, "passed_on"),
        ([ruling("j1", None), ruling("j2", None)], 2, "unjudgeable"),
        ([ruling("j1", None), ruling("j2", 0)], 2, "graded"),
        # The same person twice is one person, and their last word counts.
        ([ruling("j1", None), ruling("j1", None)], 2, "passed_on"),
        ([ruling("j1", 3), ruling("j1", None)], 1, "unjudgeable"),
        ([ruling("j1", None), ruling("j1", 1)], 1, "graded"),
        ([ruling("j1", None, flags=("skipped",))], 1, None),
        ([ruling("j1", 3), ruling("j1", None, flags=("skipped",))], 1, "graded"),
    ],
)
def test_what_adjudicators_said_settles_ends_or_passes_on(
    said: list[Adjudication], asked: int, standing: str | None
) -> None:
    found = rulings_of(said, asked=asked, agreed=())
    assert [name for name in ("graded", "unjudgeable", "passed_on") if getattr(found, name)] == (
        [] if standing is None else [standing]
    )


def test_of_two_grades_the_later_counts_whoever_gave_it() -> None:
    early, late = ruling("j2", 1, judged_at="2031-01-01T00:00:00Z"), ruling("j1", 2, judged_at="2031-01-02T00:00:00Z")
    assert rulings_of([late, early], asked=2, agreed=()).graded == {("q", "d"): late}


def test_what_one_could_not_judge_goes_to_somebody_who_has_not_seen_it() -> None:
    pairs = [dispute(f"d{n}", 0, 1, ("a1", "j3")) for n in range(6)]
    passed_on = {("q", one[0].doc_id): {"j1"} for one in pairs}
    given = assign_adjudicators(pairs, ["j1", "j2", "j3"], may_assess=True, seed=1, current={}, passed_on=passed_on)
    assert set(given.values()) == {"j2"}
    # Nobody is left: no pair of them is given to anybody, and the others are as ever.
    given = assign_adjudicators(
        [*pairs, dispute("other", 0, 1)], ["j1", "j3"], may_assess=False, seed=1, current={}, passed_on=passed_on
    )
    assert set(given) == {("q", "other")}


def test_words_are_missed_where_a_pair_was_overruled_or_its_grades_lie_far_apart() -> None:
    """By hand: `near` was settled between two neighbours, `one` has a single grade, so neither asks for words."""
    grades = {"near": (1, 2), "over": (1, 2), "wide": (0, 2), "one": (1, None), "told": (0, 3), "unsure": (2, 3)}
    given = [
        judgement(doc, name, grade) for doc, both in grades.items() for name, grade in zip("ab", both, strict=True)
    ]
    given += [judgement("unsure", "c", 0, flags=("another account",))]
    rulings = {
        ("q", doc): Adjudication("q", doc, "j1", grade, "shown", (), reason=reason, comment=comment)
        for doc, grade, reason, comment in [
            ("near", 2, None, None),
            ("over", 3, None, "Both missed the appendix."),
            ("wide", 2, "one read the title only", None),
            ("one", 3, None, None),
            ("told", 3, "one read the title only", "The abstract says so."),
            ("unsure", 2, None, None),
        ]
    }
    assert unexplained_of(rulings, given) == (3, 1, 1)
