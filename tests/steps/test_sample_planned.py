"""A plan of a sample: what is drawn is judged, a share only rises, and the rest is neither missing nor open."""

from dataclasses import replace
from pathlib import Path

import pytest
from annot.base.errors import InputError
from annot.base.records import Draw, PoolEntry
from annot.judging.plan_on_record import check
from annot.judging.stage import Stage
from annot.steps import plan
from annot.steps.plan import PlanSummary
from annot.steps.status import status
from annot.steps.trace import trace
from annot.store import people, pools
from annot.store.models import PoolSample
from annot.store.pools import read_sample, replace_sample
from annot.study.workspace import Workspace
from command_line import annot_done
from sampled_study import N, pool_of, pooled
from small_study import QUERIES


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return pooled(tmp_path)


def make(ws: Workspace, sample: float | None = None, *queries: str, dry_run: bool = False) -> PlanSummary:
    return plan.make(ws, queries=queries, shares={}, seed=None, grow=False, dry_run=dry_run, sample=sample)


def on_record(ws: Workspace) -> PoolSample:
    with ws.reading() as session:
        found = read_sample(session)
    assert found is not None
    return found


def drawn(ws: Workspace) -> set[tuple[str, str]]:
    return {pair for pair, one in on_record(ws).pairs.items() if one.drawn}


def test_what_is_drawn_is_planned_and_nothing_else(ws: Workspace) -> None:
    dry = make(ws, 0.3, dry_run=True)
    made = make(ws, 0.3)
    assert made.pairs == dry.pairs
    sample = on_record(ws)
    with ws.reading() as session:
        assert {one.pair for one in people.read_assignments(session)} == drawn(ws)
        stage = Stage(session, ws)
        assert stage.facts().growing == 0
    assert len(sample.pairs) == N * len(QUERIES)
    assert sum(one.probability for one in sample.pairs.values()) == pytest.approx(0.3 * len(sample.pairs), abs=0.01)
    assert len(drawn(ws)) == made.pairs == pytest.approx(72, abs=20)
    assert any(f"{made.pairs} of the 240 pairs of the pools are drawn for judging" in note for note in made.notes)
    counts = status(ws)
    assert (counts.pairs, counts.not_drawn) == (made.pairs, 240 - made.pairs)


def test_the_plan_made_again_is_the_same_and_a_larger_share_keeps_every_pair(ws: Workspace) -> None:
    first = make(ws, 0.3)
    assert make(ws).sha256 == make(ws, 0.3).sha256 == first.sha256
    third, ranks = drawn(ws), {pair: one.rank for pair, one in on_record(ws).pairs.items()}
    make(ws, 0.5)
    half = drawn(ws)
    assert third < half
    assert {pair: one.rank for pair, one in on_record(ws).pairs.items()} == ranks
    make(ws, 1.0)
    assert len(drawn(ws)) == N * len(QUERIES)
    with pytest.raises(InputError, match=r"--sample 0.5: 1 of the pools are drawn already"):
        make(ws, 0.5)


def test_queries_that_come_later_are_drawn_and_leave_the_others_as_they_are(ws: Workspace) -> None:
    make(ws, 0.3, "p1-method", "p2-method")
    before = on_record(ws).pairs
    make(ws)
    after = on_record(ws).pairs
    assert {pair: after[pair] for pair in before} == before
    assert {query_id for query_id, _ in after} == {query.query_id for query in QUERIES}


def test_documents_that_come_later_get_ranks_of_their_own(ws: Workspace) -> None:
    make(ws, 0.3)
    before = on_record(ws).pairs
    with ws.writing() as session:
        grown = [pool_of(query.topic_id) for query in QUERIES]
        late = PoolEntry("d99", Draw("abs_tfidf", 61, 0.01, 61))
        grown[0] = replace(grown[0], entries=(*grown[0].entries, late))
        pools.replace_pools(session, grown, rankings_sha256={pool.topic_id: "abc" for pool in grown})
    make(ws)
    after = on_record(ws).pairs
    new = after.keys() - before.keys()
    assert new == {("p1-method", "d99")}
    assert {pair: after[pair] for pair in before} == before
    assert (after["p1-method", "d99"].rank, after["p1-method", "d99"].batch) == (1, 2)


def test_a_pair_that_was_not_drawn_has_a_state_of_its_own(ws: Workspace) -> None:
    make(ws, 0.3)
    sample = on_record(ws)
    left_out = next(pair for pair, one in sample.pairs.items() if not one.drawn)
    told = trace(ws, *left_out)
    assert (told.standing, told.sampled) == ("not drawn", sample.pairs[left_out])
    assert trace(ws, *min(drawn(ws))).standing == "incomplete"
    printed = annot_done("trace", *left_out, folder=ws.root).stdout
    assert "qrels.txt: no line for this pair, which was not drawn" in printed


def test_the_check_of_the_plan_draws_the_sample_once_more(ws: Workspace) -> None:
    make(ws, 0.3)
    found = check(ws)
    assert (found.faults, found.unplanned, found.not_drawn) == ((), 0, 240 - len(drawn(ws)))
    sample = on_record(ws)
    pairs = sorted(sample.pairs)
    left_out = next(pair for pair in pairs if not sample.pairs[pair].drawn)

    def spoilt(pair: tuple[str, str], **of: object) -> tuple[str, ...]:
        with ws.writing() as session:
            one = replace(sample.pairs[pair], **of)
            replace_sample(session, sample._replace(pairs={**sample.pairs, pair: one}))
        return check(ws).faults

    name = " ".join(left_out)
    assert spoilt(left_out, drawn=True)[0] == f"{name}: drawn, against its random number"
    assert spoilt(left_out, probability=0.9) == (
        f"{name}: probability 0.9, expected {sample.pairs[left_out].probability}",
    )
    assert f"{' '.join(pairs[0])}: rank 59 on record, 1 by its rankings" in spoilt(pairs[0], rank=59)
    ranked = {"abs_tfidf": 1, "title_tfidf": 9}
    assert f"{' '.join(pairs[0])}: rank 9 by title_tfidf on record, 1 by the pool" in spoilt(pairs[0], ranks=ranked)


def test_the_rule_stays_once_pairs_are_drawn(ws: Workspace) -> None:
    make(ws, 0.3)
    with pytest.raises(InputError, match="the rule of a sample cannot change") as error:
        make(ws.replaced("sample", floor=0.2), 0.5)
    assert error.value.faults == ("sample.floor: found 0.2, drawn with 0.05",)
