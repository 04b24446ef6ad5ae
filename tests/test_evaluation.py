"""Runs evaluated by facet and together: chance and one assessor on every facet, and the mean of folds."""

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


def evaluated(*, splits: dict | None = None, average: str = "test") -> EvaluatedRuns:
    """12 papers with two facets: `good` ranks by the grade with a little noise, `poor` at random, and `partial`, as
    good as `good`, covers the method facet only. One assessor grades as the qrels do."""
    rng = np.random.default_rng(5)
    qrels: list[Qrel] = []
    runs: dict[str, dict[str, list[ScoredDoc]]] = {"good": {}, "partial": {}, "poor": {}}
    for paper_id in PAPERS:
        for facet in FACETS:
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
