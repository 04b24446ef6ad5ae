"""What a random order reaches: against every order, by hand, and whom it is said to lose to."""

import itertools

import annot
import numpy as np
import pytest
import pytrec_eval
from annot.measuring.evaluation.comparisons import ALPHA, ComparedTopics
from annot.measuring.evaluation.measures import MEASURES, GradedList, MeasureSelection, Values, measured, random_orders

DOCUMENTS = ("a", "b", "c", "d", "e", "f")
GRADES = {"a": 3, "c": 2, "d": 0, "z": 2}
"""`b`, `e` and `f` are not judged, and no run ranks `z`."""
THEIRS = {"AP": "map", "nDCG": "ndcg", "Rprec": "Rprec", "P@5": "P_5", "RR": "recip_rank"}


def over_chance(sums: dict[str, np.ndarray], topics: int) -> dict[str, float]:
    return ComparedTopics(np.ones((topics, 1)), None, "query", level=0.95, seed=1).p_over_chance(sums)


def chance(convention: str, length: int, *names: str, graded: dict[str, int] = GRADES) -> Values:
    asked = MeasureSelection(convention, names, 2)
    return random_orders({"q": DOCUMENTS}, [("q", length)], {"q": graded}, asked)["q", length]


@pytest.mark.parametrize("length", [1, 3, 6])
def test_chance_is_the_mean_of_trec_eval_over_all_orders_of_the_documents(length: int) -> None:
    orders = [*itertools.permutations(DOCUMENTS, length)]
    runs = {str(at): {doc: -float(rank) for rank, doc in enumerate(order)} for at, order in enumerate(orders)}
    evaluator = pytrec_eval.RelevanceEvaluator(dict.fromkeys(runs, GRADES), {*THEIRS.values()}, relevance_level=2)
    found = [*evaluator.evaluate(runs).values()]
    values = chance("trec", length, *THEIRS)
    for name, theirs in THEIRS.items():
        each = np.array([of[theirs] for of in found])
        # Of 100 drawn orders where ir_measures alone knows the measure: four standard errors.
        close = 4 * each.std() / 10 if name == "RR" else 1e-9
        assert values[name] == pytest.approx(each.mean(), abs=close), name


@pytest.mark.parametrize("length", [1, 3, 6])
def test_chance_in_convention_csfcube_is_the_mean_over_all_orders(length: int) -> None:
    """Exact if all documents are submitted; otherwise the mean of 100 drawn orders, within four standard errors."""
    orders = np.array([*itertools.permutations([GRADES.get(doc, 0) for doc in DOCUMENTS], length)])
    values = chance("csfcube", length, *MEASURES["csfcube"])
    for name in MEASURES["csfcube"]:
        each = measured("csfcube", name, GradedList(orders, orders, 2))
        close = 1e-9 if length == len(DOCUMENTS) else 4 * each.std() / 10 + 1e-9
        assert values[name] == pytest.approx(each.mean(), abs=close), name


def test_chance_by_hand() -> None:
    """Six documents, two of them relevant and three judged; a third relevant one is ranked by no run."""
    assert chance("trec", 3, "P@2", "P@5", "R@5", "Judged@2") == pytest.approx(
        {"P@2": 2 / 6, "P@5": 3 * (2 / 6) / 5, "R@5": 3 * (2 / 6) / 3, "Judged@2": 3 / 6}
    )
    assert chance("trec", 0, "P@2", "AP", "Judged@2") == {"P@2": 0.0, "AP": 0.0, "Judged@2": 0.0}
    # Only relevant documents are judged: the others that are ranked are there all the same.
    assert chance("trec", 6, "P@1", graded={"a": 1, "c": 1, "z": 1}) == {"P@1": 0.0}
    assert chance("trec", 6, "P@1", graded={"a": 2, "c": 2, "z": 2}) == {"P@1": pytest.approx(2 / 6)}


def positives_only(topics: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]:
    """Qrels as of most public collections, and runs: one that finds, one that does not, one shorter that finds."""
    draw = np.random.default_rng(7)
    qrels, runs = {}, {name: {} for name in ("good", "random", "short")}
    for topic in range(topics):
        documents = [f"d{at}" for at in range(100)]
        relevant = {*draw.choice(documents, 6, replace=False).tolist()}
        qrels[f"q{topic}"] = dict.fromkeys(sorted(relevant), 1)
        lifted = sorted(documents, key=lambda doc: draw.normal() + 1.5 * (doc in relevant), reverse=True)
        runs["good"][f"q{topic}"] = lifted
        runs["short"][f"q{topic}"] = lifted[:10]
        runs["random"][f"q{topic}"] = draw.permutation(documents).tolist()
    return qrels, runs


@pytest.mark.parametrize("convention", ["csfcube", "trec"])
def test_where_only_relevant_documents_are_judged_a_good_run_is_better_than_chance(convention: str) -> None:
    qrels, runs = positives_only(40)
    found = annot.evaluate(runs, qrels, convention=convention, relevant_from=1)
    frame = found.to_frame().set_index(["run", "measure"])["value"]
    # Six of a hundred, as in the two longer runs.
    assert frame["chance", "P@20"] == pytest.approx(0.06)
    assert frame["good", "P@20"] > frame["chance", "P@20"]
    assert [row[0] for row in found._shown().rows if "°" in str(row[-1])] == ["random"]
    assert any("own length" in note for note in found.notes)


def test_a_lead_over_chance_is_corrected_for_the_number_of_runs() -> None:
    """One of many runs that are random passes alone, and not among the others (Westfall and Young 1993)."""
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(60, 12))
    best = int(rows.mean(axis=1).argmax())
    every = {f"r{at}": row[:, None] for at, row in enumerate(rows)}
    alone = over_chance({"r": every[f"r{best}"]}, 12)["r"]
    among = over_chance(every, 12)[f"r{best}"]
    assert alone < ALPHA < among
