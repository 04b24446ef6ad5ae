"""The tables: what is counted or left out, and what is said where there is no value or a dispute is open."""

import math

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Undefined
from annot.measuring.agreement.coefficients import COEFFICIENTS
from annot.measuring.agreement.estimates import TOGETHER, AgreementTable, agreement_table
from scipy import stats

FACETS = {"1-background": "background", "1-method": "method", "2-method": "method", "3-background": "background"}


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


def test_unknown_policy_and_threshold_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        table(METHOD_1, missing="guess")
    assert "expected one of drop, zero" in str(caught.value)
    with pytest.raises(InputError, match="binarised at 0"):
        table(METHOD_1, binarised_at=0)


def both(query_id: str) -> list[Judgement]:
    return [*judged(query_id, "a1", A), *judged(query_id, "a2", B)]


def agreed(query_id: str) -> list[Decision]:
    """What is final without a person."""
    return [Decision(query_id, f"d{at}", x, "agreed") for at, (x, y) in enumerate(zip(A, B, strict=True)) if x == y]


def settled(query_id: str) -> list[Decision]:
    return [Decision(query_id, f"d{at}", max(x, y), "adjudicated") for at, (x, y) in enumerate(zip(A, B, strict=True))]


HALF = table(
    [*both("1-method"), *both("2-method"), *both("3-background")],
    [*agreed("1-method"), *settled("2-method"), *settled("3-background")],
    level=0.95,
)
"""The disputes of one query of three are open."""


def test_query_with_open_disputes_has_no_figure_after_adjudication() -> None:
    query = HALF.queries[0]
    reason = Undefined("3 of 3 disputed pairs are not settled yet")
    assert set(query.after.values()) == {reason}
    assert query.overruled.value == reason
    assert query.n_open == 3


def test_group_with_open_disputes_has_no_summary_after_adjudication() -> None:
    """Not even of its settled query: those are the easy ones."""
    groups = {one.name: one for one in HALF.groups}
    for name, words in (
        ("method", "3 of 6 disputed pairs are not settled yet, on 1-method"),
        (TOGETHER, "3 of 9 disputed pairs are not settled yet, on 1-method"),
    ):
        group = groups[name]
        assert group.not_settled == Undefined(words)
        for summary in group.after.values():
            figures = (summary.median, summary.mean, summary.q1, summary.q3, summary.pooled)
            assert set(figures) == {Undefined(words)}
            assert (summary.n_queries, summary.n_pairs, summary.n_pairs_pooled) == (0, 0, 0)
            assert list(summary.undefined) == ["1-method"]
        assert group.overruled.pooled.value == group.overruled.mean == Undefined(words)
        assert isinstance(group.disputed.pooled.value, float)


def test_settled_queries_and_settled_groups_keep_their_figures() -> None:
    query = HALF.queries[1]
    final = np.maximum(A, B)
    with_final = [np.mean(np.equal(row, final)) for row in (A, B)]
    assert query.after["percent"] == pytest.approx(100 * np.mean(with_final))
    background = HALF.groups[0]
    assert background.not_settled is None
    assert background.after["percent"].median == pytest.approx(100 * np.mean(with_final))


def test_dispute_over_a_pair_that_someone_could_not_judge_is_open_too() -> None:
    gap = [*judged("1-method", "a1", [0, 1, 2, 3]), *judged("1-method", "a2", [0, 1, 2, None])]
    decisions = [Decision("1-method", f"d{at}", at, "agreed") for at in range(3)]
    assert table(gap, decisions).groups[-1].not_settled == Undefined(
        "1 of 1 disputed pairs is not settled yet, on 1-method"
    )
    decisions.append(Decision("1-method", "d3", 3, "adjudicated"))
    assert table(gap, decisions).groups[-1].not_settled is None


def test_pair_with_one_grade_is_no_agreement_after_adjudication() -> None:
    """Its final grade is that grade: it agrees with itself."""
    alone = [Judgement("1-method", f"e{at}", "a1", at % 4) for at in range(20)]
    final = [Decision("1-method", f"e{at}", at % 4, "agreed") for at in range(20)]
    with_alone = table([*both("1-method"), *alone], [*settled("1-method"), *final]).queries[0]
    assert with_alone.after == table(both("1-method"), settled("1-method")).queries[0].after
    only_alone = table(alone, final)
    assert all(isinstance(value, Undefined) for value in only_alone.queries[0].after.values())
    assert isinstance(only_alone.groups[-1].after["percent"].median, Undefined)
    assert isinstance(only_alone.groups[-1].after["percent"].pooled, Undefined)


def test_policy_that_makes_a_missing_grade_equal_is_counted() -> None:
    gap = [*judged("1-method", "a1", [0, 1, 0, 2]), *judged("1-method", "a2", [None, None, 0, 1])]
    zero = table(gap, [], missing="zero").groups[-1]
    assert (zero.disputed.pooled.count, zero.agreed_by_policy) == (2, 1)
    drop = table(gap, [], missing="drop").groups[-1]
    assert (drop.disputed.pooled.count, drop.agreed_by_policy) == (3, 0)


def test_dropping_keeps_what_the_others_graded() -> None:
    """Three assessors, one gap: the pair stays with its two grades, as Krippendorff's package has it."""
    import krippendorff

    rows: list[list[int | None]] = [[0, 1, 2, 3, 0, 1], [0, 2, 2, 3, 1, None], [1, 1, 2, 3, 0, 0]]
    three = [one for at, row in enumerate(rows) for one in judged("1-method", f"a{at}", row)]
    found = table(three, []).queries[0]
    assert found.n_pairs == 6
    matrix = np.array([[math.nan if one is None else one for one in row] for row in rows])
    assert found.before["alpha_ordinal"] == pytest.approx(
        krippendorff.alpha(reliability_data=matrix, level_of_measurement="ordinal", value_domain=[0, 1, 2, 3])
    )
    two_by_two = [matrix[[x, y]][:, ~np.isnan(matrix[[x, y]]).any(axis=0)] for x, y in ((0, 1), (0, 2), (1, 2))]
    rhos, sizes = zip(*[(stats.spearmanr(*both).statistic, both.shape[1]) for both in two_by_two], strict=True)
    assert found.before["spearman_rho"] == pytest.approx(np.average(rhos, weights=sizes))
