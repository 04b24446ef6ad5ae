"""A query that was sent by mistake is taken back from servers, plan and pools while nobody has answered it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from annot.base.errors import InputError
from annot.base.records import Assignment
from annot.judging.plan_on_record import check
from annot.judging.stage import Stage
from annot.labelstudio.tasks import pair_key
from annot.steps import plan, query
from annot.steps.query import RemovedQuery
from annot.store import people, pools, projects, runs
from annot.store.pools import put_queries, read_queries
from command_line import snapshot
from small_study import DOCUMENTS, QUERIES
from studio_in_memory import Killed
from study_stages import copied
from worlds import Rounds, World, served

WANTED, MISTAKE = QUERIES[0].query_id, QUERIES[1].query_id


@dataclass(frozen=True)
class WithMistake(Rounds):
    """As `Rounds`, with a second query that nobody wanted to send."""

    queries: Any = tuple((one.topic_id, ("method",)) for one in QUERIES[:2])

    def plan(self) -> list[Assignment]:
        return [
            Assignment(query_id, doc_id, name, 1 + (at + 10 * number) * step % 20)
            for name, step in (("a1", 3), ("a2", 7))
            for number, query_id in enumerate((WANTED, MISTAKE))
            for at, doc_id in enumerate(DOCUMENTS)
        ]


@pytest.fixture
def mistaken(tmp_path: Path, no_waiting: None) -> Iterator[World]:
    with served(copied(WithMistake(), "sent", tmp_path / "study")) as made:
        yield made


def remove(world: World, *, dry_run: bool = False) -> RemovedQuery:
    return query.remove(world.ws, MISTAKE, sent=True, dry_run=dry_run)


def asked_on_server(world: World) -> dict[str, set[str]]:
    """By person, the queries of the tasks on the server."""
    return {name: {pair[0] for pair in world.asked_pairs(name)} for name in ("a1", "a2")}


def state(world: World) -> dict[str, Any]:
    """What is left of the query: on the server, in the plan, in pools, queries and folds."""
    with world.ws.reading() as session:
        planned = people.read_assignments(session)
        return {
            "server": asked_on_server(world),
            "tasks": {asked.query_id for _, asked in projects.read_asked(session)},
            "planned": {one.query_id for one in planned},
            "positions": sorted({one.position for one in planned}),
            "pools": set(pools.read_pools(session)),
            "queries": {one.query_id for one in read_queries(session)},
        }


GONE = {
    "server": {"a1": {WANTED}, "a2": {WANTED}},
    "tasks": {WANTED},
    "planned": {WANTED},
    "positions": list(range(1, 11)),
    "pools": {QUERIES[0].topic_id},
    "queries": {WANTED},
}


def test_tasks_plan_pool_and_folds_are_rid_of_it_and_the_rest_stays(mistaken: World) -> None:
    with mistaken.ws.writing() as session:
        runs.put_split(session, "all", {"fold1_dev": (WANTED,), "fold1_test": (MISTAKE,)})
    tasks = {name: mistaken.tasks(name) for name in ("a1", "a2")}
    before = snapshot(mistaken.folder)
    assert remove(mistaken, dry_run=True).tasks == 20
    after = snapshot(mistaken.folder)
    assert {name: content for name, content in after.items() if not name.startswith(".annot")} == {
        name: content for name, content in before.items() if not name.startswith(".annot")
    }
    done = remove(mistaken)
    assert (done.tasks, done.with_pool, done.queries) == (20, True, 1)
    assert state(mistaken) == GONE
    # The other tasks are the same ones, and nothing is sent again.
    assert all(tasks[name][key] == task for name in tasks for key, task in mistaken.tasks(name).items())
    assert sum(row.sent + row.withdrawn for row in mistaken.push().projects) == 0
    assert check(mistaken.ws).faults == ()
    with mistaken.ws.reading() as session:
        assert dict(runs.read_splits(session)["all"]) == {"fold1_dev": (WANTED,)}
        assert Stage(session, mistaken.ws).facts().to_judge == {"a1": 10, "a2": 10}
    with pytest.raises(InputError, match="not in this study"):
        remove(mistaken)


def test_it_is_refused_once_anybody_has_answered_and_nothing_is_touched(mistaken: World) -> None:
    mistaken.judge("a2", {(MISTAKE, DOCUMENTS[3]): 2})
    before = state(mistaken)
    with pytest.raises(InputError, match="already answered on Label Studio") as error:
        remove(mistaken)
    assert error.value.faults == ("a2: 1 task answered or skipped",)
    assert state(mistaken) == before
    assert len(mistaken.tasks("a1")) == len(mistaken.tasks("a2")) == 20
    mistaken.pull()
    with pytest.raises(InputError, match="1 query would be removed, with 1 judgement"):
        remove(mistaken)
    assert state(mistaken) == before


def test_an_answer_that_comes_in_between_keeps_the_query(mistaken: World) -> None:
    answered = (MISTAKE, DOCUMENTS[0])

    def fault(request: httpx.Request) -> None:
        if request.method == "POST" and "/dm/actions" in request.url.path:
            mistaken.studio.faults.remove(fault)
            mistaken.judge("a1", {answered: 1})

    mistaken.studio.faults.append(fault)
    with pytest.raises(InputError, match="already answered"):
        remove(mistaken)
    assert pair_key(*answered) in mistaken.tasks("a1")
    with mistaken.ws.reading() as session:
        assert MISTAKE in {one.query_id for one in people.read_assignments(session)}
    mistaken.pull()
    mistaken.push()
    assert len(mistaken.tasks("a1")) == len(mistaken.tasks("a2")) == 20


def test_killed_half_way_the_same_command_finishes_or_a_push_sends_again(mistaken: World, tmp_path: Path) -> None:
    before = len(mistaken.studio.requests)
    remove(mistaken)
    requests = len(mistaken.studio.requests) - before
    for way, share in (("again", 0.5), ("push", 0.75), ("again at the end", 1.0)):
        with served(copied(WithMistake(), "sent", tmp_path / way)) as world:
            world.studio.kill_at(round(share * requests))
            with pytest.raises(Killed):
                remove(world)
            assert len(world.studio.tasks) in (40, 30, 20)
            if way != "push":
                assert remove(world).query_id == MISTAKE
                assert state(world) == GONE
            else:
                world.push()
                assert len(world.tasks("a1")) == len(world.tasks("a2")) == 20


def test_a_query_under_a_sample_leaves_it_and_the_others_keep_their_probabilities(mistaken: World) -> None:
    """Over the study, too, if it came later: each batch is drawn by itself."""
    ws = mistaken.ws.replaced("sample", across="study").replaced("judging", repeats=0.0)
    planned = {"shares": {}, "seed": None, "dry_run": False}
    query.remove(ws, MISTAKE, sent=True, dry_run=False)
    with ws.reading() as session:
        known = read_queries(session)
    assert [one.query_id for one in known] == [WANTED]
    plan.withdraw(ws, queries=(WANTED,), sent=True, dry_run=False)
    mistaken.push()
    plan.make(ws, queries=(), grow=False, sample=0.6, **planned)  # type: ignore[arg-type]
    with ws.reading() as session:
        before = pools.read_sample(session)
        pool = pools.read_pools(session)[QUERIES[0].topic_id]
    with ws.writing() as session:
        put_queries(session, [QUERIES[1]])
        drawn = [pool, replace(pool, topic_id=QUERIES[1].topic_id)]
        pools.replace_pools(session, drawn, rankings_sha256={one.topic_id: "abc" for one in drawn})
    plan.make(ws, queries=(), grow=True, sample=None, **planned)  # type: ignore[arg-type]
    mistaken.push()
    assert MISTAKE in asked_on_server(mistaken)["a1"]
    query.remove(ws, MISTAKE, sent=True, dry_run=False)
    with ws.reading() as session:
        after = pools.read_sample(session)
    assert before is not None
    assert after is not None
    assert after.pairs == before.pairs
    assert check(ws).faults == ()
    assert asked_on_server(mistaken) == {"a1": {WANTED}, "a2": {WANTED}}
    # With its last query the sample goes.
    query.remove(ws, WANTED, sent=True, dry_run=False)
    with ws.reading() as session:
        assert pools.read_sample(session) is None
