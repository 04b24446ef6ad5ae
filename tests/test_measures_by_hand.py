"""Each measure of one short list, worked by hand, and the mean over all orders of what ties, by brute force."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement, Qrel, ScoredDoc
from annot.measuring.evaluation import measures
from annot.measuring.evaluation.measures import (
    GradedList,
    JudgedWhole,
    MeasureSelection,
    columns,
    conventions_for,
    family_of,
    knows,
    measured,
    measured_by_query,
    tied,
)
from measured_runs import evaluate

LOG3 = math.log2(3)


def of_list(convention: str, name: str, submitted: list[int], judged: list[int], relevant_from: int = 2) -> float:
    rows = (np.array([grades], dtype=np.int64) for grades in (submitted, judged))
    return float(measured(convention, name, GradedList(*rows, relevant_from))[0])


@pytest.mark.parametrize(
    ("name", "csfcube", "trec"),
    [
        # Relevant at ranks 2, 3 and 5 of 5; a fourth one is not submitted.
        ("Rprec", 2 / 3, 2 / 4),
        ("P@1", 0, 0),
        ("P@2", 1 / 2, 1 / 2),
        ("P@10", 3 / 10, 3 / 10),
        ("R@2", 1 / 3, 1 / 4),
        ("R@5", 1, 3 / 4),
        ("AP", (1 / 2 + 2 / 3 + 3 / 5) / 3, (1 / 2 + 2 / 3 + 3 / 5) / 4),
        ("RP@last", 3 / 5, None),
        ("NDCG@1", 1 / 3, None),
        ("NDCG@3", (1 + 2 + 3 / LOG3) / (3 + 2 + 2 / LOG3), None),
        ("NDCG%40", (1 + 2) / (3 + 2), None),
        ("NDCG%100", (1 + 2 + 3 / LOG3 + 2 / math.log2(5)) / (3 + 2 + 2 / LOG3 + 1 / 2), None),
        ("nDCG@2", None, (1 + 2 / LOG3) / (3 + 3 / LOG3)),
        (
            "nDCG",
            None,
            (1 + 2 / LOG3 + 3 / 2 + 2 / math.log2(6)) / (3 + 3 / LOG3 + 2 / 2 + 2 / math.log2(5) + 1 / math.log2(6)),
        ),
    ],
)
def test_measures_of_one_list(name: str, csfcube: float | None, trec: float | None) -> None:
    submitted = [1, 2, 3, 0, 2]
    for convention, value in (("csfcube", csfcube), ("trec", trec)):
        if value is None:
            with pytest.raises(KeyError):
                of_list(convention, name, submitted, [*submitted, 3])
        else:
            assert of_list(convention, name, submitted, [*submitted, 3]) == pytest.approx(value), convention


@pytest.mark.parametrize("name", ["Rprec", "P@1", "R@1", "AP", "RP@last", "NDCG%100", "NDCG@1"])
@pytest.mark.parametrize("submitted", [[], [0, 0]])
def test_a_list_without_a_relevant_document_has_zero(name: str, submitted: list[int]) -> None:
    assert of_list("csfcube", name, submitted, [0, 0]) == 0.0


def test_the_last_relevant_document_may_be_the_first() -> None:
    assert of_list("csfcube", "RP@last", [3, 0, 0, 0], []) == 1.0
    assert of_list("csfcube", "RP@last", [0, 0, 0, 3], []) == 1 / 4
    assert of_list("csfcube", "RP@last", [2, 3], [], relevant_from=3) == 1 / 2


@pytest.mark.parametrize(
    ("convention", "name", "k"),
    [
        ("trec", "P@1", 1),
        ("trec", "P@1000000", 10**6),
        ("trec", "P@1000001", None),
        ("trec", "P@0", None),
        ("trec", "nDCG", 0),
        ("trec", "AP", 0),
        ("trec", "NDCG@5", None),
        ("csfcube", "NDCG%1", 1),
        ("csfcube", "NDCG%100", 100),
        ("csfcube", "NDCG%101", None),
        ("csfcube", "NDCG%0", None),
        ("csfcube", "NDCG@101", 101),
        ("csfcube", "nDCG", None),
        ("csfcube", "RP@last", 0),
    ],
)
def test_a_name_has_its_cut(convention: str, name: str, k: int | None) -> None:
    found = family_of(convention, name)
    assert (None if found is None else found[1]) == k


@pytest.mark.parametrize(("n", "cut"), [(4, 0), (9, 1), (10, 2)])
def test_a_share_of_a_list_is_rounded_down(n: int, cut: int) -> None:
    family, k = family_of("csfcube", "NDCG%20") or (None, 0)
    assert family is not None
    assert family.cut(n, k) == cut


def test_a_cut_beyond_the_list_is_the_list() -> None:
    family, _ = family_of("trec", "nDCG") or (None, 0)
    assert family is not None
    assert [family.cut(5, k) for k in (0, 1, 5, 9)] == [5, 1, 5, 5]


# Ties

TIES = [[[3, 0], [2], [0, 0, 2]], [[0, 2, 3]], [[0, 0], [1], [2, 0]], [[2], [3]], [[0], [0, 1]], [[2, 0, 0, 3], [2]]]


@pytest.mark.parametrize("groups", TIES)
@pytest.mark.parametrize("name", ["RP@last", "Rprec", "P@2", "R@3", "NDCG@3", "NDCG%50", "AP"])
def test_the_expected_value_is_the_mean_over_every_order(name: str, groups: list[list[int]]) -> None:
    orders = [
        [grade for group in order for grade in group]
        for order in itertools.product(*map(itertools.permutations, groups))
    ]
    grades, sizes = [*itertools.chain(*groups)], [*map(len, groups)]
    judged = [*grades, 3, 0]
    mean = math.fsum(of_list("csfcube", name, order, judged) for order in orders) / len(orders)
    assert measured("csfcube", name, tied(grades, sizes, judged, 2)) == pytest.approx(mean, abs=1e-12)


def docs(*scored: tuple[str, float]) -> tuple[ScoredDoc, ...]:
    return tuple(ScoredDoc(*one) for one in scored)


@pytest.mark.parametrize("convention", ["csfcube", "trec"])
@pytest.mark.parametrize("ties", ["expected", "order"])
def test_a_document_that_is_not_judged_is_not_relevant(convention: str, ties: str) -> None:
    run = {"q": docs(("new", 3.0), ("d1", 2.0), ("d2", 1.0))}
    asked = MeasureSelection(convention, ("P@1", "AP", "Judged@1", "Judged@2", "Judged@9"), 1)
    found = measured_by_query(run, {"q": {"d1": 1, "d2": 0}}, asked, ties=ties)["q"]
    assert list(found) == list(asked.names)
    assert list(found.values()) == pytest.approx([0, 1 / 2, 0, 1 / 2, 2 / 3])


@pytest.mark.parametrize("ties", ["expected", "order"])
def test_a_query_without_documents_has_zero_everywhere(ties: str) -> None:
    asked = MeasureSelection("trec", ("AP", "Judged@5", "nDCG", "RR"), 1)
    found = measured_by_query({}, {"q": {"d1": 1}}, asked, ties=ties)["q"]
    assert found == {"AP": 0.0, "Judged@5": 0.0, "nDCG": 0.0, "RR": 0.0}


def test_the_judged_share_of_a_tie_is_that_of_its_mean_order() -> None:
    run = {"q": docs(("d1", 2.0), ("new", 1.0), ("d2", 1.0), ("new2", 1.0))}
    asked = MeasureSelection("csfcube", ("Judged@1", "Judged@2", "Judged@4"), 2)
    found = measured_by_query(run, {"q": {"d1": 1, "d2": 3}}, asked, ties="expected")["q"]
    assert list(found.values()) == pytest.approx([1, (1 + 1 / 3) / 2, 2 / 4])


def test_other_measures_take_a_hundred_orders_of_what_ties_and_one_of_what_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: dict[str, int] = {}

    def first_place(orders: Any, graded: Any, names: Any, *, relevant_from: int) -> Any:
        counts.update({query_id: len(of_query) for query_id, of_query in orders.items()})
        return {
            query_id: dict.fromkeys(names, sum(order[0] == "d1" for order in of_query) / len(of_query))
            for query_id, of_query in orders.items()
        }

    monkeypatch.setattr(measures, "through_ir_measures", first_place)
    run = {"tied": docs(("d1", 0.0), ("d2", 0.0)), "one": docs(("d1", 0.0))}
    graded = {"tied": {"d1": 2, "d2": 0}, "one": {"d1": 2}}
    found = measured_by_query(run, graded, MeasureSelection("trec", ("RR",), 2), ties="expected")
    assert counts == {"tied": 100, "one": 1}
    assert found["one"] == {"RR": 1.0}
    # Four standard deviations of a coin thrown a hundred times.
    assert found["tied"]["RR"] == pytest.approx(0.5, abs=0.2)


def test_what_is_relevant_follows_the_study_unless_the_name_says_otherwise() -> None:
    run, graded = {"q": docs(("d1", 2.0), ("d2", 1.0))}, {"q": {"d1": 1, "d2": 2}}
    asked = MeasureSelection("trec", ("RR", "RR(rel=1)", "RR(rel=3)"), 2)
    assert list(measured_by_query(run, graded, asked, ties="order")["q"].values()) == [1 / 2, 1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "csfcube", "trec"),
    [
        ("AP", True, True),
        ("Judged@1", True, True),
        ("Judged@0", False, False),
        ("Judged@999999", True, True),
        ("RP@last", True, False),
        ("NDCG@10", True, False),
        ("RR", False, True),
        ("RR@1", False, True),
        ("RR@0", False, False),
        ("no such", False, False),
    ],
)
def test_a_convention_knows_its_names(name: str, csfcube: bool, trec: bool) -> None:
    assert (knows("csfcube", name), knows("trec", name)) == (csfcube, trec)


def test_names_are_shown_once_and_those_of_the_other_convention_left_out() -> None:
    assert columns("trec") == ("Rprec", "P@20", "R@20", "nDCG", "AP")
    assert columns("trec", ["AP", "NDCG@3", "RR"]) == ("Rprec", "P@20", "R@20", "nDCG", "AP", "RR")
    assert columns("csfcube") == ("RP@last", "P@20", "R@20", "NDCG%100", "NDCG%20", "AP")
    assert conventions_for([], ["csfcube", "trec"]) == ("csfcube", "trec")
    assert conventions_for(["RR", "P@20"], ["csfcube", "trec"]) == ("trec",)
    assert conventions_for(["RR", "RP@last"], ["csfcube", "trec"]) == ("trec", "csfcube")
    assert conventions_for(["P@5", "RR"], ["csfcube", "trec"]) == ("csfcube", "trec")


# Queries


def test_what_a_query_rests_on_is_counted() -> None:
    run = {"q1": docs(("d1", 3.0), ("new", 3.0), ("d2", 1.0)), "other": docs(("d1", 1.0))}
    qrels = [Qrel("q1", "d1", 0), Qrel("q1", "d2", 2), Qrel("q1", "d3", 3), Qrel("q2", "d1", 1)]
    found = evaluate(run, qrels, convention="csfcube", relevant_from=2, ties="order")
    first, second = found.queries
    assert (first.submitted, first.relevant, first.unjudged, first.missing) == (3, 2, 1, ("d3",))
    assert first.judged_at_20 == pytest.approx(2 / 3)
    assert (second.submitted, second.relevant, second.unjudged, second.judged_at_20) == (0, 0, 0, 0.0)
    assert (found.not_submitted, found.without_relevant) == (("q2",), ("q2",))
    assert found.mean["AP"] == pytest.approx(1 / 3 / 2)


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        ([("d1", 1.0), ("d2", 1.0)], None),
        (
            [("d1", 1.0), ("d2", 2.0), ("d3", 3.0)],
            "q: the score rises at rank 2, expected best first, higher is better",
        ),
        (
            [("d1", 2.0), ("d2", 1.0), ("d3", 1.5)],
            "q: the score rises at rank 3, expected best first, higher is better",
        ),
        ([("d1", 2.0), ("d1", 1.0), ("d1", 1.0)], "q: 2 documents ranked twice, expected once"),
    ],
)
def test_a_list_is_best_first_and_each_document_once(scores: list[tuple[str, float]], fault: str | None) -> None:
    def evaluated() -> None:
        evaluate({"q": docs(*scores)}, [Qrel("q", "d1", 2)], convention="csfcube", relevant_from=2, ties="order")

    if fault is None:
        evaluated()
    else:
        with pytest.raises(InputError) as caught:
            evaluated()
        assert caught.value.faults == (fault,)


def test_one_assessor_who_judged_all_of_a_query_is_a_ranking() -> None:
    qrels = [Qrel("q", "d1", 3), Qrel("q", "d2", 0)]
    given = {"a1": (0, 1), "a2": (None, 0), "a3": (2, 1)}
    judgements = [
        Judgement("q", f"d{at}", name, grade) for name, row in given.items() for at, grade in enumerate(row, start=1)
    ]
    judgements += [Judgement("q", "d1", "a4", 3), Judgement("q", "d9", "a4", 3)]
    asked = MeasureSelection("csfcube", ("AP",), 2)
    # Wrong; a pair without a grade after one of grade 0; right. The fourth did not judge all.
    found = JudgedWhole(tuple(qrels), tuple(judgements)).one_assessor(asked)
    assert found == {"q": {"AP": pytest.approx((1 / 2 + 1 / 2 + 1) / 3)}}


@pytest.mark.parametrize(("tied_above", "size", "relevant"), [(0, 4, 2), (3, 50, 50), (5, 900, 1), (2, 2000, 700)])
def test_the_precision_at_the_last_relevant_of_a_long_tie_is_that_of_exact_fractions(
    tied_above: int, size: int, relevant: int
) -> None:
    orders = math.comb(size, relevant)
    expected = sum(
        Fraction(math.comb(place - 1, relevant - 1), orders) * Fraction(relevant, tied_above + place)
        for place in range(relevant, size + 1)
    )
    grades = [0] * tied_above + [2] * relevant + [0] * (size - relevant)
    graded = tied(grades, [1] * tied_above + [size], [2] * relevant, 2)
    assert measured("csfcube", "RP@last", graded)[0] == pytest.approx(float(expected), rel=1e-12)
