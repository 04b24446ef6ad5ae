"""What was read of a project comes into the store: each count of a pull from readings made by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from annot.base.records import Assignment, PairKey, PairReturn
from annot.judging.exchange.collecting import (
    CollectedProject,
    MissingAnnotation,
    PullCursor,
    PulledProject,
    RoundOptions,
    collect,
    record_uncounted,
)
from annot.judging.exchange.servers import PARTS
from annot.judging.rounds import round_of
from annot.judging.rounds.judging import JudgingRound
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import PulledTask, ReadAnnotation, StudioProject, StudioTask, write_result
from annot.labelstudio.tasks import pair_key
from annot.store import trials
from annot.store.answers import JUDGEMENTS, add_returned, read_returned, withdraw_returned
from annot.store.models import Project
from annot.study.workspace import Workspace
from small_study import RECORDED, Small, sent_to
from study_stages import copied

D0, D1, D2 = (PairKey("p1-method", f"d0{at}") for at in range(3))
FIRST, LATER = "2031-01-01T10:00:00.000000Z", "2031-01-01T12:00:00.000000Z"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Forty pairs each are planned for a1 and a2."""
    return copied(Small(), "planned", tmp_path / "study")


def reading(asked: PairKey, number: int, *flags: str, grade: int = 2, changed: str = FIRST) -> ReadAnnotation:
    return ReadAnnotation(
        pair_key=asked, grade=grade, cannot_judge=None, comment=None, settled_by=None, lead_time=None, created_at=FIRST,
        changed_at=changed, account=3, flags=flags, payload={"id": number},
    )  # fmt: skip


def collected(
    of: Project, *found: ReadAnnotation, gone: Sequence[MissingAnnotation] = (), edited: int = 0
) -> CollectedProject:
    return CollectedProject(of, len(found), [3], found, tuple(gone), tuple(gone), edited, ("a note",))


def counts(row: PulledProject) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("assigned", "judged", "new", "changed", "flagged", "lost")}


def test_answers_of_a_round_that_never_counts_are_kept_beside_and_none_is_lost(ws: Workspace) -> None:
    with ws.writing() as session:
        trials.add_assignments(
            session, "train", [Assignment(*one.pair, "a1", at) for at, one in enumerate((D0, D1, D2), 1)]
        )
        trials.add_assignments(session, "train", [Assignment(*D0.pair, "a2", 1)])
    of = sent_to(ws, "a1", D0, D1, D2, account=3, round="train")
    done = record_uncounted(ws, collected(of, reading(D0, 1), reading(D1, 2, "no grade")))
    assert counts(done.assessors[0]) == {"assigned": 3, "judged": 1, "new": 2, "changed": 0, "flagged": 1, "lost": 0}
    assert (done.assessors[0].part, done.lost) == (PARTS["train"].title, ())
    assert list(done.notes) == ["a note", "a1: 1 answer not counted: no grade"]
    other = sent_to(ws, "a2", D0, account=3, round="train")
    again = record_uncounted(ws, collected(of, reading(D0, 1, grade=3, changed=LATER)))
    assert counts(again.assessors[0]) == {"assigned": 3, "judged": 1, "new": 0, "changed": 1, "flagged": 0, "lost": 0}
    theirs = record_uncounted(ws, collected(other, reading(D0, 9)), lambda session: lambda found: "train")
    assert counts(theirs.assessors[0]) == {"assigned": 1, "judged": 1, "new": 1, "changed": 0, "flagged": 0, "lost": 0}


def test_answers_to_hidden_gold_are_kept_where_they_do_not_count(ws: Workspace) -> None:
    gold = PairKey("p2-method", "d99")
    with ws.writing() as session:
        trials.add_assignments(session, "hidden-gold", [Assignment(*gold.pair, "a1", 1)])
        for name, asked in (("a1", D0), ("a1", D1), ("a2", D0)):
            add_returned(session, PairReturn(*asked.pair, name, 3, "Look again.", RECORDED))
        taken_back = next(one for one in read_returned(session) if one.pair == D1.pair)
        withdraw_returned(session, taken_back, withdrawn_at=RECORDED)
    of = sent_to(ws, "a1", D0, account=3)
    done = JudgingRound().record(ws, collected(of, reading(D0, 1), reading(gold, 2)), RoundOptions())
    assert counts(done.assessors[0]) == {"assigned": 41, "judged": 1, "new": 1, "changed": 0, "flagged": 0, "lost": 0}
    with ws.reading() as session:
        assert [one.record.pair_key for one in trials.read_answers(session, "hidden-gold")] == [gold]
        assert [one.pair_key for one in JUDGEMENTS.records(session)] == [D0]


