"""The ranking of systems under the grades of each assessor, and what is missing for it, in words."""

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement, Qrel
from annot.measuring import assessor_effect
from annot.measuring.assessor_effect import random_grades
from annot.publishing.report.sections.assessors import ranking_rows, run_order
from graded_runs import SETTINGS, assessor_effect_on_runs, cell, comparison, final_of, in_order, judged, means, study
from measured_runs import evaluate
from scipy import stats

QUERIES = tuple(f"q{at:02}" for at in range(10))


@pytest.mark.parametrize(("convention", "measure"), [("csfcube", "AP"), ("trec", "nDCG"), ("trec", "AP")])
def test_means_and_tau_are_those_of_the_evaluation_and_of_scipy(convention: str, measure: str) -> None:
    runs, judgements, qrels = study(n_queries=7, n_docs=30, noise=[1.0, 1.1, 1.3, 1.5, 2.0], seed=1)
    settings = replace(SETTINGS, convention=convention, measure=measure)
    found = assessor_effect_on_runs(runs, judgements, qrels, settings)
    first = {query_id: min(one.assessor for one in judgements if one.query_id == query_id) for query_id in runs["r0"]}
    by_grading = {
        "final": qrels,
        "A": [Qrel(one.query_id, one.doc_id, one.grade) for one in judgements if one.assessor == first[one.query_id]],
        "B": [Qrel(one.query_id, one.doc_id, one.grade) for one in judgements if one.assessor != first[one.query_id]],
        "a3": [Qrel(one.query_id, one.doc_id, one.grade) for one in judgements if one.assessor == "a3"],
    }
    expected = {
        name: {
            tag: evaluate(run, of, convention=convention, relevant_from=2, ties="order").mean[measure]
            for tag, run in runs.items()
        }
        for name, of in by_grading.items()
    }
    for name, values in expected.items():
        assert means(found)[name] == pytest.approx(values, abs=1e-9)
        assert list(means(found)[name]) == sorted(values, key=values.__getitem__, reverse=True)
    for first_name, second in (("A", "B"), ("A", "final"), ("B", "final")):
        tau = stats.kendalltau([expected[first_name][tag] for tag in runs], [expected[second][tag] for tag in runs])
        assert comparison(found, first_name, second).tau == pytest.approx(tau.statistic)
    # An assessor who judged four of the queries is held against the final grades on these four.
    on_four = [one for one in qrels if one.query_id in {other.query_id for other in by_grading["a3"]}]
    there = [
        evaluate(run, on_four, convention=convention, relevant_from=2, ties="order").mean[measure]
        for run in runs.values()
    ]
    assert comparison(found, "a3").n_queries == 4
    assert comparison(found, "a3").tau == pytest.approx(
        stats.kendalltau([expected["a3"][tag] for tag in runs], there).statistic
    )
    assert [one.name for one in found.rankings] == ["final", "A", "B", "a1", "a2", "a3"]


def opposed(topics: Mapping[str, str] | None = None) -> assessor_effect.AssessorEffect:
    """Assessor a1 (always first) finds relevant what `one` ranks high; a2 and the final grades, what `other` does."""
    docs = [f"d{at:02}" for at in range(20)]
    up, down = [2] * 5 + [0] * 15, [0] * 15 + [2] * 5
    runs = {"one": dict.fromkeys(QUERIES, in_order(docs)), "other": dict.fromkeys(QUERIES, in_order(docs[::-1]))}
    judgements = judged({query_id: {"a1": up, "a2": down} for query_id in QUERIES})
    return assessor_effect_on_runs(runs, judgements, final_of(dict.fromkeys(QUERIES, down)), SETTINGS, topics)


def test_facets_of_one_paper_turn_round_together() -> None:
    """The same ten queries, two of each of five papers: 2 of 2^5 flips are as far out, so nothing is significant."""
    found = opposed({query_id: f"p{at // 2}" for at, query_id in enumerate(QUERIES)})
    against = comparison(found, "A")
    assert (against.reversed_pairs, against.significant, against.swaps) == (1, {"A": 0, "final": 0}, ())
    assert means(found)["A"] == {"one": 1.0, "other": 0.0}
    assert found.random_assessors.with_swap == 0


def step_down(values: np.ndarray, *, alpha: float) -> tuple[int, int]:
    """How many of all pairs of rows differ by Westfall and Young's algorithm 2.8 under all flips, and how many by the
    test of each pair alone."""
    rows = [values[a] - values[b] for a, b in itertools.combinations(range(len(values)), 2)]
    n = values.shape[1]
    flips = np.array(list(itertools.product((1, -1), repeat=n)))

    def t(row: np.ndarray) -> np.ndarray:
        flipped = flips * row
        return np.abs(flipped.mean(axis=1) / (flipped.std(axis=1, ddof=1) / np.sqrt(n)))

    under = sorted((t(row) for row in rows), key=lambda of: -of[0])
    p_values = [np.mean(np.max(under[at:], axis=0) >= under[at][0] - 1e-9) for at in range(len(rows))]
    return sum(np.maximum.accumulate(p_values) <= alpha), sum(np.mean(of >= of[0] - 1e-9) <= alpha for of in under)


