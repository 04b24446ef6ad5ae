"""Findings over whole queries beside scipy's tests, in words; hard pairs and gaps in the guidelines."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from annot.base.stats.values import Undefined, to_json
from annot.measuring.diagnosis.contrasts import detectable, higher, noise, severity, threshold, variance_between
from annot.measuring.diagnosis.findings import Diagnosis, diagnose
from annot.measuring.diagnosis.panel import Panel, SharedPairs
from annot.publishing.report.words import sentences
from scipy import stats
from simulated_assessors import GRADE_MIX, TEAMS, Study, dense, of_papers, panel, simulate


def diagnosis_of(one: Panel) -> Diagnosis:
    found = diagnose(one, level=0.95)
    assert isinstance(found, Diagnosis)
    json.dumps(to_json(found), allow_nan=False)
    return found


def told(one: Panel) -> str:
    """The findings as the report tells them."""
    return " ".join(sentences("assessors.findings", diagnosis=diagnosis_of(one), power=0.8, undefined=False))


def adjacent(rng: np.random.Generator, truth: np.ndarray, assessors: int, rate: float = 0.2) -> np.ndarray:
    """Grades off by one at a rate."""
    step = rng.choice([-1, 0, 1], (len(truth), assessors), p=[rate / 2, 1 - rate, rate / 2])
    return np.clip(truth[:, None] + step, 0, 3)


def by_query(one: Panel, values: np.ndarray) -> np.ndarray:
    """The mean of each query, values at nan left out."""
    return np.array([np.nanmean(values[one.query == q]) for q in np.unique(one.query)])


def test_severity_and_thresholds_are_scipys_t_tests_of_query_means() -> None:
    one, _ = simulate(Study("all", None, 3.0, queries=12), 1)
    compared = SharedPairs(one, without=())
    grades = dense(one).astype(float)
    for found, values in ((severity(compared), grades), (threshold(compared, 2), (grades >= 2).astype(float))):
        for a in range(4):
            means = by_query(one, values[:, a] - np.delete(values, a, axis=1).mean(axis=1))
            theirs = stats.ttest_1samp(means, 0.0)
            assert found.mean[a] == pytest.approx(means.mean())
            assert found.p[a] == pytest.approx(theirs.pvalue)
            interval = found.estimate(a, level=0.9, most=3.0, sign=1.0).interval
            assert (interval.low, interval.high) == pytest.approx(tuple(theirs.confidence_interval(0.9)))
            telling = int((abs(means) > 1e-12).sum())
            assert (found.n[a], found.telling[a]) == (12, telling)
            assert found.least[a] == pytest.approx(stats.binomtest(telling, telling).pvalue)


def of_facets(one: Panel) -> tuple[np.ndarray, np.ndarray]:
    """The query means of the differences of the first assessor, and the paper of each query."""
    grades = dense(one).astype(float)
    means = by_query(one, grades[:, 0] - np.delete(grades, 0, axis=1).mean(axis=1))
    first = [int(np.flatnonzero(one.query == query)[0]) for query in range(len(means))]
    return means, one.paper[first]


def test_papers_of_several_facets_are_the_sample_of_the_t_test() -> None:
    one, _ = simulate(Study("all", None, queries=24, facets=2, carried=0.3), 1)
    means, paper = of_facets(one)
    found = severity(SharedPairs(one, without=()))
    of_paper = np.array([means[paper == p].mean() for p in np.unique(paper)])
    theirs = stats.ttest_1samp(of_paper, 0.0)
    assert (found.n[0], found.units[0]) == (24, 12)
    assert found.mean[0] == pytest.approx(means.mean())
    assert found.p[0] == pytest.approx(theirs.pvalue)
    interval = found.estimate(0, level=0.95, most=3.0, sign=1.0).interval
    assert (interval.low, interval.high) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert interval.method == "clustered by 12 query papers, Student's t"


def test_papers_with_fewer_facets_keep_the_mean_over_queries_with_the_jackknife_over_papers() -> None:
    one, _ = simulate(Study("all", None, queries=of_papers(12, 3, fewer=True), facets=3, fewer=True, carried=0.3), 1)
    means, paper = of_facets(one)
    found = severity(SharedPairs(one, without=()))
    without = np.array([means[paper != p].mean() for p in np.unique(paper)])
    error = np.sqrt(11 / 12 * ((without - without.mean()) ** 2).sum())
    assert sorted(np.bincount(paper)) == [1] * 4 + [3] * 8
    assert (found.mean[0], found.error[0]) == pytest.approx((means.mean(), error))
    assert found.p[0] == pytest.approx(2 * stats.t.sf(abs(means.mean()) / error, 11))


def distances(grades: np.ndarray, couples: list[tuple[int, int]]) -> np.ndarray:
    """The mean distance of each pair's grades over the couples that both judged it, nan where there is none."""
    apart = [
        np.where((grades[:, [a, b]] < 0).any(axis=1), np.nan, abs(grades[:, a] - grades[:, b])) for a, b in couples
    ]
    counts = np.isfinite(apart).sum(axis=0)
    return np.where(counts > 0, np.nansum(apart, axis=0) / np.maximum(counts, 1), np.nan)


