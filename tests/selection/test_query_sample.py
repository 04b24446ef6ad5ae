"""The sample of query papers, by period."""

from collections import Counter

import pytest
from annot.base.errors import InputError
from annot.pools.selection import periods_of, sample
from hypothesis import given
from hypothesis import strategies as st
from sheet_rows import PERIODS

YEARS = [(f"p{number:03}", 1994 + number % 26) for number in range(400)]


def test_the_sample_draws_papers_of_each_period_from_that_period() -> None:
    year_of = dict(YEARS)
    drawn = sample(YEARS, periods=PERIODS, per_period=20, seed=13)
    assert [period.period for period in drawn.periods] == [
        *("1994-1999", "2000-2004", "2005-2009", "2010-2014", "2015-2019"),
    ]
    for period in drawn.periods:
        assert len(set(period.paper_ids)) == 20
        assert all(period.start <= year_of[paper_id] <= period.end for paper_id in period.paper_ids)
        assert not period.short


def test_the_sample_does_not_depend_on_the_order_of_the_corpus_but_on_the_seed() -> None:
    drawn = sample(YEARS, periods=PERIODS, per_period=20, seed=13)
    assert sample(YEARS[::-1], periods=PERIODS, per_period=20, seed=13) == drawn
    assert sample(YEARS, periods=PERIODS, per_period=20, seed=14) != drawn


def test_a_larger_sample_begins_with_the_smaller() -> None:
    small = sample(YEARS, periods=PERIODS, per_period=5, seed=13)
    large = sample(YEARS, periods=PERIODS, per_period=30, seed=13)
    for few, many in zip(small.periods, large.periods, strict=True):
        assert many.paper_ids[:5] == few.paper_ids


def test_every_paper_of_a_period_is_drawn_about_equally_often() -> None:
    ids = [(f"p{number}", 1995) for number in range(10)]
    times = Counter(
        paper_id
        for seed in range(600)
        for paper_id in sample(ids, periods=[(1994, 1999)], per_period=3, seed=seed).periods[0].paper_ids
    )
    # 600 draws with p = 0.3: mean 180, standard deviation 11.2; five of them either side.
    assert all(124 <= times[paper_id] <= 236 for paper_id, _ in ids)


def test_a_period_with_too_few_papers_says_so_and_gives_them_all() -> None:
    years = [("a", 1994), ("b", 1999), ("c", 2000), ("d", None), ("e", 2020), ("f", 801)]
    drawn = sample(years, periods=PERIODS, per_period=2, seed=1)
    assert [(period.available, period.short) for period in drawn.periods] == [
        *((2, False), (1, True), (0, True), (0, True), (0, True)),
    ]
    assert drawn.periods[1].paper_ids == ("c",)
    assert (drawn.undated, drawn.outside) == (1, 2)


def test_periods_that_overlap_or_run_backwards_and_doubled_ids_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        sample(YEARS, periods=[(2005, 2009), (1994, 2005), (2012, 2010)], per_period=2, seed=1)
    assert caught.value.faults == ("2012-2010: ends before it begins", "1994-2005 and 2005-2009 share years")
    with pytest.raises(InputError, match="twice") as caught:
        sample([("a", 1994), ("b", 1994), ("a", None)], periods=PERIODS, per_period=2, seed=1)
    assert caught.value.faults == ("a",)


@pytest.mark.parametrize(
    ("years", "expected"),
    [
        ({2020: 1, 2021: 5, 2022: 9, 2023: 1, 2024: 2}, tuple((year, year) for year in range(2020, 2025))),
        ({2023: 7}, ((2023, 2023),)),
        ({1990: 3, 2010: 3}, ((1990, 1994), (2007, 2010))),
        ({801: 4, 2001: 5, 2002: 5}, ((2001, 2001), (2002, 2002))),
        ({1066: 1, 2001: 150, 2002: 150, 3000: 1}, ((2001, 2001), (2002, 2002))),
        ({}, ()),
        ({-5: 3}, ()),
    ],
)
def test_periods_follow_from_the_years_but_for_a_few_odd_ones(
    years: dict[int, int], expected: tuple[tuple[int, int], ...]
) -> None:
    assert periods_of(years) == expected


@given(st.dictionaries(st.integers(1000, 2100), st.integers(1, 40), min_size=1))
def test_periods_hold_nearly_all_papers_and_differ_by_a_year_at_most(years: dict[int, int]) -> None:
    found = periods_of(years)
    assert 1 <= len(found) <= 5
    inside = sum(n for year, n in years.items() if any(start <= year <= end for start, end in found))
    assert inside >= sum(years.values()) * 0.99
    lengths = {end - start for start, end in found}
    assert max(lengths) - min(lengths) <= 1
    drawn = sample([], periods=found, per_period=1, seed=1)
    assert drawn.outside == 0
