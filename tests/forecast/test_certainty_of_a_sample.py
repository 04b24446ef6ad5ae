"""What a sample costs in certainty: against formulas, and against draws that are made and measured one by one."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
import pytest
from annot.base.records import ScoredDoc
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.evaluation.measures import family_of
from annot.measuring.forecast.sample import (
    SHARES,
    Certainty,
    FilledIn,
    JudgedQueries,
    MeasuredDesign,
    assumed,
    certainty,
    grid,
    half_width,
)
from annot.measuring.sampled.estimates import pools_of
from annot.pools.pooling import SampleRule, frozen_ranks, probabilities
from measured_runs import estimates

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
    certain = {name: dict.fromkeys(of, 1.0) for name, of in grades.items()}
    judged = JudgedQueries(grades, lists, features, {name: name for name in grades}, certain)
    return judged, probabilities(frozen, share=0.33, rule=RULE)


def asked(measure: str, **of: object) -> MeasuredDesign:
    found = family_of("trec", measure)
    assert found is not None
    usual = MeasuredDesign(
        *found, relevant_from=2, highest=3, predict=False, topics=QUERIES, level=0.95, redraws=400, seed=3
    )
    return replace(usual, **of)  # type: ignore[arg-type]


def number(value: float | Undefined | Estimate) -> float:
    value = value.value if isinstance(value, Estimate) else value
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
    assert 1 + number(found.level) == pytest.approx(1 + median(levels), rel=0.03)
    assert 1 + number(found.difference) == pytest.approx(1 + median(differences), rel=0.03)
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
        return [of[tag].mean["nDCG"] for tag in runs]

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
    of_topics = np.array([means({name: judged.grades[name]}, {name: dict.fromkeys(pi[name], 1.0)}) for name in pi])
    widened = np.sqrt(1 + drawn.var(axis=0) / (of_topics.var(axis=0, ddof=1) / QUERIES))
    assert 1 + number(found.level) == pytest.approx(float(np.median(widened)), rel=0.1)


def test_whole_pools_widen_nothing() -> None:
    judged, pi = of_study()
    whole = certainty(judged, {name: dict.fromkeys(of, 1.0) for name, of in pi.items()}, asked("nDCG", redraws=1))
    assert (number(whole.level), number(whole.difference), whole.bias) == pytest.approx((0, 0, 0))
    assert isinstance(whole.level.interval, Interval)
    assert (whole.level.interval.low, whole.level.interval.high) == (0, 0)
    plain = certainty(judged, pi, asked("nDCG", redraws=10))
    assert number(whole.half_width) < number(plain.half_width)


def test_a_pilot_that_was_sampled_says_about_the_same_as_one_that_was_judged_whole() -> None:
    judged, pi = of_study()
    rng = np.random.default_rng(2)
    some = {
        name: {doc_id: grade for doc_id, grade in of.items() if rng.random() < 0.6}
        for name, of in judged.grades.items()
    }
    whole = certainty(judged, pi, asked("nDCG", redraws=60))
    drawn_with = {name: dict.fromkeys(of, 0.6) for name, of in pi.items()}
    partly = certainty(replace(judged, grades=some, drawn_with=drawn_with), pi, asked("nDCG", redraws=60))
    for said, true in ((partly.level, whole.level), (partly.difference, whole.difference)):
        assert isinstance(said.interval, Interval)
        assert said.interval.low <= number(true) <= said.interval.high
    assert number(partly.half_width) == pytest.approx(number(whole.half_width), rel=0.4)


def test_one_run_has_a_level_and_no_difference() -> None:
    judged, pi = of_study()
    alone = replace(judged, lists={name: of[:1] for name, of in judged.lists.items()})
    found = certainty(alone, pi, asked("nDCG", redraws=3))
    assert number(found.level) > 0
    assert isinstance(found.difference.value, Undefined)


def filled_in(known: Any, features: Any, drawn_with: Any, *, highest: int) -> FilledIn:
    member = family_of("trec", "nDCG")
    assert member is not None
    design = MeasuredDesign(
        *member, relevant_from=1, highest=highest, predict=False, topics=len(known), level=0.95, redraws=1, seed=1
    )
    return FilledIn(JudgedQueries(known, {}, features, {}, drawn_with), design)


def test_grades_are_filled_in_as_frequent_as_they_are() -> None:
    """Every fifth document far down is relevant, nearly every one at the top, where nearly all that is drawn is."""
    rng = np.random.default_rng(5)
    ids = [f"d{at:02}" for at in range(60)]
    queries = [f"q{at:02}" for at in range(40)]
    pi = {name: {doc_id: 0.95 if at < 10 else 0.15 for at, doc_id in enumerate(ids)} for name in queries}
    chance = {doc_id: 0.9 if at < 10 else 0.2 for at, doc_id in enumerate(ids)}
    whole = {
        name: {doc_id: int(rng.random() < chance[doc_id]) * int(rng.integers(1, 4)) for doc_id in ids}
        for name in queries
    }
    known = {
        name: {doc_id: grade for doc_id, grade in of.items() if rng.random() < pi[name][doc_id]}
        for name, of in whole.items()
    }
    features = {name: {doc_id: (float(at < 10), float(at)) for at, doc_id in enumerate(ids)} for name in queries}
    filled = filled_in(known, features, pi, highest=3)
    assert filled.incomplete
    fills = [filled.grades(at) for at in range(20)]
    for least in (1, 3):
        share = np.mean(
            [
                grade >= least
                for fill in fills
                for name in queries
                for doc_id, grade in fill[name].items()
                if doc_id >= "d10"
            ]
        )
        true = np.mean([grade >= least for of in whole.values() for doc_id, grade in of.items() if doc_id >= "d10"])
        # A sixth of 2,000 pairs is drawn, so the share that they show is off by a standard error of about .02.
        assert share == pytest.approx(true, abs=0.04)
    assert all(fill[name].items() >= known[name].items() for fill in fills for name in queries)
    assert fills[0] != fills[1]


def test_queries_with_many_relevant_documents_are_filled_in_with_more() -> None:
    ids = [f"d{at:02}" for at in range(50)]
    known = {f"q{at}": {doc_id: int(at < 5 and place % 2) for place, doc_id in enumerate(ids[:20])} for at in range(10)}
    features = {name: dict.fromkeys(ids, (0.0,)) for name in known}
    filled = filled_in(known, features, {name: dict.fromkeys(ids, 0.4) for name in known}, highest=1).grades(0)
    many, none = (
        sum(sum(filled[f"q{at}"][doc_id] for doc_id in ids[20:]) for at in part) for part in (range(5), range(5, 10))
    )
    assert many > 3 * none


def assumed_of(share: float, **changes: Any) -> Certainty:
    usual: dict[str, Any] = {
        "measure": "nDCG",
        "highest": 1,
        "topics": 40,
        "pairs": 100,
        "relevant": 2.0,
        "level": 0.95,
    }
    return assumed(share, **(usual | changes))


def test_more_topics_make_the_same_bias_too_large() -> None:
    many = assumed_of(0.15, topics=1000)
    assert assumed_of(0.15, topics=1000).bias == assumed_of(0.15, topics=40).bias
    assert many.too_small
    assert not Certainty(many.level, many.level, 0.5, Undefined("one topic has no interval"), 0.0).too_small
    assert isinstance(half_width(0.2, 1, 0.95, 0.0), Undefined)


@pytest.mark.parametrize("measure", ["nDCG", "NDCG%20", "AP"])
def test_where_much_is_relevant_less_is_lost_with_a_larger_share_and_deeper_pools(measure: str) -> None:
    many: dict[str, Any] = {"measure": measure, "relevant": 16.0}
    found = [assumed_of(share, **many) for share in SHARES]
    widths = [number(certain.difference) for certain in found]
    assert widths == sorted(widths, reverse=True)
    assert (widths[-1], number(found[-1].level), found[-1].bias) == (0, 0, 0)
    assert widths[2] > number(assumed_of(0.4, **many).difference) > widths[3]
    assert number(assumed_of(0.33, **many, pairs=200).difference) < widths[2]


def test_of_pools_smaller_than_those_of_the_grid_only_the_whole_is_known() -> None:
    assert isinstance(assumed_of(0.5, pairs=15, relevant=None).difference.value, Undefined)
    whole = assumed_of(1.0, pairs=15, relevant=None)
    assert (number(whole.level), number(whole.difference), whole.bias) == (0, 0, 0)


def test_what_is_assumed_is_the_grid_itself_at_its_designs() -> None:
    row = next(grid().query("measure == 'nDCG' and pairs == 100 and share == 0.33 and highest == 1").itertuples())
    found = assumed_of(row.share, topics=row.topics, relevant=row.relevant)
    assert (number(found.level), number(found.difference), found.bias) == pytest.approx(
        (row.level, row.difference, row.bias)
    )


def test_without_a_number_of_relevant_documents_the_range_is_over_all_and_the_figure_is_the_worst() -> None:
    found = assumed_of(0.33, relevant=None)
    each = [number(assumed_of(0.33, relevant=relevant).difference) for relevant in (1, 2, 5, 10, 20, 40)]
    assert isinstance(found.difference.interval, Interval)
    assert found.difference.interval.high == number(found.difference) >= max(each)
    assert found.difference.interval.low <= min(each)


def test_nothing_is_assumed_about_pools_that_were_not_simulated() -> None:
    found = assumed_of(0.33, pairs=20)
    assert isinstance(found.level.value, Undefined)
    assert "fewer than 25 pairs" in found.level.value.reason
    assert not isinstance(assumed_of(1.0, pairs=20).level.value, Undefined)
    assert isinstance(assumed_of(0.33, measure="P@20").level.value, Undefined)


def test_a_share_is_too_wide_where_a_difference_needs_more_than_twice_the_topics() -> None:
    """The width of an interval falls with the root of the number of topics: 1.5 squared is 2.25."""

    def of(level: float | Undefined, difference: float | Undefined) -> bool:
        none = Undefined("no range")
        return Certainty(Estimate(level, none), Estimate(difference, none), 0.0, 0.1, 0.0).too_wide

    one_run = Undefined("one run")
    assert [of(level, between) for level, between in ((0.6, 0.5), (0.1, 0.51))] == [False, True]
    assert [of(level, one_run) for level in (0.5, 0.51, one_run)] == [False, True, False]


def test_a_share_is_too_empty_if_nothing_relevant_is_drawn_in_more_than_a_fifth_of_the_queries() -> None:
    """One relevant document in each query, drawn in half of them."""
    ids = [f"d{at}" for at in range(10)]
    grades = {f"q{at}": dict.fromkeys(ids, 0) | {"d3": 2} for at in range(QUERIES)}
    features = {name: {doc_id: (1.0 / (1 + at),) for at, doc_id in enumerate(ids)} for name in grades}
    lists = {name: [[(doc_id,) for doc_id in ids]] for name in grades}
    certain = {name: dict.fromkeys(ids, 1.0) for name in grades}
    judged = JudgedQueries(grades, lists, features, {name: name for name in grades}, certain)

    def drawn_with(chance: float) -> Certainty:
        return certainty(judged, {name: dict.fromkeys(ids, chance) for name in grades}, asked("nDCG", redraws=200))

    half, most = drawn_with(0.5), drawn_with(0.9)
    assert (half.empty, most.empty) == (pytest.approx(0.5, abs=0.05), pytest.approx(0.1, abs=0.05))
    assert (half.too_empty, most.too_empty) == (True, False)
    assert drawn_with(1.0).empty == 0
