"""The gateway when the server or the network fails: patience, short listings and pulls, lost answers, messages."""

import random
from collections import Counter
from collections.abc import Callable

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway, deliver
from annot.labelstudio.http_client import UncertainWrite
from annot.labelstudio.studio_records import ProjectSpec
from faulty import EACH_ONCE, IMPORT, LIST, TASKS, TOKEN, answers, keys, open_gateway, raises, with_project
from studio_in_memory import Fault, StudioInMemory, once

pytestmark = pytest.mark.usefixtures("no_waiting")


def project_spec(*, marker: str) -> ProjectSpec:
    return ProjectSpec(
        marker=marker, title="Judging", description="d", label_config="<View/>", instructions="", color="#617ADA"
    )


def test_a_listing_that_is_short_is_an_error(fake: StudioInMemory, gateway: Gateway) -> None:
    deliver(gateway, 1, TASKS)
    fake.total_lies_by = 2
    with pytest.raises(StudioError, match="counts 12 tasks and sent 10"):
        gateway.tasks_of(1)


def test_a_404_in_the_middle_of_a_listing_is_an_error(fake: StudioInMemory, gateway: Gateway) -> None:
    gateway.send_tasks(1, [{"data": {"pair_id": str(number)}} for number in range(1, 1201)])
    assert len(gateway.tasks_of(1)) == 1200
    fake.faults.append(once("GET", LIST, answers(404), after=1))
    with pytest.raises(StudioError, match="counts 1200 tasks and sent 500"):
        gateway.tasks_of(1)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (lambda tasks: [], "counts 10 tasks and sent 0"),
        (lambda tasks: tasks[1:], "counts 10 tasks and sent 9"),
        (lambda tasks: [*tasks[:9], tasks[0]], "counts 10 tasks and sent 9"),
        (lambda tasks: [*tasks[:9], {**tasks[9], "annotations": []}], "counts 1 annotations and sent 0"),
    ],
)
def test_a_pull_that_misses_something_is_an_error(
    fake: StudioInMemory,
    gateway: Gateway,
    monkeypatch: pytest.MonkeyPatch,
    spoilt: Callable[[list[object]], list[object]],
    said: str,
    whole: bool,
) -> None:
    """Exported in one request or, where the project is larger, in groups."""
    monkeypatch.setattr("annot.labelstudio.gateway.WHOLE_EXPORT", 10 if whole else 9)
    deliver(gateway, 1, TASKS)
    for task_id in fake.tasks:
        gateway.annotate(task_id, [])
    pulled = gateway.pull(1)
    assert [(task.key, len(task.annotations)) for task in pulled] == [(key, 1) for key in EACH_ONCE]

    def spoils(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=spoilt(fake.serve(request).json()))

    fake.faults.append(once("GET", "/export", spoils))
    with pytest.raises(StudioError, match=said):
        gateway.pull(1)


def test_a_lost_answer_to_an_annotation_is_told_and_leaves_one_annotation(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    deliver(gateway, 1, TASKS[:1])
    (task_id,) = fake.tasks

    def stores_then_drops(request: httpx.Request) -> httpx.Response:
        fake.serve(request)
        raise httpx.ReadError("dropped", request=request)

    fake.faults.append(once("POST", "/annotations", stores_then_drops))
    with pytest.raises(UncertainWrite):
        gateway.annotate(task_id, [])
    assert len(fake.annotations_on(task_id)) == 1


def test_a_project_whose_making_was_not_answered_is_found(fake: StudioInMemory, gateway: Gateway) -> None:
    spec = project_spec(marker="c/judge/a1")

    def stores_then_fails(request: httpx.Request) -> httpx.Response:
        fake.serve(request)
        return httpx.Response(504, json={})

    fake.faults.append(once("POST", "/api/projects", stores_then_fails))
    with pytest.raises(StudioError):
        gateway.create_project(spec)
    assert [project.project_id for project in gateway.marked_projects(spec.marker)] == [2]
    assert gateway.find_project("c/judge/a") is None


@pytest.mark.parametrize(
    ("respond", "said"),
    [
        (answers(401), "refuses"),
        (answers(500), "failed"),
        (raises(httpx.ReadTimeout), "gave no complete answer"),
        (lambda request: httpx.Response(200, text="<html>Welcome</html>"), "not like Label Studio"),
        (lambda request: httpx.Response(200, json={"id": "seven", "email": "x"}), "not like Label Studio"),
    ],
)
def test_every_failure_is_said_in_words_with_a_remedy_and_without_the_token(
    fake: StudioInMemory,
    gateway: Gateway,
    respond: Callable[[httpx.Request], httpx.Response],
    said: str,
) -> None:
    fake.faults += [once("GET", "whoami", respond) for _ in range(3)]
    with pytest.raises(StudioError) as caught:
        gateway.whoami()
    assert said in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == 3
    for text in (caught.value.message, caught.value.hint, repr(gateway), str(caught.value.__cause__)):
        assert TOKEN not in text


# -- imports -----------------------------------------------------------------------------------------------------------


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