class Server:
    """Project 7 with two tasks, and what was asked of it."""

    url = "u"

    def __init__(self, *tasks: PulledTask, opens: bool = True) -> None:
        self.tasks, self.opens = tasks, opens
        self.asked: list[Any] = []

    def identity(self) -> str:
        return "here"

    def project(self, _number: int) -> StudioProject:
        return StudioProject(7, None, len(self.tasks), 0, {}, self.opens)

    def pull(
        self, _number: int, *, advance: Any = None, task_ids: Sequence[int] | None = None
    ) -> tuple[PulledTask, ...]:
        self.asked.append(task_ids)
        return tuple(one for one in self.tasks if task_ids is None or one.task_id in task_ids)

    def tasks_of(self, _number: int, *, since: str | None = None) -> tuple[StudioTask, ...]:
        self.asked.append(since)
        return tuple(
            StudioTask(one.task_id or 0, one.key, 0, {}, one.updated_at)
            for one in self.tasks
            if since is None or (one.updated_at or "") >= since
        )

    def user_ids(self) -> dict[str, int]:
        return {"ann@example.org": 3, "bob@example.org": 9}

    def open_instructions(self, _number: int, opens: bool) -> None:
        self.opens = opens


def task(asked: PairKey, number: int, *, answer: int | None = None, changed: str = FIRST) -> PulledTask:
    payload = {"created_at": FIRST, "updated_at": changed, "completed_by": 3, "result": write_result({}, grade=1)}
    annotations = () if answer is None else ({**payload, "id": answer},)
    return PulledTask(pair_key(*asked), annotations, changed, {}, number)


def pulled(
    ws: Workspace, server: Server, *, seen: dict[int, PullCursor] | None, keep: bool = True
) -> list[CollectedProject]:
    told: list[int] = []
    judging = round_of("judging")
    found = list(
        collect(
            *(ws, cast("Gateway", server), judging.parts),
            hint=judging.hint,
            advance=lambda done, total: told.append(done),
            cursors=seen,
            keep=keep,
        )
    )
    for one in found:
        judging.record(ws, one, RoundOptions())
    return found


def test_what_was_seen_is_asked_for_again_only_once_it_has_changed(ws: Workspace) -> None:
    of, seen = sent_to(ws, "a1", D0, D1, account=3), dict[int, PullCursor]()
    server = Server(task(D0, 1, answer=11), task(D1, 2))
    (whole,) = pulled(ws, server, seen=seen)
    assert (whole.tasks, len(whole.readings), whole.notes, server.asked[-1]) == (2, 1, (), None)
    assert seen[of.project].tasks == 2
    assert pulled(ws, server, seen=seen) == []
    server.tasks = (server.tasks[0], task(D1, 2, answer=12, changed=LATER))
    (changed,) = pulled(ws, server, seen=seen)
    assert (changed.tasks, [one.pair_key for one in changed.readings], changed.lost) == (1, [D1], ())
    assert server.asked[-1] == [2]
    server.tasks = (*server.tasks, task(D2, 3))
    (again,) = pulled(ws, server, seen=seen)
    assert (again.tasks, server.asked[-1]) == (3, None)


@pytest.mark.parametrize("keep", [True, False])
def test_the_instructions_stop_opening_once_an_answer_is_recorded(ws: Workspace, keep: bool) -> None:
    sent_to(ws, "a1", D0, D1, account=3)
    for answer, opens in ((None, True), (11, not keep)):
        server = Server(task(D0, 1, answer=answer), task(D1, 2))
        pulled(ws, server, seen=None, keep=keep)
        assert server.opens is opens


def test_a_pair_that_is_there_twice_is_always_read_from_the_whole(ws: Workspace) -> None:
    of, seen = sent_to(ws, "a1", D0, D1, account=3), dict[int, PullCursor]()
    pulled(ws, Server(task(D0, 1, answer=11), task(D0, 2)), seen=seen)
    assert of.project not in seen


def test_an_answer_that_was_deleted_since_is_missed_where_its_task_has_changed(ws: Workspace) -> None:
    sent_to(ws, "a1", D0, D1, account=3)
    server, seen = Server(task(D0, 1, answer=11), task(D1, 2, answer=12)), dict[int, PullCursor]()
    pulled(ws, server, seen=seen)
    server.tasks = (server.tasks[0], task(D1, 2, changed=LATER))
    (found,) = pulled(ws, server, seen=seen)
    assert [line.record.pair_key for line, _ in found.lost] == [D1]


def test_an_account_that_is_not_on_record_is_looked_up_by_the_address(ws: Workspace) -> None:
    of = sent_to(ws, "a1", D0, account=3)
    sent_to(ws, "a1", account=None)
    sent_to(ws, "a2", account=4, remote=8)
    found = {one.project.assessor: list(one.accounts) for one in pulled(ws, Server(task(D0, 1, answer=11)), seen=None)}
    assert (of.account_id, found) == (3, {"a1": [3], "a2": [4]})
