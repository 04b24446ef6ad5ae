"""On two grades several coefficients are one, and each is told once."""

import math
from typing import Any

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.measuring.agreement.coefficients import COEFFICIENTS, ON_TWO_GRADES, TITLES_OF_TWO, value_of
from annot.measuring.agreement.estimates import agreement_table
from annot.publishing.report.sections.agreement import all_coefficients, headline

SAME = {
    "alpha_ordinal": ("alpha_nominal", "alpha_interval"),
    "kappa": ("kappa_linear", "kappa_quadratic"),
    "ac1": ("ac2",),
    "spearman_rho": ("kendall_tau_b",),
}


@pytest.mark.parametrize("seed", range(4))
def test_those_left_out_are_equal_to_one_that_is_told_and_rank_correlations_are_phi(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = (rng.random((2, 30)) < rng.uniform(0.2, 0.8)).astype(float)
    ratings[:, :2] = [[0, 1], [1, 0]]
    for told, others in SAME.items():
        for other in others:
            assert value_of(other, ratings, (0, 1)) == pytest.approx(value_of(told, ratings, (0, 1)), abs=1e-12)
    first, second = ratings == 1
    both, neither = (first & second).sum(), (~first & ~second).sum()
    one, other = (first & ~second).sum(), (~first & second).sum()
    margins = [first.sum(), (~first).sum(), second.sum(), (~second).sum()]
    phi = (both * neither - one * other) / math.sqrt(math.prod(map(int, margins)))
    assert value_of("spearman_rho", ratings, (0, 1)) == pytest.approx(phi, abs=1e-12)


def table(grades: tuple[int, ...], binarised_at: int | None = None, **of: Any) -> Any:
    given = {"a1": (0, 1, 1, 0, 1), "a2": (0, 1, 0, 0, 1)}
    judgements = [Judgement("q", f"d{at}", who, grade) for who, of in given.items() for at, grade in enumerate(of)]
    decisions = [Decision("q", f"d{at}", grade, "agreed") for at, grade in enumerate(given["a1"])]
    return agreement_table(
        judgements, decisions, {"q": "whole"}, grades=grades, missing="drop", binarised_at=binarised_at, level=None,
        topics=None, **of,
    )  # fmt: skip


def test_the_tables_of_two_grades_have_each_once_and_others_have_all() -> None:
    assert headline(table((0, 1))).headings[-4:] == (
        "Krippendorff's alpha", "Cohen's kappa", "Gwet's AC1", "Agreement, %"
    )  # fmt: skip
    assert [one["coefficient"] for one in all_coefficients(table((0, 1))).records[:5]] == [*TITLES_OF_TWO]
    assert "Correlation (phi)" in [row[2] for row in all_coefficients(table((0, 1))).rows]
    for split in (table((0, 1, 2, 3)), table((0, 1, 2, 3), binarised_at=1)):
        assert len(all_coefficients(split).rows) == 2 * len(COEFFICIENTS)
        assert headline(split).headings[-4:] == (
            "Spearman's rho", "Krippendorff's alpha (ordinal)", "Cohen's kappa", "Agreement, %"
        )  # fmt: skip


def test_what_is_asked_for_without_its_twin_is_given() -> None:
    some = table((0, 1), coefficients=("kappa", "alpha_nominal", "percent_within_one", "kappa_quadratic"))
    assert some.distinct == ("kappa", "alpha_nominal", "percent_within_one")
    assert {name: ON_TWO_GRADES[other] for name, others in SAME.items() for other in others} == {
        name: name for name in SAME
    }


def test_the_data_have_all_on_two_grades_too() -> None:
    found = table((0, 1))
    assert found.titles.keys() == COEFFICIENTS.keys()
    assert {one["coefficient"] for one in all_coefficients(found, groups=found.groups).records} == COEFFICIENTS.keys()
