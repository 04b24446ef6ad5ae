"""Does it matter who judged: against planted assessors, CSFCube, and the measures computed one by one."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement, Qrel, Ranking, ScoredDoc, ranked
from annot.base.settings import Settings
from annot.base.stats.values import Undefined, to_json
from annot.formats.csfcube import Release, is_release_file, read_release
from annot.measuring.agreement.per_query import QueryRatings
from annot.measuring.assessor_effect import on_runs, rankings
from annot.measuring.assessor_effect.on_runs import random_grades
from annot.measuring.assessor_effect.rankings import AssessorEffect, EffectSettings
from annot.measuring.evaluation.gradings import Graded, measured
from annot.measuring.evaluation.measures import MEASURES, evaluate
from annot.publishing.report.sections.effect import ranking_rows
from annot.ranking.methods import rank_pool
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from indexed import inputs_of
from scipy import stats

SETTINGS = EffectSettings(
    convention="csfcube",
    measure="NDCG%20",
    relevant_from=2,
    n_random=100,
    alpha=0.05,
    permutations=1000,
    level=0.95,
    seed=13,
)

Runs = Mapping[str, Mapping[str, Ranking]]


def assessor_effect_on_runs(
    runs: Runs,
    judgements: Sequence[Judgement],
    qrels: Sequence[Qrel],
    settings: EffectSettings,
    papers: Mapping[str, str] | None = None,
) -> AssessorEffect:
    """papers: where nothing else is said, each query has a paper of its own."""
    of = papers or {one.query_id: one.query_id for one in (*judgements, *qrels)}
    return on_runs.assessor_effect_on_runs(runs, judgements, qrels, settings, papers=of)


def in_order(doc_ids: Sequence[str]) -> Ranking:
    return tuple(ScoredDoc(doc_id, float(-at)) for at, doc_id in enumerate(doc_ids))


def judged(grades: Mapping[str, Mapping[str, Sequence[int | None]]]) -> list[Judgement]:
    """Judgements of documents d00, d01, ... by query and assessor; None where there is no grade."""
    return [
        Judgement(query_id, f"d{at:02}", assessor, grade)
        for query_id, by_assessor in grades.items()
        for assessor, row in by_assessor.items()
        for at, grade in enumerate(row)
    ]


def final_of(grades: Mapping[str, Sequence[int]]) -> list[Qrel]:
    return [Qrel(query_id, f"d{at:02}", grade) for query_id, row in grades.items() for at, grade in enumerate(row)]


def means(found: AssessorEffect) -> dict[str, dict[str, float]]:
    return {one.name: one.means for one in found.rankings}


def comparison(found: AssessorEffect, first: str, second: str = "final"):
    (one,) = [one for one in found.comparisons if (one.first, one.second) == (first, second)]
    return one


# Many gradings of one list


@hypothesis_settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(1, 60), st.integers(0, 2**31), st.sampled_from([1, 2, 3]))
def test_many_gradings_at_once_are_measured_as_one_by_one(b: int, n: int, seed: int, relevant_from: int) -> None:
    rng = np.random.default_rng(seed)
    judged_grades = rng.choice(4, p=[0.7, 0.15, 0.1, 0.05], size=(b, n)).astype(np.int8)
    # A list that leaves some judged documents out and has some that nobody judged.
    submitted = rng.permutation(n + 5)[: rng.integers(0, n + 6)]
    with_unjudged = np.pad(judged_grades, ((0, 0), (0, 5)))
    docs = in_order([f"d{at:02}" for at in submitted])
    for convention, names in MEASURES.items():
        one_by_one = [
            evaluate(
                {"q": docs},
                [Qrel("q", f"d{at:02}", int(grade)) for at, grade in enumerate(row)],
                convention=convention,
                relevant_from=relevant_from,
                ties="order",
            ).mean
            for row in judged_grades
        ]
        for name in names:
            graded = Graded(with_unjudged[:, submitted], judged_grades, relevant_from)
            found = measured(convention, name, graded)
            assert found == pytest.approx([values[name] for values in one_by_one], abs=1e-9), (convention, name)


def cell(ratings: Sequence[Sequence[float]], query_id: str = "q") -> QueryRatings:
    array = np.array(ratings, dtype=float)
    names = tuple(f"a{at}" for at in range(len(array)))
    docs = tuple(f"d{at}" for at in range(array.shape[1]))
    nowhere, unsettled = np.zeros(len(docs), dtype=bool), np.zeros(len(docs))
    return QueryRatings(query_id, "", names, docs, array, np.ones(array.shape, dtype=bool), unsettled, nowhere)


def test_a_random_choice_takes_each_grade_from_one_who_gave_it_each_as_often() -> None:
    nan = np.nan
    drawn = random_grades(cell([[0, 3, nan, nan], [1, 3, 2, 0], [2, nan, nan, 1]]), n=6000, seed=3)
    assert [set(column.tolist()) for column in drawn.T] == [{0, 1, 2}, {3}, {2}, {0, 1}]
    # Four standard errors of a third and of a half among 6,000.
    assert np.bincount(drawn[:, 0]) / 6000 == pytest.approx([1 / 3] * 3, abs=0.0244)
    assert drawn[:, 3].mean() == pytest.approx(0.5, abs=0.0259)
    # Pairs are drawn one from the other: both documents from the same assessor as often as not.
    assert np.corrcoef(drawn[:, 0] == 1, drawn[:, 3])[0, 1] == pytest.approx(0, abs=4 / np.sqrt(6000))


def test_random_choices_follow_from_seed_and_query_and_more_of_them_begin_with_the_same() -> None:
    ratings = np.random.default_rng(0).integers(0, 4, (2, 40)).astype(float)
    drawn = random_grades(cell(ratings), n=20, seed=3)
    assert (random_grades(cell(ratings), n=50, seed=3)[:20] == drawn).all()
    assert (random_grades(cell(ratings), n=20, seed=4) != drawn).any()
    assert (random_grades(cell(ratings, "other"), n=20, seed=3) != drawn).any()


# Rankings under each grading


def study(
    *, n_queries: int, n_docs: int, noise: Sequence[float], seed: int
) -> tuple[Runs, list[Judgement], list[Qrel]]:
    """Runs that see the true grade through ever more noise; two assessors who are wrong on a fifth of the pairs."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, Ranking]] = {f"r{at}": {} for at in range(len(noise))}
    grades: dict[str, dict[str, list[int | None]]] = {}
    final: dict[str, list[int]] = {}
    for query in range(n_queries):
        query_id = f"q{query:02}"
        true = rng.choice(4, p=[0.6, 0.2, 0.15, 0.05], size=n_docs)
        final[query_id] = true.tolist()
        team = ("a1", "a2") if query % 2 else ("a3", "a2")
        grades[query_id] = {
            name: np.where(rng.random(n_docs) < 0.2, rng.integers(0, 4, n_docs), true).tolist() for name in team
        }
        for tag, sigma in zip(runs, noise, strict=True):
            scores = true + rng.normal(0, sigma, n_docs)
            runs[tag][query_id] = ranked(ScoredDoc(f"d{at:02}", float(score)) for at, score in enumerate(scores))
    return runs, judged(grades), final_of(final)


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


