"""Losses of a few papers: where an interval, a rank and the papers needed begin."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from annot.base.records import Addition, Draw, Pool, PoolEntry, Qrel, Ranking, ScoredDoc
from annot.base.stats.inference import jackknife_interval
from annot.base.stats.values import Interval
from annot.measuring.reusability import UNJUDGED, _best, _papers_needed, finds_of, losses
from scipy import stats


def first_is_judged(runs: Mapping[str, Mapping[str, Ranking]]) -> dict[str, dict[str, float]]:
    """1 where the first document of a query is judged, else 0."""
    return {
        run: {q: float(not docs[0].doc_id.endswith(UNJUDGED)) for q, docs in of.items()} for run, of in runs.items()
    }


def lost(papers: int, found: int, *, relevant_from: int = 2, others: int = 1):
    """Methods that rank d1 first on each paper; what the first one ranks so was found by it alone on some."""
    names = [f"p{at}" for at in range(papers)]
    rankings = {f"m{at}": {name: (ScoredDoc("d1", 1.0),) for name in names} for at in range(1 + others)}
    finds = {method: frozenset[tuple[str, str]]() for method in rankings}
    finds["m0"] = frozenset((name, "d1") for name in names[:found])
    qrels = [Qrel(name, "d1", 2) for name in names]
    first, *rest = losses(
        *(finds, rankings, qrels, dict(zip(names, names, strict=True)), first_is_judged),
        **{"relevant_from": relevant_from, "tolerance": 0.02, "level": 0.95},
    )
    return first, rest


def test_the_ends_of_all_intervals_hold_together() -> None:
    one, _ = lost(5, 2)
    # Two methods: each end is beyond with half of 5%. The means without each paper are 1 or 2 of 4.
    expected = jackknife_interval(0.4, np.array([1, 1, 2, 2, 2]) / 4, level=0.95, unit="query paper")
    assert isinstance(expected, Interval)
    assert isinstance(one.interval, Interval)
    assert one.interval.level == pytest.approx(0.95)
    assert (one.interval.low, one.interval.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("papers", "place"), [(3, "open"), (4, "below")])
def test_four_papers_without_a_loss_show_that_there_is_none(papers: int, place: str) -> None:
    assert lost(papers, 0)[0].place == place


def test_two_papers_show_how_papers_differ_and_one_does_not() -> None:
    two, _ = lost(2, 1)
    spread = math.sqrt(2 * 0.5**2)
    assert two.papers_needed == next(
        n for n in range(4, 1000) if stats.t.ppf(0.975, n - 1) * spread / math.sqrt(n) < 0.48
    )
    assert lost(1, 1)[0].papers_needed is None


def test_methods_that_tie_have_one_rank_and_grades_from_the_lowest_relevant_on_count() -> None:
    one, rest = lost(4, 1, others=2)
    assert (one.rank, one.rank_without, [other.rank for other in rest]) == (1, 3, [1, 1])
    assert (one.alone, one.alone_relevant) == (1, 1)
    assert lost(4, 1, relevant_from=3)[0].alone_relevant == 0


@pytest.mark.parametrize("distance", np.linspace(0.2, 0.6, 9))
def test_the_papers_needed_are_those_of_students_t(distance: float) -> None:
    clear = (n for n in range(4, 1000) if stats.t.ppf(0.95, n - 1) * 0.5 / math.sqrt(n) < distance)
    assert _papers_needed(distance, 0.5, tail=0.05) == next(clear)


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
