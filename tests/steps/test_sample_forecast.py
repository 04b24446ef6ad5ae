"""The share that hours or a budget allow, before anybody judges."""

from typing import Any

import pytest
from annot.base.errors import AnnotError, InputError, MissingInput
from annot.base.records import Judgement
from annot.base.stats.values import Estimate, Interval, Undefined
from annot.measuring.forecast import sample
from annot.measuring.forecast.sample import Certainty, SharesForecast, assumed
from annot.pools.pooling import ACROSS, expected_pairs, frozen_ranks, probabilities, ranks_on_record
from annot.pools.pooling import SampleRule as Rule
from annot.steps import forecast, plan
from annot.steps.forecast import ShareFound, share_for, shares
from annot.store import people
from annot.store.answers import JUDGEMENTS
from annot.study.workspace import Workspace
from sampled_study import pool_of
from small_study import QUERIES, RECORDED, sourced
from study_stages import quietly
from test_sample_planned import make
from test_sample_planned import ws as ws

PAIR_HOURS = 2 * 90 / 3600


def found(ws: Workspace, **of: float | None) -> ShareFound:
    usual: dict[str, float | None] = {"hours": None, "cost": None, "seconds": 90.0}
    return share_for(ws, **(usual | of), queries=())


def expected(share: float) -> float:
    pools = {query.query_id: pool_of(query.topic_id) for query in QUERIES}
    frozen = {
        name: frozen_ranks(ranks_on_record(pool), [entry.doc_id for entry in pool.entries])
        for name, pool in pools.items()
    }
    rule = Rule(seed=1, across=ACROSS[0], floor=0.05, unranked=1.0)
    return expected_pairs(probabilities(frozen, share=share, rule=rule)).mean


def test_hours_allow_the_largest_share_that_fits(ws: Workspace) -> None:
    told = found(ws, hours=4.0)
    assert expected(told.share) * PAIR_HOURS <= 4.0 < expected(told.share + 0.0001) * PAIR_HOURS
    assert told.pairs.mean == pytest.approx(expected(told.share))
    assert told.hours.value == pytest.approx(4.0, abs=0.01)
    assert "--hours 4: enough for 33.3" in told.notes[0]
    assert "2 judgements per pair, without adjudication (no pair has the answers" in told.notes[1]
    assert found(ws, hours=1000.0).share == 1.0


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"hours": 4.0, "seconds": None}, MissingInput, "--hours 4: no judgement has a time yet"),
        ({"cost": 100.0}, MissingInput, "--cost 100: no hourly rate is set"),
        ({"hours": 1.0}, InputError, r"--hours 1: the smallest sample takes 1\.6 hours"),
    ],
)
def test_what_cannot_be_found_is_refused(
    ws: Workspace, given: dict[str, float | None], error: type[AnnotError], words: str
) -> None:
    with pytest.raises(error, match=words):
        found(ws, **given)