@pytest.mark.parametrize("design", ["all", "per-pair"])
def test_noise_is_the_distance_to_others_less_that_between_them_in_the_same_query(design: str) -> None:
    one, _ = simulate(Study(design, None, 3.0, queries=12), 2)
    grades = dense(one)
    found = noise(SharedPairs(one, without=()))
    for a in range(4):
        mine = by_query(one, distances(grades, [team for team in TEAMS if a in team]))
        theirs = by_query(one, distances(grades, [team for team in TEAMS if a not in team]))
        test = stats.ttest_1samp(mine - theirs, 0.0, alternative="greater")
        assert found.mean[a] == pytest.approx((mine - theirs).mean())
        assert found.p[a] == pytest.approx(test.pvalue)


def test_noise_of_teams_that_judge_whole_queries_is_welchs_test_between_queries() -> None:
    one, _ = simulate(Study("per-query", None, 3.0, queries=24), 2)
    found = noise(SharedPairs(one, without=()))
    apart = by_query(one, distances(dense(one), TEAMS))
    for a in range(4):
        mine = np.array([a in TEAMS[q % len(TEAMS)] for q in range(24)])
        test = stats.ttest_ind(apart[mine], apart[~mine], equal_var=False, alternative="greater")
        assert (found.n[a], found.p[a]) == (12, pytest.approx(test.pvalue))
        assert found.freedom[a] == pytest.approx(test.df)


def both_tests(groups: list[np.ndarray], units: np.ndarray | None = None) -> tuple:
    """Welch's test of the first two groups, and the analysis of variance of all; each value a unit of its own."""
    values, group = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    units = np.arange(len(values)) if units is None else units
    two = group < 2
    return higher(values[two], group[two] == 1, units[two]), variance_between(values, group, units)


def test_tests_between_groups_are_scipys() -> None:
    rng = np.random.default_rng(5)
    groups = [rng.normal(size=n) for n in (7, 4, 9)]
    ours, three = both_tests(groups)
    _, two = both_tests(groups[:2])
    assert three.p == pytest.approx(stats.f_oneway(*groups).pvalue)
    test = stats.ttest_ind(groups[0], groups[1])
    assert two.p == pytest.approx(test.pvalue)
    assert two.difference / two.error == pytest.approx(test.statistic)
    theirs = stats.ttest_ind(groups[0], groups[1], equal_var=False)
    assert (ours.difference / ours.error, ours.freedom) == pytest.approx((theirs.statistic, theirs.df))
    # 11 queries have 330 choices of 4; none is rarer.
    assert (ours.least, two.least) == (pytest.approx(1 / 330), pytest.approx(2 / 330))
    assert both_tests([np.ones(3), np.ones(3)])[0] is None
    assert both_tests([np.array([1.0]), np.array([2.0])])[1] is None


def test_queries_of_one_paper_that_say_the_same_count_as_one() -> None:
    rng = np.random.default_rng(6)
    groups = [rng.normal(size=n) for n in (7, 4, 9)]
    papers = np.repeat(np.arange(20), 3)
    for once, thrice in zip(both_tests(groups), both_tests([np.repeat(one, 3) for one in groups], papers), strict=True):
        assert tuple(thrice) == pytest.approx(tuple(once))


def test_papers_with_queries_on_both_sides_are_compared_within() -> None:
    """Papers differ by far more than the facets: the paired t-test of scipy sees it, Welch's does not."""
    rng = np.random.default_rng(7)
    paper = rng.normal(0, 5, 9)
    first, second = paper + rng.normal(1.0, 0.3, 9), paper + rng.normal(0, 0.3, 9)
    units = np.concatenate([np.arange(9), np.arange(9)])
    test, between = both_tests([first, second], units)
    theirs = stats.ttest_rel(first, second, alternative="greater")
    assert (test.difference / test.error, test.freedom) == pytest.approx((theirs.statistic, 8))
    assert test.p == pytest.approx(theirs.pvalue)
    assert test.least == pytest.approx(2.0**-9)
    assert between.p < 0.001 < 0.2 < both_tests([first, second])[0].p