def test_significant_is_what_holds_over_all_pairs_of_runs() -> None:
    runs, judgements, qrels = study(n_queries=10, n_docs=30, noise=[0.8, 0.9, 1.1, 1.3, 1.6, 2.0], seed=2)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    found_of = (evaluate(run, qrels, convention="csfcube", relevant_from=2, ties="order") for run in runs.values())
    values = np.array([[one.values["NDCG%20"] for one in of.queries] for of in found_of])
    held, alone = step_down(values, alpha=SETTINGS.alpha)
    assert 0 < held < alone
    assert comparison(found, "A").significant["final"] == held


def test_random_choices_are_looked_at_twice_only_to_save_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two assessors likes what the worst run ranks first, which the final grades hardly tell from others."""
    runs, judgements, qrels = study(n_queries=10, n_docs=30, noise=[0.8, 0.9, 1.1, 1.3, 1.6, 2.0], seed=2)
    first = {(query_id, doc.doc_id) for query_id, ranking in runs["r5"].items() for doc in ranking[:9]}
    liked = [replace(one, grade=3 * ((one.query_id, one.doc_id) in first)) for one in judgements]
    given = [one if one.assessor == "a2" else other for one, other in zip(judgements, liked, strict=True)]
    settings = replace(SETTINGS, permutations=200)
    found = assessor_effect_on_runs(runs, given, qrels, settings)
    monkeypatch.setattr(assessor_effect, "may_hold", lambda differences, *_: np.ones(len(differences), dtype=bool))
    assert assessor_effect_on_runs(runs, given, qrels, settings) == found
    assert any(one.final.p_corrected > SETTINGS.alpha for one in found.random_assessors.swaps)


def test_random_choices_agree_with_choosing_by_hand() -> None:
    runs, judgements, qrels = study(n_queries=4, n_docs=25, noise=[1.0, 1.2, 1.4, 1.6], seed=4)
    settings = replace(SETTINGS, n_random=12)
    found = assessor_effect_on_runs(runs, judgements, qrels, settings)
    final = {
        tag: evaluate(run, qrels, convention="csfcube", relevant_from=2, ties="order").mean["NDCG%20"]
        for tag, run in runs.items()
    }
    cells = []
    for query_id in sorted(runs["r0"]):
        here = [one for one in judgements if one.query_id == query_id]
        names = sorted({one.assessor for one in here})
        grades = {(one.assessor, one.doc_id): one.grade for one in here}
        cells.append(cell([[grades[name, f"d{at:02}"] for at in range(25)] for name in names], query_id))
    drawn = [
        distinct[taken] for one in cells for distinct, taken in [random_grades(one, n=12, seed=13, topic=one.query_id)]
    ]
    taus = []
    for at in range(12):
        mixed = [
            Qrel(one.query_id, f"d{doc:02}", int(grade))
            for one, rows in zip(cells, drawn, strict=True)
            for doc, grade in enumerate(rows[at])
        ]
        values = [
            evaluate(run, mixed, convention="csfcube", relevant_from=2, ties="order").mean["NDCG%20"]
            for run in runs.values()
        ]
        taus.append(stats.kendalltau(values, list(final.values())).statistic)
    assert found.random_assessors.tau == pytest.approx(np.mean(taus))
    assert found.random_assessors.tau_min == pytest.approx(min(taus))
    assert found.random_assessors.tau_range == pytest.approx(tuple(np.quantile(taus, [0.025, 0.975])))


def test_order_of_judgements_moves_nothing_and_another_seed_draws_others() -> None:
    runs, judgements, qrels = study(n_queries=12, n_docs=30, noise=[1.0, 1.1, 1.2, 1.3, 1.4], seed=6)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert found == assessor_effect_on_runs(runs, judgements[::-1], qrels[::-1], SETTINGS)
    other = assessor_effect_on_runs(runs, judgements, qrels, replace(SETTINGS, seed=14))
    assert found.random_assessors != other.random_assessors


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


def _two() -> tuple[list[Judgement], list[Qrel]]:
    return judged({"q1": {"a1": [2, 0], "a2": [1, 0]}, "q2": {"a1": [2, 0], "a2": [1, 0]}}), final_of(
        {"q1": [2, 0], "q2": [2, 0]}
    )


def test_what_cannot_be_asked_is_refused() -> None:
    judgements, _ = _two()
    with pytest.raises(InputError, match="no pair has both grades"):
        assessor_effect_on_runs({}, judgements, [Qrel("q9", "d00", 1)], SETTINGS)
