"""What is measured of assessors on a handful of pairs, counted by hand, at the edge of each rule."""

import numpy as np
import pytest
import scipy.stats
from annot.base.records import Assignment, Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis import findings
from annot.measuring.diagnosis.findings import diagnose, hardest_pairs, paces, streaks
from annot.measuring.diagnosis.panel import (
    Repeat,
    SharedPairs,
    against_final,
    pairwise_matrix,
    panel_of,
    self_consistency,
    severities,
    severity,
)
from diagnosed import panel

LEVEL = 0.95


# -- pace --------------------------------------------------------------------------------------------------------------


def pace(seconds: list[float]):
    (found,) = paces(panel([0] * len(seconds), seconds=seconds), rushed={}, fence=3.0, level=LEVEL)
    return found


def test_five_times_have_a_median_and_four_have_none() -> None:
    assert pace([10.0, 20.0, 30.0, 40.0, 50.0]).median == 30.0
    four = pace([10.0, 20.0, 30.0, 40.0])
    assert isinstance(four.median, Undefined)
    assert (four.n, four.n_slow, four.fences) == (4, 0, None)


@pytest.mark.parametrize(("n", "places"), [(6, (1, 6)), (9, (2, 8)), (20, (6, 15)), (100, (40, 61))])
def test_the_interval_of_a_median_has_the_places_of_conovers_table(n: int, places: tuple[int, int]) -> None:
    """The largest j with at most 2.5% below it in a binomial distribution of n and 1/2 (Conover 1999, table A3)."""
    interval = pace([float(place) for place in range(1, n + 1)]).median_interval
    assert (interval.low, interval.high) == places


def test_of_two_runs_of_one_length_the_first_is_the_longest() -> None:
    (found,) = streaks(panel([2, 2, 0, 0]), seed=1)
    assert (found.longest.grade, found.longest.start, found.longest.length) == (2, 1, 2)


def test_a_run_that_no_order_drawn_has_is_as_rare_as_the_orders_allow() -> None:
    """Of 2,000 orders of twenty 0 and twenty 1 none has a run of 20: one in 2,001."""
    (found,) = streaks(panel([0] * 20 + [1] * 20), seed=1)
    assert found.p_value == pytest.approx(1 / 2001)
    assert [(one.grade, one.start, one.length) for one in found.flagged] == [(0, 1, 20), (1, 21, 20)]


def test_orders_are_drawn_until_a_rare_run_could_hold_among_all_people() -> None:
    """Of 41 people: two in 100 over 41 needs 4,100 orders, which are three times 2,000; Holm corrects by 41."""
    rare = [0] * 20 + [1] * 20
    found = streaks(panel(rare, *[[0, 1, 2, 3] * 10] * 40), seed=1)
    assert found[0].p_value == pytest.approx(41 / 6001)


def test_what_was_not_planned_comes_last_by_document() -> None:
    plan = [Assignment("q1", "d001", "a1", 1), Assignment("q1", "d002", "a1", 2)]
    judged = [Judgement("q1", f"d00{at}", "a1", grade) for at, grade in enumerate([3, 0, 1, 2])]
    made = panel_of(judged, [], {"q1": "method"}, scale=(0, 1, 2, 3), open_pairs=(), assignments=plan, by_clock=False)
    assert [made.doc_ids[made.pair[at]] for at in made.in_order[0]] == ["d001", "d002", "d000", "d003"]


# -- matrices ----------------------------------------------------------------------------------------------------------


def test_two_assessors_are_compared_from_five_common_pairs_on() -> None:
    assert len(pairwise_matrix(panel([0, 1, 2, 3, 0], [0, 1, 2, 3, 1]), level=LEVEL)) == 1
    assert pairwise_matrix(panel([0, 1, 2, 3], [0, 1, 2, 3]), level=LEVEL) == ()


def test_the_distance_of_two_is_made_of_severity_thresholds_and_noise() -> None:
    """Differences 2, 1, -1, 0, 0, 0: distance 4/6, net 2/6. At the thresholds 1, 2, 3 the first is above the second in
    2, 1, 1 pairs and below in 1, 1, 0: 1 + 0 + 1 one way."""
    (found,) = pairwise_matrix(panel([3, 1, 1, 0, 2, 3], [1, 0, 2, 0, 2, 3]), level=LEVEL)
    assert found.distance == pytest.approx(4 / 6)
    assert found.parts == pytest.approx({"severity": 2 / 6, "threshold": 0.0, "noise": 2 / 6})
    assert (found.same.count, found.same.of) == (3, 6)
    assert found.table == ((1, 0, 0, 0), (1, 0, 1, 0), (0, 0, 1, 0), (0, 1, 0, 1))


