"""Assessors against each other and the final grade, their pace and streaks: beside scikit-learn and counted by hand."""

import itertools

import numpy as np
import pytest
import scipy.stats
from annot.base.records import Assignment, Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.diagnosis import findings
from annot.measuring.diagnosis.findings import diagnose, hardest_pairs, paces, streaks
from annot.measuring.diagnosis.panel import (
    Panel,
    Repeat,
    SharedPairs,
    against_final,
    pairwise_matrix,
    panel_of,
    self_consistency,
    severities,
    severity,
)
from annot.measuring.forecast.hours import pair_time
from diagnosed import panel
from simulated_assessors import dense
from sklearn.metrics import cohen_kappa_score, confusion_matrix

LEVEL = 0.95


SCALE = (0, 1, 2, 3)


def test_matrix_between_assessors_is_that_of_scikit_learn(study: Panel) -> None:
    found = {(one.first, one.second): one for one in pairwise_matrix(study, level=LEVEL)}
    assert list(found) == [("a1", "a2"), ("a1", "a3"), ("a2", "a3")]
    for (first, second), one in found.items():
        columns = dense(study)[:, [study.assessors.index(first), study.assessors.index(second)]]
        x, y = columns[(columns >= 0).all(axis=1)].T
        assert one.same.of == len(x) == (120 if second == "a2" else 60)
        assert one.coefficient == pytest.approx(cohen_kappa_score(x, y, weights="quadratic"))
        assert np.array_equal(one.table, confusion_matrix(x, y, labels=SCALE))
        assert one.difference.value == pytest.approx(float((x - y).mean()))


def test_facets_of_one_paper_are_one_unit_as_if_they_were_one_query() -> None:
    """The same judgements under queries of two facets each, and under their papers: every interval of pairs is one."""
    rng = np.random.default_rng(8)
    truth = rng.choice(4, 240)
    shift = rng.random((240, 2)) < np.repeat([[0.1], [0.6], [0.2], [0.5], [0.3], [0.1]], 40, axis=0)
    grades = np.clip(truth[:, None] + shift * np.array([1, -1]), 0, 3)
    seconds = np.exp(rng.normal(2.5, 0.5, (240, 2)) + np.repeat(rng.normal(0, 0.5, (6, 2)), 40, axis=0))

    def panel(per_query: int, papers: dict[str, str] | None) -> Panel:
        names = [f"q{i // per_query:02}" for i in range(240)]
        given = [
            Judgement(names[i], f"d{i:03}", f"a{a}", int(grades[i, a]), lead_time=float(seconds[i, a]))
            for i in range(240)
            for a in range(2)
        ]
        final = [Decision(names[i], f"d{i:03}", int(truth[i]), "adjudicated") for i in range(240)]
        facets = dict.fromkeys(names, "method")
        return panel_of(given, final, facets, topics=papers, scale=SCALE, open_pairs=(), assignments=(), by_clock=False)

    of_facets, as_papers = panel(20, {f"q{q:02}": f"p{q // 2}" for q in range(12)}), panel(40, None)
    alone = panel(20, None)
    for figures in (
        lambda one: [
            x
            for pair in pairwise_matrix(one, level=LEVEL)
            for x in (pair.same.interval, pair.coefficient_interval, pair.difference.interval)
        ],
        lambda one: [
            x
            for of in against_final(one, level=LEVEL)
            for x in (
                of.same.interval,
                of.bias.interval,
                of.upheld.interval,
                *(one.interval for one in of.by_grade.values()),
            )
        ],
        lambda one: [severities(one, level=LEVEL)[0].severity.interval],
    ):
        for ours, merged, queries in zip(figures(of_facets), figures(as_papers), figures(alone), strict=True):
            assert (ours.low, ours.high) == pytest.approx((merged.low, merged.high))
            assert "6 query papers" in ours.method
            assert "12 queries" in queries.method
            assert (ours.low, ours.high) != pytest.approx((queries.low, queries.high), rel=0.001)
    of_paper, of_times = (
        paces(one, rushed={}, fence=3.0, level=LEVEL)[0].median_interval for one in (of_facets, alone)
    )
    assert of_paper.method == "sign test over 6 query papers"
    assert of_times.method == "order statistics"
    assert of_paper.high - of_paper.low > 1.5 * (of_times.high - of_times.low)


