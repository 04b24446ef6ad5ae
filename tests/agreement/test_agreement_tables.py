"""The tables: what is counted, what is left out, and what is said where there is no value."""

import math

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import COEFFICIENTS
from annot.measuring.agreement.estimates import AgreementTable, agreement_table

FACETS = {"1-background": "background", "1-method": "method", "2-method": "method"}


def judged(query_id: str, assessor: str, grades: list[int | None], **more: object) -> list[Judgement]:
    return [
        Judgement(query_id, f"d{at}", assessor, grade, **more)  # type: ignore[arg-type]
        for at, grade in enumerate(grades)
    ]


def final(query_id: str, grades: list[int]) -> list[Decision]:
    return [Decision(query_id, f"d{at}", grade, "adjudicated") for at, grade in enumerate(grades)]


def table(
    judgements: list[Judgement],
    decisions: list[Decision] | None = None,
    *,
    missing: str = "drop",
    binarised_at: int | None = None,
    level: float | None = None,
) -> AgreementTable:
    return agreement_table(
        judgements,
        decisions or [],
        FACETS,
        grades=(0, 1, 2, 3),
        missing=missing,
        binarised_at=binarised_at,
        level=level,
        topics=None,
    )


A = [0, 1, 2, 3, 0, 1]
B = [0, 2, 2, 3, 1, 0]
C = [0, 0, 2, 2, 0, 1]
METHOD_1 = [*judged("1-method", "a1", A), *judged("1-method", "a2", B)]
METHOD_2 = [*judged("2-method", "a1", A), *judged("2-method", "a3", C)]
BACKGROUND = [*judged("1-background", "a2", B), *judged("1-background", "a3", C)]


def matrix(*rows: list[int]) -> np.ndarray:
    return np.array(rows, dtype=float)


def test_summary_is_over_the_queries_of_the_group() -> None:
    queries = {one.query_id: one for one in table([*METHOD_1, *METHOD_2, *BACKGROUND]).queries}
    together = table([*METHOD_1, *METHOD_2, *BACKGROUND]).groups[-1].before["kappa"]
    values = [one.before["kappa"] for one in queries.values()]
    assert together.median == pytest.approx(np.median(values))
    assert together.mean == pytest.approx(np.mean(values))
    assert (together.q1, together.q3) == pytest.approx(tuple(np.quantile(values, [0.25, 0.75])))


def test_pooled_is_the_coefficient_of_all_pairs_side_by_side() -> None:
    found = table([*METHOD_1, *METHOD_2]).groups[0].before["alpha_ordinal"].pooled
    nan = [math.nan] * 6
    side_by_side = np.array([[*A, *A], [*B, *nan], [*nan, *C]], dtype=float)
    assert found == pytest.approx(COEFFICIENTS["alpha_ordinal"](side_by_side, (0, 1, 2, 3)))


def test_after_adjudication_is_the_mean_over_the_assessors() -> None:
    settled = [0, 2, 2, 3, 0, 0]
    found = table(METHOD_1, final("1-method", settled)).queries[0].after
    for name, coefficient in COEFFICIENTS.items():
        with_final = [coefficient(matrix(row, settled), (0, 1, 2, 3)) for row in (A, B)]
        assert found[name] == pytest.approx(np.mean(with_final))


def test_pooled_after_adjudication_sets_each_assessor_against_the_final_grades() -> None:
    settled = [0, 2, 2, 3, 0, 0]
    decisions = [*final("1-method", settled), *final("2-method", settled)]
    found = table([*METHOD_1, *METHOD_2], decisions).groups[0].after["kappa"].pooled
    twice = [*settled, *settled]
    expected = np.average(
        [
            COEFFICIENTS["kappa"](matrix([*A, *A], twice), (0, 1, 2, 3)),
            COEFFICIENTS["kappa"](matrix(B, settled), (0, 1, 2, 3)),
            COEFFICIENTS["kappa"](matrix(C, settled), (0, 1, 2, 3)),
        ],
        weights=[12, 6, 6],
    )
    assert found == pytest.approx(expected)


def test_shares_of_disputed_and_overruled_pairs() -> None:
    """A and B differ on d1, d4, d5; the final grade of d1 is neither's."""
    group = table(METHOD_1, final("1-method", [0, 3, 2, 3, 0, 0])).groups[0]
    assert (group.disputed.pooled.count, group.disputed.pooled.of) == (3, 6)
    assert group.disputed.mean == pytest.approx(0.5)
    assert (group.overruled.pooled.count, group.overruled.pooled.of) == (1, 6)
    assert group.overruled.mean == pytest.approx(1 / 6)


