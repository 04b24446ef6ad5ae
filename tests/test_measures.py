"""Both conventions against outside figures, brute force, and CSFCube's release."""

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import pytrec_eval
from annot.base.errors import InputError
from annot.base.records import Qrel, ScoredDoc, ranked
from annot.measuring.evaluation.measures import CONVENTIONS, MEASURES, conventions_for, mean_over_folds
from hypothesis import given, settings
from hypothesis import strategies as st
from measured_runs import evaluate


def qrels_of(*grades: int, query_id: str = "1-method") -> list[Qrel]:
    """Documents d00, d01, ... with these grades."""
    return [Qrel(query_id, f"d{at:02}", grade) for at, grade in enumerate(grades)]


def in_order(doc_ids: Sequence[str]) -> list[ScoredDoc]:
    return [ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids)]


def measured(run: dict[str, list[ScoredDoc]], qrels: list[Qrel], convention: str) -> dict[str, float]:
    return evaluate(run, qrels, convention=convention, relevant_from=2, ties="order").mean


def as_submitted(grades: Sequence[int], convention: str) -> dict[str, float]:
    """The measures of a list that has these grades in this order, all of them judged and submitted."""
    qrels = qrels_of(*grades)
    return measured({"1-method": in_order([qrel.doc_id for qrel in qrels])}, qrels, convention)


# Outside truth: the release's own eval script under NumPy 1, and trec_eval, over the release's SPECTER pools.
# Order: RP, P@20, R@20, NDCG%100, NDCG%20, MAP; and Rprec, P@20, R@20, nDCG, MAP. Tables 3 and 4 of Mysore et al.
SPECTER = {
    ("background", "csfcube"): (24.81, 35.31, 57.45, 82.24, 66.70, 43.95),
    ("method", "csfcube"): (11.72, 13.58, 40.81, 62.77, 37.41, 22.44),
    ("background", "trec"): (40.31, 35.31, 56.93, 83.61, 43.64),
    ("method", "trec"): (17.44, 13.58, 40.81, 65.93, 22.44),
}


@pytest.mark.parametrize(("facet", "convention"), SPECTER)
def test_specter_on_csfcube(shared: Path, facet: str, convention: str) -> None:
    folder = shared / "csfcube"
    release = json.loads((folder / f"test-pid2anns-csfcube-{facet}.json").read_text(encoding="utf-8"))
    pools = folder / "eval_scripts" / "sample_ranked_pools" / f"test-pid2pool-csfcube-specter-{facet}-ranked.json"
    splits = json.loads((folder / "evaluation_splits.json").read_text(encoding="utf-8"))[facet]
    fold = {name: {one.split("_")[0] for one in queries} for name, queries in splits.items()}
    qrels = [
        Qrel(paper_id, doc_id, grade)
        for paper_id, lists in release.items()
        for doc_id, grade in zip(lists["cands"], lists["relevance_adju"], strict=True)
    ]
    # The release ranks by distance: smaller is better there.
    run = {
        paper_id: [ScoredDoc(doc_id, -distance) for doc_id, distance in ranked]
        for paper_id, ranked in json.loads(pools.read_text(encoding="utf-8")).items()
    }
    evaluation = evaluate(run, qrels, convention=convention, relevant_from=2, ties="order")
    values = {one.query_id: one.values for one in evaluation.queries}
    found = mean_over_folds(values, [fold["fold1_test"], fold["fold2_test"]])
    assert tuple(round(100 * value, 2) for value in found.values()) == SPECTER[facet, convention]
    missing = {one.query_id: one.missing for one in evaluation.queries if one.missing}
    assert missing == ({"8781666": ("8781666",)} if facet == "background" else {})


def test_csfcube_dcg_of_jarvelin_and_kekalainen() -> None:
    """Jarvelin and Kekalainen 2002, section 2.2: gains 3,2,3,0,0,1,2,2,3,0 have the discounted cumulated gain
    <3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61> with b = 2: ranks 1 and 2 are not discounted."""
    gains = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    ideal = 3 + 3 + 3 / math.log2(3) + sum(2 / math.log2(rank) for rank in (4, 5, 6)) + 1 / math.log2(7)
    assert as_submitted(gains, "csfcube")["NDCG%100"] == pytest.approx(9.61 / ideal, abs=5e-4)


def test_recall_divides_by_the_submitted_list_in_csfcube_and_by_the_qrels_in_trec() -> None:
    qrels = qrels_of(2, 2, 3, 0)
    run = {"1-method": in_order(["d00", "d03"])}
    assert measured(run, qrels, "csfcube")["R@20"] == pytest.approx(1.0)
    assert measured(run, qrels, "trec")["R@20"] == pytest.approx(1 / 3)
    assert evaluate(run, qrels, convention="trec", relevant_from=2, ties="order").queries[0].missing == ("d01", "d02")


def test_ties_keep_file_order_in_csfcube_and_go_by_the_larger_id_first_in_trec() -> None:
    """trec_eval orders by score, then by document id, the larger first, whatever the ranks in the file."""
    qrels = qrels_of(0, 3)
    tied = {"1-method": [ScoredDoc("d00", 1.0), ScoredDoc("d01", 1.0)]}
    assert measured(tied, qrels, "csfcube")["AP"] == pytest.approx(1 / 2)
    assert measured(tied, qrels, "trec")["AP"] == pytest.approx(1.0)


