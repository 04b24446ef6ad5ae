"""A design from a pilot whose queries are all alike, so that each figure is known, and the hours that it takes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from annot.base.errors import InputError
from annot.base.records import Judgement
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.forecast.design import (
    ALL,
    JUDGING_ALONE,
    ONCE,
    Design,
    DesignForecast,
    JointGrades,
    Labour,
    _SimulatedStudies,
    pool_size,
    simulate_design,
)
from annot.measuring.forecast.hours import NO_TIMES, NOT_KNOWN, Rules
from forecasts import designed, dispute_times, drawn_tables
from scipy import stats

RULES = Rules(fence=3.0, window_days=28, hourly_rate=10.0, level=0.9, draws=400, seed=5)
DESIGN = Design(queries=10, pool_size=10, per_pair=2, assessors=2, repeats=0.5)
NAMES = ("q1", "q2", "q3", "q4")


class AgreedShare(JointGrades):
    """Two patterns, agreed and disputed. The coefficient is the agreed share; its interval is a fifth wide."""

    def estimate(self, tables: Any, *, name: str, level: float, topics: Any = None) -> Estimate:
        assert topics is None or len(topics) == len(tables)
        agreed = float(tables[:, 0].sum() / tables.sum())
        return Estimate(agreed, Interval(agreed - 0.1, agreed + 0.1, 0.9, "made"))


def joint(tables: list[list[int]], names: tuple[str, ...] = NAMES) -> JointGrades:
    return AgreedShare(names, np.array([[0, 0], [0, 1]]), np.array(tables), 0, 2, (0, 1), "drop")


ALIKE = joint([[6, 2]] * 4)
PILOT = [Judgement(name, f"d{at}", "a1", 1, lead_time=36.0) for name in NAMES for at in range(3)]


def forecast(design: Design = DESIGN, **changes: Any) -> DesignForecast:
    usual: dict[str, Any] = {
        **{"pilot": PILOT, "joint": ALIKE, "coefficient": "kappa", "settled": [], "dispute_seconds": 72.0},
        **{"simulations": 30, "rules": RULES},
    }
    return simulate_design(design, **(usual | changes))


def about(estimate: Estimate, value: float, low: float, high: float, *, within: float) -> None:
    assert estimate.value == pytest.approx(value)
    assert isinstance(estimate.interval, Interval)
    assert (estimate.interval.low, estimate.interval.high) == (
        pytest.approx(low, abs=within),
        pytest.approx(high, abs=within),
    )


def test_a_design_like_its_pilot() -> None:
    """100 pairs judged by two, half of them again: 300 judgements of 36 seconds. A quarter of the pairs in dispute, by
    the binomial distribution 18 to 32 of 100 in nine of ten studies, 72 seconds each."""
    found = forecast()
    assert (found.pairs, found.judgements, found.priced) == (100, 300, ALL)
    about(found.hours_judging, 3.0, 3.0, 3.0, within=1e-6)
    assert found.hours_per_assessor == pytest.approx(1.5)
    about(found.disputed, 0.25, 0.18, 0.32, within=0.02)
    about(found.hours_adjudicating, 0.5, 0.36, 0.64, within=0.04)
    about(found.hours, 3.5, 3.36, 3.64, within=0.04)
    about(found.cost, 35.0, 33.6, 36.4, within=0.4)
    about(found.coefficient, 0.75, 0.68, 0.82, within=0.04)
    about(found.width, 0.2, 0.2, 0.2, within=1e-6)
    assert (found.queries_judged, found.queries_timed, found.level) == (4, 4, 0.9)
    assert (found.simulated, found.undefined) == (30, 0)


def test_the_coefficient_gives_each_query_as_many_pairs() -> None:
    found = forecast(joint=joint([[1, 1], [9, 0], [90, 0], [4, 0]]))
    assert found.coefficient.value == pytest.approx((0.5 + 3) / 4)
    assert found.disputed.value == pytest.approx(0.5 / 4)


def test_each_pair_needs_its_assessors() -> None:
    assert forecast(replace(DESIGN, assessors=2)).judgements == 300
    with pytest.raises(InputError, match="1 assessor in the design, and 2 are needed for each pair"):
        forecast(replace(DESIGN, assessors=1))


def test_pairs_that_are_judged_once_have_no_agreement_and_still_disputes_to_price() -> None:
    found = forecast(replace(DESIGN, per_pair=1, repeats=0.0))
    assert found.coefficient == found.width == Estimate(ONCE, ONCE)
    assert (found.judgements, found.simulated, found.undefined) == (100, 0, 0)


def test_without_a_pilot_of_so_many_assessors_judging_alone_is_priced() -> None:
    why = Undefined("no pair was judged by two")
    found = forecast(joint=why)
    assert found.disputed == found.hours_adjudicating == found.coefficient == Estimate(why, why)
    assert (found.priced, found.hours, found.queries_judged, found.simulated) == (
        JUDGING_ALONE,
        found.hours_judging,
        0,
        0,
    )
    unknown = forecast(dispute_seconds=None)
    assert (unknown.priced, unknown.hours) == (JUDGING_ALONE, unknown.hours_judging)
    assert unknown.hours_adjudicating == Estimate(NOT_KNOWN, NOT_KNOWN)


def test_without_times_disputes_alone_have_hours() -> None:
    found = forecast(pilot=[])
    assert found.hours == found.hours_judging == Estimate(NO_TIMES, NO_TIMES)
    assert found.hours_per_assessor == NO_TIMES
    assert (found.hours_adjudicating.value, found.priced, found.queries_timed) == (pytest.approx(0.5), ALL, 0)


def test_a_pilot_of_one_query_has_figures_and_no_intervals() -> None:
    one = joint([[6, 2]], ("q1",))
    found = forecast(joint=one, pilot=[judgement for judgement in PILOT if judgement.query_id == "q1"])
    few = "a pilot of 1 query does not show how queries differ; 4 are needed"
    assert found.coefficient == Estimate(pytest.approx(0.75), Undefined(few))
    assert found.width == Estimate(Undefined(few), Undefined(few))
    assert found.disputed.interval == Undefined(few)
    assert found.hours.interval == Undefined(few.replace("query does", "query with times does"))
    two = forecast(joint=joint([[6, 2], [6, 2]], ("q1", "q2")))
    assert two.width.value == pytest.approx(0.2)
    assert isinstance(two.width.interval, Undefined)


# What is drawn

SLOW_IS_HARD = joint([[8, 0], [8, 0], [0, 8], [0, 8]])
LABOUR = Labour(NAMES, np.array([0.5, 0.5, 1.5, 1.5]), np.array([30.0]))


def drawn(
    labour: Labour | Undefined = LABOUR, of: JointGrades | Undefined = SLOW_IS_HARD, simulations: int = 10
) -> Any:
    design = Design(queries=3, pool_size=8, per_pair=2, assessors=1, repeats=0.0)
    return _SimulatedStudies(design, 48, labour, of, "kappa", None, simulations, replace(RULES, draws=200))


def test_queries_that_are_hard_to_agree_on_and_slow_are_drawn_as_one() -> None:
    assert stats.spearmanr(drawn().hours, drawn().disputed).statistic > 0.7
    apart = drawn(Labour(("q5", "q6", "q7", "q8"), LABOUR.by_query, LABOUR.by_person))
    assert abs(stats.spearmanr(apart.hours, apart.disputed).statistic) < 0.3


def test_as_many_studies_are_drawn_as_are_asked_for() -> None:
    found = drawn()
    assert [len(one) for one in (found.hours, found.disputed, found.values, found.widths)] == [200, 200, 10, 10]
    more = drawn(simulations=230)
    assert [len(one) for one in (more.hours, more.disputed, more.values)] == [230, 230, 230]
    assert not np.isnan(more.values).any()
    assert found.disputed.max() == 24
    assert found.disputed.min() == 0


def test_what_a_pilot_lacks_is_not_drawn() -> None:
    nothing = Undefined("nothing")
    untimed, unjudged = drawn(labour=nothing), drawn(of=nothing)
    assert np.isnan(untimed.hours).all()
    assert untimed.disputed.any()
    assert not unjudged.disputed.any()
    assert not np.isnan(unjudged.hours).any()
    assert len(unjudged.values) == 0


def test_each_study_is_drawn_from_its_own_number() -> None:
    """More studies leave the first as they were."""
    assert drawn(simulations=230).hours[:200].tolist() == drawn().hours.tolist()


def test_a_pool_is_every_methods_quota_and_the_cited() -> None:
    """CSFCube's pools: seven methods, 12 or 33 each, 5 to 55 cited: about 100 and about 250."""
    assert pool_size(methods=7, per_method=12, cited=16) == 100
    assert pool_size(methods=7, per_method=33, cited=19) == 250


