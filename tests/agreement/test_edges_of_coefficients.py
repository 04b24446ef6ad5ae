"""Where a coefficient begins to have a value, a caveat or a place in a mean, and why it has none elsewhere."""

import numpy as np
import pytest
from annot.base.errors import InputError, UndefinedStatistic
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import COEFFICIENTS, mean_of_tables, of_tables, rests_on_most
from annot.measuring.agreement.estimates import ONE_FINAL_GRADE, ONE_GRADE, ONE_SIDED, TWO_PAIRS, caveats

SCALE = (0, 1, 2)
NONE = np.zeros((3, 3))


def table(*pairs: tuple[int, int]) -> np.ndarray:
    """Of two assessors: how often the first gave the row's grade and the second the column's."""
    made = np.zeros((3, 3))
    for pair in pairs:
        made[pair] += 1
    return made


VARIED = table((0, 0), (1, 1), (2, 2), (0, 1), (2, 2))
ALIKE = table((1, 1), (1, 1), (1, 1), (1, 1), (1, 1))
"""Five pairs with one grade: a rank correlation and kappa have no value."""


@pytest.mark.parametrize(("part", "most"), [(5, False), (5.5, True), (6, True)])
def test_a_part_stands_for_the_whole_if_it_is_more_than_half(part: float, most: bool) -> None:
    assert rests_on_most(part, 10) is most


def test_two_of_many_need_five_common_pairs_for_a_rank_correlation_and_two_alone_do_not() -> None:
    four = VARIED - table((2, 2))
    tables = np.stack([VARIED, four])
    assert of_tables("spearman_rho", tables, SCALE, many=True)[1].tolist() == [5, 0]
    assert of_tables("spearman_rho", tables, SCALE, many=False)[1].tolist() == [5, 4]
    assert of_tables("kappa", tables, SCALE, many=True)[1].tolist() == [5, 4]


def test_two_comparisons_are_not_yet_many() -> None:
    """With three tables the rule of five pairs begins."""
    four = VARIED - table((2, 2))
    assert not isinstance(mean_of_tables("spearman_rho", np.stack([four, four]), SCALE), Undefined)
    three = mean_of_tables("spearman_rho", np.stack([four, four, four]), SCALE)
    assert three.reason == "comparisons without a value: 3 of 3, such as this one: only 4 shared pairs"
    assert three.kind == "comparisons without a value: fewer than 5 shared pairs"


def test_two_who_never_met_take_no_part_in_a_mean_and_are_not_counted() -> None:
    alone = mean_of_tables("kappa", np.stack([VARIED]), SCALE)
    assert mean_of_tables("kappa", np.stack([NONE, VARIED, NONE]), SCALE) == alone
    missing = mean_of_tables("kappa", np.stack([NONE, ALIKE]), SCALE)
    assert "of" not in missing.reason.split(":")[0]
    assert mean_of_tables("kappa", np.stack([NONE, NONE]), SCALE).reason == "no pair was judged by two assessors"


def test_a_mean_weighs_by_pairs_and_holds_if_most_pairs_have_a_value() -> None:
    """Percentages 4 of 5 and 5 of 5: together 9 of 10. Kappa: half of the pairs have none, which is not most."""
    assert mean_of_tables("percent", np.stack([VARIED, ALIKE]), SCALE) == pytest.approx(90.0)
    assert mean_of_tables("kappa", np.stack([VARIED, ALIKE]), SCALE).reason.startswith(
        "comparisons without a value: 1 of 2, such as this one: "
    )
    longer = VARIED + table((1, 1))
    assert mean_of_tables("kappa", np.stack([longer, ALIKE]), SCALE) == pytest.approx(
        mean_of_tables("kappa", np.stack([longer]), SCALE)
    )


# -- caveats -----------------------------------------------------------------------------------------------------------

VALUES = {"kappa": 0.0, "alpha_ordinal": 0.1, "ac1": 1.0, "percent": 80.0, "spearman_rho": 0.5}
CONSTANT_FIRST = table((1, 0), (1, 1), (1, 2))
CONSTANT_SECOND = CONSTANT_FIRST.T


