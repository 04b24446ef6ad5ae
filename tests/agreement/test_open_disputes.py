"""What adjudication has not reached yet, and what nobody compared, makes no agreement after adjudication."""

import math

import numpy as np
import pytest
from annot.base.records import Decision, Judgement
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.estimates import (
    TOGETHER,
    AgreementTable,
    agreement_table,
)
from scipy import stats

FACETS = {"1-method": "method", "2-method": "method", "3-background": "background"}
A = [0, 1, 2, 3, 0, 1]
B = [0, 2, 2, 3, 1, 0]
"""Three disputes: d1, d4, d5."""


def judged(query_id: str, assessor: str, grades: list[int | None]) -> list[Judgement]:
    return [Judgement(query_id, f"d{at}", assessor, grade) for at, grade in enumerate(grades)]


def both(query_id: str) -> list[Judgement]:
    return [*judged(query_id, "a1", A), *judged(query_id, "a2", B)]


def agreed(query_id: str) -> list[Decision]:
    """What is final without a person."""
    return [Decision(query_id, f"d{at}", x, "agreed") for at, (x, y) in enumerate(zip(A, B, strict=True)) if x == y]


def settled(query_id: str) -> list[Decision]:
    return [Decision(query_id, f"d{at}", max(x, y), "adjudicated") for at, (x, y) in enumerate(zip(A, B, strict=True))]


def table(
    judgements: list[Judgement],
    decisions: list[Decision],
    *,
    missing: str = "drop",
    level: float | None = None,
) -> AgreementTable:
    return agreement_table(
        judgements, decisions, FACETS, grades=(0, 1, 2, 3), missing=missing, binarised_at=None, level=level, topics=None
    )


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


def test_share_has_the_interval_of_its_queries() -> None:
    """Wilson's, clustered; with 30 queries about SciPy's BCa of the same ratio."""
    rng = np.random.default_rng(3)
    judgements, parts, wholes = [], [], []
    for at in range(30):
        n = int(rng.integers(10, 40))
        first = rng.integers(0, 4, n)
        second = np.where(rng.random(n) < rng.uniform(0.1, 0.6), (first + 1) % 4, first)
        parts.append(int((first != second).sum()))
        wholes.append(n)
        judgements += judged(f"{at}-method", "a1", first.tolist()) + judged(f"{at}-method", "a2", second.tolist())
    found = agreement_table(
        judgements,
        [],
        {f"{at}-method": "method" for at in range(30)},
        grades=(0, 1, 2, 3),
        missing="drop",
        binarised_at=None,
        level=0.95,
        topics=None,
    ).groups[-1]
    assert found.disputed.pooled.value == pytest.approx(sum(parts) / sum(wholes))
    assert found.disputed.intervals is not None
    ours = found.disputed.intervals["pooled"]
    theirs = stats.bootstrap(
        (np.array(parts), np.array(wholes)),
        lambda x, y, axis=-1: x.sum(axis=axis) / y.sum(axis=axis),
        paired=True,
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert isinstance(ours, Interval)
    assert ours.method == "Wilson, clustered by 30 queries"
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)
    assert isinstance(found.overruled.mean, Undefined)
    assert found.overruled.intervals is not None
    assert isinstance(found.overruled.intervals["pooled"], Undefined)