def test_against_final_counts_only_settled_pairs(study: Panel) -> None:
    for one in against_final(study, level=LEVEL):
        a = study.assessors.index(one.assessor)
        at = (dense(study)[:, a] >= 0) & (study.final >= 0)
        given, final = dense(study)[at, a], study.final[at]
        assert np.array_equal(one.table, confusion_matrix(final, given, labels=SCALE))
        assert one.same.of == at.sum() == (50 if one.assessor == "a3" else 100)
        assert one.bias.value == pytest.approx(float((given - final).mean()))
        for grade in SCALE:
            assert one.by_grade[grade].count == int(((given == grade) & (final == grade)).sum())
            assert one.by_grade[grade].of == int((final == grade).sum())
        settled = study.adjudicated[at]
        assert one.upheld.of == settled.sum()
        assert one.upheld.count == int((given == final)[settled].sum())


def test_a_pair_judged_by_one_person_alone_says_nothing_of_that_person() -> None:
    judgements = [Judgement(f"q{i % 2}", f"d{i}", "a1", i % 3) for i in range(8)]
    judgements += [Judgement("q0", "d0", "a2", 0), Judgement("q1", "d1", "a2", 1)]
    decisions = [Decision(f"q{i % 2}", f"d{i}", i % 3, "agreed") for i in range(7)]
    # A grade and a "cannot judge", settled: the final grade is the adjudicator's.
    decisions.append(Decision("q1", "d7", 2, "adjudicated"))
    panel = panel_of(
        judgements,
        decisions,
        {"q0": "method", "q1": "method"},
        scale=SCALE,
        open_pairs=(),
        assignments=(),
        by_clock=False,
    )
    first, second = against_final(panel, level=LEVEL)
    assert (first.same.count, first.same.of, second.same.of) == (2, 3, 2)
    alone = panel_of(
        judgements[:8],
        decisions[:7],
        {"q0": "method", "q1": "method"},
        scale=SCALE,
        open_pairs=(),
        assignments=(),
        by_clock=False,
    )
    (only,) = against_final(alone, level=LEVEL)
    assert only.same.value == Undefined("no other person judged or settled a pair that a1 judged")


def test_later_revision_and_flags_decide_what_counts() -> None:
    judgements = [
        Judgement("q1", "d1", "a1", 0),
        Judgement("q1", "d1", "a1", 3, revision=2),
        Judgement("q1", "d1", "a2", 1),
        Judgement("q1", "d1", "a2", 2, revision=2, flags=("foreign account",)),
        Judgement("q1", "d1", "a3", None, cannot_judge="no abstract"),
    ]
    panel = panel_of(judgements, [], {"q1": "method"}, scale=SCALE, open_pairs=(), assignments=(), by_clock=False)
    assert panel.assessors == ("a1",)
    assert dense(panel).tolist() == [[3]]


def test_self_consistency_on_planted_repeats() -> None:
    repeats = [Repeat("a1", f"q{i % 4}", f"d{i}", 1, 1) for i in range(16)]
    repeats += [Repeat("a1", f"q{i % 4}", f"e{i}", 2, 1) for i in range(3)]
    repeats += [Repeat("a1", "q0", "e9", 3, 1), Repeat("a2", "q0", "d0", 1, 1)]
    first, second, together = self_consistency(repeats, widest=3, level=LEVEL)
    assert (first.assessor, second.assessor, together.assessor) == ("a1", "a2", None)
    assert (first.same.count, first.same.of) == (16, 20)
    assert first.within_one.count == 19
    assert first.same.interval.low < 0.8 < first.same.interval.high
    assert first.change.value == pytest.approx(-5 / 20)
    assert [one.doc_id for one in first.changed] == ["e9", "e0", "e1", "e2"]
    assert isinstance(second.change.interval, Undefined)
    assert together.same.of == 21
    assert self_consistency([], widest=3, level=LEVEL) == ()
    papers = {f"q{n}": "p1" if n < 2 else "p2" for n in range(4)}
    assert self_consistency(repeats, widest=3, level=LEVEL, topics=papers)[0].same.interval.method.endswith(
        "2 query papers"
    )


