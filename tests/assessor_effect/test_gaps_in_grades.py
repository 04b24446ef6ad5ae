"""What is missing for an assessor effect, in words."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement, Qrel
from annot.base.stats.values import Undefined, to_json
from annot.publishing.report.sections.assessors import ranking_rows, run_order
from graded_runs import SETTINGS, assessor_effect_on_runs, comparison, final_of, in_order, judged, means, study
from measured_runs import evaluate
from scipy import stats


def test_missing_grades_count_as_not_relevant_and_are_counted() -> None:
    runs = {"one": {"q": in_order(["d00", "d01", "d02"])}, "two": {"q": in_order(["d02", "d01", "d00"])}}
    judgements = judged({"q": {"a1": [None, 2, 0], "a2": [3, 2, 0]}})
    found = assessor_effect_on_runs(runs, judgements, final_of({"q": [3, 2, 0]}), replace(SETTINGS, measure="AP"))
    ungraded = {one.name: one.n_ungraded for one in found.rankings}
    # The first assessor of d00 is a1 although a1 gave it no grade. The same rule for A as for a1.
    assert ungraded == {"final": 0, "A": 1, "B": 0, "a1": 1, "a2": 0}
    assert means(found)["A"] == means(found)["a1"] == pytest.approx({"one": 1 / 2, "two": 1 / 2})
    assert found.missing == "zero"


def test_an_answer_without_a_grade_costs_nobody_a_query() -> None:
    """Who judged five queries and left one pair without a grade has five queries, and one pair counted."""
    runs, judgements, qrels = study(n_queries=5, n_docs=20, noise=[0.5, 1.5], seed=15)
    at = next(at for at, one in enumerate(judgements) if one.assessor == "a2")
    judgements[at] = replace(judgements[at], grade=None)
    found = {one.name: one for one in assessor_effect_on_runs(runs, judgements, qrels, SETTINGS).rankings}
    # On q00 a2 is the first of a2 and a3.
    counts = [(len(found[name].queries), found[name].n_ungraded) for name in ("A", "B", "a2", "a3")]
    assert counts == [(5, 1), (5, 0), (5, 1), (3, 0)]


def test_a_query_of_which_somebody_was_given_a_part_is_left_out_and_named() -> None:
    runs, judgements, qrels = study(n_queries=4, n_docs=20, noise=[0.5, 1.5], seed=16)
    kept = [one for one in judgements if (one.query_id, one.doc_id, one.assessor) != ("q01", "d03", "a2")]
    found = assessor_effect_on_runs(runs, kept, qrels, SETTINGS)
    queries = {one.name: one.queries for one in found.rankings}
    assert queries["a2"] == queries["B"] == ("q00", "q02", "q03")
    assert queries["A"] == queries["final"] == ("q00", "q01", "q02", "q03")
    assert found.notes == (
        "B: q01 left out, because not every pair has as many assessors",
        "a2: q01 left out, because not every pair was given to this assessor",
    )
    assert comparison(found, "A", "B").n_queries == 3


def test_one_assessor_a_pair_leaves_no_second_to_compare() -> None:
    runs, judgements, qrels = study(n_queries=4, n_docs=20, noise=[0.5, 1.5], seed=17)
    found = assessor_effect_on_runs(runs, [one for one in judgements if one.assessor == "a2"], qrels, SETTINGS)
    assert [one.name for one in found.rankings] == ["final", "A", "a2"]
    assert found.notes == ("B: no query has a second assessor",)
    assert [(one.first, one.second) for one in found.comparisons] == [("A", "final"), ("a2", "final")]


def test_the_orders_that_tau_compares_stand_beside_it_on_the_same_queries() -> None:
    runs, judgements, qrels = study(n_queries=7, n_docs=25, noise=[1.0, 1.1, 1.2, 1.3], seed=18)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    for one in found.comparisons:
        first, second = (one.means[name] for name in (one.first, one.second))
        expected = stats.kendalltau([first[tag] for tag in runs], [second[tag] for tag in runs]).statistic
        assert one.tau == pytest.approx(expected)
    shown = {row.name: row for row in ranking_rows(found)}
    assert {name for name in shown if name.startswith("final, ")} == {"final, queries of a1", "final, queries of a3"}
    # Three of the seven queries are a1's and a2's; the final order beside a1 is that of these three.
    on_three = [one for one in qrels if one.query_id in ("q01", "q03", "q05")]
    there = {
        tag: evaluate(
            {name: run[name] for name in ("q01", "q03", "q05")},
            on_three,
            convention="csfcube",
            relevant_from=2,
            ties="order",
        )
        for tag, run in runs.items()
    }
    expected_order = sorted(runs, key=lambda tag: -there[tag].mean["NDCG%20"])
    assert [*shown["final, queries of a1"].means] == expected_order
    row = shown["final, queries of a1"]
    assert (len(row.queries), row.n_pairs, row.n_ungraded) == (3, 75, 0)


def test_runs_that_tie_are_joined_by_an_equals_sign() -> None:
    tied = {"q": in_order(["d00", "d01"])}
    found = assessor_effect_on_runs(
        {"one": tied, "two": tied}, judged({"q": {"a1": [2, 0], "a2": [2, 0]}}), final_of({"q": [2, 0]}), SETTINGS
    )
    # Two documents: the first fifth of the list is empty.
    assert run_order(ranking_rows(found)[0].means) == "one 0.00 = two 0.00"


def test_pairs_and_queries_without_both_kinds_of_grade_are_left_out_and_told() -> None:
    runs = {tag: {"q1": in_order(["d00", "d01"])} for tag in ("one", "two")}
    judgements = judged({"q1": {"a1": [2, 0], "a2": [2, 1], "a3": [1, 1]}, "q2": {"a1": [1, 2], "a2": [1, 2]}})
    qrels = [*final_of({"q1": [2, 0]}), Qrel("q1", "d09", 3), Qrel("q3", "d00", 3)]
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert (found.queries, found.n_pairs) == (("q1",), 2)
    assert found.notes == (
        "2 pairs in the qrels without an assessor's grade: left out",
        "2 pairs judged and not in the qrels: left out",
        "2 pairs with more than two assessors: A and B are the first two, random choices are among all",
    )


def test_a_run_without_a_query_scores_zero_there_and_is_named() -> None:
    runs, judgements, qrels = study(n_queries=3, n_docs=25, noise=[0.1, 3.0], seed=9)
    short = {"r0": {"q00": runs["r0"]["q00"]}, "r1": runs["r1"]}
    found = assessor_effect_on_runs(short, judgements, qrels, SETTINGS)
    assert found.notes == ("r0: no documents ranked for q01, q02, so a score of 0 there",)
    expected = evaluate(short["r0"], qrels, convention="csfcube", relevant_from=2, ties="order").mean["NDCG%20"]
    assert means(found)["final"]["r0"] == pytest.approx(expected)


def test_judgements_that_carry_flags_do_not_count_and_the_latest_revision_does() -> None:
    runs, judgements, qrels = study(n_queries=3, n_docs=25, noise=[0.5, 1.0, 2.0], seed=10)
    noise = [replace(one, assessor="a0", grade=0, flags=("foreign",)) for one in judgements if one.assessor == "a2"]
    older = [replace(one, grade=0, revision=1) for one in judgements]
    newer = [replace(one, revision=2) for one in judgements]
    expected = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert assessor_effect_on_runs(runs, [*noise, *newer, *older], qrels, SETTINGS) == expected


@pytest.mark.parametrize(
    ("n_runs", "reason"),
    [(0, "0 runs; a ranking needs at least two"), (1, "1 run; a ranking needs at least two")],
)
def test_fewer_than_two_runs_have_no_tau_and_it_is_said_why(n_runs: int, reason: str) -> None:
    runs, judgements, qrels = study(n_queries=3, n_docs=20, noise=[1.0] * n_runs, seed=11)
    found = (
        assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
        if n_runs
        else assessor_effect_on_runs({}, *_two(), SETTINGS)
    )
    assert {one.tau for one in found.comparisons} == {Undefined(reason)}
    assert (found.random_assessors.tau, found.random_assessors.tau_range) == (Undefined(reason), Undefined(reason))
    json.dumps(to_json(found), allow_nan=False)


def _two() -> tuple[list[Judgement], list[Qrel]]:
    return judged({"q1": {"a1": [2, 0], "a2": [1, 0]}, "q2": {"a1": [2, 0], "a2": [1, 0]}}), final_of(
        {"q1": [2, 0], "q2": [2, 0]}
    )


def test_a_grading_that_ties_all_runs_and_one_query_are_explained() -> None:
    """a1 grades everything 0, so all runs score 0 under A."""
    runs, judgements, qrels = study(n_queries=1, n_docs=20, noise=[0.5, 1.0], seed=12)
    blind = [replace(one, grade=0) if one.assessor == "a2" else one for one in judgements]
    found = assessor_effect_on_runs(runs, blind, qrels, SETTINGS)
    assert comparison(found, "A").tau == Undefined("all 2 runs tie under one of the gradings")
    json.dumps(to_json(found), allow_nan=False)


def test_what_cannot_be_asked_is_refused() -> None:
    judgements, _ = _two()
    with pytest.raises(InputError, match="no pair has both grades"):
        assessor_effect_on_runs({}, judgements, [Qrel("q9", "d00", 1)], SETTINGS)


def test_eight_runs_and_two_hundred_random_choices_take_seconds() -> None:
    runs, judgements, qrels = study(n_queries=33, n_docs=125, noise=np.linspace(1, 2, 8).tolist(), seed=13)
    settings = replace(SETTINGS, n_random=200, permutations=2000)
    start = time.process_time()
    assessor_effect_on_runs(runs, judgements, qrels, settings)
    assert time.process_time() - start < 15


def test_a_list_of_queries_is_printed_once_for_all_runs_that_share_it() -> None:
    grades = {f"q{at}": {"a1": [3, 0], "a2": [3, 0]} for at in range(3)}
    ranking = in_order(["d00", "d01"])
    runs = {
        **{tag: {"q0": ranking} for tag in ("r1", "r2", "r3")},
        "r4": {"q0": ranking, "q1": ranking},
        "r5": {f"q{at}": ranking for at in range(3)},
    }
    found = assessor_effect_on_runs(runs, judged(grades), final_of({query_id: [3, 0] for query_id in grades}), SETTINGS)
    assert found.notes == (
        "r1, r2, r3: no documents ranked for q1, q2, so a score of 0 there",
        "r4: no documents ranked for q2, so a score of 0 there",
    )