def test_a_planted_swap_is_found_and_its_significance_attributed() -> None:
    """Assessor a1 (always first) finds relevant what `one` ranks high; a2 and the final grades, what `other` does."""
    docs = [f"d{at:02}" for at in range(20)]
    queries = [f"q{at:02}" for at in range(10)]
    up, down = [2] * 5 + [0] * 15, [0] * 15 + [2] * 5
    runs = {
        "one": {query_id: in_order(docs) for query_id in queries},
        "other": {query_id: in_order(docs[::-1]) for query_id in queries},
    }
    judgements = judged({query_id: {"a1": up, "a2": down} for query_id in queries})
    found = assessor_effect_on_runs(runs, judgements, final_of(dict.fromkeys(queries, down)), SETTINGS)
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
    docs = [f"d{at:02}" for at in range(20)]
    queries = [f"q{at:02}" for at in range(10)]
    up, down = [2] * 5 + [0] * 15, [0] * 15 + [2] * 5
    runs = {
        "one": {query_id: in_order(docs) for query_id in queries},
        "other": {query_id: in_order(docs[::-1]) for query_id in queries},
    }
    judgements = judged({query_id: {"a1": up, "a2": down} for query_id in queries})
    papers = {query_id: f"p{at // 2}" for at, query_id in enumerate(queries)}
    found = assessor_effect_on_runs(runs, judgements, final_of(dict.fromkeys(queries, down)), SETTINGS, papers)
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
    monkeypatch.setattr(rankings, "may_hold", lambda differences, *_: np.ones(len(differences), dtype=bool))
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
    low, high = found.random_assessors.means["one"]
    assert means(found)["B"]["one"] < low < high < means(found)["A"]["one"]
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
    drawn = [random_grades(one, n=12, seed=13) for one in cells]
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


# What is missing, in words


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
        "B: leaves out q01, because not every pair has as many assessors",
        "a2: leaves out q01, because not every pair was given to this assessor",
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
    shown = {row[0]: row for row in ranking_rows(found)}
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
    assert [part.split()[0] for part in shown["final, queries of a1"][-1].split(", ")] == expected_order
    assert shown["final, queries of a1"][1:4] == (3, 75, 0)


def test_runs_that_tie_are_joined_by_an_equals_sign() -> None:
    tied = {"q": in_order(["d00", "d01"])}
    found = assessor_effect_on_runs(
        {"one": tied, "two": tied}, judged({"q": {"a1": [2, 0], "a2": [2, 0]}}), final_of({"q": [2, 0]}), SETTINGS
    )
    # Two documents: the first fifth of the list is empty.
    assert ranking_rows(found)[0][-1] == "one 0.00 = two 0.00"