def graded(rank: int, query: int) -> int:
    """Higher at the top, and not the same in every query."""
    return max(0, 3 - (rank + 3 * query) // 8) if (rank * 7 + query) % 3 else 0


@pytest.fixture
def judged(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A sample of all pairs, which both people judged alike in 30 and in 60 seconds."""
    monkeypatch.setattr(sample, "MOST_REDRAWS", 5)
    make(ws, 1.0)
    with ws.writing() as session:
        plan = people.read_assignments(session)
        given = [
            Judgement(
                one.query_id,
                one.doc_id,
                one.assessor,
                graded(int(one.doc_id[1:]), int(one.query_id[1])),
                judged_at=RECORDED,
                lead_time=(30.0 if one.assessor == "a1" else 60.0) + len(one.doc_id + one.query_id) % 3,
            )
            for one in plan
        ]
        JUDGEMENTS.record(session, sourced(given), recorded_at=RECORDED)
    return ws


def looked_at(ws: Workspace, *of: float, seconds: float | None = None) -> SharesForecast:
    return shares(ws, **({"shares": of} if of else {}), seconds=seconds, advance=quietly)  # type: ignore[arg-type]


def test_shares_without_a_pilot_are_those_of_simulated_studies(ws: Workspace) -> None:
    found = looked_at(ws, seconds=90.0)
    assert [row.share for row in found.rows] == [0.15, 0.25, 0.33, 0.5, 0.75, 1.0]
    assert (found.seen_on, found.queries, found.pairs) == (None, 4, 240)
    assert found.why_assumed == "all pairs are judged for only 0 queries, and 4 are needed"
    third, whole = found.rows[2], found.rows[-1]
    assert third.pairs.value == pytest.approx(expected(0.33))
    assert third.hours.value == pytest.approx(expected(0.33) * PAIR_HOURS)
    assert (whole.pairs.value, whole.difference.value, whole.bias, whole.advised) == (240, 0.0, 0.0, True)
    assert any("any number of relevant papers per query" in note for note in found.notes)
    # Pools of 60 on a scale from 0 to 3: between those of 50 and of 100 that were simulated.
    assumed_here = assumed(0.33, measure="NDCG%20", highest=3, topics=4, pairs=60.0, relevant=5.0, level=0.95)
    with_number = shares(ws, shares=(0.33,), seconds=90.0, relevant=5.0, advance=quietly)
    assert with_number.rows[0].difference == assumed_here.difference
    assert any("60 pairs and 5 relevant papers per query" in note for note in with_number.notes)


def test_a_share_that_widens_too_much_is_not_advised(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    none = Undefined("assumed")
    wide = Certainty(Estimate(0.2, none), Estimate(0.6, none), 0.0, 0.1, 0.0)
    monkeypatch.setattr(
        forecast.sample,
        "assumed",
        lambda share, **study: wide if share < 0.5 else wide._replace(difference=wide.level),
    )
    found = looked_at(ws, seconds=90.0)
    assert [row.why_not for row in found.rows] == ["too wide", "too wide", "too wide", "", "", ""]
    assert [row.advised for row in found.rows] == [False, False, False, True, True, True]
    assert any(note.startswith("too wide: the interval of a difference") for note in found.notes)
    assert not any(note.startswith("too small") for note in found.notes)


def test_raising_the_share_of_a_judged_sample_says_that_it_is_a_second_look(ws: Workspace) -> None:
    make(ws, 0.3)
    assert not any("second look" in text for text in plan.make(ws, **AS_BEFORE, sample=0.4).notes)
    with ws.writing() as session:
        pair = people.read_assignments(session)[0]
        answer = Judgement(pair.query_id, pair.doc_id, pair.assessor, 1, judged_at=RECORDED)
        JUDGEMENTS.record(session, sourced([answer]), recorded_at=RECORDED)
    raised = plan.make(ws, **AS_BEFORE, sample=0.6).notes
    assert any("if results were seen already, a larger share is a second look" in text for text in raised)
    assert not any("second look" in text for text in plan.make(ws, **AS_BEFORE, sample=0.6).notes)


AS_BEFORE: Any = {"queries": (), "shares": {}, "seed": None, "grow": True, "dry_run": False}


def test_shares_are_drawn_again_from_what_is_judged(judged: Workspace) -> None:
    found = looked_at(judged)
    assert found.seen_on is not None
    assert (found.seen_on.queries, found.seen_on.runs, found.seen_on.own_runs) == (4, 2, False)
    assert not found.seen_on.filled_in
    levels = [float(row.level.value) for row in found.rows]  # type: ignore[arg-type]
    assert levels[-1] == pytest.approx(0.0)
    assert max(map(abs, levels[:3])) > abs(levels[4])
    assert isinstance(found.rows[2].difference.interval, Interval)
    # Two people share the work.
    assert found.rows[-1].hours.value == pytest.approx(2 * 240 * (30 + 60) / 2 / 3600)
    assert looked_at(judged, 0.5).rows == (found.rows[3],)


@pytest.mark.parametrize("share", [0.3, None])
def test_hours_have_as_many_disputes_as_the_pairs_of_a_share_and_not_as_those_of_the_pilot(
    ws: Workspace, share: float | None
) -> None:
    """Every pair of the first ten documents is disputed, and no other one; the pilot has far too many of the first."""
    make(ws, share)
    with ws.writing() as session:
        plan = people.read_assignments(session)
        given = [
            Judgement(*one.pair, one.assessor, int(one.doc_id < "d10" and one.assessor == "a1"), judged_at=RECORDED)
            for one in plan
        ]
        JUDGEMENTS.record(session, sourced(given), recorded_at=RECORDED)
    rated = ws.replaced("forecast", dispute_seconds=3600.0)
    if share:
        of_pilot = sum(pair[1] < "d10" for pair in {one.pair for one in plan}) / len({one.pair for one in plan})
        assert of_pilot > 0.3
    for of in (0.3, 0.5, 1.0):
        (row,) = looked_at(rated, of, seconds=90.0).rows
        hours = float(row.hours.value)  # type: ignore[arg-type]
        pools = {query.query_id: pool_of(query.topic_id) for query in QUERIES}
        frozen = {
            name: frozen_ranks(ranks_on_record(pool), [entry.doc_id for entry in pool.entries])
            for name, pool in pools.items()
        }
        pi = probabilities(frozen, share=of, rule=Rule(seed=1, across=ACROSS[0], floor=0.05, unranked=1.0))
        disputes = sum(p for of_query in pi.values() for doc_id, p in of_query.items() if doc_id < "d10")
        assert hours - expected(of) * PAIR_HOURS == pytest.approx(disputes, rel=0.0 if share is None else 0.2, abs=1e-6)


def test_a_share_is_never_below_what_is_drawn(ws: Workspace) -> None:
    make(ws, 0.5)
    with pytest.raises(InputError, match=r"--hours 4: enough for 0.333\d? of the pools, but 0.5 of them are drawn"):
        found(ws, hours=4.0)
    assert found(ws, hours=8.0).share == pytest.approx(0.6667, abs=0.0002)