# -- pace --------------------------------------------------------------------------------------------------------------


def pace(seconds: list[float]):
    (found,) = paces(panel([0] * len(seconds), seconds=seconds), rushed={}, fence=3.0, level=LEVEL)
    return found


def test_five_times_have_a_median_and_four_have_none() -> None:
    assert pace([10.0, 20.0, 30.0, 40.0, 50.0]).median == 30.0
    four = pace([10.0, 20.0, 30.0, 40.0])
    assert isinstance(four.median, Undefined)
    assert (four.n, four.n_slow, four.fences) == (4, 0, None)


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


# -- findings, drift, single pairs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("assessors", "grades"), [(2, 2), (3, 4), (8, 5)])
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


RULE = {"rushed": {}, "fence": 3.0, "level": 0.95}


def panel_by(judged: list[Judgement], plan: list[Assignment], *, by_clock: bool) -> Panel:
    facets = {one.query_id: "method" for one in judged}
    return panel_of(judged, [], facets, scale=(0, 1, 2, 3), open_pairs=(), assignments=plan, by_clock=by_clock)


def people(*sequences: tuple[str, list[int], list[str], list[float] | None]) -> Panel:
    """A panel of people, each with a name, and grades, queries and seconds in the order of judging."""
    judged, plan = [], []
    for name, grades, queries, seconds in sequences:
        for i, (grade, query) in enumerate(zip(grades, queries, strict=True)):
            took = None if seconds is None else seconds[i]
            judged.append(Judgement(query, f"d{i:03}", name, int(grade), lead_time=took))
            plan.append(Assignment(query, f"d{i:03}", name, i + 1))
    return panel_by(judged, plan, by_clock=False)


def robust_pace(seconds: list[float]):
    return paces(people(("a1", [0] * len(seconds), ["q1"] * len(seconds), [float(one) for one in seconds])), **RULE)[0]


@pytest.mark.parametrize("idle", [1, 12])
def test_idle_times_are_those_that_were_planted(idle: int) -> None:
    """Of 400 log-normal times 0.5 lie beyond the fence by themselves; the planted ones are pauses of 1 to 5 hours."""
    rng = np.random.default_rng(2)
    seconds = rng.lognormal(3.4, 0.4, 400)
    plain = robust_pace(list(seconds))
    assert plain.n_slow <= 2
    seconds[:idle] = 3600.0 * rng.integers(1, 6, idle)
    found = robust_pace(list(seconds))
    assert idle <= found.n_slow <= idle + 2
    assert found.median == pytest.approx(plain.median, rel=0.1)
    # Each pulled in to the fence, 3 widths of 0.4 above the median: 3.3 medians in place of 100.
    expected = plain.winsorised * (1 + idle / 400 * 2.2)
    assert found.winsorised == pytest.approx(expected, rel=0.06)


def test_pace_and_forecast_have_one_definition_of_idling() -> None:
    rng = np.random.default_rng(3)
    seconds = [*rng.lognormal(4.2, 0.4, 33), 7200.0, 3600.0, 10800.0]
    judged = [Judgement("q1", f"d{i:02}", "a1", 1, lead_time=float(one)) for i, one in enumerate(seconds)]
    theirs = pair_time(judged, 3.0)
    (ours,) = paces(panel_by(judged, [], by_clock=True), **RULE)
    low, high = ours.fences
    assert theirs.mean == pytest.approx(np.mean([one for one in seconds if low <= one <= high]))
    assert 3 <= ours.n_slow <= 4
    assert ours.winsorised < 1.3 * np.mean(seconds[:33])


