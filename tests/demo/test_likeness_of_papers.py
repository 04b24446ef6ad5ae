"""Which grade two papers deserve by what they are about, and how the simulated people see it."""

import math
from statistics import stdev

import numpy as np
import pytest
from annot_demo import simulated_people
from annot_demo.simulated_people import (
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
