"""The even choice of query papers from a sheet."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.pools.selection import Distribution, SheetRow, choose, even_choice, keys_of, papers_enough
from hypothesis import given, settings
from hypothesis import strategies as st
from sheet_rows import FACETS, PAPER_TYPES, PERIODS, row


def chosen_from(
    rows: Sequence[SheetRow], count: int, *, share: float = 0.5, seed: int = 13, min_rating: int | None = 3
) -> tuple[tuple[tuple[str, str], ...], Distribution]:
    return choose(
        rows,
        count=count,
        min_rating=min_rating,
        two_facet_share=share,
        offered={entry.paper_id: FACETS for entry in rows},
        facets=FACETS,
        seed=seed,
    )


def rated(number: int, seed: int = 0) -> list[SheetRow]:
    """Papers with types, periods, ratings and facets at random, unevenly."""
    rng = np.random.default_rng(seed)
    return [
        row(
            f"p{at:03}",
            year=None,
            period="{}-{}".format(*PERIODS[int(rng.choice(5, p=(0.05, 0.1, 0.15, 0.3, 0.4)))]),
            type=PAPER_TYPES[int(rng.choice(5, p=(0.1, 0.5, 0.15, 0.1, 0.15)))],
            rating=int(rng.integers(1, 6)),
            facets=tuple(facet for facet in FACETS if rng.random() < 0.7),
        )
        for at in range(number)
    ]


def test_surveys_low_ratings_unrated_papers_and_papers_without_a_facet_are_left_out_and_counted() -> None:
    rows = [
        *(row(f"ok{at}", rating=3 + at % 3) for at in range(4)),
        row("survey", type="survey"),
        row("low", rating=2),
        row("lower", rating=1),
        row("unrated", type=None, rating=None),
        row("bare", facets=()),
    ]
    chosen, found = chosen_from(rows, 6, share=0.5)
    assert {paper_id for paper_id, _ in chosen} == {"ok0", "ok1", "ok2", "ok3"}
    assert found.left_out == (("no facet", 1), ("not rated", 1), ("rated below 3", 2), ("survey", 1))
    assert found.eligible == 4


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1000), st.integers(1, 40), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_a_choice_keeps_its_promises(seed: int, count: int, share: float) -> None:
    rows = rated(100, seed)
    chosen, found = chosen_from(rows, count, share=share, seed=seed)
    by_id = {entry.paper_id: entry for entry in rows}
    assert len(chosen) == len(set(chosen)) == count == found.queries
    assert all(facet in by_id[paper_id].facets for paper_id, facet in chosen)
    times = Counter(paper_id for paper_id, _ in chosen)
    assert max(times.values()) <= 2
    assert sum(number == 2 for number in times.values()) == found.two_facet_papers
    assert found.papers == len(times)
    for kind, shares in (("period", found.by_period), ("type", found.by_type)):
        counted = Counter(getattr(by_id[paper_id], kind) for paper_id in times)
        assert {entry.value: entry.chosen for entry in shares if entry.chosen} == dict(counted)
    assert {entry.value: entry.chosen for entry in found.by_facet if entry.chosen} == dict(
        Counter(facet for _, facet in chosen)
    )
    counts = [entry.chosen for shares in (found.by_period, found.by_type, found.by_facet) for entry in shares]
    assert found.imbalance == sum(number**2 for number in counts)


def brute_force(candidates: Sequence[SheetRow], singles: int, doubles: int) -> int:
    """The least imbalance of all choices, one by one."""
    best: int | None = None
    for papers in combinations(candidates, singles + doubles):
        for twice in combinations(range(len(papers)), doubles):
            sizes = [2 if at in twice else 1 for at in range(len(papers))]
            for facets in product(*(combinations(p.facets, s) for p, s in zip(papers, sizes, strict=True))):
                counts = Counter(key for paper, own in zip(papers, facets, strict=True) for key in keys_of(paper, own))
                imbalance = sum(number**2 for number in counts.values())
                best = imbalance if best is None else min(best, imbalance)
    assert best is not None
    return best


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_choice_is_as_even_as_the_best_of_all_choices(data: st.DataObject) -> None:
    candidates = [
        row(f"p{at}", period=period, type=kind, facets=facets)
        for at, (period, kind, facets) in enumerate(
            data.draw(
                st.lists(
                    st.tuples(
                        st.sampled_from("123"),
                        st.sampled_from("xyz"),
                        st.sampled_from([("a",), ("b",), ("c",), ("a", "b"), ("b", "c"), ("a", "b", "c")]),
                    ),
                    min_size=1,
                    max_size=7,
                )
            )
        )
    ]
    capable = sum(len(candidate.facets) > 1 for candidate in candidates)
    doubles = data.draw(st.integers(0, min(capable, 2)))
    singles = data.draw(
        st.integers(0 if doubles else 1, min(3, len(candidates) - doubles)) if len(candidates) > doubles else st.just(0)
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 5)))
    _, counts = even_choice(candidates, singles=singles, doubles=doubles, rng=rng)
    assert sum(count**2 for count in counts.values()) == brute_force(candidates, singles, doubles)


def test_the_same_seed_gives_the_same_choice_in_any_order_of_rows_and_another_seed_another() -> None:
    rows = rated(100)
    assert chosen_from(rows, 30) == chosen_from(rows[::-1], 30)
    assert {chosen_from(rows, 30, seed=seed)[0] for seed in range(5)} != {chosen_from(rows, 30)[0]}


def test_where_few_papers_have_two_facets_or_papers_are_few_the_share_gives_way_and_says_so() -> None:
    rows = [row(f"p{at}", facets=("method", "result") if at < 2 else ("method",)) for at in range(20)]
    found = chosen_from(rows, 15, share=0.5)[1]
    assert (found.two_facet_papers, found.two_facet_papers_wanted, found.papers) == (2, 5, 13)
    found = chosen_from([row(f"p{at}") for at in range(6)], 10, share=0.0)[1]
    assert (found.two_facet_papers, found.two_facet_papers_wanted, found.papers) == (4, 0, 6)


def test_more_queries_than_the_papers_can_give_are_refused_with_the_most_they_can() -> None:
    rows = [row("p1"), row("p2", facets=("method",)), row("p3", rating=1)]
    assert len(chosen_from(rows, 3)[0]) == 3
    with pytest.raises(InputError, match="at most 3") as caught:
        chosen_from(rows, 4)
    assert caught.value.hint is not None
    assert "--per-period" in caught.value.hint
    for count, share in ((0, 0.5), (2, 1.5)):
        with pytest.raises(InputError, match="expected"):
            chosen_from(rows, count, share=share)


def test_what_to_rate_first_evens_the_periods_out_in_the_order_of_the_sheet() -> None:
    rows = [
        row(f"{name}{at}", year=None, period=period, type=None, rating=None, facets=FACETS)
        for name, period in (("b", "2000-2004"), ("a", "1994-1999"))
        for at in (3, 1, 2)
    ]
    with pytest.raises(InputError, match="none of the 6 papers of the sheet is rated") as caught:
        chosen_from(rows, 4)
    # Four queries, half of the papers with two, are three papers.
    assert caught.value.faults == ("rate first, from 1994-1999: a3, a1", "rate first, from 2000-2004: b3")
    assert "annot query sample --choose 4" in (caught.value.hint or "")
    some = [row("c1", year=None, period="1994-1999", facets=FACETS), *rows]
    with pytest.raises(InputError, match="found 1 eligible") as caught:
        chosen_from(some, 4)
    assert caught.value.faults == ("rate first, from 1994-1999: a3", "rate first, from 2000-2004: b3")


def test_a_facet_in_the_sheet_that_a_paper_has_no_sentences_for_is_refused() -> None:
    rows = [row("p1", facets=FACETS), row("p2", facets=("method",)), row("p3", facets=FACETS, type="survey")]
    with pytest.raises(InputError, match="no sentences for") as caught:
        choose(
            rows,
            count=1,
            min_rating=3,
            two_facet_share=0.5,
            offered={"p1": ("background", "method")},
            facets=FACETS,
            seed=1,
        )
    assert caught.value.faults == (
        "paper p1: no sentence of facet 'result', expected one of: background, method",
        "paper p2: no sentence of facet 'method', expected one of: none",
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_so_many_queries_as_are_named_give_enough_papers_and_no_fewer_do(share: float) -> None:
    rows = [row(f"p{at:02}") for at in range(40)]
    enough = papers_enough(6, two_facet_share=share)
    papers = [chosen_from(rows, number, share=share)[1].papers for number in (enough - 1, enough)]
    assert papers[0] < 6 <= papers[1]
