"""The ranking of systems under the grades of each assessor."""

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from annot.base.records import Qrel, ScoredDoc
from annot.base.stats.values import Undefined
from annot.measuring import assessor_effect
from annot.measuring.assessor_effect import random_grades
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


def test_assessors_who_agree_in_all_leave_every_ranking_as_it_is() -> None:
    runs, judgements, qrels = study(n_queries=6, n_docs=30, noise=[0.5, 1.5, 4.0], seed=2)
    final = {(one.query_id, one.doc_id): one.relevance for one in qrels}
    agreed = [replace(one, grade=final[one.query_id, one.doc_id]) for one in judgements]
    found = assessor_effect_on_runs(runs, agreed, qrels, SETTINGS)
    assert {one.tau for one in found.comparisons} == {1.0}
    assert not any(one.swaps for one in found.comparisons)
    assert (found.random_assessors.tau, found.random_assessors.tau_min, found.random_assessors.tau_range) == (
        1.0,
        1.0,
        (1.0, 1.0),
    )
    assert (found.random_assessors.same_order, found.random_assessors.with_swap) == (SETTINGS.n_random, 0)
    assert found.notes == ()


def opposed(topics: Mapping[str, str] | None = None) -> assessor_effect.AssessorEffect:
    """Assessor a1 (always first) finds relevant what `one` ranks high; a2 and the final grades, what `other` does."""
    docs = [f"d{at:02}" for at in range(20)]
    up, down = [2] * 5 + [0] * 15, [0] * 15 + [2] * 5
    runs = {"one": dict.fromkeys(QUERIES, in_order(docs)), "other": dict.fromkeys(QUERIES, in_order(docs[::-1]))}
    judgements = judged({query_id: {"a1": up, "a2": down} for query_id in QUERIES})
    return assessor_effect_on_runs(runs, judgements, final_of(dict.fromkeys(QUERIES, down)), SETTINGS, topics)


def test_a_planted_swap_is_found_and_its_significance_attributed() -> None:
    found = opposed()
    against = comparison(found, "A")
    assert against.tau == -1.0
    assert against.significant == {"A": 1, "final": 1}
    (swap,) = against.swaps
    assert (swap.better, swap.worse, swap.significant_in) == ("one", "other", ("A", "final"))
    # Ten queries, all one way: 2 of 2^10 flips are as far out.
    assert swap.first.p_corrected == swap.second.p_corrected == 2 / 2**10
    assert swap.first.mean == -swap.second.mean == 1.0
    assert comparison(found, "B").tau == 1.0
    assert comparison(found, "B").swaps == ()


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


def test_a_swap_needs_significance_on_one_side_at_least() -> None:
    """Two queries: 2^2 flips can never give a p of 0.05, so a reversal is only a reversal."""
    docs = [f"d{at:02}" for at in range(20)]
    up, down = [2] * 5 + [0] * 15, [0] * 15 + [2] * 5
    runs = {
        "one": dict.fromkeys(("q1", "q2"), in_order(docs)),
        "other": dict.fromkeys(("q1", "q2"), in_order(docs[::-1])),
    }
    judgements = judged({query_id: {"a1": up, "a2": down} for query_id in ("q1", "q2")})
    against = comparison(assessor_effect_on_runs(runs, judgements, final_of({"q1": down, "q2": down}), SETTINGS), "A")
    assert (against.reversed_pairs, against.swaps) == (1, ())


def test_random_choices_of_two_opposed_assessors_lie_between_them_and_their_swaps_are_counted() -> None:
    """Where a1 and a2 name different documents, half of the choices lean to one run and half to the other."""
    rng = np.random.default_rng(5)
    docs = [f"d{at:02}" for at in range(20)]
    queries = [f"q{at:02}" for at in range(10)]
    up, down = [2] * 5 + [0] * 15, [0] * 15 + [2] * 5
    runs = {
        "one": {query_id: in_order(docs) for query_id in queries},
        "other": {query_id: in_order(docs[::-1]) for query_id in queries},
        "chance": {query_id: in_order([docs[at] for at in rng.permutation(20)]) for query_id in queries},
    }
    judgements = judged({query_id: {"a1": up, "a2": down} for query_id in queries})
    found = assessor_effect_on_runs(
        runs, judgements, final_of(dict.fromkeys(queries, down)), replace(SETTINGS, n_random=300)
    )
    swap = next(one for one in found.random_assessors.swaps if (one.better, one.worse) == ("other", "one"))
    # The final order is significant, so each reversal is a swap; the two are alike under a random choice.
    assert swap.final.p_corrected == 2 / 2**10
    assert swap.n_reversed == swap.n_significant <= found.random_assessors.with_swap
    assert swap.n_reversed / 300 == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 300))
    # Of ten topics, as many go to a1 as heads come up in ten throws: between 2 and 8 in 95 of 100.
    of_both = [means(found)[name]["one"] for name in ("B", "A")]
    assert found.random_assessors.means["one"] == pytest.approx(
        tuple(of_both[0] + share / 10 * (of_both[1] - of_both[0]) for share in (2, 8))
    )
    assert found.random_assessors.same_order + swap.n_reversed <= 300


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


def test_tied_documents_stand_by_the_larger_id_in_trec_and_as_submitted_in_csfcube() -> None:
    tied = {"q": (ScoredDoc("d00", 1.0), ScoredDoc("d01", 1.0))}
    judgements = judged({"q": {"a1": [0, 2], "a2": [0, 2]}})
    for convention, expected in (("trec", 1.0), ("csfcube", 0.5)):
        settings = replace(SETTINGS, convention=convention, measure="AP")
        found = assessor_effect_on_runs({"one": tied, "two": tied}, judgements, final_of({"q": [0, 2]}), settings)
        assert means(found)["final"] == {"one": expected, "two": expected}
        assert found.random_assessors.tau == Undefined("all 2 runs tie under one of the gradings")


def test_order_of_judgements_moves_nothing_and_another_seed_draws_others() -> None:
    runs, judgements, qrels = study(n_queries=12, n_docs=30, noise=[1.0, 1.1, 1.2, 1.3, 1.4], seed=6)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert found == assessor_effect_on_runs(runs, judgements[::-1], qrels[::-1], SETTINGS)
    other = assessor_effect_on_runs(runs, judgements, qrels, replace(SETTINGS, seed=14))
    assert found.random_assessors != other.random_assessors


def test_runs_may_change_names_and_queries_may_come_and_go_without_moving_the_rest() -> None:
    runs, judgements, qrels = study(n_queries=5, n_docs=25, noise=[1.0, 1.5, 2.0], seed=8)
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    renamed = assessor_effect_on_runs({f"x{tag}": run for tag, run in runs.items()}, judgements, qrels, SETTINGS)
    assert [one.tau for one in renamed.comparisons] == [one.tau for one in found.comparisons]
    assert renamed.random_assessors.tau == found.random_assessors.tau