def test_a_threshold_moved_one_way_and_another_the_other_way_are_neither_severity_nor_noise() -> None:
    """The first opens grade 1 twice as often, and grade 3 half as often: the means are equal."""
    (found,) = pairwise_matrix(panel([1, 1, 2, 2, 0], [0, 0, 3, 3, 0]), level=LEVEL)
    assert found.parts == pytest.approx({"severity": 0.0, "threshold": 4 / 5, "noise": 0.0})
    assert (found.same.count, found.same.of) == (1, 5)


@pytest.mark.parametrize(("queries", "has"), [(3, False), (4, True)])
def test_kappa_between_two_has_an_interval_from_four_queries_on(queries: int, has: bool) -> None:
    names = [f"q{q}" for q in range(queries) for _ in range(4)]
    first, second = [0, 1, 2, 3] * queries, [0, 1, 3, 2, 0, 2, 2, 3, 1, 1, 2, 3, 0, 1, 2, 2][: 4 * queries]
    (found,) = pairwise_matrix(panel(first, second, queries=names), level=LEVEL)
    assert isinstance(found.coefficient_interval, Undefined) is not has


@pytest.mark.parametrize(
    ("papers", "name"), [(None, "query q2"), ({f"q{q}": f"p{q}" for q in range(4)} | {"q4": "p3"}, "query paper p2")]
)
def test_a_kappa_that_hangs_on_one_query_names_it(papers: dict[str, str] | None, name: str) -> None:
    """Without q2 both give grade 1 throughout: kappa divides by zero."""
    names = [f"q{q}" for q in range(5) for _ in range(2)]
    given = [1, 1, 1, 1, 0, 2, 1, 1, 1, 1]
    (found,) = pairwise_matrix(panel(given, given, queries=names, papers=papers), level=LEVEL)
    assert found.coefficient == 1.0
    assert found.coefficient_interval.reason.startswith(f"kappa has no value without {name}: ")


def test_an_assessor_against_the_final_grades_is_counted_grade_by_grade() -> None:
    final = [
        Decision("q1", "d000", 0, "agreed"),
        Decision("q1", "d001", 2, "adjudicated", adjudicator="j1"),
        Decision("q1", "d002", 2, "adjudicated", adjudicator="j1"),
        Decision("q1", "d003", 3, "single"),
    ]
    (one, _) = against_final(panel([0, 2, 1, 3], [0, 1, 2, -1], final=final), level=LEVEL)
    # The pair that only this person judged has their own grade, and does not count.
    assert (one.same.count, one.same.of) == (2, 3)
    assert (one.upheld.count, one.upheld.of) == (1, 2)
    assert {grade: (of.count, of.of) for grade, of in one.by_grade.items()} == {
        **{0: (1, 1), 1: (0, 0)},
        **{2: (1, 2), 3: (0, 0)},
    }
    assert one.bias.value == pytest.approx(-1 / 3)
    assert one.table == ((1, 0, 0, 0), (0, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 0))


def test_while_one_dispute_is_open_nothing_is_said_against_final_grades() -> None:
    final = [Decision("q1", "d000", 0, "agreed")]
    (one, _) = against_final(panel([0, 2], [0, 1], final=final, open_pairs=(("q1", "d001"),)), level=LEVEL)
    assert "1 of 2 pairs that a1 judged are in dispute" in one.same.value.reason
    assert (one.same.count, one.same.of) == (0, 0)


def test_severity_is_so_many_grades_below_the_others() -> None:
    """On three queries one grade lower, on the fourth two: 5/4 of a grade."""
    names = ["q1", "q2", "q3", "q4"]
    strict, other = severities(panel([0, 1, 2, 0], [1, 2, 3, 2], queries=names), level=LEVEL)
    assert (strict.severity.value, other.severity.value) == (1.25, -1.25)
    assert (strict.n, strict.partners) == (4, ("a2",))


def test_repeats_are_counted_equal_within_one_and_by_direction() -> None:
    repeats = [
        Repeat("a1", "q1", f"d{at}", first, second) for at, (first, second) in enumerate([(2, 2), (1, 2), (3, 1)])
    ]
    one, together = self_consistency(
        [*repeats, Repeat("a1", "q1", "d8", 0, 0), Repeat("a1", "q1", "d9", 2, 1)], widest=3.0, level=LEVEL
    )
    assert (one.assessor, together.assessor) == ("a1", None)
    assert (one.same.count, one.within_one.count, one.same.of) == (2, 4, 5)
    assert one.change.value == pytest.approx((0 + 0 + 1 - 2 - 1) / 5)
    assert [(repeat.first, repeat.second) for repeat in one.changed] == [(3, 1), (1, 2), (2, 1)]
    assert self_consistency([], widest=3.0, level=LEVEL) == ()


