"""The second day: a command twice, two at once, in the wrong order, and after a person left or deleted something."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from annot.base.errors import AnnotError
from annot.judging.exchange.audit import audit
from annot.judging.exchange.collecting import PullCursor, PullResult
from annot.judging.next_step import Facts
from annot.judging.stage import Stage
from annot.labelstudio.tasks import pair_key
from annot.steps import changes, exchange
from annot.steps.exchange import pull_sent, watch
from annot.store import database
from studio_in_memory import once
from worlds import World, result


def quietly(_done: int, _total: int | None) -> None:
    """No progress bar."""


def meanwhile(world: World, do: Callable[[], object], *, method: str, path: str) -> None:
    """At the next such request, before the server answers it, something else is done first."""

    def fault(request: httpx.Request) -> None:
        if request.method == method and path in request.url.path:
            world.studio.faults.remove(fault)
            do()

    world.studio.faults.append(fault)


def pull_all(world: World, seen: dict[int, PullCursor] | None = None) -> tuple[PullResult, tuple[AnnotError, ...]]:
    return pull_sent(world.ws, advance=quietly, cursors=seen)


def refuse(world: World, round: str, name: str, *, often: int = 1) -> None:
    """The server fails to hand out what is in this project."""
    path = f"/projects/{world.project(name, round)}/export"
    world.studio.faults += [once("GET", path, lambda request: httpx.Response(500)) for _ in range(often)]


def test_two_pulls_at_once_record_every_answer_once(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:4], 1))
    inner: list[PullResult] = []

    def other() -> None:
        sent.studio.change(made[sent.pairs[0]], result(3))
        inner.append(sent.pull())

    meanwhile(sent, other, method="GET", path=f"/projects/{sent.project('a1')}/export")
    outer = sent.pull()
    (first,) = inner
    assert [row.new for row in first.assessors] == [4, 0]
    assert [(row.new, row.changed, row.lost) for row in outer.assessors] == [(0, 0, 0), (0, 0, 0)]
    assert sorted(one.grade or 0 for one in sent.outcome.judgements) == [1, 1, 1, 3]


def test_an_answer_deleted_and_pulled_by_another_pull_is_reported_by_both(sent: World) -> None:
    made = sent.judge("a1", dict.fromkeys(sent.pairs[:2], 1))
    sent.pull()

    def other() -> None:
        sent.studio.delete_annotation(made[sent.pairs[0]])
        assert len(sent.pull().lost) == 1

    meanwhile(sent, other, method="GET", path=f"/projects/{sent.project('a1')}/export")
    assert len(sent.pull().lost) == 1
    assert len(sent.pull(accept_deletions=True).lost) == 1
    assert sent.pull(accept_deletions=True).lost == ()
    assert sum(one.counts for one in sent.outcome.judgements) == 1


def test_a_push_in_the_middle_of_another_leaves_each_task_once(planned: World) -> None:
    meanwhile(planned, planned.push, method="POST", path="/import")
    planned.push()
    for name in ("a1", "a2"):
        assert sorted(planned.tasks(name)) == sorted(pair_key(*pair) for pair in planned.pairs)
        assert len(planned.studio.tasks_of(planned.project(name))) == 10
    planned.judge("a1", dict.fromkeys(planned.pairs, 1))
    assert planned.pull().assessors[0].judged == 10


def test_a_pull_in_the_middle_of_adjudication_keeps_what_is_decided_and_asks_the_rest(judged: World) -> None:
    judged.push("adjudication")
    first, second = judged.disputed
    judged.judge("j1", {first: 2}, "adjudicate")
    # The assessor of the other dispute comes round while its task is open.
    (given,) = judged.studio.annotations_on(judged.tasks("a2")[pair_key(*second)])
    judged.studio.change(given["id"], result(1))
    pulled, refused = pull_all(judged)
    assert (refused, pulled.open) == ((), 0)
    assert {row.part: row.judged for row in pulled.assessors} == {"judging": 10, "adjudication": 1}
    assert judged.grades()[first] == 2
    assert judged.grades()[second] == 1
    (row,) = judged.push("adjudication").projects
    assert (row.planned, row.sent, row.withdrawn) == (1, 0, 1)
    assert list(judged.tasks("j1", "adjudicate")) == [pair_key(*first)]


def test_a_task_that_is_decided_while_its_dispute_ends_is_kept_and_counts(judged: World) -> None:
    judged.push("adjudication")
    (pair, _) = judged.disputed
    (given,) = judged.studio.annotations_on(judged.tasks("a2")[pair_key(*pair)])
    judged.studio.change(given["id"], result(1))
    judged.pull()
    meanwhile(judged, lambda: judged.judge("j1", {pair: 0}, "adjudicate"), method="POST", path="/dm/actions")
    judged.push("adjudication")
    assert pair_key(*pair) in judged.tasks("j1", "adjudicate")
    judged.pull("adjudication")
    assert judged.grades()[pair] == 0


def test_who_left_keeps_what_they_answered_and_their_open_tasks_go_to_the_other(sent: World) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs[:3], 1))
    sent.judge("a2", dict.fromkeys(sent.pairs, 1))
    sent.pull()
    changes.leave(sent.ws, "a1", successor=None, contest=False, offline=False, dry_run=False)
    for withdrawn in (7, 0):
        pushed = sent.push()
        assert [(row.assessor, row.sent) for row in pushed.projects if row.sent] == []
        assert sum(row.withdrawn for row in pushed.projects) == withdrawn
    assert sorted(sent.tasks("a1")) == sorted(pair_key(*pair) for pair in sent.pairs[:3])
    pulled = sent.pull()
    assert [(row.assessor, row.judged, row.lost) for row in pulled.assessors] == [("a1", 3, 0), ("a2", 10, 0)]


def test_the_project_of_who_left_may_be_gone_without_holding_up_a_push_or_their_answers(sent: World) -> None:
    sent.judge("a1", dict.fromkeys(sent.pairs[:3], 1))
    sent.pull()
    changes.leave(sent.ws, "a1", successor=None, contest=False, offline=False, dry_run=False)
    sent.studio.delete_project(sent.project("a1"))
    pushed = sent.push()
    assert "a1" not in [row.assessor for row in pushed.projects if row.sent]
    pulled = sent.pull()
    assert {one.why for one in pulled.lost} == {"its project was deleted"}
    assert sum(one.counts for one in sent.outcome.judgements) == 3


def test_a_watch_does_not_end_while_a_round_is_refused(judged: World) -> None:
    judged.push("adjudication")
    judged.push()
    judged.judge("j1", dict.fromkeys(judged.disputed[:1], 2), "adjudicate")
    waits: list[int] = []

    def wait(_seconds: float) -> None:
        waits.append(len(waits))
        if len(waits) == 1:
            # While the last dispute is settled, the server fails to say what was judged; one answer is not there yet.
            judged.judge("j1", dict.fromkeys(judged.disputed[1:], 2), "adjudicate")
            refuse(judged, "judge", "a1")
        assert len(waits) < 5

    pulls = watch(
        lambda cursors: pull_sent(judged.ws, advance=quietly, rounds=exchange.WATCHED, cursors=cursors)[0],
        every=1,
        wait=wait,
        tell=lambda text: None,
    )
    assert all(isinstance(news, PullResult) for news, _ in pulls)
    assert len(judged.grades()) == 10


def test_the_database_is_held_open_while_rounds_go_on(sent: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened for each look, it would cost a study on PostgreSQL a new connection each time."""
    opened: list[str] = []

    def counted(url: str, **options: Any) -> database.Store:
        opened.append(url)
        return keep(url, **options)

    keep = database.open_store
    monkeypatch.setattr(database, "open_store", counted)
    for work in (World.push, World.pull, lambda world: audit(world.ws, advance=quietly)):
        opened.clear()
        work(sent)
        assert 0 < len(opened) < 8


def facts(world: World) -> Facts:
    with world.ws.reading() as session:
        return Stage(session, world.ws).facts()


def test_an_adjudicator_with_an_account_is_sent_what_was_deleted(settled: World) -> None:
    for task in settled.tasks("j1", "adjudicate").values():
        settled.studio.delete_task(task)
    settled.pull("adjudication")
    settled.push("adjudication")
    settled.pull("adjudication", accept_deletions=True)
    assert (facts(settled).disputes_to_send, facts(settled).adjudicators_signing_up) == (2, ())
    settled.push("adjudication")
    assert (facts(settled).disputes_to_send, facts(settled).to_settle) == (0, {"j1": 2})
