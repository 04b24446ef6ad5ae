"""p-values corrected for their number, against published ones and against R."""

import pytest
from annot.base.stats.inference import holm
from hypothesis import given
from hypothesis import strategies as st


def test_holm_on_published_p_values() -> None:
    """The 15 p-values of Benjamini and Hochberg 1995, Controlling the False Discovery Rate, in their example: with the
    family-wise error at 0.05 the first three are rejected, and no more."""
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1,
    ]
    found = holm(p)
    assert [value <= 0.05 for value in found] == [True] * 3 + [False] * 12
    assert found[:4] == pytest.approx((15 * 0.0001, 14 * 0.0004, 13 * 0.0019, 12 * 0.0095))


def test_holm_gives_what_r_gives() -> None:
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx((0.05, 0.08, 0.09, 0.09, 0.09))
    assert holm([0.5, 0.9, 0.001]) == pytest.approx((1.0, 1.0, 0.003))


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms(use_true_random=False))
def test_holm_keeps_the_order_lies_between_p_and_bonferroni_and_goes_with_its_p(p: list[float], random) -> None:
    found = holm(p)
    for at, value in enumerate(found):
        assert p[at] <= value <= max(p[at], min(1, len(p) * p[at]))
        assert all(found[other] <= value for other in range(len(p)) if p[other] <= p[at])
    order = list(range(len(p)))
    random.shuffle(order)
    assert holm([p[at] for at in order]) == tuple(found[at] for at in order)
