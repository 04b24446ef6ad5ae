"""What a design costs: its pairs, the hours of judging and of settling disputes, and what a pilot cannot show."""

import json
from dataclasses import replace

import numpy as np
import pytest
from annot.base.stats.values import Interval, Undefined, to_json
from annot.measuring.forecast.design import ONCE, Design, pool_size
from forecasts import designed, dispute_times, drawn_tables, joint, judgement, pilot_judgements


def test_the_hours_of_a_design_are_pairs_times_assessors_times_seconds() -> None:
    """10 queries x 30 pairs x 2: 600 judgements of a minute, half by either; a quarter of 300 in dispute, 40 s each."""
    tables = np.array([[[3, 1], [0, 0]], [[0, 0], [1, 3]]] * 2)
    pilot = [
        replace(judgement(at, name, query_id=f"q{query}"), lead_time=seconds)
        for name, seconds in (("a1", 40.0), ("a2", 80.0))
        for query in range(4)
        for at in range(5)
    ]
    design = Design(queries=10, pool_size=30, per_pair=2, assessors=4, repeats=0.0)
    found = designed(design, tables, pilot=pilot)
    assert (found.pairs, found.judgements) == (300, 600)
    assert found.hours_judging.value == pytest.approx(10.0)
    assert found.hours_per_assessor == pytest.approx(2.5)
    assert found.disputed.value == pytest.approx(0.25)
    assert found.hours_adjudicating.value == pytest.approx(300 / 4 * 40 / 3600)
    assert found.hours.value == pytest.approx(10 + 300 / 4 * 40 / 3600)
    assert found.cost.value == pytest.approx(30 * (10 + 300 / 4 * 40 / 3600))
    again = designed(replace(design, repeats=0.05), tables, pilot=pilot)
    assert (again.pairs, again.judgements) == (300, 630)
    assert again.hours_judging.value == pytest.approx(10.5)


def test_a_pool_is_every_methods_quota_and_the_cited() -> None:
    """CSFCube's pools: seven methods, 12 or 33 each, 5 to 55 cited: about 100 and about 250."""
    assert pool_size(methods=7, per_method=12, cited=16) == 100
    assert pool_size(methods=7, per_method=33, cited=19) == 250


def test_what_a_design_cannot_tell_is_said() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    once = designed(Design(5, 20, 1, 1, 0.0), tables, joint=replace(joint(tables), patterns=np.zeros((16, 1))))
    assert once.width.value == once.coefficient.value == ONCE
    assert (once.disputed.value, once.hours_adjudicating.value) == (0.0, 0.0)
    none = Undefined("no pair of the pilot was judged by 3, the most are 2")
    thrice = designed(Design(5, 20, 3, 3, 0.0), tables, joint=none)
    assert thrice.width.value == thrice.disputed.value == thrice.hours_adjudicating.value == none
    assert thrice.judgements == 300
    assert (thrice.hours, thrice.priced) == (thrice.hours_judging, "judging only, adjudication not included")
    one_grade = np.zeros((4, 4, 4), dtype=np.int64)
    one_grade[:, 0, 0] = 9
    unanimous = designed(Design(5, 20, 2, 2, 0.0), one_grade, dispute_seconds=None)
    assert unanimous.width.value == Undefined("the coefficient has no value in any of 40 simulated studies")
    assert (unanimous.undefined, unanimous.simulated) == (40, 40)
    assert (unanimous.hours_adjudicating.value, unanimous.priced) == (0.0, "judging and adjudication")
    unknown = designed(Design(5, 20, 2, 2, 0.0), tables, pilot=[], dispute_seconds=None)
    assert unknown.hours.value == unknown.hours_judging.value == Undefined("no judgement has a time yet")
    for found in (once, thrice, unanimous, unknown):
        json.dumps(to_json(found), allow_nan=False)


def test_without_the_seconds_of_a_dispute_judging_alone_is_priced_and_that_is_said() -> None:
    tables = drawn_tables(np.random.default_rng(12), queries=6, pairs=30)
    found = designed(Design(5, 20, 2, 2, 0.0), tables, dispute_seconds=None)
    assert isinstance(found.hours_adjudicating.value, Undefined)
    assert found.hours == found.hours_judging
    assert found.cost.value == pytest.approx(30 * found.hours_judging.value)
    assert found.priced == "judging only, adjudication not included"


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


def test_a_pilot_of_two_queries_gets_figures_and_no_interval() -> None:
    tables = drawn_tables(np.random.default_rng(13), queries=4, pairs=40)
    design = Design(20, 40, 2, 2, 0.0)
    pilot = [one for one in pilot_judgements() if one.query_id in ("q0", "q1")]
    two = designed(design, tables[:2], pilot=pilot)
    why = Undefined("a pilot of 2 queries does not show how queries differ; 4 are needed")
    timed = Undefined("a pilot of 2 queries with times does not show how queries differ; 4 are needed")
    assert two.coefficient.interval == two.width.interval == two.disputed.interval == why
    assert two.hours_judging.interval == two.hours.interval == two.cost.interval == timed
    assert isinstance(two.width.value, float)
    assert isinstance(two.hours.value, float)
    one = designed(design, tables[:1])
    assert one.width.value == Undefined("a pilot of 1 query does not show how queries differ; 4 are needed")
    assert isinstance(one.coefficient.value, float)
    four = designed(design, tables)
    assert isinstance(four.coefficient.interval, Interval)
    assert isinstance(four.hours.interval, Interval)
    assert (four.queries_judged, four.queries_timed, four.level) == (4, 5, 0.95)


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
