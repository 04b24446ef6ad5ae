"""The share that hours or a budget allow, before anybody judges."""

from __future__ import annotations

import pytest
from annot.base.errors import AnnotError, InputError, MissingInput
from annot.pools.pair_sample import ACROSS, expected_pairs, frozen_ranks, probabilities, ranks_on_record
from annot.pools.pair_sample import SampleRule as Rule
from annot.steps.sample_forecast import ShareFound, share_for
from annot.study.workspace import Workspace
from command_line import annot, annot_done
from small_study import QUERIES
from test_sample_planned import make, on_record, pool_of
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


def test_a_budget_is_hours_at_the_hourly_rate(ws: Workspace) -> None:
    rated = ws.replaced("forecast", hourly_rate=25.0)
    assert found(rated, cost=100.0).share == found(ws, hours=4.0).share
    assert "EUR" in found(rated, cost=100.0).notes[0]


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


def test_a_share_is_never_below_what_is_drawn(ws: Workspace) -> None:
    make(ws, 0.5)
    with pytest.raises(InputError, match=r"--hours 4: enough for 0.333\d? of the pools, but 0.5 of them are drawn"):
        found(ws, hours=4.0)
    assert found(ws, hours=8.0).share == pytest.approx(0.6667, abs=0.0002)


def test_hours_plan_as_the_share_does(ws: Workspace) -> None:
    told = annot_done("plan", "--hours", 4, "--seconds", 90, folder=ws.root)
    assert "--hours 4: enough for" in told.stderr
    assert on_record(ws).design.share == found(ws, hours=4.0).share


def test_a_share_is_named_once(ws: Workspace) -> None:
    both = annot("plan", "--hours", 4, "--sample", 0.3, folder=ws.root)
    assert (both.exit_code, "found --sample and --hours, expected one of them" in both.stderr) == (2, True)
    alone = annot("plan", "--seconds", 4, folder=ws.root)
    assert "--seconds can only be used with --hours or --cost" in alone.stderr
