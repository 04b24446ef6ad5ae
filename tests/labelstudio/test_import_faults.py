"""Tasks arrive exactly once, whatever fails while they are imported."""

import random
from collections import Counter

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway, deliver
from faulty import EACH_ONCE, IMPORT, TASKS, keys, open_gateway, with_project
from studio_in_memory import Fault, StudioInMemory, once

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.mark.parametrize("answer", [{}, {"task_ids": None}, {"task_ids": [1, 2]}, ["nonsense"]])
def test_an_answer_that_lacks_ids_is_read_back(fake: StudioInMemory, gateway: Gateway, answer: object) -> None:
    def stores(request: httpx.Request) -> httpx.Response:
        fake.serve(request)
        return httpx.Response(201, json=answer)

    fake.faults.append(once("POST", IMPORT, stores))
    delivery = deliver(gateway, 1, TASKS)
    assert delivery.task_ids == {made["data"]["pair_id"]: number for number, made in fake.tasks.items()}
    assert keys(fake) == EACH_ONCE


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("error", [httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ReadError])
def test_a_broken_import_is_reconciled(
    fake: StudioInMemory, gateway: Gateway, error: type[httpx.TransportError], stored: bool
) -> None:
    def breaks(request: httpx.Request) -> httpx.Response:
        if stored:
            fake.serve(request)
        raise error("broken", request=request)

    fake.faults.append(once("POST", IMPORT, breaks, after=1))
    deliver(gateway, 1, TASKS, batch_size=3)
    assert keys(fake) == EACH_ONCE
    assert fake.count("POST", IMPORT) == (4 if stored else 5)


def test_an_import_that_lands_late_leaves_no_second_copy(fake: StudioInMemory, gateway: Gateway) -> None:
    """The server was still busy with the import of a push that had been killed."""
    late: list[httpx.Request] = []

    def keeps(request: httpx.Request) -> httpx.Response:
        late.append(request)
        raise httpx.ReadTimeout("busy", request=request)

    def lands(request: httpx.Request) -> httpx.Response:
        fake.serve(late[0])
        return fake.serve(request)

    fake.faults += [once("POST", IMPORT, keeps), once("POST", IMPORT, lands)]
    deliver(gateway, 1, TASKS)
    assert keys(fake) == EACH_ONCE
    assert fake.count("DELETE", "/api/tasks/") == 10


def test_of_two_copies_the_annotated_one_stays(fake: StudioInMemory, gateway: Gateway) -> None:
    deliver(gateway, 1, TASKS[:2])
    gateway.send_tasks(1, TASKS[:2])
    second_copies = sorted(fake.tasks)[2:]
    gateway.annotate(second_copies[0], [])
    delivery = deliver(gateway, 1, TASKS[:2])
    assert sorted(delivery.task_ids.values()) == sorted([second_copies[0], sorted(fake.tasks)[0]])
    assert keys(fake) == Counter(made["data"]["pair_id"] for made in TASKS[:2])


@pytest.mark.parametrize("seed", range(10))
def test_whatever_fails_on_the_way_each_task_is_there_once_in_the_end(seed: int) -> None:
    rng = random.Random(seed)
    fake = with_project()
    kinds = ["store, then 502", "502", "drop", "store, then drop", "read fails", "answer"]

    def flaky(request: httpx.Request) -> httpx.Response | None:
        kind = rng.choice(kinds) if rng.random() < 0.4 else "answer"
        if kind == "answer":
            return None
        if request.method == "GET":
            return httpx.Response(500, json={}) if kind == "read fails" else None
        if kind.startswith("store"):
            fake.serve(request)
        if kind.endswith("drop"):
            raise httpx.ReadError("dropped", request=request)
        return httpx.Response(502, json={})

    class Forever(list[Fault]):
        def remove(self, fault: Fault) -> None:
            pass

    for _ in range(30):
        fake.faults = Forever([flaky])
        try:
            deliver(open_gateway(fake), 1, TASKS, batch_size=rng.randint(1, 6))
        except StudioError:
            continue
        break
    fake.faults = []
    deliver(open_gateway(fake), 1, TASKS)
    assert keys(fake) == EACH_ONCE
