"""Two gradings of the same pairs: against other libraries on all pairs together, and what is left out."""

import krippendorff
import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined
from annot.measuring.agreement.coefficients import HEADLINE
from annot.measuring.agreement.estimates import agreement_between
from drawn_ratings import GRADES, skewed
from scipy import stats
from sklearn.metrics import cohen_kappa_score

NAMES = ("kappa_quadratic", *HEADLINE)


@pytest.mark.parametrize("seed", range(5))
def test_as_other_libraries_have_it_on_all_pairs_together(seed: int) -> None:
    first, second = skewed(2, 45, mix=(0.25, 0.25, 0.25, 0.25), seed=seed).astype(int)
    pairs = [(f"q{at // 5}", f"d{at}") for at in range(45)]
    found = agreement_between(
        dict(zip(pairs, first.tolist(), strict=True)) | {("q1", "alone"): 3},
        dict(zip(pairs, second.tolist(), strict=True)) | {("q2", "alone"): 0},
        grades=GRADES,
        level=0.95,
        coefficients=NAMES,
        topics=None,
    )
    assert (found.n_pairs, found.n_queries) == (45, 9)
    expected = {
        "kappa_quadratic": cohen_kappa_score(first, second, weights="quadratic"),
        "kappa": cohen_kappa_score(first, second),
        "spearman_rho": stats.spearmanr(first, second).statistic,
        "alpha_ordinal": krippendorff.alpha(np.array([first, second]), level_of_measurement="ordinal"),
        "percent": 100 * np.mean(first == second),
    }
    for name in NAMES:
        estimate = found.figures[name]
        assert estimate.value == pytest.approx(expected[name], abs=1e-9), name
        assert isinstance(estimate.interval, Interval)
        assert estimate.interval.low < expected[name] < estimate.interval.high


def test_no_common_pair_and_too_few_queries_are_said_in_words() -> None:
    nothing = agreement_between({("q1", "d1"): 1}, {}, grades=GRADES, level=0.95, coefficients=NAMES, topics=None)
    assert (nothing.n_pairs, nothing.n_queries) == (0, 0)
    assert all(isinstance(one.value, Undefined) for one in nothing.figures.values())
    graded = {(f"q{at // 10}", f"d{at}"): at % 4 for at in range(30)}
    few = agreement_between(graded, graded, grades=GRADES, level=0.95, coefficients=NAMES, topics=None).figures["kappa"]
    assert few.value == 1.0
    assert isinstance(few.interval, Undefined)
    assert "needs 4" in few.interval.reason
