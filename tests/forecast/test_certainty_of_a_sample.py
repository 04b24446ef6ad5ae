"""What a sample costs in certainty: against formulas, and against draws that are made and measured one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from statistics import median

import numpy as np
import pytest
from annot.base.records import ScoredDoc
from annot.base.stats.values import Undefined
from annot.measuring.evaluation.gradings import family_of
from annot.measuring.forecast.sample_certainty import Certainty, JudgedQueries, Measured, certainty, half_width
from annot.measuring.forecast.sample_shares import SHARES, assumed
from annot.measuring.sampled.estimates import estimates, pools_of
from annot.pools.pair_sample import SampleRule, frozen_ranks, probabilities
from scipy import stats

QUERIES, DOCUMENTS, DRAWS = 8, 40, 60
RULE = SampleRule(seed=1, across="query", floor=0.05, unranked=1.0)


def of_study() -> tuple[JudgedQueries, dict[str, dict[str, float]]]:
    """Grades that fall with the ranks of two methods; three runs. At a third of the pairs."""
    rng = np.random.default_rng(7)
    grades: dict[str, dict[str, int]] = {}
    lists, features, frozen = {}, {}, {}
    for at in range(QUERIES):
        name, ids = f"q{at}", [f"d{number:02}" for number in range(DOCUMENTS)]
        worth = rng.normal(size=DOCUMENTS)
        grades[name] = dict(
            zip(ids, np.clip(np.round(worth + rng.normal(0, 1, DOCUMENTS)), 0, 3).astype(int).tolist(), strict=True)
        )
        orders = [np.argsort(-(worth + rng.normal(0, spread, DOCUMENTS))) for spread in (0.5, 1.0, 1.5)]
        lists[name] = [[(ids[one],) for one in order] for order in orders]
        ranks = {str(m): {ids[one]: rank for rank, one in enumerate(order, 1)} for m, order in enumerate(orders[:2])}
        frozen[name] = frozen_ranks(ranks, ids)
        features[name] = {doc_id: (1 / ranks["0"][doc_id], 1 / ranks["1"][doc_id]) for doc_id in ids}
    judged = JudgedQueries(grades, lists, features, {name: name for name in grades})
    return judged, probabilities(frozen, share=0.33, rule=RULE)


def asked(measure: str, **of: object) -> Measured:
    found = family_of("trec", measure)
    assert found is not None
    usual = Measured(*found, relevant_from=2, highest=3, predict=False, topics=QUERIES, level=0.95, redraws=400, seed=3)
    return replace(usual, **of)  # type: ignore[arg-type]


def number(value: float | Undefined) -> float:
    assert isinstance(value, float)
    return value


def test_precision_at_a_cut_widens_as_the_formula_of_horvitz_and_thompson_says() -> None:
    judged, pi = of_study()
    found = certainty(judged, pi, asked("P@10"))
    hits = {name: {doc_id: float(of >= 2) for doc_id, of in own.items()} for name, own in judged.grades.items()}
    weights = [{name: {doc_id: 0.1 for (doc_id,) in judged.lists[name][run][:10]} for name in hits} for run in range(3)]

    def widened(of: Mapping[str, Mapping[str, float]]) -> float:
        """The weights of documents in a mean of the queries, times their hits."""
        values = [sum(weight * hits[name][doc_id] for doc_id, weight in own.items()) for name, own in of.items()]
        design = sum(
            (weight * hits[name][doc_id]) ** 2 * (1 - pi[name][doc_id]) / pi[name][doc_id]
            for name, own in of.items()
            for doc_id, weight in own.items()
        )
        return math.sqrt(1 + design / QUERIES**2 / (np.var(values, ddof=1) / QUERIES)) - 1

    levels = [widened(of) for of in weights]
    differences = [
        widened({name: {d: one[name].get(d, 0) - other[name].get(d, 0) for d in hits[name]} for name in hits})
        for one, other in combinations(weights, 2)
    ]
    assert number(found.level) == pytest.approx(median(levels), rel=0.05)
    assert number(found.difference) == pytest.approx(median(differences), rel=0.05)
    assert found.bias == pytest.approx(0, abs=0.005)


def test_ndcg_moves_as_draws_do_that_are_measured_one_by_one() -> None:
    judged, pi = of_study()
    found = certainty(judged, pi, asked("nDCG"))
    runs = {
        str(run): {
            name: tuple(ScoredDoc(doc_id, -float(at)) for at, (doc_id,) in enumerate(of[run]))
            for name, of in judged.lists.items()
        }
        for run in range(3)
    }

    def means(grades: Mapping[str, Mapping[str, int]], chances: Mapping[str, Mapping[str, float]]) -> list[float]:
        pools = pools_of(chances, grades, None, highest=3)
        of = estimates(runs, pools, convention="trec", relevant_from=2, ties="order", measures=("nDCG",))
        return [of[tag].evaluation.mean["nDCG"] for tag in runs]

    rng = np.random.default_rng(11)
    truth = means(judged.grades, {name: dict.fromkeys(of, 1.0) for name, of in judged.grades.items()})
    drawn = np.array(
        [
            means(
                {
                    name: {doc_id: grade for doc_id, grade in of.items() if rng.random() < pi[name][doc_id]}
                    for name, of in judged.grades.items()
                },
                pi,
            )
            for _ in range(DRAWS)
        ]
    )
    deviation = (drawn - truth).mean(axis=1).std() / math.sqrt(DRAWS)
    assert found.bias == pytest.approx((drawn - truth).mean(), abs=4 * deviation)
    # The half width says the variance over topics, so that the widening says the one over draws.
    t = float(stats.t.ppf(0.975, QUERIES - 1))
    topical = number(found.half_width) / t / (1 + number(found.level))
    design = topical * math.sqrt((1 + number(found.level)) ** 2 - 1)
    assert design == pytest.approx(float(np.median(drawn.std(axis=0))), rel=0.25)


def test_whole_pools_widen_nothing() -> None:
    judged, pi = of_study()
    whole = certainty(judged, {name: dict.fromkeys(of, 1.0) for name, of in pi.items()}, asked("nDCG", redraws=1))
    assert (whole.level, whole.difference, whole.bias) == (pytest.approx(0), pytest.approx(0), pytest.approx(0))
    plain = certainty(judged, pi, asked("nDCG", redraws=10))
    assert number(whole.half_width) < number(plain.half_width)


def test_predictions_of_the_first_draw_do_for_the_next() -> None:
    """Twenty draws with what each taught itself, next to twenty with what the first one taught."""
    judged, pi = of_study()
    once = certainty(judged, pi, asked("P@10", predict=True, redraws=20))
    each = [certainty(judged, pi, asked("P@10", predict=True, redraws=1, seed=seed)) for seed in range(20)]
    assert once != certainty(judged, pi, asked("P@10", predict=False, redraws=20))
    variances = [(1 + number(one.level)) ** 2 - 1 for one in each]
    assert (1 + number(once.level)) ** 2 - 1 == pytest.approx(float(np.mean(variances)), rel=0.3)


def test_a_pilot_that_was_sampled_says_about_the_same_as_one_that_was_judged_whole() -> None:
    judged, pi = of_study()
    rng = np.random.default_rng(2)
    some = {
        name: {doc_id: grade for doc_id, grade in of.items() if rng.random() < 0.6}
        for name, of in judged.grades.items()
    }
    whole = certainty(judged, pi, asked("nDCG", redraws=60))
    partly = certainty(replace(judged, grades=some), pi, asked("nDCG", redraws=60))
    assert number(partly.level) == pytest.approx(number(whole.level), rel=0.6)
    assert number(partly.half_width) == pytest.approx(number(whole.half_width), rel=0.4)


def test_one_run_has_a_level_and_no_difference() -> None:
    judged, pi = of_study()
    alone = replace(judged, lists={name: of[:1] for name, of in judged.lists.items()})
    found = certainty(alone, pi, asked("nDCG", redraws=3))
    assert number(found.level) > 0
    assert isinstance(found.difference, Undefined)


def test_more_topics_make_the_same_bias_too_large() -> None:
    few, many = (assumed(0.33, topics=topics, level=0.95) for topics in (10, 1000))
    assert (few.bias, few.level, few.difference) == (many.bias, many.level, many.difference)
    assert (few.too_small, many.too_small) == (False, True)
    assert not Certainty(0.1, 0.1, 0.5, Undefined("one topic has no interval")).too_small
    assert isinstance(half_width(0.2, 1, 0.95), Undefined)
    between = assumed(0.4, topics=10, level=0.95)
    assert number(assumed(0.5, topics=10, level=0.95).level) < number(between.level) < number(few.level)
    assert [assumed(share, topics=9, level=0.95).bias for share in SHARES][-1] == 0


def test_a_share_is_too_wide_where_a_difference_needs_more_than_twice_the_topics() -> None:
    """The width of an interval falls with the root of the number of topics: 1.5 squared is 2.25."""
    one_run = Undefined("one run")
    found = [Certainty(level, between, 0.0, 0.1).too_wide for level, between in ((0.6, 0.5), (0.1, 0.51))]
    assert found == [False, True]
    assert [Certainty(level, one_run, 0.0, 0.1).too_wide for level in (0.5, 0.51, one_run)] == [False, True, False]