def test_what_is_called_detectable_is_found_with_that_power() -> None:
    """The power of a t-test by the noncentral t distribution, of 50 queries."""
    size = float(detectable(1 / np.sqrt(50), 49.0, 0.001))
    bound = stats.t.ppf(1 - 0.0005, 49)
    assert stats.nct.sf(bound, 49, size * np.sqrt(50)) == pytest.approx(0.8, abs=0.01)


def test_a_finding_comes_with_its_size_and_its_interval() -> None:
    one, planted = simulate(Study("all", "severity", 3.0), 3)
    finding = diagnosis_of(one).findings[0]
    assert (finding.assessor, finding.kind, finding.direction) == (planted.assessor, "severity", "more lenient")
    # 0.4 on the line of similarity is 0.3 grades: pairs beyond the lowest and the highest threshold cannot move.
    assert finding.size.interval.low < 0.3 < finding.size.interval.high
    assert (finding.n, finding.queries, finding.either) == (1000, 50, False)
    assert told(one).startswith(f"Assessor {planted.assessor} graded 0.")
    assert "grades higher than" in told(one)
    assert "95% interval 0." in told(one)
    assert "over 50 queries, p < 0.001)." in told(one)


def test_a_moved_threshold_is_told_as_one() -> None:
    one, planted = simulate(Study("all", "share"), 0)
    finding = diagnosis_of(one).findings[0]
    assert (finding.assessor, finding.kind, finding.grade) == (planted.assessor, "threshold", planted.grade)
    assert finding.size.interval.low < 0.25 * 0.3 < finding.size.interval.high
    assert f"gave grade {planted.grade} or higher" in told(one)


def test_a_finding_names_only_partners_with_common_pairs() -> None:
    rng = np.random.default_rng(1)
    truth = rng.choice(4, 600, p=GRADE_MIX)
    grades = adjacent(rng, truth, 4)
    grades[:, 0] = np.clip(grades[:, 0] - (rng.random(600) < 0.4), 0, 3)
    query = np.repeat(np.arange(30), 20)
    grades[np.ix_(query < 20, [3])] = -1
    grades[np.ix_(query >= 20, [0])] = -1
    (finding,) = diagnosis_of(panel(grades, query)).findings
    assert (finding.assessor, finding.kind, finding.against) == ("a1", "severity", ("a2", "a3"))


def test_of_two_assessors_it_is_said_that_either_may_differ() -> None:
    rng = np.random.default_rng(2)
    grades = adjacent(rng, rng.choice(4, 600, p=GRADE_MIX), 2)
    grades[:, 1] = np.clip(grades[:, 1] + (rng.random(600) < 0.4), 0, 3)
    one = panel(grades, np.repeat(np.arange(20), 30))
    (finding,) = diagnosis_of(one).findings
    assert (finding.kind, finding.either) == ("severity", True)
    assert "two assessors alone do not show which" in told(one)


def test_one_grade_given_throughout_carries_no_information_and_leaves_the_others_alone() -> None:
    one, planted = simulate(Study("all", "constant"), 1)
    (finding,) = diagnosis_of(one).findings
    assert (finding.assessor, finding.kind, finding.grade, finding.direction) == (
        planted.assessor,
        "no information",
        3,
        None,
    )
    assert finding.size.value >= 0.99
    assert isinstance(finding.p_value, Undefined)
    assert told(one).startswith(f"Assessor {planted.assessor} gave grade 3 to ")
    assert "such grades carry no information" in told(one)
    # Where everybody gives hardly anything else, it is the pairs.
    same = panel(np.where(np.arange(2000).reshape(500, 4) % 211, 0, 1), np.repeat(np.arange(25), 20))
    assert diagnosis_of(same).findings == ()


def test_nobody_is_told_twice_and_noise_around_a_threshold_is_one_finding() -> None:
    rng = np.random.default_rng(3)
    grades = adjacent(rng, rng.choice(4, 1000, p=GRADE_MIX), 4, rate=0.1)
    unsure = np.flatnonzero(np.isin(grades[:, 2], (1, 2)))
    grades[unsure, 2] = rng.integers(1, 3, len(unsure))
    findings = diagnosis_of(panel(grades, np.repeat(np.arange(50), 20))).findings
    assert [(one.assessor, one.kind, one.direction) for one in findings] == [("a3", "noise", None)]
    assert findings[0].size.value > 0.05


