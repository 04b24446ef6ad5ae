"""On a scale of two grades several coefficients are the same number, and only one of each is shown for a study."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import COEFFICIENTS, TITLES, TITLES_OF_TWO, titles_of, value_of
from annot.measuring.measured import agreement_of, binarised_agreement_of
from annot.study.snapshot import read_snapshot
from sklearn.metrics import matthews_corrcoef
from study_stages import copied
from topic_study import GRADED, OfTopics

SHOWN = ("alpha_ordinal", "kappa", "ac1", "percent", "spearman_rho")
SAME = {
    "kendall_tau_b": "spearman_rho",
    "alpha_nominal": "alpha_ordinal",
    "alpha_interval": "alpha_ordinal",
    "kappa_linear": "kappa",
    "kappa_quadratic": "kappa",
    "ac2": "ac1",
}
"""What is left out, and as what it is shown."""


def drawn(seed: int, assessors: int) -> np.ndarray:
    """Binary grades of some assessors who agree often; a tenth is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.random(30) < rng.uniform(0.2, 0.8)
    ratings = np.where(rng.random((assessors, 30)) < 0.8, truth, ~truth).astype(float)
    ratings[rng.random(ratings.shape) < 0.1] = np.nan
    return ratings


@pytest.mark.parametrize("assessors", [2, 3, 5])
@pytest.mark.parametrize("same", SAME)
def test_a_coefficient_that_is_left_out_is_the_one_that_stays(same: str, assessors: int) -> None:
    for seed in range(10):
        ratings = drawn(seed, assessors)
        assert value_of(same, ratings, (0, 1)) == pytest.approx(value_of(SAME[same], ratings, (0, 1)))


def test_those_that_stay_differ_from_each_other() -> None:
    values = [value_of(name, drawn(3, 2), (0, 1)) for name in SHOWN]
    assert all(one != pytest.approx(two) for one, two in itertools.combinations(values, 2))


def test_rho_of_two_grades_is_phi() -> None:
    for seed in range(10):
        ratings = drawn(seed, 2)
        both = ratings[:, ~np.isnan(ratings).any(axis=0)].astype(int)
        assert value_of("spearman_rho", ratings, (0, 1)) == pytest.approx(matthews_corrcoef(*both))


def test_what_is_shown_and_what_is_left_out_are_all_there_is() -> None:
    assert set(COEFFICIENTS) == {*SHOWN, *SAME, "percent_within_one"}
    assert tuple(TITLES_OF_TWO) == SHOWN
    assert isinstance(value_of("percent_within_one", drawn(1, 2), (0, 1)), Undefined)


def test_titles_of_two_grades_do_not_speak_of_an_order() -> None:
    told = [titles_of((0, 1))[name] for name in SHOWN]
    assert told == ["Krippendorff's alpha", "Cohen's kappa", "Gwet's AC1", "Agreement, %", "Correlation (phi)"]
    assert titles_of((0, 1, 2)) == TITLES


def test_a_study_of_two_grades_has_one_of_each_and_nothing_to_binarise(tmp_path: Path) -> None:
    snapshot = read_snapshot(copied(OfTopics(), "measured", tmp_path / "two"))
    table = agreement_of(snapshot)
    assert table.distinct == SHOWN
    assert not {"spearman_rho", *SAME} & {*table.headline}
    assert binarised_agreement_of(snapshot) == ()
    graded = read_snapshot(copied(OfTopics(scale=GRADED), "measured", tmp_path / "four"))
    assert agreement_of(graded).distinct == tuple(COEFFICIENTS)
    assert [one.distinct for one in binarised_agreement_of(graded)] == [
        ("spearman_rho", "alpha_ordinal", "kappa", "percent")
    ] * 3