def test_trec_ignores_differences_that_single_precision_does_not_carry() -> None:
    """Between 1/16 and 1/8 numbers in single precision are 2^-27 apart, about 7.5e-9; csfcube keeps the order given."""
    qrels = qrels_of(0, 3)
    for lower, average_precision in ((0.1234567799, 1.0), (0.12345676, 0.5)):
        run = {"1-method": [ScoredDoc("d00", 0.12345678), ScoredDoc("d01", lower)]}
        assert measured(run, qrels, "trec")["AP"] == pytest.approx(average_precision)
        assert measured(run, qrels, "csfcube")["AP"] == pytest.approx(0.5)


DOC_IDS = st.integers(0, 40).map("d{:02}".format)
GRADE_AND_SCORE = st.tuples(st.integers(0, 3), st.integers(-9, 9))


TREC_EVAL = {"Rprec": "Rprec", "P@20": "P_20", "R@20": "recall_20", "nDCG": "ndcg", "AP": "map"}
TREC_EVAL |= {"nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@5": "P_5", "Bpref": "bpref", "Success@5": "success_5"}


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(DOC_IDS, GRADE_AND_SCORE, min_size=1, max_size=30), st.sets(DOC_IDS, max_size=10))
def test_trec_is_what_pytrec_eval_says_ties_and_unjudged_included(
    graded: dict[str, tuple[int, int]], unjudged: set[str]
) -> None:
    """Scores are one of 19 whole numbers, so many tie."""
    scores = {doc_id: float(score) for doc_id, (_, score) in graded.items()}
    grades = {doc_id: grade for doc_id, (grade, _) in graded.items() if doc_id not in unjudged} or {"d99": 1}
    asked = {"Rprec", "P", "recall", "ndcg", "map", "ndcg_cut", "recip_rank", "bpref", "success"}
    theirs = pytrec_eval.RelevanceEvaluator({"q": grades}, asked, relevance_level=2).evaluate({"q": scores})["q"]
    found = evaluate(
        {"q": ranked(ScoredDoc(*pair) for pair in scores.items())},
        [Qrel("q", doc_id, grade) for doc_id, grade in grades.items()],
        convention="trec",
        relevant_from=2,
        ties="order",
        measures=tuple(TREC_EVAL),
    ).mean
    for ours, name in TREC_EVAL.items():
        assert found[ours] == pytest.approx(theirs[name], abs=1e-9), ours


ASKED = {
    "csfcube": ("Rprec", "P@3", "R@3", "NDCG@3", "NDCG%50", "Judged@2"),
    "trec": ("P@3", "R@3", "nDCG@3", "Judged@2", "RR"),
}


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("scores", [(1, 1, 1, 1, 1), (3, 2, 2, 1, 1), (5, 4, 3, 2, 1)])
def test_the_expected_value_under_ties_is_the_mean_over_all_orders_of_what_ties(
    convention: str, scores: tuple[int, ...]
) -> None:
    """By brute force; of five documents one is not judged. A measure that only ir_measures knows takes 100 orders."""
    docs = [f"d{at}" for at in range(5)]
    qrels = [Qrel("q", doc, grade) for doc, grade in zip(docs, (2, 0, 3, 1), strict=False)] + [Qrel("q", "x", 2)]
    how = {"convention": convention, "relevant_from": 2, "measures": ASKED[convention]}
    every = [
        evaluate({"q": in_order(order)}, qrels, ties="order", **how).mean
        for order in map(list, itertools.permutations(docs))
        if [scores[docs.index(doc)] for doc in order] == sorted(scores, reverse=True)
    ]
    tied = {"q": [ScoredDoc(doc, float(score)) for doc, score in zip(docs, scores, strict=True)]}
    found = evaluate(tied, qrels, ties="expected", **how).mean
    for name, value in found.items():
        mean = math.fsum(one[name] for one in every) / len(every)
        assert value == pytest.approx(mean, abs=0.15 if name == "RR" else 1e-12), name
    assert list(found) == [
        *MEASURES[convention],
        *(name for name in ASKED[convention] if name not in MEASURES[convention]),
    ]


def test_measures_go_by_their_names_and_a_wrong_one_is_refused() -> None:
    names = ["nDCG@10", "NDCG@10", "RR", "RP@last", "AP(rel=3)", "Judged@10"]
    assert [conventions_for([name], CONVENTIONS) for name in names] == [
        ("trec",),
        ("csfcube",),
        ("trec",),
        ("csfcube",),
        ("trec",),
        ("csfcube", "trec"),
    ]
    for wrong in ("map", "P@0", "NDCG%0", "NDCG%101", "P@k", "nDCG@", "RBP(p=", "P@-1", "NDCG@٣"):
        with pytest.raises(InputError, match="not known"):
            conventions_for([wrong], CONVENTIONS)
    (two, three) = (
        measured_as(name, {"1-method": in_order(["d00", "d01"])}, qrels_of(2, 3)) for name in ("AP", "AP(rel=3)")
    )
    assert (two, three) == (1.0, 0.5)


def measured_as(name: str, run: dict[str, list[ScoredDoc]], qrels: list[Qrel]) -> float:
    found = evaluate(run, qrels, convention="trec", relevant_from=2, ties="order", measures=(name,))
    return found.mean[name]


def test_unknown_convention_and_empty_qrels_are_refused() -> None:
    with pytest.raises(InputError, match="convention 'beir': not known"):
        evaluate({}, qrels_of(3), convention="beir", relevant_from=2, ties="order")
    with pytest.raises(InputError, match="the qrels are empty"):
        evaluate({}, [], convention="trec", relevant_from=2, ties="order")
