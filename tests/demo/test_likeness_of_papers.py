"""Which grade two papers deserve by what they are about, and how the simulated people see it."""

import math
from statistics import fmean, median, stdev

import numpy as np
import pytest
from annot_demo import simulated_people
from annot_demo.simulated_people import (
    ADJUDICATOR,
    CAST,
    Latent,
    SimulatedAdjudicator,
    SimulatedAssessor,
    latent_relevance,
)

QUERY = Latent("01", "a", "crf", "linear-chain", "context-helps", 1)
REASONS = ("not readable",)


def relevances(facet: str, query: Latent, doc: Latent) -> list[float]:
    """What the pair is to 100 papers like the query: the jitter differs."""
    latent = {f"q{at}": query for at in range(100)} | {"doc": doc}
    return [latent_relevance(f"q{at}", facet, "doc", latent) for at in range(100)]


@pytest.mark.parametrize(
    ("facet", "query", "changes", "grade"),
    [
        ("background", {}, {}, 3),
        ("background", {}, {"subproblem": "b"}, 2),
        ("background", {}, {"problem": "14"}, 1),
        ("background", {}, {"problem": "12", "subproblem": "b"}, 1),
        ("background", {"problem": "02", "subproblem": "b"}, {"problem": "01"}, 1),
        ("background", {}, {"problem": "12"}, 0),
        ("background", {}, {"problem": "13"}, 0),
        ("method", {}, {}, 3),
        ("method", {}, {"problem": "13"}, 2),
        ("method", {}, {"submethod": "semi-markov"}, 2),
        ("method", {}, {"problem": "13", "submethod": "semi-markov"}, 1),
        ("method", {"method": "resource"}, {"method": "resource"}, 2),
        ("method", {"method": "resource"}, {"method": "resource", "problem": "13"}, 1),
        ("method", {}, {"method": "ilp"}, 1),
        ("method", {}, {"method": "rl"}, 0),
        ("method", {}, {"method": "rl", "problem": "13"}, 0),
        ("result", {}, {"method": "empirical", "subproblem": "b"}, 3),
        ("result", {}, {"method": "empirical", "subproblem": "b", "polarity": -1}, 3),
        ("result", {}, {"method": "empirical", "subproblem": "b", "polarity": 0}, 2),
        ("result", {}, {"claim": "other"}, 3),
        ("result", {}, {"claim": "other", "method": "empirical"}, 2),
        ("result", {"method": "empirical"}, {"claim": "other"}, 2),
        ("result", {}, {"claim": "other", "subproblem": "b"}, 1),
        ("result", {}, {"problem": "14"}, 1),
        ("result", {}, {"problem": "13"}, 1),
        ("result", {}, {"problem": "14", "claim": "other"}, 0),
        ("result", {}, {"problem": "14", "polarity": 0}, 0),
    ],
)
def test_each_kind_of_likeness_has_its_grade(
    facet: str, query: dict[str, str], changes: dict[str, str], grade: int
) -> None:
    found = relevances(facet, QUERY._replace(**query), QUERY._replace(**changes))
    assert {math.floor(value + 0.5) for value in found} == {grade}
    # The jitter is the same either way, but for the ends of the scale.
    assert max(found) - min(found) <= 0.6
    assert stdev(found) > 0.05


def test_problems_of_one_area_are_between_related_ones_and_others() -> None:
    area, related = (fmean(relevances("background", QUERY, QUERY._replace(problem=one))) for one in ("04", "14"))
    assert 0.5 < area < related - 0.2
    near, far = (fmean(relevances("result", QUERY, QUERY._replace(problem=one))) for one in ("04", "13"))
    assert near > far + 0.1


def fine(name: str = "a1", *, severity: float = 0.0, noise: float = 1.0) -> SimulatedAssessor:
    """A person whose grades are what they perceive, in hundredths."""
    return SimulatedAssessor(name, severity, noise, tuple(np.arange(-8.0, 8.0, 0.01)), 0.0, 30.0)


def perceived(one: SimulatedAssessor, occasion: int, relevance: float = 0.0) -> np.ndarray:
    answers = [one.judge("q", f"d{at}", occasion, relevance=relevance, seed=3, reasons=REASONS) for at in range(1500)]
    return np.array([answer.grade for answer in answers]) / 100 - 8