@pytest.mark.parametrize(
    "grades",
    [
        np.zeros((60, 3), int),
        np.tile(np.arange(60)[:, None] % 4, (1, 3)),
        np.array([[1, 2]]),
        np.array([[0, 3]] * 40),
        np.minimum(np.arange(120).reshape(40, 3) % 3, 1),
    ],
    ids=["one grade", "always agreed", "one pair", "always opposed", "two grades of four"],
)
def test_four_queries_prove_nothing_whatever_they_hold(grades: np.ndarray) -> None:
    one = (
        panel(grades, np.arange(len(grades)) % 4)
        if len(grades) == 1
        else panel(grades, np.sort(np.arange(len(grades)) % 4))
    )
    found = diagnosis_of(one)
    assert [finding for finding in found.findings if finding.kind != "no information"] == []
    if len(grades) == 60:
        assert found.hardest == ()


def test_those_with_too_few_queries_are_named() -> None:
    rng = np.random.default_rng(4)
    grades = adjacent(rng, rng.choice(4, 600, p=GRADE_MIX), 3)
    query = np.repeat(np.arange(30), 20)
    grades[np.ix_(query > 4, [2])] = -1
    one = panel(grades, query)
    assert (diagnosis_of(one).untested, diagnosis_of(one).too_small) == (("a3",), False)
    # 15 ways to differ: p at least 2 / 2 ** 11, times 15, is below 0.02, and with 10 it is not.
    assert "Not compared, because they share too few query papers with others (11 are needed): a3." in told(one)