def test_pairs_and_queries_without_both_kinds_of_grade_are_left_out_and_told() -> None:
    runs = {tag: {"q1": in_order(["d00", "d01"])} for tag in ("one", "two")}
    judgements = judged({"q1": {"a1": [2, 0], "a2": [2, 1], "a3": [1, 1]}, "q2": {"a1": [1, 2], "a2": [1, 2]}})
    qrels = [*final_of({"q1": [2, 0]}), Qrel("q1", "d09", 3), Qrel("q3", "d00", 3)]
    found = assessor_effect_on_runs(runs, judgements, qrels, SETTINGS)
    assert (found.queries, found.n_pairs) == (("q1",), 2)
    assert found.notes == (
        "2 pairs in the qrels without an assessor's grade: left out",
        "2 pairs judged without a final grade: left out",
        "2 pairs with more than two assessors: A and B are the first two, random choices are among all",
    )


def test_a_run_without_a_query_scores_zero_there_and_is_named() -> None:
    runs, judgements, qrels = study(n_queries=3, n_docs=25, noise=[0.1, 3.0], seed=9)
    short = {"r0": {"q00": runs["r0"]["q00"]}, "r1": runs["r1"]}
    found = assessor_effect_on_runs(short, judgements, qrels, SETTINGS)
    assert found.notes == ("r0: ranks no documents for q01, q02, so its score there is 0",)
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


# CSFCube


@pytest.fixture(scope="module")
def release(shared: Path) -> Release:
    root = shared / "csfcube"
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return read_release(
        {name: path.read_bytes() for name, path in files.items() if is_release_file(name)},
        name="csfcube",
        known_labels=Settings().labels.names,
        facet_labels={"background": ("background", "objective"), "method": ("method",)},
        clean_text=False,
    )


@pytest.fixture(scope="module")
def csfcube(release: Release) -> tuple[Runs, list[Qrel]]:
    """The release's SPECTER run, and tf-idf and BM25 over its papers."""
    pools: dict[str, list[str]] = {}
    for one in release.decisions:
        pools.setdefault(one.query_id, []).append(one.doc_id)
    inputs = inputs_of(release.papers)
    runs: dict[str, dict[str, Ranking]] = {
        baseline: {
            query.query_id: rank_pool(
                inputs,
                baseline=baseline,
                paper_id=query.paper_id,
                sentences=query.sentences,
                doc_ids=pools[query.query_id],
            )
            for query in release.queries
        }
        for baseline in ("fabs_tfidf", "fabs_bm25")
    }
    runs["specter"] = {query_id: ranking for run in release.runs for query_id, ranking in run.rankings.items()}
    return runs, [Qrel(one.query_id, one.doc_id, one.grade) for one in release.decisions]


def test_who_judged_csfcube_decides_which_of_three_simple_runs_is_best(
    release: Release, csfcube: tuple[Runs, list[Qrel]]
) -> None:
    """Held against `evaluate` on the release's ratings and SciPy's tau; no outside figure of this is known."""
    runs, qrels = csfcube
    found = assessor_effect_on_runs(runs, release.judgements, qrels, SETTINGS)
    assert (len(found.queries), found.n_pairs, found.notes) == (33, 4051, ())
    by_grading: dict[str, list[Qrel]] = {"A": [], "B": [], "final": qrels}
    names: dict[str, set[str]] = {}
    for one in release.judgements:
        names.setdefault(one.query_id, set()).add(one.assessor)
    for one in release.judgements:
        if one.grade is not None:
            name = "A" if one.assessor == min(names[one.query_id]) else "B"
            by_grading[name].append(Qrel(one.query_id, one.doc_id, one.grade))
    expected = {
        name: {
            tag: evaluate(run, of, convention="csfcube", relevant_from=2, ties="order").mean["NDCG%20"]
            for tag, run in runs.items()
        }
        for name, of in by_grading.items()
    }
    assert {name: means(found)[name] for name in expected} == {
        name: pytest.approx(values, abs=1e-9) for name, values in expected.items()
    }
    for name, other in (("A", "B"), ("A", "final"), ("B", "final")):
        tau = stats.kendalltau([expected[name][tag] for tag in runs], [expected[other][tag] for tag in runs]).statistic
        assert comparison(found, name, other).tau == pytest.approx(tau)
    # SPECTER leads under B and the final grades, and comes last under A.
    assert next(iter(means(found)["final"])) == next(iter(means(found)["B"])) == "specter"
    assert list(means(found)["A"])[-1] == "specter"
    assert sum(one.n_ungraded for one in found.rankings if one.name in ("A", "B")) == 11
    assert sorted(len(one.queries) for one in found.rankings[3:])[-1] < 33
    assert isinstance(found.random_assessors.tau, float)
    assert -1 <= found.random_assessors.tau < 1
