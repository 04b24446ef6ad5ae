"""An order that follows what must not be known is told from one that was drawn."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from annot.judging.planning import follows, kendalls_s, variance_of_s
from scipy.stats import kendalltau


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5, 6), (0, 0, 1, 2, 2, 2), (1, 1, 1, 1), (3,), (0, 3, 3, 3, 3, 0)])
def test_the_variance_is_that_of_all_orders(values: tuple[int, ...]) -> None:
    scores = [kendalls_s(order) for order in permutations(values)]
    assert sum(scores) == 0
    assert variance_of_s(len(values), Counter(values).values()) == pytest.approx(np.var(scores))


def test_the_score_is_that_of_scipys_tau() -> None:
    values = np.random.default_rng(3).permutation(40)
    pairs = 40 * 39 / 2
    assert kendalls_s(values.tolist()) / pairs == pytest.approx(kendalltau(range(40), values).statistic)


def test_orders_that_were_drawn_never_tell() -> None:
    for seed in range(300):
        rng = np.random.default_rng(seed)
        queries = [rng.permutation(30).tolist() for _ in range(6)]
        assert not follows(queries)
        assert not follows([rng.permutation([0, 1, 1, 2, 3]).tolist() for _ in range(9)])
        assert not follows([rng.permutation(4).tolist()])


@pytest.mark.parametrize("step", [1, -1])
def test_a_sorted_order_tells_wherever_it_cannot_be_chance(step: int) -> None:
    assert follows([list(range(100))[::step]])
    assert follows([list(range(10))[::step]])
    assert follows([[0, 1, 2, 3, 3][::step]] * 9), "five candidates by their grades, query by query"
    assert follows([sorted([0, 1, 2, 3, 3, 2, 1, 0, 0, 3])[::step]] * 3), "gold pairs by their grades, facet by facet"
    assert not follows([[1, 2, 3][::step]]), "three are sorted by chance too often"
    assert not follows([[2, 2, 2]])
    assert not follows([])


def test_an_order_that_leans_tells_where_there_are_many() -> None:
    rng = np.random.default_rng(1)
    queries = [(np.arange(40) + rng.normal(scale=25, size=40)).tolist() for _ in range(10)]
    assert all(sorted(query) != query for query in queries)
    assert follows(queries)
    # As where every method's own papers come in a block.
    assert follows([[*rng.permutation(20).tolist(), *(20 + rng.permutation(20)).tolist()] for _ in range(4)])


def test_an_order_tells_from_six_standard_deviations_on() -> None:
    """60 values rise but for the first k: S is 60 * 59 / 2 - k(k - 1), and one standard deviation is 156.8."""
    for turned, tells in ((29, True), (30, False)):
        values = [*reversed(range(turned)), *range(turned, 60)]
        assert kendalls_s(values) == 1770 - turned * (turned - 1)
        assert (1770 - turned * (turned - 1) > 6 * 156.8) is tells
        assert follows([values]) is tells
        assert follows([values[::-1]]) is tells


@pytest.mark.parametrize(
    ("sizes", "tells"),
    [((8,), False), ((9,), True), ((7, 4), False), ((7, 3, 3), False), ((7, 4, 2), True)],
)
def test_sorted_values_tell_if_two_orders_of_all_are_fewer_than_one_in_a_hundred_thousand(
    sizes: tuple[int, ...], tells: bool
) -> None:
    assert (2 / math.prod(math.factorial(size) for size in sizes) < 1e-5) is tells
    assert follows([range(size) for size in sizes]) is tells


@pytest.mark.parametrize(("queries", "tells"), [(2, False), (3, True)])
def test_equal_values_may_change_places(queries: int, tells: bool) -> None:
    """Eight values of two kinds have 70 orders."""
    assert (2 / math.comb(8, 4) ** queries < 1e-5) is tells
    assert follows([[0] * 4 + [1] * 4] * queries) is tells