def test_only_a_persons_own_pairs_are_too_fast_for_them() -> None:
    two = [(name, [1] * 6, ["q1"] * 6, [40.0] * 6) for name in ("a1", "a2")]
    rushed = {"a2": [("q1", "d003"), ("q1", "d001"), ("gold", "d9")], "j1": [("q1", "d000")]}
    first, second = paces(people(*two), **RULE | {"rushed": rushed})
    assert (first.too_fast, second.too_fast) == ((), (("q1", "d001"), ("q1", "d003")))


def test_without_times_there_are_words() -> None:
    found = paces(people(("a1", [1, 2], ["q1", "q1"], None)), **RULE)[0]
    assert found.median == Undefined("only 0 judgements have a time; 5 are needed")


def test_streak_p_value_is_that_of_all_orders() -> None:
    """Two queries of four: every order of grades within a query counted, against 2,000 drawn ones."""
    grades, queries = [0, 0, 0, 1, 1, 1, 0, 1], ["q1"] * 4 + ["q2"] * 4
    longest = [
        max(len(list(run)) for _, run in itertools.groupby(one + other))
        for one in itertools.permutations(grades[:4])
        for other in itertools.permutations(grades[4:])
    ]
    exact = float(np.mean(np.array(longest) >= 3))
    (found,) = streaks(people(("a1", grades, queries, None)), seed=5)
    assert (found.longest.length, found.longest.start, found.longest.grade) == (3, 1, 0)
    assert found.p_value == pytest.approx(exact, abs=0.04)
    assert found.expected == pytest.approx(float(np.mean(longest)), abs=0.09)


def test_a_run_in_a_query_of_one_grade_is_no_streak_but_a_planted_one_is() -> None:
    rng = np.random.default_rng(4)
    mixed = list(rng.integers(0, 3, 60))
    empty = ("a1", [0] * 40 + mixed, ["q1"] * 40 + ["q2"] * 60, None)
    lazy = ("a2", [*list(rng.integers(0, 3, 40)), *mixed[:30], *([1] * 14), *mixed[30:]], ["q1"] * 114, None)
    honest, flagged = streaks(people(empty, lazy), seed=5)
    assert honest.longest.length >= 40
    assert honest.flagged == ()
    assert flagged.p_value <= 0.02
    assert [(one.grade, one.length >= 14, one.start <= 71) for one in flagged.flagged] == [(1, True, True)]


def test_order_follows_the_clock_else_the_plan() -> None:
    plan = [Assignment("q1", "d1", "a1", 2), Assignment("q1", "d2", "a1", 1), Assignment("q2", "d1", "a1", 3)]
    judged = [
        Judgement("q1", "d1", "a1", 1, judged_at="2026-01-03T10:00:00Z", lead_time=4.0),
        Judgement("q1", "d2", "a1", 2, judged_at="2026-01-04T09:00:00Z"),
        Judgement("q2", "d1", "a1", 3, judged_at="2026-01-02T09:00:00Z"),
    ]
    timed = panel_by(judged, plan, by_clock=True)
    assert timed.by_clock.tolist() == [True]
    assert timed.grade[timed.in_order[0]].tolist() == [3, 1, 2]
    unasked = panel_by(judged, plan, by_clock=False)
    assert (unasked.by_clock.tolist(), unasked.grade[unasked.in_order[0]].tolist()) == ([False], [2, 1, 3])
    planned = panel_by([*judged[:2], Judgement("q2", "d1", "a1", 3)], plan, by_clock=True)
    assert (planned.by_clock.tolist(), planned.grade[planned.in_order[0]].tolist()) == ([False], [2, 1, 3])


def test_a_hidden_repeat_moves_no_first_judgement() -> None:
    plan = [Assignment("q1", "d1", "a1", 1), Assignment("q1", "d2", "a1", 2), Assignment("q1", "d1", "a1", 3, 2)]
    judged = [
        Judgement("q1", "d1", "a1", 0),
        Judgement("q1", "d2", "a1", 1),
        Judgement("q1", "d1", "a1", 2, occasion=2),
    ]
    one = panel_by(judged, plan, by_clock=True)
    assert one.grade[one.in_order[0]].tolist() == [0, 1]