@pytest.mark.parametrize(("papers", "enough"), [(10, False), (11, True)])
def test_a_study_that_is_too_small_says_how_many_papers_it_needs(papers: int, enough: bool) -> None:
    """The third assessor is a grade stricter throughout: with one paper too few nothing is found, and that is said."""
    rng = np.random.default_rng(4)
    grades = adjacent(rng, rng.choice(4, 40 * papers, p=GRADE_MIX), 3)
    grades[:, 2] = np.maximum(0, grades[:, 2] - 1)
    one = panel(grades, np.repeat(np.arange(2 * papers), 20), papers=np.arange(2 * papers) // 2)
    found = diagnosis_of(one)
    assert (len(found.findings), found.too_small) == (1, False) if enough else (0, True)
    said = "too small to show that an assessor is stricter or more lenient than the others: each person needs at "
    assert (said + "least 11 query papers shared with others." in told(one)) is not enough
    assert ("No assessor differs" in told(one)) is False


@pytest.mark.parametrize("seed", [41, 60, 74])
def test_who_was_compared_with_a_strict_person_is_not_named_for_it(seed: int) -> None:
    """In these three studies one of the others differs from the rest by less, and more evenly."""
    one, planted = simulate(Study("all", "severity", queries=24, facets=2, carried=0.3, size=0.8), seed)
    assert {(finding.assessor, finding.kind) for finding in diagnosis_of(one).findings} == {
        (planted.assessor, "severity")
    }


def test_one_with_few_queries_does_not_hide_a_clear_finding() -> None:
    """a1 differs by the same on each of 8 queries, which proves little; a2 is strict on 50."""
    rng = np.random.default_rng(8)
    grades = adjacent(rng, rng.choice(4, 1000, p=GRADE_MIX), 4, rate=0.1)
    query = np.repeat(np.arange(50), 20)
    grades[:, 1] = np.maximum(0, grades[:, 1] - (rng.random(1000) < 0.4))
    grades[:, 0] = -1
    few = query < 8
    grades[few] = rng.integers(0, 2, (few.sum(), 1))
    grades[few, 0] += 1
    assert {(one.assessor, one.kind, one.direction) for one in diagnosis_of(panel(grades, query)).findings} == {
        ("a2", "severity", "stricter")
    }


def test_without_two_judgements_of_a_pair_there_is_no_diagnosis() -> None:
    grades = np.array([[1, -1], [-1, 2]])
    assert diagnose(panel(grades, np.array([0, 0])), level=0.95) == Undefined("no pair was judged by two assessors")


def test_names_of_the_assessors_do_not_matter() -> None:
    one, planted = simulate(Study("per-pair", "slips"), 5)
    order = [2, 0, 3, 1]
    other = panel(dense(one)[:, order], one.query)
    (finding,), (renamed,) = diagnosis_of(one).findings, diagnosis_of(other).findings
    assert renamed.assessor == f"a{order.index(int(planted.assessor[1]) - 1) + 1}"
    assert renamed.size.value == pytest.approx(finding.size.value)


def test_hardest_pairs_are_the_widest_apart_and_rare_in_their_query() -> None:
    """Three queries of 4, 2 and 2 pairs, by hand."""
    grades = np.array([[0, 3, 1], [1, 1, 1], [0, 1, 1], [2, 2, -1], [3, 0, -1], [2, 0, 2], [1, 1, 1], [0, 1, -1]])
    found = diagnosis_of(panel(grades, np.array([0, 0, 0, 0, 1, 1, 2, 2]))).hardest
    assert [(one.doc_id, one.spread, one.share) for one in found] == [
        ("d0000", 3, 0.25),
        ("d0002", 1, 0.5),
        ("d0004", 3, 0.5),
        ("d0005", 2, 1.0),
        ("d0007", 1, 0.5),
    ]
    assert found[0].grades == {"a1": 0, "a2": 3, "a3": 1}
    assert found[2].grades == {"a1": 3, "a2": 0}


def study_with_gap(seed: int, *, rate: float, by_all: bool = False) -> Panel:
    """Two of four judge each of 800 pairs, or all four judge 400; in facet method a share of the pairs is a 2 to one
    person, a 0 to the next."""
    rng = np.random.default_rng(seed)
    n = 400 if by_all else 800
    query = np.repeat(np.arange(16), n // 16)
    grades = adjacent(rng, rng.choice(4, n, p=GRADE_MIX), 4, rate=0.25)
    unclear = (query % 2 == 1) & (rng.random(n) < rate)
    grades[unclear] = np.where(rng.random((unclear.sum(), 4)) < 0.5, 0, 2)
    if by_all:
        return panel(grades, query)
    judged = np.zeros(grades.shape, bool)
    for i, team in zip(range(800), itertools.cycle(TEAMS)):
        judged[i, list(team)] = True
    return panel(np.where(judged, grades, -1), query)


def test_planted_gap_in_the_guidelines_is_found_with_examples() -> None:
    one = study_with_gap(1, rate=0.12)
    (gap,) = diagnosis_of(one).gaps
    assert (gap.facet, gap.low, gap.high) == ("method", 0, 2)
    assert gap.observed > 2 * gap.expected
    method = dense(one)[np.array(one.facets) == "method"]
    both = (method == 0).any(axis=1) & (method == 2).any(axis=1)
    assert (gap.observed, gap.of) == (both.sum(), ((method == 0) | (method == 2)).any(axis=1).sum())
    assert len(gap.examples) == 5
    assert all(set(one.grades.values()) == {0, 2} and one.facet == "method" for one in gap.examples)
    assert "The guidelines of method may leave open where grade 0 ends and grade 2 begins" in told(one)


def test_gap_is_found_within_papers_that_differ_by_more_than_the_facets() -> None:
    """The share of pairs that are a 2 to one and a 0 to the next goes from 0 to 60% by paper, and 15% up in method."""
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(24), 100)
    grades = np.repeat(rng.choice((1, 3), 2400)[:, None], 2, axis=1)
    # Where all agree on one of the two grades, there is something to be a share of.
    grades[rng.random(2400) < 0.3] = 0
    unclear = rng.random(2400) < 0.6 * (query // 2) / 11 + 0.15 * (query % 2)
    grades[unclear] = np.where(rng.random((unclear.sum(), 1)) < 0.5, [[0, 2]], [[2, 0]])
    (gap,) = diagnosis_of(panel(grades, query, papers=np.arange(24) // 2)).gaps
    assert (gap.facet, gap.low, gap.high) == ("method", 0, 2)
    assert diagnosis_of(panel(grades, query)).gaps == ()


def test_gap_is_found_where_all_judge_every_pair() -> None:
    found = 0
    for seed in range(6):
        gaps = diagnosis_of(study_with_gap(seed, rate=0.2, by_all=True)).gaps
        found += ("method", 0, 2) in {(one.facet, one.low, one.high) for one in gaps}
    assert found >= 4


def test_gaps_are_rarely_suspected_where_there_are_none() -> None:
    suspected = sum(bool(diagnosis_of(study_with_gap(seed, rate=0.0)).gaps) for seed in range(12))
    # At most 2 percent in truth: 3 or more of 12 come up with chance 0.2 percent.
    assert suspected <= 2
