"""Agreement of a handful of queries, and intervals of ratios over whole clusters by the definition."""

from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Decision, Judgement
from annot.base.stats.inference import jackknife_interval, ratio_interval
from annot.base.stats.values import Interval
from annot.measuring.agreement.coefficients import COEFFICIENTS, count, pooled_between, tables_between
from annot.measuring.agreement.estimates import agreement_between, agreement_table
from scipy import stats


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


def ends(sums: np.ndarray, sizes: np.ndarray, **options: float) -> tuple[float, float]:
    found = ratio_interval(sums, sizes, level=0.95, unit="query paper", **options)
    assert isinstance(found, Interval)
    assert found.method == f"jackknife over {len(sizes)} query papers, Fisher's z, Student's t"
    return found.low, found.high


def by_definition(sums: np.ndarray, sizes: np.ndarray, least: float = 0.0) -> tuple[float, float]:
    """Pseudo-values of the figure on the scale of Fisher's z (Efron and Tibshirani 1993, 11.6), then SciPy's t."""

    def figure(rows: list[int]) -> float:
        ratios = [sums[rows, fold].sum() / sizes[rows, fold].sum() for fold in range(sums.shape[1])]
        return float(np.arctanh((np.mean(ratios) - (1 + least) / 2) * 2 / (1 - least)))

    n = len(sizes)
    whole = figure(list(range(n)))
    pseudo = [n * whole - (n - 1) * figure([row for row in range(n) if row != left]) for left in range(n)]
    low, high = stats.t.interval(0.95, n - 1, whole, stats.sem(pseudo))
    return tuple((1 + least) / 2 + np.tanh([low, high]) * (1 - least) / 2)


def planted(seed: int, n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 2 to 30 pairs, each with a share of its own: shapes (n, 1)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 31, (n, 1)).astype(float)
    return rng.binomial(sizes.astype(int), rng.beta(2, 5, (n, 1))).astype(float), sizes


def test_the_interval_of_a_ratio_is_the_jackknifes_by_its_definition() -> None:
    sums, sizes = planted(1)
    assert ends(sums, sizes) == pytest.approx(by_definition(sums, sizes), rel=1e-9)
    difference = sums - planted(2)[0]
    assert ends(difference, 2 * sizes, least=-1.0) == pytest.approx(
        by_definition(difference, 2 * sizes, -1.0), rel=1e-9
    )


@pytest.mark.parametrize("papers", [5, 10, 20, 50])
def test_it_holds_the_truth_as_often_as_it_says(papers: int) -> None:
    """800 studies of a skewed measure, papers of one to three queries: 95 of 100, within three standard errors."""
    rng = np.random.default_rng(papers)
    held = 0
    for _ in range(800):
        sizes = rng.integers(1, 4, (papers, 1)).astype(float)
        low, high = ends(rng.beta(1.5, 5, (papers, 1)) * sizes, sizes)
        held += low <= 1.5 / 6.5 <= high
    assert held / 800 == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 800))