def test_the_hours_in_all_carry_how_many_disputes_there_will_be_and_how_long_they_take() -> None:
    """Each tenth of the pairs more or less in dispute is 50 hours at an hour a dispute, and moves the sum so."""
    design = Design(10, 50, 2, 2, 0.0)
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    given = designed(design, tables, dispute_seconds=3600.0)
    share, hours = given.disputed.interval, given.hours.interval
    assert isinstance(share, Interval)
    assert isinstance(hours, Interval)
    assert hours.high - hours.low == pytest.approx(500 * (share.high - share.low), rel=0.1)
    assert given.hours_adjudicating.value == pytest.approx(500 * given.disputed.value)
    # Learnt from times that differ it is less sure than the same time given.
    rng = np.random.default_rng(2)
    settled = dispute_times(rng.lognormal(np.log(3600), 0.8, 20))
    learnt = designed(design, tables, dispute_seconds=None, settled=settled).hours_adjudicating
    assert isinstance(learnt.value, float)
    exact = designed(design, tables, dispute_seconds=3600 * learnt.value / given.hours_adjudicating.value)
    assert exact.hours_adjudicating.value == pytest.approx(learnt.value)
    widths = [one.interval.high - one.interval.low for one in (learnt, exact.hours_adjudicating)]
    assert widths[0] > 1.1 * widths[1]
    two = designed(design, tables, dispute_seconds=None, settled=dispute_times([60.0, 90.0]))
    assert two.hours_adjudicating.interval == two.hours.interval
    assert two.hours.interval == Undefined("only 2 settled disputes with a time")
    assert two.hours_adjudicating.value == pytest.approx(500 * two.disputed.value * 75 / 3600)


def test_others_than_the_pilots_people_make_hours_less_sure() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    widths = []
    for assessors in (2, 6):
        interval = designed(Design(5, 20, 2, assessors, 0.0), tables).hours_judging.interval
        assert isinstance(interval, Interval)
        widths.append(interval.high - interval.low)
    assert widths[1] > 1.2 * widths[0]


def test_a_pilot_of_few_papers_has_no_interval_however_many_facets_it_has() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=5, pairs=30)
    papers = {f"q{at}": f"p{at // 2}" for at in range(5)}
    few = designed(Design(5, 20, 2, 2, 0.0), tables, topics=papers)
    assert few.hours_judging.interval == Undefined(
        "a pilot of 3 query papers with times does not show how query papers differ; 4 are needed"
    )
    assert few.disputed.interval == Undefined(
        "a pilot of 3 query papers does not show how query papers differ; 4 are needed"
    )
    assert designed(Design(5, 20, 2, 2, 0.0), tables).hours_judging.value == few.hours_judging.value
