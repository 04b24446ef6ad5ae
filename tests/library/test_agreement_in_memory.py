"""Agreement of judgements that a program passes: what is measured of a matrix and of a long table, what is refused."""

from typing import Any

import annot
import numpy as np
import pytest
from annot.api import agreeing
from annot.base.errors import InputError

N = None
MATRIX = [[1, 1, N], [0, N, N], [2, 1, 1], [0, 0, 0], [2, 2, N]]
LONG = [(f"q{at // 3}", f"d{at}", f"a{who}", grade) for who in (1, 2) for at, grade in enumerate([0, 1, 2, who, 0, 1])]


def measured(given: Any = MATRIX, **options: Any) -> agreeing.MeasuredAgreement:
    return annot.measure_agreement(given, **({"coefficients": ["percent", "alpha_nominal"]} | options))


def test_equal_grades_of_two_assessors_are_a_share_of_the_items() -> None:
    # Three of four items have equal grades.
    frame = measured([[1, 1], [0, 0], [2, 1], [2, 2]], level=None).to_frame()
    assert frame["value"][0] == pytest.approx(75)
    assert frame["low"].isna().all()
    assert frame["interval"].tolist() == ["", ""]


@pytest.mark.parametrize("options", [{"final": {"q": {"d": 1}}}, {"binarised_at": 1}, {"binarised_at": 0}])
def test_a_matrix_has_no_final_grades_and_is_not_split(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected a long table"):
        measured(**options)


FINAL = {"q0": {"d0": 0, "d1": 1, "d2": 2}, "q1": {"d3": 2, "d4": 0, "d5": 1}}


def test_with_final_grades_each_assessor_is_compared_with_them() -> None:
    found = measured(LONG, final=FINAL)
    frame, by_query = found.to_frame(), found.per_query()
    assert {"before", "after"} <= set(frame["adjudication"])
    assert "overruled_share" in set(frame["coefficient"])
    percent = by_query[by_query["coefficient"] == "percent"].set_index(["query_id", "adjudication"])["value"]
    # In q1 the two differ on one of three; a2 has all the final grades, a1 two of three: their mean is 5 of 6.
    assert percent.round(6).to_dict() == {
        ("q0", "before"): 100.0,
        ("q0", "after"): 100.0,
        ("q1", "before"): pytest.approx(200 / 3, abs=1e-5),
        ("q1", "after"): pytest.approx(500 / 6, abs=1e-5),
    }


def test_a_pair_that_nobody_can_judge_is_left_out_and_another_is_still_open() -> None:
    final = {"q0": FINAL["q0"], "q1": {"d4": 0, "d5": 1}}

    def after(**options: Any) -> list[float]:
        frame = measured(LONG, final=final, **options).per_query()
        return frame[(frame["adjudication"] == "after") & (frame["coefficient"] == "percent")]["value"].tolist()

    assert after(unjudgeable=[("q1", "d3")]) == [100.0, 100.0]
    assert np.isnan(after()[1])


def test_a_table_handed_out_is_the_callers_own() -> None:
    found = measured(LONG)
    for read in (found.to_frame, found.per_query):
        frame = read()
        frame["value"] = -7.0
        assert not (read()["value"] == -7.0).any()
    assert "_figures" not in repr(found)
    assert "_by_query" not in repr(found)


def test_alpha_is_ordinal_unless_another_level_is_named() -> None:
    matrix = [[0, 0], [0, 2], [1, 1], [2, 2], [1, 0], [2, 1]]
    assert annot.alpha(matrix[:5]) == annot.alpha(matrix[:5], "ordinal")
    assert annot.alpha(matrix[:5], "nominal") > annot.alpha(matrix[:5]) + 0.05
    # Krippendorff (2011), for two observers of nominal data: 1 - (n - 1) * o / sum of n_c * n_k, of coincidences:
    # o = 6 unequal of n = 12 values, 4 of each grade, so the sum is 3 * 2 * 16 = 96.
    assert annot.alpha(matrix, "nominal") == pytest.approx(1 - 11 * 6 / 96)
    # Squared differences instead: 4, 1 and 1 of the unequal pairs, each twice, are 12; expected 16 * 2 * (1 + 1 + 4).
    assert annot.alpha(matrix, "interval") == pytest.approx(1 - 11 * 12 / (16 * 2 * 6))
    assert agreeing.LEVELS == ("ordinal", "nominal", "interval")
    with pytest.raises(InputError, match="level 'ordnal': not known; did you mean 'ordinal'"):
        annot.alpha(matrix, "ordnal")