def test_two_views_of_one_person_go_together_by_seven_tenths() -> None:
    first, second, third = (perceived(fine(), occasion) for occasion in (1, 2, 3))
    assert float(np.corrcoef(first, second)[0, 1]) == pytest.approx(0.7, abs=0.05)
    assert float(np.corrcoef(second, third)[0, 1]) == pytest.approx(0.49, abs=0.06)
    for view in (first, second, third):
        assert float(view.std()) == pytest.approx(1.0, abs=0.07)
        assert float(view.mean()) == pytest.approx(0.0, abs=0.1)


def test_severity_is_taken_off_and_noise_is_a_deviation() -> None:
    found = perceived(fine(severity=0.5, noise=2.0), 1, relevance=2.0)
    assert float(found.mean()) == pytest.approx(1.5, abs=0.15)
    assert float(found.std()) == pytest.approx(2.0, abs=0.15)


def test_what_is_clearly_unlike_takes_half_the_time() -> None:
    one = SimulatedAssessor("a1", 0.0, 0.4, (0.5, 1.5, 2.5), 0.0, 300.0)
    at_once, *longer = (one.judge("q", "d", relevance=value, seed=1, reasons=REASONS) for value in (0.24, 0.25, 2.0))
    assert [answer.lead_time for answer in longer] == pytest.approx([2 * at_once.lead_time] * 2, abs=0.11)
    times = [one.judge("q", f"d{at}", relevance=1.0, seed=1, reasons=REASONS).lead_time for at in range(1500)]
    assert median(times) == pytest.approx(300.0, rel=0.05)
    assert stdev(map(math.log, times)) == pytest.approx(simulated_people.SPREAD_OF_TIMES, abs=0.03)
    assert simulated_people.SPREAD_OF_TIMES < 1


def test_one_answer_in_twenty_five_has_a_remark_that_fits_its_grade() -> None:
    answers = [CAST[0].judge("q", f"d{at}", relevance=at % 4, seed=1, reasons=REASONS) for at in range(3000)]
    said = [(answer.grade, answer.comment) for answer in answers if answer.comment is not None]
    assert len(said) / 3000 == pytest.approx(0.04, abs=0.012)
    assert all(
        comment in simulated_people.REMARKS["facets"]["grades"][grade] for grade, comment in said if grade is not None
    )


def test_the_cast_is_one_balanced_one_strict_one_lenient_and_one_hasty_person() -> None:
    balanced, strict, lenient, hasty = CAST
    assert lenient.severity < balanced.severity == 0 < strict.severity < 1
    assert min(CAST, key=lambda one: one.seconds) is hasty
    assert max(CAST, key=lambda one: one.noise) is hasty
    for one in (*CAST, ADJUDICATOR):
        assert 0 < one.noise < 1
        assert [int(at) for at in one.thresholds] == [0, 1, 2]
        assert 10 < one.seconds < 120
    assert all(0 < one.cannot_judge_rate < 0.02 for one in CAST)
    assert all(abs(one.severity) < 0.5 for one in CAST)


def settle(grades: list[int | None], relevance: float, *, over_rule: float = 0.0) -> tuple[int | None, str | None]:
    one = SimulatedAdjudicator("j1", 0.0, (0.5, 1.5, 2.5), over_rule, 55.0)
    answer = one.settle("q", "d", relevance=relevance, grades=grades, seed=1)
    assert answer.cannot_judge is None
    return answer.grade, answer.comment


def test_an_adjudicator_takes_the_nearest_grade_or_overrules_all() -> None:
    lower, higher, over_ruled = (simulated_people.REMARKS["facets"][kind] for kind in ("lower", "higher", "over_ruled"))
    grade, why = settle([0, 3], 1.4)
    assert grade == 0
    assert why in lower
    grade, why = settle([0, 3], 1.6)
    assert grade == 3
    assert why in higher
    grade, why = settle([3, None, 1], 1.0)
    assert grade == 1
    assert why in lower
    grade, why = settle([0, 3], 1.4, over_rule=1.0)
    assert grade == 1
    assert why in over_ruled
    assert settle([None, None], 2.0) == (2, "The assessors could not judge this pair, but I could.")
    assert settle([None, 1], 1.0) == (1, "The facet can be judged, and the grade given fits.")
    assert settle([None, 1], 3.0) == (1, "The facet can be judged, and the grade given fits.")
