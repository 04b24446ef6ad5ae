"""What becomes of tasks that are in nobody's plan any more, and of answers that were given to them meanwhile."""

import json
from collections import Counter

from annot.base.records import Assessor
from annot.judging.plan_on_record import PLAN_FILE
from annot.labelstudio.tasks import pair_key
from annot.steps import changes
from annot.store import people
from worlds import World


def leave(world: World, name: str, *, successor: str | None = None) -> None:
    changes.leave(world.ws, name, successor=successor, contest=False, offline=True, dry_run=False)


def plan(world: World, name: str) -> list[tuple[str, str]]:
    with world.ws.reading() as session:
        return [one.pair for one in people.read_assignments(session, name)]


def newcomer(world: World) -> None:
    world.studio.sign_up("cyd@example.org")
    with world.ws.writing() as session:
        people.put_assessors(session, [Assessor("a3", "cyd@example.org", False)])


def test_what_was_answered_after_it_had_been_handed_on_stays_unless_another_has_begun(sent: World) -> None:
    newcomer(sent)
    leave(sent, "a1", successor="a3")
    assert plan(sent, "a1") == []
    first, second, *_ = sent.pairs
    sent.judge("a1", {first: 1})
    pushed = sent.push()
    assert "a1: keeps 1 pair answered in the meantime" in pushed.notes
    assert (plan(sent, "a1"), len(plan(sent, "a3"))) == ([first], 9)
    written = (sent.ws.pools / PLAN_FILE).read_text(encoding="utf-8").splitlines()
    assert Counter(json.loads(line)["assessor"] for line in written) == {"a1": 1, "a2": 10, "a3": 9}
    rows = {row.assessor: row for row in pushed.projects if row.planned}
    assert (rows["a3"].planned, rows["a3"].sent, rows["a2"].sent) == (9, 9, 0)
    withdrawn = next(row for row in pushed.projects if row.assessor == "a1")
    assert (withdrawn.withdrawn, withdrawn.planned, withdrawn.there, withdrawn.sent, withdrawn.known) == (9, 0, 0, 0, 0)
    assert withdrawn.updated == 0
    assert list(sent.tasks("a1")) == [pair_key(*first)]
    assert second in plan(sent, "a3")
    pulled = sent.pull()
    assert [(row.assessor, row.assigned, row.judged) for row in pulled.assessors] == [
        ("a1", 1, 1), ("a2", 10, 0), ("a3", 9, 0),
    ]  # fmt: skip
    assert pulled.open == 19
