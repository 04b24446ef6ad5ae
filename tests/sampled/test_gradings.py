"""Many gradings of the same drawn pairs: each is measured as an evaluation by its grades would be."""

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import ScoredDoc
from annot.measuring.evaluation.measures import MeasureSelection
from annot.measuring.sampled.estimates import DrawnPairs, SampledPools, pools_of
from measured_runs import estimates

PI = {"q": dict(zip("abcdefgh", (0.9, 0.5, 1.0, 0.25, 0.4, 0.3, 0.6, 0.2), strict=True)), "r": {"a": 1.0, "b": 0.5}}
FINAL = {"q": {"a": 3, "b": 0, "c": 2, "e": 2, "h": 1}, "r": {"a": 1}}
F = {query_id: dict.fromkeys(of, (0.4, 0.3, 0.2, 0.1)) for query_id, of in PI.items()}
RANKINGS = [[ScoredDoc(doc_id, -float(at)) for at, doc_id in enumerate(order)] for order in ("dahxcbgef", "hgfe", "")]


@pytest.mark.parametrize(("convention", "measure"), [("trec", "nDCG@6"), ("csfcube", "AP"), ("csfcube", "NDCG%50")])
@pytest.mark.parametrize("predicted", [None, F])
def test_a_grading_replaces_final_grades_of_drawn_pairs_alone(convention: str, measure: str, predicted: None) -> None:
    """d was not drawn, so that a grade of it counts nothing; b is in no grading, and keeps its final grade."""
    sampled = DrawnPairs(PI, FINAL, predicted, highest=3)
    rows = np.array([[3, 0, 1, 3, 0], [0, 2, 3, 0, 3]], dtype=np.int8)
    found = sampled.measured(
        RANKINGS, "q", tuple("acedh"), rows, convention=convention, measure=measure, relevant_from=2
    )
    assert found.shape == (3, 2)
    for column, row in enumerate(rows.tolist()):
        judged = {"b": 0, **dict(zip("aceh", [*row[:3], row[4]], strict=True))}
        pools = pools_of({"q": PI["q"]}, {"q": judged}, predicted, highest=3)
        runs = {f"r{at}": {"q": tuple(ranking)} for at, ranking in enumerate(RANKINGS)}
        asked = {"convention": convention, "relevant_from": 2, "ties": "order", "measures": (measure,)}
        expected = [one.mean[measure] for one in estimates(runs, pools, **asked).values()]
        assert found[:, column] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(InputError, match="cannot be estimated"):
        sampled.measured(RANKINGS, "q", (), rows[:, :0], convention="trec", measure="Rprec", relevant_from=2)


def test_pools_measure_the_queries_asked_for_and_a_random_order_of_each() -> None:
    pools = pools_of(PI, FINAL, F, highest=3)
    sampled = SampledPools(pools)
    asked = MeasureSelection("trec", ("nDCG", "P@2"), 2)
    run = {"q": tuple(RANKINGS[0]), "r": (ScoredDoc("b", 1.0), ScoredDoc("a", 1.0))}
    assert not sampled.whole
    assert [*sampled.query_ids] == ["q", "r"]
    for ties in ("order", "expected"):
        own = {"convention": "trec", "relevant_from": 2, "ties": ties, "measures": asked.names}
        (expected,) = estimates({"": run}, {"r": pools["r"]}, **own).values()
        assert sampled.measured(run, ["r"], asked, ties=ties) == expected
    # A random order of what is ranked: all documents tie.
    tie = {"q": tuple(ScoredDoc(doc_id, 0.0) for doc_id in "abx")}
    how = {"convention": "trec", "relevant_from": 2, "ties": "expected", "measures": asked.names}
    (expected,) = estimates({"": tie}, {"q": pools["q"]}, **how).values()
    assert sampled.chance({"q": "abx"}, [("q", 3)], asked) == {
        ("q", 3): {name: expected.mean[name] for name in asked.names}
    }
    assert sampled.one_assessor(asked) == {}
