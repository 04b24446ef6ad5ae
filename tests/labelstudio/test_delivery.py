"""What is sent again, updated, spared or deleted when tasks are brought to a project that has some already."""

from collections.abc import Iterable
from typing import Any

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway, deliver, tasks_to_resend
from annot.labelstudio.http_client import UncertainWrite
from annot.labelstudio.studio_records import Delivery, StudioTask
from faulty import IMPORT, TASKS, answers, keys
from studio_in_memory import StudioInMemory, once

LONG_AGO, FAR_AHEAD = "2001-01-01T00:00:00.000000Z", "2100-01-01T00:00:00.000000Z"
NAMES = [made["data"]["pair_id"] for made in TASKS]


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    return waits


def shown(key: str, text: str = "1 of 9", html: str = "<div/>") -> dict[str, Any]:
    """A task by its key, with the text about the pair and the two papers."""
    return {"data": {"pair_id": key, "progress": text, "pair_html": html}}


def listed(*tasks: tuple[str | None, int, str]) -> list[StudioTask]:
    """What the server holds: of each task its key, its annotations and the text about the pair."""
    return [
        StudioTask(number, key, annotations, {"pair_id": "sealed", "progress": text, "pair_html": "<p/>"})
        for number, (key, annotations, text) in enumerate(tasks, start=1)
    ]


def again(there: list[StudioTask], wanted: Iterable[dict[str, Any]], *new: str) -> list[str | None]:
    return [task.key for task in tasks_to_resend(there, list(wanted), new=new)]


def test_behind_a_new_task_all_unanswered_ones_are_sent_again() -> None:
    there = listed(("a", 0, "x"), ("c", 0, "x"), ("d", 1, "x"), ("e", 0, "x"), ("stranger", 0, "x"), (None, 0, "x"))
    wanted = [shown(key, "x") for key in "abcde"]
    assert again(there, wanted) == []
    assert again(there, wanted, "b") == ["c", "e"]
    assert again(there, wanted, "b", "a") == ["c", "e"], "what is there already is not new"
    assert again(listed(("b", 0, "x"), ("c", 0, "x")), wanted, "a", "d") == ["b", "c"]
    assert again(there[:4], [*wanted[:4], shown("new", "x")], "new") == []


def test_up_to_fifty_outdated_tasks_are_updated_where_they_are_and_more_are_sent_again() -> None:
    def outdated(count: int) -> list[str | None]:
        names = [f"k{at:03}" for at in range(60)]
        there = listed(
            ("answered", 1, "old"), *((name, 0, "old" if at < count else "x") for at, name in enumerate(names))
        )
        return again(there, [shown("answered", "x"), *(shown(name, "x") for name in names)])

    assert outdated(50) == []
    assert len(outdated(51)) == 60


def test_the_papers_own_text_and_the_key_are_no_reason_to_send_a_task_again() -> None:
    there = listed(*((f"k{at}", 0, "x") for at in range(60)))
    assert again(there, [shown(f"k{at}", "x", html="<other/>") for at in range(60)]) == []


def moved(number: int, text: str = "elsewhere") -> dict[str, Any]:
    made = TASKS[number]
    return {**made, "data": {**made["data"], "progress": text}}


