"""Agreement of a handful of queries: five assessors on two grades, grades in two, and shares over queries."""

from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Decision, Judgement
from annot.base.stats.inference import jackknife_interval
from annot.measuring.agreement.coefficients import COEFFICIENTS, count, pooled_between, tables_between
from annot.measuring.agreement.estimates import agreement_between, agreement_table


def test_of_five_assessors_every_two_have_a_table_of_their_own() -> None:
    rng = np.random.default_rng(3)
    queries = [rng.integers(0, 2, (5, 8)).astype(float) for _ in range(3)]
    met, tables = zip(*(tables_between(one, (0, 1)) for one in queries), strict=True)
    pooled = pooled_between([count(one, (0, 1)) for one in queries], met, tables, topics=None)
    assert len(pooled.summed()) == 10
    expected = COEFFICIENTS["kappa"](np.concatenate(queries, axis=1), (0, 1))
    assert pooled.value("kappa", (0, 1)) == pytest.approx(expected)


def test_without_papers_queries_are_the_units() -> None:
    grades = {(f"q{q}", f"d{d}"): (q + d) % 3 for q in range(4) for d in range(5)}
    other = {pair: grade if pair[1] != "d1" else 0 for pair, grade in grades.items()}
    found = agreement_between(grades, other, grades=(0, 1, 2), level=0.95, coefficients=["percent"], topics=None)
    assert "4 queries" in found.figures["percent"].interval.method


def table(**changes: Any) -> Any:
    """Two assessors on five queries of four pairs; they differ on so many pairs of each query: 0, 1, 1, 2, 3."""
    judged, final = [], []
    for q, apart in enumerate((0, 1, 1, 2, 3)):
        for d in range(4):
            for who, grade in (("a1", d % 3), ("a2", (d + (d < apart)) % 3)):
                judged.append(Judgement(f"q{q}", f"d{d}", who, grade))
            final.append(Decision(f"q{q}", f"d{d}", d % 3, "adjudicated" if d < apart else "agreed"))
    usual: dict[str, Any] = {"grades": (0, 1, 2), "missing": "drop", "level": 0.95, "topics": None}
    facets = {f"q{q}": "aim" for q in range(5)}
    return agreement_table(judged, final if changes.pop("settled", True) else (), facets, **(usual | changes))


@pytest.mark.parametrize("at", [1, 2])
def test_grades_are_split_at_each_but_the_lowest(at: int) -> None:
    assert table(binarised_at=at).groups


@pytest.mark.parametrize("at", [0, 3])
def test_a_split_at_the_lowest_grade_or_beyond_the_scale_is_refused(at: int) -> None:
    with pytest.raises(InputError, match=f"^binarised at {at}: expected one of 1, 2$"):
        table(binarised_at=at)


def test_shares_are_summarised_over_queries_within_0_and_1_or_not_at_all_while_disputes_are_open() -> None:
    (together,) = [group for group in table(binarised_at=None).groups if group.name == "together"]
    shares = np.array([0, 1, 1, 2, 3]) / 4
    without = (shares.sum() - shares) / 4
    expected = jackknife_interval(float(shares.mean()), without, level=0.95, least=0.0, most=1.0)
    assert together.disputed.mean == pytest.approx(shares.mean())
    found = together.disputed.intervals["mean"]
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    (waiting,) = [group for group in table(binarised_at=None, settled=False).groups if group.name == "together"]
    assert (together.overruled.n_queries, waiting.overruled.n_queries) == (5, 0)
