"""What a method found that no other had, and what its score loses without it, counted by hand."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from annot.base.records import CITED, Addition, Draw, Pool, PoolEntry, Qrel, Ranking, ScoredDoc
from annot.base.stats.inference import jackknife_interval
from annot.base.stats.values import Interval, Undefined
from annot.measuring.reusability import UNJUDGED, _best, _papers_needed, _place, finds_of, losses
from scipy import stats


def ranking(*names: str) -> Ranking:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


def entry(doc_id: str, *drawn: tuple[str, int | None]) -> PoolEntry:
    first, *also = (Draw(method, rank, None, None) for method, rank in drawn)
    return PoolEntry(doc_id, first, tuple(also))


def pool(*entries: PoolEntry, methods: tuple[str, ...], seed: int | None = 1, **other: object) -> Pool:
    return Pool("p1", "blocks", 1, 10, seed, methods, (), (), 0, entries, **other)


def test_of_a_pool_that_does_not_say_how_it_was_drawn_a_find_is_what_no_other_had() -> None:
    made = pool(
        entry("d1", ("bm25", 1)),
        entry("d2", ("bm25", 2), ("lsa", 1)),
        entry("d3", (CITED, None)),
        methods=("bm25", "lsa", CITED),
        seed=None,
    )
    assert finds_of({"p1": made}) == {"bm25": {("p1", "d1")}, "cited": {("p1", "d3")}, "lsa": frozenset()}


def test_of_a_drawn_pool_a_find_is_what_the_others_would_not_have_drawn() -> None:
    # Each draws one: bm25 its first, lsa its first that is new. Without bm25, lsa draws d1, which it ranks first.
    made = pool(entry("d1", ("bm25", 1), ("lsa", 1)), entry("d2", ("lsa", 2)), methods=("bm25", "lsa"))
    assert finds_of({"p1": made}) == {"bm25": {("p1", "d2")}, "lsa": {("p1", "d2")}}


def test_cited_papers_are_drawn_by_no_other_method() -> None:
    made = pool(entry("d1", (CITED, None)), entry("d2", ("bm25", 1)), methods=(CITED, "bm25"))
    assert finds_of({"p1": made}) == {"bm25": {("p1", "d2")}, "cited": {("p1", "d1")}}


def test_what_a_top_up_brought_is_a_find_of_its_method() -> None:
    added = Addition(2, "new", 2, ("d3", "d4"), None, None, None)
    made = pool(
        entry("d1", ("bm25", 1), ("new", 1)),
        entry("d3", ("new", 2)),
        methods=("bm25", "new"),
        additions=(Addition(2, "new", 2, ("d3",), None, None, None),),
    )
    assert added.method == "new"
    assert finds_of({"p1": made})["new"] == {("p1", "d3")}


QRELS = [Qrel(f"p{at}-aim", doc, grade) for at in range(5) for doc, grade in (("d1", 3), ("d2", 2), ("d3", 0))]
PAPERS = {f"p{at}-aim": f"p{at}" for at in range(5)}


def first_is_judged(runs: Mapping[str, Mapping[str, Ranking]]) -> dict[str, dict[str, float]]:
    """1 where the first document of a query is judged, else 0."""
    return {
        run: {query_id: float(bool(docs) and not docs[0].doc_id.endswith(UNJUDGED)) for query_id, docs in of.items()}
        for run, of in runs.items()
    }


def test_a_loss_is_the_score_with_its_own_finds_judged_less_that_without() -> None:
    rankings = {
        "own": {f"p{at}": ranking("d1", "d2") for at in range(5)},
        "none": {f"p{at}": ranking("d2", "d3") for at in range(4)},
    }
    finds = {
        "own": frozenset({("p0", "d1"), ("p1", "d1"), ("p1", "d3"), ("p2", "d3")}),
        "none": frozenset(),
        "gone": frozenset({("p0", "d1")}),
    }
    found = losses(finds, rankings, QRELS, PAPERS, first_is_judged, relevant_from=2, tolerance=0.02, level=0.95)
    # Equal losses are in order of name: 2 of 5 queries, 1 of 5, none.
    assert [(one.method, one.ranked) for one in found] == [("own", True), ("gone", False), ("none", True)]
    own, gone, none = found
    assert (own.score, own.without, own.loss) == pytest.approx((1.0, 0.6, 0.4))
    assert (gone.loss, none.loss, none.score) == pytest.approx((0.2, 0.0, 0.8))
    assert [(one.alone, one.alone_relevant) for one in found] == [(4, 2), (1, 1), (0, 0)]
    # Of the two that are ranked; without its finds `own` falls behind.
    assert [(one.rank, one.rank_without) for one in found] == [(1, 2), (None, None), (2, 2)]
    # The two change places without the finds of `own`, and stay without those of `none`.
    assert (own.tau, gone.tau, none.tau) == (-1.0, Undefined("it has no ranking"), 1.0)
    assert [one.place for one in found] == ["open", "open", "below"]
    spread = math.sqrt(5 * 0.4 * 0.6 / 4)
    assert own.papers_needed == first_clear(0.38, spread, 0.05 / 3)
    assert none.papers_needed is None


def first_clear(distance: float, spread: float, tail: float) -> int:
    return next(n for n in range(4, 10_000) if stats.t.ppf(1 - tail, n - 1) * spread / math.sqrt(n) < distance)


@pytest.mark.parametrize(("distance", "spread", "tail"), [(0.1, 0.3, 0.05), (0.5, 0.1, 0.05), (0.02, 0.2, 0.01)])
def test_the_papers_needed_are_the_fewest_with_which_half_an_interval_is_shorter(
    distance: float, spread: float, tail: float
) -> None:
    assert _papers_needed(distance, spread, tail=tail) == first_clear(distance, spread, tail)


def test_a_distance_of_nothing_needs_more_papers_than_there_are() -> None:
    assert _papers_needed(0.0, 0.2, tail=0.05) is None
    assert _papers_needed(0.1, math.nan, tail=0.05) is None


@pytest.mark.parametrize(
    ("low", "high", "place"), [(0.021, 0.1, "above"), (0.02, 0.1, "open"), (-0.1, 0.02, "open"), (-0.1, 0.019, "below")]
)
def test_a_loss_is_above_or_below_what_is_tolerated_by_its_whole_interval(low: float, high: float, place: str) -> None:
    assert _place(Interval(low, high, 0.95, "jackknife"), 0.02, nothing=False) == place


def test_without_an_interval_only_no_loss_at_all_is_below() -> None:
    assert _place(Undefined("three papers"), 0.02, nothing=True) == "below"
    assert _place(Undefined("three papers"), 0.02, nothing=False) == "open"


def first_judged(runs: Mapping[str, Mapping[str, Ranking]]) -> dict[str, dict[str, float]]:
    """1 where the first document of a query is judged, else 0."""
    return {
        run: {q: float(not docs[0].doc_id.endswith(UNJUDGED)) for q, docs in of.items()} for run, of in runs.items()
    }


def lost_on(papers: int, found: int, *, relevant_from: int = 2, others: int = 1):
    """Methods that rank d1 first on each paper; what the first one ranks so was found by it alone on some."""
    names = [f"p{at}" for at in range(papers)]
    rankings = {f"m{at}": {name: (ScoredDoc("d1", 1.0),) for name in names} for at in range(1 + others)}
    finds = {method: frozenset[tuple[str, str]]() for method in rankings}
    finds["m0"] = frozenset((name, "d1") for name in names[:found])
    qrels = [Qrel(name, "d1", 2) for name in names]
    first, *rest = losses(
        *(finds, rankings, qrels, dict(zip(names, names, strict=True)), first_judged),
        **{"relevant_from": relevant_from, "tolerance": 0.02, "level": 0.95},
    )
    return first, rest


def test_the_ends_of_all_intervals_hold_together() -> None:
    one, _ = lost_on(5, 2)
    # Two methods: each end is beyond with half of 5%. The means without each paper are 1 or 2 of 4.
    expected = jackknife_interval(0.4, np.array([1, 1, 2, 2, 2]) / 4, level=0.95, unit="query paper")
    assert isinstance(expected, Interval)
    assert isinstance(one.interval, Interval)
    assert one.interval.level == pytest.approx(0.95)
    assert (one.interval.low, one.interval.high) == pytest.approx((expected.low, expected.high))


def test_two_papers_show_how_papers_differ_and_one_does_not() -> None:
    two, _ = lost_on(2, 1)
    spread = math.sqrt(2 * 0.5**2)
    assert two.papers_needed == next(
        n for n in range(4, 1000) if stats.t.ppf(0.975, n - 1) * spread / math.sqrt(n) < 0.48
    )
    assert lost_on(1, 1)[0].papers_needed is None


def test_methods_that_tie_have_one_rank_and_grades_from_the_lowest_relevant_on_count() -> None:
    one, rest = lost_on(4, 1, others=2)
    assert (one.rank, one.rank_without, [other.rank for other in rest]) == (1, 3, [1, 1])
    assert (one.alone, one.alone_relevant) == (1, 1)
    assert lost_on(4, 1, relevant_from=3)[0].alone_relevant == 0


def test_a_method_that_topped_up_draws_nothing_before_that() -> None:
    """`new` came with its best document alone, which the pool had; its second is lsa's find."""
    entries = (
        PoolEntry("d1", Draw("bm25", 1, None, None), (Draw("new", 1, None, None),)),
        PoolEntry("d3", Draw("lsa", 1, None, None), (Draw("new", 2, None, None),)),
    )
    added = Addition(2, "new", 1, (), None, None, None)
    pool = Pool("p1", "blocks", 1, 10, 1, ("bm25", "lsa", "new"), (), (), 0, entries, (added,))
    assert finds_of({"p1": pool})["lsa"] == {("p1", "d3")}


def test_the_best_ranking_of_a_query_has_its_own_documents_by_grade() -> None:
    qrels = [Qrel("q1", "d1", 0), Qrel("q2", "d9", 3), Qrel("q1", "d2", 2)]
    assert [doc.doc_id for doc in _best(qrels, "q1")] == ["d2", "d1"]