def test_an_unanswered_task_shows_its_new_place_and_an_answered_or_foreign_one_stays(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    ids = deliver(gateway, 1, TASKS).task_ids
    gateway.annotate(ids[NAMES[0]], [])
    fake.import_tasks(1, [{"data": {"pair_id": "theirs", "progress": "theirs"}}, {"data": {"text": "no key"}}])
    steps: list[int] = []
    wanted = [moved(0), moved(1), moved(2), *TASKS[3:]]
    found = deliver(gateway, 1, wanted, advance=steps.append)
    assert found == Delivery(ids, sent=0, spared=0, removed=0, updated=2, renewed=0)
    places = {task["data"].get("pair_id"): task["data"].get("progress") for task in fake.tasks.values()}
    assert [places[name] for name in NAMES[:3]] == [TASKS[0]["data"]["progress"], "elsewhere", "elsewhere"]
    assert places["theirs"] == "theirs"
    assert (sum(steps), steps) == (10, [1, 1, 8])
    assert fake.count("PATCH", "tasks") == 2
    deliver(gateway, 1, wanted)
    assert fake.count("PATCH", "tasks") == 2, "nothing is left to update"


def test_a_task_whose_answer_is_known_is_not_sent_and_one_that_fell_back_behind_it_is_deleted(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    ids = deliver(gateway, 1, TASKS[:4]).task_ids
    gateway.annotate(ids[NAMES[1]], [])
    at = {key: fake.tasks[task]["updated_at"] for key, task in ids.items()}
    known = {NAMES[0]: FAR_AHEAD, NAMES[1]: FAR_AHEAD, NAMES[2]: at[NAMES[2]], NAMES[3]: LONG_AGO, NAMES[9]: LONG_AGO}
    found = deliver(gateway, 1, TASKS, answered=known)
    assert (found.sent, found.spared, found.removed) == (5, 2, 1)
    assert sorted(found.task_ids) == sorted(set(NAMES) - {NAMES[0], NAMES[9]})
    assert keys(fake).keys() == found.task_ids.keys()
    assert {key: found.task_ids[key] for key in NAMES[1:4]} == {key: ids[key] for key in NAMES[1:4]}


def test_a_task_that_was_answered_before_it_could_be_deleted_stays(fake: StudioInMemory, gateway: Gateway) -> None:
    ids = deliver(gateway, 1, TASKS[:2]).task_ids

    def answered_meanwhile(request: httpx.Request) -> httpx.Response:
        gateway.annotate(ids[NAMES[0]], [])
        return fake.serve(request)

    fake.faults.append(once("POST", "dm/actions", answered_meanwhile))
    found = deliver(gateway, 1, TASKS[:2], answered={NAMES[0]: FAR_AHEAD})
    assert found == Delivery(ids, sent=0, spared=0, removed=0, updated=0, renewed=0)
    assert len(fake.tasks) == 2


def test_stale_tasks_are_sent_again_in_their_order_and_no_number_is_given_twice(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    first = deliver(gateway, 1, TASKS[:4]).task_ids
    there = gateway.tasks_of(1)
    found = deliver(gateway, 1, TASKS[:5], listed=there, stale=there[1:])
    assert (found.sent, found.renewed, found.updated) == (1, 3, 0)
    assert found.task_ids[NAMES[0]] == first[NAMES[0]]
    assert [task.key for task in gateway.tasks_of(1)] == NAMES[:5]
    assert min(found.task_ids[name] for name in NAMES[1:5]) > max(first.values())


def test_stale_tasks_that_are_not_wanted_go(fake: StudioInMemory, gateway: Gateway) -> None:
    deliver(gateway, 1, TASKS[:4])
    there = gateway.tasks_of(1)
    found = deliver(gateway, 1, TASKS[:2], listed=there, stale=there[2:])
    assert (found.sent, found.renewed) == (0, 0)
    assert [task.key for task in gateway.tasks_of(1)] == NAMES[:2]


def test_of_the_stale_tasks_the_last_is_deleted_only_when_the_others_are_sent(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    first = deliver(gateway, 1, TASKS[:3]).task_ids
    there = gateway.tasks_of(1)
    left: list[list[int]] = []

    def looked(request: httpx.Request) -> httpx.Response:
        left.append(sorted(fake.tasks))
        return fake.serve(request)

    fake.faults.append(once("POST", IMPORT, looked))
    deliver(gateway, 1, TASKS[:3], listed=there, stale=there)
    assert left == [[max(first.values())]]


def test_a_lost_import_is_looked_for_after_half_a_second_and_then_each_time_after_twice_as_long(
    fake: StudioInMemory, gateway: Gateway, slept: list[float]
) -> None:
    fake.faults.append(once("POST", IMPORT, answers(502)))
    deliver(gateway, 1, TASKS[:2])
    assert slept == [0.5, 1, 2, 4, 8]
    assert fake.count("POST", IMPORT) == 2


def test_of_a_lost_import_only_what_has_not_arrived_is_sent_again(fake: StudioInMemory, gateway: Gateway) -> None:
    def some_arrive(request: httpx.Request) -> httpx.Response:
        fake.import_tasks(1, [dict(made) for made in TASKS[:3]])
        return httpx.Response(502, json={})

    fake.faults.append(once("POST", IMPORT, some_arrive))
    found = deliver(gateway, 1, TASKS[:5])
    assert (found.sent, len(fake.tasks), sorted(found.task_ids)) == (5, 5, sorted(NAMES[:5]))


def test_three_lost_imports_are_an_error_and_two_are_not(fake: StudioInMemory, gateway: Gateway) -> None:
    fake.faults += [once("POST", IMPORT, answers(503)) for _ in range(2)]
    assert deliver(gateway, 1, TASKS[:1]).sent == 1
    fake.faults += [once("POST", IMPORT, answers(503)) for _ in range(3)]
    with pytest.raises(UncertainWrite):
        deliver(gateway, 1, TASKS[1:2])


def test_second_copies_that_keep_appearing_end_the_push_after_three_rounds(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    deliver(gateway, 1, TASKS[:1])
    fake.import_tasks(1, [dict(TASKS[0])])

    def another(request: httpx.Request) -> httpx.Response:
        fake.import_tasks(1, [dict(TASKS[0])])
        return fake.serve(request)

    fake.faults += [once("DELETE", "/api/tasks/", another) for _ in range(9)]
    with pytest.raises(StudioError, match="second copies of tasks keep appearing"):
        deliver(gateway, 1, TASKS[:1])
    assert fake.count("DELETE", "/api/tasks/") == 3


def test_of_copies_without_an_answer_the_oldest_stays(fake: StudioInMemory, gateway: Gateway) -> None:
    ids = deliver(gateway, 1, TASKS[:2]).task_ids
    fake.import_tasks(1, [dict(TASKS[1]), dict(TASKS[1]), {"data": {"pair_id": "theirs"}}])
    fake.import_tasks(1, [{"data": {"pair_id": "theirs"}}, {"data": {}}, {"data": {}}])
    assert deliver(gateway, 1, TASKS[:2]).task_ids == ids
    assert keys_of(fake) == [*NAMES[:2], "theirs", "theirs", None, None], "what is not ours is not looked at"


def keys_of(fake: StudioInMemory) -> list[str | None]:
    return [task["data"].get("pair_id") for _, task in sorted(fake.tasks.items())]


def test_tasks_that_do_not_arrive_are_named(fake: StudioInMemory, gateway: Gateway) -> None:
    def loses(request: httpx.Request) -> httpx.Response:
        return httpx.Response(201, json={"task_ids": []})

    fake.faults.append(once("POST", IMPORT, loses))
    with pytest.raises(StudioError, match="10 of 10 tasks did not arrive") as caught:
        deliver(gateway, 1, TASKS)
    assert caught.value.message.endswith(f"such as {NAMES[0]}")


def test_three_tasks_with_two_answered_copies_are_named(fake: StudioInMemory, gateway: Gateway) -> None:
    for _ in range(2):
        for task_id in gateway.send_tasks(1, TASKS[:4]):
            gateway.annotate(task_id, [])
    with pytest.raises(StudioError, match="some tasks exist twice") as caught:
        deliver(gateway, 1, TASKS[:4])
    assert (caught.value.hint or "").endswith(f": {', '.join(NAMES[:3])}")


def test_a_task_that_another_program_adds_meanwhile_is_noticed_by_the_count(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    def doubled(request: httpx.Request) -> httpx.Response:
        fake.import_tasks(1, [dict(TASKS[0])])
        return fake.serve(request)

    fake.faults.append(once("POST", IMPORT, doubled))
    deliver(gateway, 1, TASKS[:2])
    assert sorted(keys(fake).values()) == [1, 1]