@pytest.mark.parametrize("constant", [CONSTANT_FIRST, CONSTANT_SECOND], ids=["the first", "the second"])
def test_one_who_gives_one_grade_is_a_caveat_of_kappa_and_alpha_alone(constant: np.ndarray) -> None:
    assert caveats(np.stack([constant]), VALUES, averaged=False) == {
        "kappa": (ONE_SIDED,),
        "alpha_ordinal": (ONE_SIDED,),
    }
    assert caveats(np.stack([VARIED]), VALUES, averaged=False) == {}


def test_it_is_one_of_a_mean_only_where_most_pairs_are_so() -> None:
    """Three pairs of five or more against a constant; a coefficient of all at once has the caveat of two alone."""
    more = VARIED - table((2, 2), (2, 2), (0, 1))
    assert caveats(np.stack([CONSTANT_FIRST, more]), VALUES, averaged=True)["kappa"] == (ONE_SIDED,)
    assert caveats(np.stack([CONSTANT_FIRST, VARIED]), VALUES, averaged=True) == {}
    assert caveats(np.stack([CONSTANT_FIRST, more]), VALUES, averaged=False) == {}
    assert caveats(np.stack([NONE, CONSTANT_FIRST]), VALUES, averaged=False)["kappa"] == (ONE_SIDED,)
    assert caveats(np.stack([NONE]), VALUES, averaged=True) == {}
    # Assessors who differ from final grades that are all alike are not the ones who gave one grade.
    assert caveats(np.stack([CONSTANT_SECOND, NONE]), VALUES, averaged=True)["kappa"] == (ONE_FINAL_GRADE,)


def test_two_pairs_are_a_caveat_of_every_coefficient_and_three_are_none() -> None:
    two, three = table((0, 0), (1, 2)), table((0, 0), (1, 2), (2, 1))
    found = caveats(np.stack([two]), VALUES, averaged=False)
    assert found == dict.fromkeys(("kappa", "alpha_ordinal", "ac1"), (TWO_PAIRS,))
    assert caveats(np.stack([three]), VALUES, averaged=False) == {}


def test_one_grade_throughout_is_a_caveat_of_gwet_alone_and_only_with_a_value() -> None:
    values = VALUES | {"kappa": Undefined("without variation")}
    assert caveats(np.stack([ALIKE]), values, averaged=False) == {"alpha_ordinal": (ONE_SIDED,), "ac1": (ONE_GRADE,)}


NAN = np.nan

CHANCE_CORRECTED = [name for name in COEFFICIENTS if name not in ("ac1", "ac2", "percent", "percent_within_one")]


@pytest.mark.parametrize("name", CHANCE_CORRECTED)
def test_unanimity_is_undefined_and_says_how_many_pairs_and_which_grade(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match=r"every judgement is grade 2 \(6 pairs\)"):
        COEFFICIENTS[name](np.full((2, 6), 2.0), (0, 1, 2, 3))


@pytest.mark.parametrize("name", ["ac1", "ac2"])
def test_gwets_coefficients_of_unanimous_raters_are_one(name: str) -> None:
    """Gwet 2008: pi (1 - pi) is 0 for every grade, so nothing is expected by chance."""
    assert COEFFICIENTS[name](np.full((2, 6), 2.0), (0, 1, 2, 3)) == pytest.approx(1.0)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_no_overlap_is_undefined(name: str) -> None:
    apart = np.array([[0, 1, NAN, NAN], [NAN, NAN, 2, 3]])
    with pytest.raises(UndefinedStatistic, match="no pair was judged by two"):
        COEFFICIENTS[name](apart, (0, 1, 2, 3))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_one_assessor_is_undefined(name: str) -> None:
    with pytest.raises(UndefinedStatistic, match="fewer than two assessors"):
        COEFFICIENTS[name](np.array([[0.0, 1.0, 2.0]]), (0, 1, 2, 3))


@pytest.mark.parametrize("name", ["spearman_rho", "kendall_tau_b"])
def test_constant_assessor_has_no_rank_correlation(name: str) -> None:
    ratings = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0]])
    with pytest.raises(UndefinedStatistic, match=r"gave grade 1 to all 4 pairs.*grade 0 x 3, grade 2 x 1"):
        COEFFICIENTS[name](ratings, (0, 1, 2, 3))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_grade_outside_the_scale_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        COEFFICIENTS[name](np.array([[0.0, -1.0, 2.0], [0.0, 1.0, 7.0]]), (0, 1, 2, 3))
    assert caught.value.faults == ("found -1", "found 7")
