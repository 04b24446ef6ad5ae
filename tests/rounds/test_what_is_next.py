"""What a study on its way waits for, from its records: who has how many pairs to judge and to settle, what to send."""

from __future__ import annotations

from typing import Any

from annot.judging.stage import Stage
from annot.store.database import open_store
from worlds import World


def waiting(world: World) -> dict[str, Any]:
    """What there is to send, to judge and to settle, where there is any."""
    with open_store(world.ws.database_url) as store, store.read() as session:
        facts = Stage(session, world.ws).facts()._asdict()
    names = ("to_send", "signing_up", "to_judge", "disputes_to_send", "adjudicators_signing_up", "to_settle")
    return {name: facts[name] for name in names if facts.get(name)}


def test_from_the_plan_to_the_last_dispute_it_is_known_who_is_waited_for(planned: World) -> None:
    first, second = planned.disputed
    assert waiting(planned) == {"to_send": 20}
    planned.push()
    assert waiting(planned) == {"to_judge": {"a1": 10, "a2": 10}}
    planned.judge("a1", dict.fromkeys(planned.pairs, 1))
    planned.pull()
    assert waiting(planned) == {"to_judge": {"a2": 10}}
    planned.judge("a2", {pair: 1 if pair not in planned.disputed else 3 for pair in planned.pairs})
    planned.pull()
    assert waiting(planned) == {"disputes_to_send": 2}
    planned.push("adjudication")
    assert waiting(planned) == {"to_settle": {"j1": 2}}
    planned.judge("j1", {first: 2}, "adjudicate")
    planned.pull("adjudication")
    assert waiting(planned) == {"to_settle": {"j1": 1}}
    # What the dispute's task shows is no longer what its assessors say: it is sent again.
    planned.judge("a2", {second: 2})
    planned.pull()
    assert waiting(planned) == {"disputes_to_send": 1, "to_settle": {"j1": 1}}
    # They agree: the task is withdrawn.
    planned.judge("a2", {second: 1})
    planned.pull()
    assert waiting(planned) == {"disputes_to_send": 1}
    planned.push("adjudication")
    assert waiting(planned) == {}
