"""Runs evaluated by facet and together: intervals by query paper, chance and one assessor on every facet."""

from __future__ import annotations

import numpy as np
import pytest
from annot.base.records import Judgement, Qrel, ScoredDoc
from annot.measuring.evaluation.evaluated import CHANCE, TEST, TOGETHER, EvaluatedRuns, RunMeasures
from evaluated_runs import evaluated_runs

PAPERS = [f"p{at:02}" for at in range(12)]
FACETS = ("method", "result")
DOCS = [f"d{at:02}" for at in range(10)]


def ranking(doc_ids: list[str]) -> list[ScoredDoc]:
    return [ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids)]


def evaluated(*, splits: dict | None = None, result_like_method: bool = False, average: str = "test") -> EvaluatedRuns:
    """12 papers with two facets: `good` ranks by the grade with a little noise, `poor` at random, and `partial`, as
    good as `good`, covers the method facet only. One assessor grades as the qrels do."""
    rng = np.random.default_rng(5)
    qrels: list[Qrel] = []
    runs: dict[str, dict[str, list[ScoredDoc]]] = {"good": {}, "partial": {}, "poor": {}}
    for paper_id in PAPERS:
        for facet in FACETS:
            if facet == "method" or not result_like_method:
                grades = [int(grade) for grade in rng.permutation([3, 2, 1] + [0] * 7)]
                noisy = np.array(grades) + rng.normal(0, 0.8, 10)
                orders = [DOCS[at] for at in np.argsort(-noisy)], [DOCS[at] for at in rng.permutation(10)]
            query_id = f"{paper_id}-{facet}"
            qrels += [Qrel(query_id, doc_id, grade) for doc_id, grade in zip(DOCS, grades, strict=True)]
            runs["good"][query_id], runs["poor"][query_id] = map(ranking, orders)
            if facet == "method":
                runs["partial"][query_id] = runs["good"][query_id]
    judgements = [Judgement(one.query_id, one.doc_id, "a1", one.relevance) for one in qrels]
    others = {"splits": splits or {}, "conventions": ("csfcube", "trec"), "average": average, "seed": 3}
    return evaluated_runs(runs, qrels, judgements, **others)


def line_of(found: EvaluatedRuns, run: str, facet: str, convention: str = "csfcube") -> RunMeasures:
    (line,) = [
        one
        for one in (*found.lines, *found.ceiling)
        if (one.run, one.facet, one.convention) == (run, facet, convention)
    ]
    return line


def test_every_facet_has_its_runs_chance_and_one_assessor() -> None:
    found = evaluated()
    for facet in (*FACETS, TOGETHER):
        assert line_of(found, "good", facet).queries == (24 if facet == TOGETHER else 12)
        # Two of ten documents are relevant and all ten stand in the first 20.
        assert line_of(found, CHANCE, facet).values["P@20"] == pytest.approx(2 / 20)
        assert line_of(found, "one assessor", facet).values["AP"] == pytest.approx(1.0)
    assert {one.facet for one in found.lines if one.run == "partial"} == {"method"}


def test_intervals_are_over_whole_papers_so_the_same_facet_told_twice_adds_nothing() -> None:
    found = evaluated(result_like_method=True)
    for run in ("good", CHANCE):
        together, method = line_of(found, run, TOGETHER), line_of(found, run, "method")
        assert together.values == pytest.approx(method.values)
    wide = line_of(found, "good", TOGETHER).intervals["AP"]
    narrow = line_of(found, "good", "method").intervals["AP"]
    # By query the interval would be 0.7 as wide.
    assert (wide.low, wide.high) == pytest.approx((narrow.low, narrow.high))


def test_runs_are_compared_where_they_have_the_same_queries_on_the_primary_measure() -> None:
    found = evaluated()
    assert (found.convention, found.measure) == ("csfcube", "NDCG%20")
    pairs = {(one.facet, one.run_a, one.run_b): one for one in found.comparisons}
    assert set(pairs) == {
        ("method", "good", "partial"),
        ("method", "good", "poor"),
        ("method", "partial", "poor"),
        ("result", "good", "poor"),
        ("together", "good", "poor"),
    }
    whole = pairs["together", "good", "poor"]
    means = [line_of(found, run, TOGETHER).values["NDCG%20"] for run in ("good", "poor")]
    assert whole.difference == pytest.approx(means[0] - means[1])
    assert whole.holds
    assert whole.interval.low > 0
    assert pairs["method", "good", "partial"].p_corrected == 1.0
    assert [(one.facet, one.best, one.worse, one.as_good, one.papers) for one in found.verdicts] == [
        ("method", "good", ("poor",), ("partial",), 12),
        ("result", "good", ("poor",), (), 12),
        ("together", "good", ("poor",), (), 12),
    ]
    assert evaluated() == found


