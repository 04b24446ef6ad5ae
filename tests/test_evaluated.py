"""Runs by facet and together: what an interval is over, and what chance reaches, on papers worked by hand."""

import numpy as np
import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.base.stats.inference import Reach, interval_of_mean
from annot.base.stats.values import Interval
from annot.measuring.evaluation.evaluated import CHANCE, TOGETHER, EvaluatedRuns, RunMeasures
from evaluated_runs import evaluated_runs

FIRST_RELEVANT = {
    "p1-background": 1,
    "p1-method": 2,
    "p2-background": 4,
    "p2-method": 5,
    "p3-method": 1,
    "p4-method": 2,
}
"""The rank of each query's first relevant document."""
RELEVANT = {"p1-background": 1, "p1-method": 3, "p2-background": 2, "p2-method": 4, "p3-method": 4, "p4-method": 2}
"""How many of each query's eight documents are relevant; the others follow the first."""


def evaluated(*query_ids: str) -> EvaluatedRuns:
    """The queries, each with a list of eight documents in order of their numbers."""
    documents = [f"d{rank}" for rank in range(1, 9)]
    qrels = [
        Qrel(query_id, doc_id, 3 * (first <= rank < first + RELEVANT[query_id]))
        for query_id in query_ids
        for first in [FIRST_RELEVANT[query_id]]
        for rank, doc_id in enumerate(documents, start=1)
    ]
    run = {name: tuple(ScoredDoc(doc_id, -float(at)) for at, doc_id in enumerate(documents)) for name in query_ids}
    return evaluated_runs({"in order": run}, qrels)


def line(found: EvaluatedRuns, facet: str, run: str) -> RunMeasures:
    (of_facet,) = [one for one in found.lines if (one.facet, one.run) == (facet, run)]
    return of_facet


@pytest.mark.parametrize("run", ["in order", CHANCE])
def test_intervals_are_over_whole_papers_with_all_their_facets(run: str) -> None:
    """Six queries of four papers: the papers are the units, and one with more queries weighs more."""
    found = evaluated(*RELEVANT)
    # P@20 of eight documents is the same in every order: the relevant ones out of 20.
    together = line(found, TOGETHER, run)
    assert together.values["P@20"] == pytest.approx((1 + 3 + 2 + 4 + 4 + 2) / 6 / 20, abs=1e-9)
    sums, sizes = np.array([[1 + 3], [2 + 4], [4], [2]]) / 20, np.array([[2.0], [2.0], [1.0], [1.0]])
    # The best order has all relevant documents among the first 20, of which no query has more than 4.
    together_reach = Reach(4 / 20, (1 + 1 / 3 + 1 / 2 + 1 / 4 + 1 / 4 + 1 / 2) / 6)
    by_paper = interval_of_mean(sums, sizes, together_reach, level=0.95, unit="query paper")
    of_method = interval_of_mean(
        np.array([[3], [4], [4], [2]]) / 20,
        np.ones((4, 1)),
        Reach(4 / 20, (1 / 3 + 1 / 4 + 1 / 4 + 1 / 2) / 4),
        level=0.95,
        unit="query paper",
    )
    for facet, expected in ((TOGETHER, by_paper), ("method", of_method)):
        interval = line(found, facet, run).intervals["P@20"]
        assert isinstance(interval, Interval)
        assert isinstance(expected, Interval)
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_chance_line_of_a_facet_is_that_of_its_own_queries() -> None:
    """Chance is what a random order reaches: of 8 documents with R relevant, an R-precision of R / 8."""
    found = evaluated("p1-background", "p1-method", "p2-background", "p2-method", "p3-method")
    by_facet = {facet: line(found, facet, CHANCE) for facet in ("background", "method", TOGETHER)}
    expected = {"background": (1 + 2) / 2, "method": (3 + 4 + 4) / 3, TOGETHER: (1 + 3 + 2 + 4 + 4) / 5}
    assert {facet: one.values["P@20"] for facet, one in by_facet.items()} == pytest.approx(
        {facet: mean / 20 for facet, mean in expected.items()}, abs=1e-9
    )
    assert {facet: one.values["Rprec"] for facet, one in by_facet.items()} == pytest.approx(
        {facet: mean / 8 for facet, mean in expected.items()}, abs=1e-9
    )
    assert {facet: one.queries for facet, one in by_facet.items()} == {"background": 2, "method": 3, TOGETHER: 5}


def docs(*names: str) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(name, -float(at)) for at, name in enumerate(names))


QRELS = [
    Qrel(f"p{at}-{facet}", doc, grade) for at in range(3) for facet in "mr" for doc, grade in (("d1", 2), ("d2", 0))
]
GOOD = {one.query_id: docs("d1", "d2") for one in QRELS}
BAD = {one.query_id: docs("d2", "d1") for one in QRELS}


@pytest.mark.parametrize(("facets", "lines"), [("m", {"m"}), ("mr", {"m", "r", TOGETHER})])
def test_facets_are_put_together_where_there_are_two(facets: str, lines: set[str]) -> None:
    qrels = [one for one in QRELS if one.query_id[-1] in facets]
    found = evaluated_runs({"run": GOOD}, qrels)
    assert {line.facet for line in found.lines} == lines


def test_a_system_of_two_runs_has_their_mean_and_their_spread() -> None:
    found = evaluated_runs({"one": GOOD, "two": BAD}, QRELS, systems={"one": "system", "two": "system"})
    (line,) = [line for line in found.lines if line.facet == "m" and line.run != CHANCE]
    assert (line.run, line.runs) == ("system", 2)
    # The relevant document first or second.
    assert line.values["AP"] == pytest.approx(0.75)
    assert line.spread["AP"] == pytest.approx(np.std([1.0, 0.5], ddof=1))
    alone = evaluated_runs({"one": GOOD}, QRELS).lines
    assert {line.runs for line in alone} == {1}
    assert not any(line.spread for line in alone)