# -- findings, drift, single pairs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("assessors", [2, 3, 8])
@pytest.mark.parametrize("grades", [2, 4, 5])
def test_so_many_papers_are_needed_that_all_of_them_pointing_one_way_hold(assessors: int, grades: int) -> None:
    """A sign test of n papers has p = 2 / 2 ** n at best; severity, noise and each threshold are asked of everybody."""
    tests = assessors * (grades + 1)
    assert findings.papers_needed(assessors, grades) == next(n for n in range(2, 99) if tests * 2 / 2**n <= 0.02)


@pytest.mark.parametrize("tests", [1, 3, 12])
def test_a_change_half_way_needs_so_many_papers_that_one_of_all_halves_holds(tests: int) -> None:
    """One of the ways to halve n papers, and its mirror image, are as clear as can be."""
    halves = {4: 6, 5: 10, 6: 20, 7: 35, 8: 70, 9: 126, 10: 252, 11: 462, 12: 924, 13: 1716}
    assert findings.papers_needed_for_drift(tests) == next(n for n, ways in halves.items() if tests * 2 / ways <= 0.02)


@pytest.mark.parametrize(
    ("constant", "others", "named"),
    [(20, 4, True), (19, 4, False), (20, 2, True), (20, 1, False)],
    ids=["20 judgements", "19 judgements", "the other gives nine tenths", "the other hardly gives another"],
)
def test_one_grade_throughout_carries_no_information_from_twenty_judgements_on(
    constant: int, others: int, named: bool
) -> None:
    second = [0] * (constant - others) + [2] * others
    found = diagnose(panel([0] * constant, second), level=LEVEL)
    assert [(one.assessor, one.kind, one.grade, one.either) for one in found.findings] == (
        [("a1", "no information", 0, False)] if named else []
    )


def test_99_of_100_equal_grades_carry_no_information_and_98_may() -> None:
    varied = [0, 1, 2, 3] * 25
    for other, named in ((1, True), (2, False)):
        found = diagnose(panel([1] * other + [0] * (100 - other), varied), level=LEVEL)
        kinds = [one.kind for one in found.findings if one.assessor == "a1"]
        assert ("no information" in kinds) is named


def test_the_detectable_severity_is_that_of_a_t_test_corrected_for_all_that_is_tested() -> None:
    """Two strict people of five: the clearest first; the median over people of (t(1 - p/2) + t(.8)) errors."""
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 3, 480)
    given = np.clip(truth[:, None] + rng.integers(-1, 2, (480, 5)) * (rng.random((480, 5)) < 0.2), 0, 3)
    given[:, 0] = np.clip(given[:, 0] - (rng.random(480) < 0.6), 0, 3)
    given[:, 1] = np.clip(given[:, 1] - (rng.random(480) < 0.4), 0, 3)
    made = panel(*given.T.tolist(), queries=[f"q{at // 20:02}" for at in range(480)])
    found = diagnose(made, level=LEVEL)
    assert [one.assessor for one in found.findings] == ["a1", "a2"]
    assert 0 < found.findings[0].p_value <= found.findings[1].p_value
    lenience = severity(SharedPairs(made, without=()))
    t = scipy.stats.t(lenience.freedom)
    sizes = (t.ppf(1 - 0.02 / found.tested / 2) + t.ppf(0.8)) * lenience.error
    assert found.detectable == pytest.approx(float(np.median(sizes)))


def test_the_hardest_pairs_of_a_query_are_three_with_the_share_as_far_apart() -> None:
    """Spreads 3, 1, 1, 2, 0 and a pair judged once: of five pairs judged twice one is 3 apart, two 2, four 1."""
    queries = ["q1"] * 6
    found = hardest_pairs(panel([0, 0, 1, 1, 2, 3], [3, 1, 2, 3, 2, -1], queries=queries))
    assert [(one.doc_id, one.spread, one.share) for one in found] == [
        ("d000", 3, 1 / 5),
        ("d003", 2, 2 / 5),
        ("d001", 1, 4 / 5),
    ]
    assert found[0].grades == {"a1": 0, "a2": 3}


def test_spread_counts_places_of_the_scale_and_grades_are_those_given() -> None:
    (found,) = hardest_pairs(panel([0], [3], scale=(0, 1, 3)))
    assert (found.spread, found.grades) == (2, {"a1": 0, "a2": 3})


def test_who_judged_a_pair_and_what_is_final_is_in_the_panel() -> None:
    made = panel([0, 3], [1, -1], final=[Decision("q1", "d001", 3, "adjudicated", adjudicator="j1")])
    assert made.n_judged.tolist() == [2, 1]
    assert made.final.tolist() == [-1, 3]
    assert made.independent.tolist() == [False, True]
    assert np.isnan(made.seconds).all()
    assert made.widest == 3.0