def test_with_folds_the_difference_is_that_of_the_mean_of_fold_means() -> None:
    queries = [f"{paper_id}-{facet}" for paper_id in PAPERS for facet in FACETS]
    folds = {"fold1_test": tuple(queries[:4]), "fold2_test": tuple(queries[4:]), "fold1_dev": tuple(queries[4:])}
    found = evaluated(splits={"all": folds})
    good, poor = (line_of(found, run, TOGETHER) for run in ("good", "poor"))
    assert {one.average for one in found.lines + found.ceiling if one.facet == TOGETHER} == {TEST}
    (whole,) = [one for one in found.comparisons if one.facet == TOGETHER]
    assert whole.difference == pytest.approx(good.values["NDCG%20"] - poor.values["NDCG%20"])
    plain = line_of(evaluated(), "good", TOGETHER)
    assert plain.values["NDCG%20"] != pytest.approx(good.values["NDCG%20"])


def three_runs_of_one_system(systems: dict[str, str]) -> EvaluatedRuns:
    """Runs of three seeds beside one other, on ten papers with a query each."""
    queries = [f"p{at}-m" for at in range(10)]
    rng = np.random.default_rng(2)
    qrels = tuple(Qrel(query, doc, int(grade)) for query in queries for doc, grade in zip(DOCS, range(10), strict=True))
    tags = ("dense-1", "dense-2", "dense-3", "bm25")
    runs = {tag: {query: ranking(list(rng.permutation(DOCS))) for query in queries} for tag in tags}
    return evaluated_runs(runs, qrels, systems=systems, seed=3)


def test_runs_of_one_system_are_one_line_with_their_mean_and_spread_and_one_side_of_a_comparison() -> None:
    alone = three_runs_of_one_system({})
    found = three_runs_of_one_system(dict.fromkeys(("dense-1", "dense-2", "dense-3"), "dense"))
    each = [line_of(alone, f"dense-{seed}", "m", "trec").values["AP"] for seed in (1, 2, 3)]
    line = line_of(found, "dense", "m", "trec")
    assert (line.runs, line.values["AP"]) == (3, pytest.approx(np.mean(each)))
    assert line.spread["AP"] == pytest.approx(np.std(each, ddof=1))
    assert [one.run for one in found.lines] == ["dense", "bm25", CHANCE]
    assert line_of(found, "bm25", "m", "trec").spread == {}
    (pair,) = found.comparisons
    assert {pair.run_a, pair.run_b} == {"dense", "bm25"}
    assert len(alone.comparisons) == 6
    assert set(found.evaluations) == {"dense-1", "dense-2", "dense-3", "bm25"}


def test_a_development_fold_and_the_plain_mean_stand_beside_the_test_folds() -> None:
    queries = [f"{paper_id}-{facet}" for paper_id in PAPERS for facet in FACETS]
    folds = {"fold1_test": tuple(queries[:4]), "fold2_test": tuple(queries[4:]), "fold1_dev": tuple(queries[4:])}
    splits = {
        "all": folds,
        **{facet: {"fold1_dev": tuple(one for one in queries[4:] if facet in one)} for facet in FACETS},
    }
    by = {average: evaluated(splits=splits, average=average) for average in ("test", "dev", "plain")}
    test, dev, plain = (line_of(by[name], "good", TOGETHER) for name in ("test", "dev", "plain"))
    values = {query.query_id: query.values["AP"] for query in by["test"].evaluations["good"]["csfcube"].queries}
    first, second = ([values[one] for one in part] for part in (queries[:4], queries[4:]))
    assert test.values["AP"] == pytest.approx((np.mean(first) + np.mean(second)) / 2)
    assert (dev.values["AP"], dev.queries) == (pytest.approx(np.mean(second)), 20)
    assert plain.values["AP"] == pytest.approx(np.mean(first + second))
