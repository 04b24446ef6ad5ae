"""How many documents of sampled pools have a grade: without bias, within what is possible, whole if all is drawn."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from annot.base.stats.inference import share_of_counts
from annot.base.stats.values import Interval
from annot.measuring.sampled.grades import GradeCounts, by_grade, counts_of, pool_grades, share_of

PI = {"a": 0.9, "b": 0.5, "c": 1.0, "d": 0.25, "e": 0.4, "f": 0.3, "g": 0.6, "h": 0.2}
GRADES = {"a": 3, "b": 0, "c": 2, "d": 1, "e": 2, "f": 0, "g": 2, "h": 3}
AT_LEAST = np.array([6, 5, 2])
"""Documents with grade 1, 2 and 3, or a higher one."""


def counted(judged: dict[str, int], pi: dict[str, float] = PI) -> GradeCounts:
    return counts_of(pool_grades(pi, judged, None, highest=3, query_id="q"))


def every_draw() -> Iterator[tuple[float, GradeCounts]]:
    """Each possible sample with its chance."""
    for drawn in itertools.product((True, False), repeat=len(PI)):
        chance = np.prod([pi if chosen else 1 - pi for pi, chosen in zip(PI.values(), drawn, strict=True)])
        if chance:
            chosen = {doc_id: GRADES[doc_id] for doc_id, is_drawn in zip(PI, drawn, strict=True) if is_drawn}
            yield float(chance), counted(chosen)


def ends_of(counts: GradeCounts, least: int) -> tuple[float, float]:
    interval = counts.number(least, level=0.95).interval
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def test_over_all_draws_the_numbers_have_no_bias() -> None:
    mean = sum(chance * counts.estimated for chance, counts in every_draw())
    assert mean == pytest.approx(AT_LEAST, abs=1e-12)


def test_of_every_draw_the_printed_number_is_possible_and_in_its_interval() -> None:
    for _, counts in every_draw():
        for least in (1, 2, 3):
            estimate = counts.number(least, level=0.95)
            found = counts.found[least - 1]
            low, high = ends_of(counts, least)
            assert isinstance(estimate.value, float)
            assert found <= low <= estimate.value <= high <= found + counts.unknown <= len(PI)
        grades = by_grade([counts])[0]
        assert grades.sum() == pytest.approx(len(PI), abs=1e-9)
        assert grades.min() >= -1e-9


def test_where_all_is_drawn_it_is_the_count_of_whole_judging_and_its_interval() -> None:
    whole = counted(GRADES, dict.fromkeys(PI, 1.0))
    other = counted({doc_id: 1 if doc_id in "ab" else 0 for doc_id in PI}, dict.fromkeys(PI, 1.0))
    assert by_grade([whole, other]).tolist() == [[2, 1, 3, 2], [6, 2, 0, 0]]
    assert whole.number(2, level=0.95).value == 5
    assert ends_of(whole, 2) == (5, 5)
    assert share_of([whole, other], [2, 3], level=0.95, topics=None) == share_of_counts([5, 0], [8, 8], level=0.95)
    drawn_by_chance = counted(GRADES)
    assert ends_of(drawn_by_chance, 2) == (5, 5)


def test_nothing_relevant_drawn_is_not_nothing_relevant() -> None:
    """Three of ten are drawn at random, none is relevant. If four of ten were, that would happen in one draw of six
    (C(6, 3) / C(10, 3) = 20 / 120), and if seven were, in one of 120."""
    pi = {f"d{at}": 0.3 for at in range(10)}
    counts = counted(dict.fromkeys(["d1", "d4", "d7"], 0), pi)
    low, high = ends_of(counts, 1)
    assert counts.number(1, level=0.95).value == 0
    assert low == 0
    assert 4 < high < 7
    none_drawn = counted({}, pi)
    assert ends_of(none_drawn, 1) == (0, 10)


def test_a_part_of_a_pool_is_counted_alone() -> None:
    pool = pool_grades(PI, {"a": 3, "c": 2, "e": 2}, None, highest=3, query_id="q")
    part = counts_of(pool, {"a", "b", "e"})
    assert (part.documents, part.unknown) == (3, 1)
    assert part.estimated == pytest.approx([1 / 0.9 + 1 / 0.4, 1 / 0.9 + 1 / 0.4, 1 / 0.9])
    assert part.possible(part.estimated) == pytest.approx([3, 3, 1 / 0.9])


def test_the_share_of_pools_is_that_of_whole_judging_on_average_where_the_drawn_share_is_twice_it() -> None:
    """Of forty documents of a pool the first ten are drawn at .9, the others at .1; half of the first are relevant."""
    rng = np.random.default_rng(4)
    pi = {f"d{at:02}": 0.9 if at < 10 else 0.1 for at in range(40)}
    shares, plain, held = [], [], []
    for _ in range(100):
        pools, hits, drawn = [], 0, 0
        for _ in range(6):
            judged = {doc_id: int(rank < 5) for rank, (doc_id, p) in enumerate(pi.items()) if rng.random() < p}
            pools.append(counted(judged, pi))
            hits, drawn = hits + sum(judged.values()), drawn + len(judged)
        share = share_of(pools, [1, 2, 3], level=0.95, topics=None)
        assert isinstance(share.interval, Interval)
        shares.append(share.value)
        plain.append(hits / drawn)
        held.append(share.interval.low <= 5 / 40 <= share.interval.high)
    assert np.mean(shares) == pytest.approx(5 / 40, abs=0.005)
    assert np.mean(plain) > 2 * 5 / 40
    assert np.mean(held) >= 0.93
