"""Scores that come from outside keep their digits, and are ranked as trec_eval ranks them, in every place."""

from collections.abc import Callable, Iterator
from pathlib import Path

import annot
import numpy as np
import pytest
import pytrec_eval
from annot.base.records import Query, ScoredDoc, as_trec_eval
from annot.formats.trec import read_run, write_run
from annot.ranking.submission import SubmissionRules, by_query_paper, find_findings, settle

DOCUMENTS = [f"d{at}" for at in range(25)]
SCORES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "of every size": lambda draw: 10.0 ** draw.uniform(-12, 12, 25),
    "negative": lambda draw: -(10.0 ** draw.uniform(-12, 12, 25)),
    "of both signs, near to each other": lambda draw: draw.normal(size=25).round(7),
    "close to 1": lambda draw: 1 - 10.0 ** -draw.uniform(4, 9, 25),
    "places from ten million down": lambda draw: 10_000_000.0 - draw.permutation(25),
    "beyond single precision": lambda draw: 16_777_216.0 + draw.integers(0, 9, 25),
}
"""How systems score: cosines, logarithms of probabilities, outputs of a sigmoid, places."""


def rankings() -> Iterator[tuple[str, dict[str, float]]]:
    """A thousand, each of a query of its own; a document has another score than all others, but for the last kind."""
    for at in range(1000):
        kind = [*SCORES][at % len(SCORES)]
        draw = np.random.default_rng(at)
        yield f"q{at}", dict(zip(draw.permutation(DOCUMENTS).tolist(), SCORES[kind](draw).tolist(), strict=True))


def lines(rankings: dict[str, dict[str, float]]) -> str:
    return "".join(
        f"{query} Q0 {doc} 0 {score!r} theirs\n" for query, scores in rankings.items() for doc, score in scores.items()
    )


def test_a_thousand_runs_have_the_figures_of_trec_eval(tmp_path: Path) -> None:
    runs = dict(rankings())
    grades = np.random.default_rng(5)
    qrels = {query: dict(zip(DOCUMENTS, grades.integers(0, 4, 25).tolist(), strict=True)) for query in runs}
    (tmp_path / "theirs.run").write_text(lines(runs))
    found = annot.evaluate(tmp_path / "theirs.run", qrels, convention="trec", measure="P@5").per_query()
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "P_5", "Rprec"}, relevance_level=2).evaluate(runs)
    for name, their_name in {"AP": "map", "nDCG": "ndcg", "P@5": "P_5", "Rprec": "Rprec"}.items():
        ours = found[found["measure"] == name].set_index("query_id")["value"].to_dict()
        assert ours == pytest.approx({query: of[their_name] for query, of in theirs.items()}, abs=1e-6), name


def test_the_order_of_trec_eval_is_by_single_precision_and_then_the_larger_id_first() -> None:
    """trec_eval tells the first relevant document by its reciprocal rank: each is the only one in turn."""
    for query, scores in [*rankings()][:120]:
        only = {f"{query} {doc}": {doc: 1} for doc in DOCUMENTS}
        their_places = pytrec_eval.RelevanceEvaluator(only, {"recip_rank"}).evaluate(dict.fromkeys(only, scores))
        order = [doc.doc_id for doc in as_trec_eval(read_run(lines({query: scores}).splitlines(), name="r")[query])]
        assert [1 + order.index(doc) for doc in DOCUMENTS] == [
            round(1 / their_places[f"{query} {doc}"]["recip_rank"]) for doc in DOCUMENTS
        ]


def test_ties_of_a_run_that_is_read_in_are_those_of_its_own_scores() -> None:
    """1234.564 and 1234.561 are two scores; 16777217 is none that single precision has."""
    scores = {"a": 1234.564, "b": 1234.561, "c": 16777217.0, "d": 16777216.0, "e": 2.0, "f": 2.0}
    run = read_run(lines({"q": scores}).splitlines(), name="r")
    (ties,) = find_findings(run, {"q": set("abcdef")})
    assert (ties.what, ties.count, ties.examples) == ("ties", 4, ("q c", "q d", "q e"))


def test_a_document_that_is_ranked_last_is_below_all_others_in_single_precision_too() -> None:
    for lowest in (0.0, 1e-12, -1e-12, 1e12, -1e12, 16777217.0):
        run = read_run(lines({"q": {"a": lowest + 1, "b": lowest}}).splitlines(), name="r")
        whole = settle(run, {"q": {"a", "b", "c"}}, SubmissionRules(None, None, "last"))["q"]
        assert as_trec_eval(whole)[-1].doc_id == "c"


def test_a_ranking_of_others_that_pools_keeps_its_scores() -> None:
    """`annot pool import`: the pool is drawn in the order of the scores that came."""
    query = Query("p1-method", "p1", "method", (0,))
    documents = {"p1": (ScoredDoc("a", 1234.561), ScoredDoc("b", 1234.564))}
    found, _ = by_query_paper(documents, [query], {"a", "b"})
    assert found == {"p1": (ScoredDoc("b", 1234.564), ScoredDoc("a", 1234.561))}
    assert read_run(write_run(found, tag="theirs").splitlines(), name="r") == found