def test_mean_share_weighs_queries_and_pooled_share_weighs_pairs() -> None:
    short = [*judged("2-method", "a1", [0, 1]), *judged("2-method", "a2", [3, 2])]
    group = table([*METHOD_1, *short]).groups[0]
    assert group.disputed.mean == pytest.approx((3 / 6 + 2 / 2) / 2)
    assert group.disputed.pooled.value == pytest.approx(5 / 8)


def test_missing_judgement_is_dropped_or_counts_as_zero_by_policy() -> None:
    gap = [*judged("1-method", "a1", A), *judged("1-method", "a2", [0, 2, 2, 3, 1, None])]
    dropped = table(gap, missing="drop")
    zero = table(gap, missing="zero")
    assert (dropped.missing, zero.missing) == ("drop", "zero")
    assert (dropped.queries[0].n_pairs, zero.queries[0].n_pairs) == (5, 6)
    assert dropped.queries[0].n_missing == zero.queries[0].n_missing == 1
    assert dropped.queries[0].before["kappa"] == pytest.approx(
        COEFFICIENTS["kappa"](matrix(A[:5], B[:5]), (0, 1, 2, 3))
    )
    assert zero.queries[0].before["kappa"] == pytest.approx(COEFFICIENTS["kappa"](matrix(A, B), (0, 1, 2, 3)))


def test_pair_that_one_assessor_could_not_judge_needs_adjudication() -> None:
    same = [*judged("1-method", "a1", [0, 1, 2]), *judged("1-method", "a2", [0, 1, None], cannot_judge="language")]
    assert table(same).queries[0].disputed.count == 1
    assert table(same).queries[0].disputed.of == 3


def test_flagged_judgements_do_not_count() -> None:
    flagged = judged("1-method", "a9", [3, 3, 3, 3, 3, 3], flags=("foreign-account",))
    assert table([*METHOD_1, *flagged]) == table(METHOD_1)


def test_latest_revision_counts_even_when_it_is_flagged() -> None:
    changed = [*METHOD_1, Judgement("1-method", "d1", "a2", 1, revision=2)]
    assert table(changed).queries[0].disputed.count == 2
    withdrawn = [*METHOD_1, Judgement("1-method", "d1", "a2", None, revision=2, flags=("cancelled",))]
    assert table(withdrawn).queries[0].n_pairs == 5


def test_binarised_table_sees_two_grades_and_the_shares_see_the_whole_scale() -> None:
    found = table(METHOD_1, final("1-method", [0, 3, 2, 3, 0, 0]), binarised_at=2)
    assert found.grades == (0, 1)
    assert found.queries[0].prevalence == {0: 7, 1: 5}
    binary = matrix([0, 0, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0])
    assert found.queries[0].before["kappa"] == pytest.approx(COEFFICIENTS["kappa"](binary, (0, 1)))
    assert isinstance(found.queries[0].before["percent_within_one"], Undefined)
    assert found.queries[0].disputed.count == 3
    assert found.queries[0].overruled.count == 1


def test_group_without_any_value_says_so() -> None:
    unanimous = [*judged("2-method", "a1", [1] * 6), *judged("2-method", "a2", [1] * 6)]
    found = table(unanimous, level=0.95).groups[0].before["alpha_ordinal"]
    assert isinstance(found.median, Undefined)
    assert isinstance(found.pooled, Undefined)
    assert "every judgement is grade 1" in found.pooled.reason
    assert found.intervals is not None
    assert isinstance(found.intervals["pooled"], Undefined)


@pytest.mark.parametrize(
    ("wrong", "faults"),
    [
        (
            [Judgement("1-method", doc_id, "a1", 0) for doc_id in ("d0", "d1")],
            tuple(f"1-method {doc_id} a1: two judgements with revision 1, expected one" for doc_id in ("d0", "d1")),
        ),
        (
            [Judgement(query_id, "d0", "a1", 0) for query_id in ("9-method", "8-method")],
            ("8-method: judged, but not a known query", "9-method: judged, but not a known query"),
        ),
    ],
)
def test_all_faults_of_a_kind_are_named_at_once(wrong: list[Judgement], faults: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        table([*METHOD_1, *wrong])
    assert caught.value.faults == faults


def test_grades_outside_the_scale_are_named() -> None:
    with pytest.raises(InputError) as caught:
        table([*METHOD_1, *judged("2-method", "a1", [7])], final("1-method", [5]))
    assert len(caught.value.faults) == 2
    assert "1-method d0: the final decision has grade 5, expected one of 0, 1, 2, 3" in caught.value.faults


def test_unknown_policy_and_threshold_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        table(METHOD_1, missing="guess")
    assert "expected one of drop, zero" in str(caught.value)
    with pytest.raises(InputError, match="binarised at 0"):
        table(METHOD_1, binarised_at=0)
