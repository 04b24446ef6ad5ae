"""The gateway when the server or the network fails: the real client library over a transport of our own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.delivery import deliver
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.refusals import UncertainWrite
from annot.labelstudio.studio_records import ProjectSpec
from labelling_texts import task
from studio_in_memory import LEAD, Fault, StudioInMemory, once

TOKEN = "5ecre7" * 6 + "abcd"
IMPORT = r"/import$"
LIST = r"^/api/tasks/?$"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an answer that got lost, nor the library between its repeated reads."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def fake() -> StudioInMemory:
    return with_project()


@pytest.fixture
def gateway(fake: StudioInMemory) -> Gateway:
    return open_gateway(fake)


def open_gateway(fake: StudioInMemory) -> Gateway:
    return Gateway("http://studio.example", TOKEN, transport=fake.transport)


def with_project() -> StudioInMemory:
    """A server with an empty project, of the id 1."""
    studio = StudioInMemory()
    studio.account(LEAD)["token"] = TOKEN
    studio.make_project("Judging")
    return studio


def answers(status: int, **more: object) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(status, json={"detail": "as the test wants it", **more})


def raises(error: type[httpx.TransportError]) -> Callable[[httpx.Request], httpx.Response]:
    def respond(request: httpx.Request) -> httpx.Response:
        raise error("as the test wants it", request=request)

    return respond


def project_spec(*, marker: str) -> ProjectSpec:
    return ProjectSpec(
        marker=marker, title="Judging", description="d", label_config="<View/>", instructions="", color="#617ADA"
    )


def keys(fake: StudioInMemory) -> Counter[str]:
    return Counter(made["data"]["pair_id"] for made in fake.tasks.values())


TASKS = [task(number) for number in range(1, 11)]
EACH_ONCE = Counter(made["data"]["pair_id"] for made in TASKS)


def test_tasks_arrive_once_and_in_order(fake: StudioInMemory, gateway: Gateway) -> None:
    delivery = deliver(gateway, 1, TASKS, batch_size=4)
    assert [made["data"]["pair_id"] for made in fake.tasks.values()] == list(EACH_ONCE)
    assert delivery.sent == 10
    assert fake.count("POST", IMPORT) == 3


def test_a_second_import_sends_nothing(fake: StudioInMemory, gateway: Gateway) -> None:
    first = deliver(gateway, 1, TASKS)
    second = deliver(gateway, 1, TASKS)
    assert second.sent == 0
    assert second.task_ids == first.task_ids
    assert fake.count("POST", IMPORT) == 1


def test_an_import_that_is_answered_is_not_read_back(fake: StudioInMemory, gateway: Gateway) -> None:
    """The answer holds the ids, and the server's count tells that nothing else came meanwhile."""
    delivery = deliver(gateway, 1, TASKS, batch_size=4)
    assert delivery.task_ids == {made["data"]["pair_id"]: number for number, made in fake.tasks.items()}
    assert fake.count("GET", LIST) == 2


@pytest.mark.parametrize("answer", [{}, {"task_ids": None}, {"task_ids": [1, 2]}, ["nonsense"]])
def test_an_answer_that_lacks_ids_is_read_back(fake: StudioInMemory, gateway: Gateway, answer: object) -> None:
    def stores(request: httpx.Request) -> httpx.Response:
        fake.serve(request)
        return httpx.Response(201, json=answer)

    fake.faults.append(once("POST", IMPORT, stores))
    delivery = deliver(gateway, 1, TASKS)
    assert delivery.task_ids == {made["data"]["pair_id"]: number for number, made in fake.tasks.items()}
    assert keys(fake) == EACH_ONCE


def test_only_what_is_missing_is_sent(fake: StudioInMemory, gateway: Gateway) -> None:
    deliver(gateway, 1, TASKS[3:6])
    delivery = deliver(gateway, 1, TASKS)
    assert delivery.sent == 7
    assert keys(fake) == EACH_ONCE


def test_a_lost_answer_is_looked_after_before_anything_is_sent_again(fake: StudioInMemory, gateway: Gateway) -> None:
    def stores_then_fails(request: httpx.Request) -> httpx.Response:
        fake.serve(request)
        return httpx.Response(502, json={"detail": "bad gateway"})

    fake.faults.append(once("POST", IMPORT, stores_then_fails))
    deliver(gateway, 1, TASKS)
    assert fake.count("POST", IMPORT) == 1
    assert keys(fake) == EACH_ONCE


def test_a_502_is_not_repeated_behind_our_back(fake: StudioInMemory, gateway: Gateway) -> None:
    fake.faults.append(once("POST", IMPORT, answers(502)))
    deliver(gateway, 1, TASKS)
    posts = [index for index, (method, path) in enumerate(fake.requests) if method == "POST"]
    assert len(posts) == 2
    between = fake.requests[posts[0] + 1 : posts[1]]
    assert between
    assert all(method == "GET" for method, _ in between)
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


def test_two_annotated_copies_are_left_and_told(fake: StudioInMemory, gateway: Gateway) -> None:
    deliver(gateway, 1, TASKS[:1])
    gateway.send_tasks(1, TASKS[:1])
    for task_id in fake.tasks:
        gateway.annotate(task_id, [])
    with pytest.raises(StudioError, match="exist twice") as caught:
        deliver(gateway, 1, TASKS[:1])
    assert TASKS[0]["data"]["pair_id"] in (caught.value.hint or "")
    assert len(fake.tasks) == 2


def test_a_refused_import_is_not_tried_again(fake: StudioInMemory, gateway: Gateway) -> None:
    fake.faults.append(once("POST", IMPORT, answers(400)))
    with pytest.raises(StudioError, match="as the test wants it"):
        deliver(gateway, 1, TASKS)
    assert fake.count("POST", IMPORT) == 1


def too_many(seconds: object) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(429, json={"detail": "throttled"}, headers={"Retry-After": str(seconds)})


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    return waits


def test_a_server_that_asks_for_patience_gets_it_for_a_minute_in_all(
    fake: StudioInMemory, gateway: Gateway, slept: list[float]
) -> None:
    fake.faults += [once("GET", "whoami", too_many(20)), once("GET", "whoami", too_many(39))]
    assert gateway.whoami() == 1
    assert slept == [20, 39]
    slept.clear()
    fake.faults += [once("GET", "whoami", too_many(30)), once("GET", "whoami", too_many(31))]
    with pytest.raises(StudioError, match="accepts no more requests for now") as caught:
        gateway.whoami()
    assert slept == [30]
    assert "wait 31 s, then run the command again" in (caught.value.hint or "")
    fake.faults.append(once("GET", "whoami", too_many("Thu, 01 Jan 2026 00:00:00 GMT")))
    assert gateway.whoami() == 1


def test_what_makes_something_is_looked_for_before_it_is_sent_again(
    fake: StudioInMemory, gateway: Gateway, slept: list[float]
) -> None:
    fake.faults.append(once("POST", IMPORT, too_many(5)))
    deliver(gateway, 1, TASKS)
    assert keys(fake) == EACH_ONCE
    posts = [index for index, (method, _) in enumerate(fake.requests) if method == "POST"]
    assert len(posts) == 2
    assert [method for method, _ in fake.requests[posts[0] + 1 : posts[1]]]
    fake.faults.append(once("POST", "projects/?$", too_many(5)))
    with pytest.raises(StudioError, match="accepts no more requests"):
        gateway.create_project(project_spec(marker="m"))
    assert list(fake.projects) == [1]


def test_without_a_word_on_when_the_hint_is_its_own(fake: StudioInMemory, gateway: Gateway) -> None:
    fake.faults.append(once("POST", "projects/?$", answers(429)))
    with pytest.raises(StudioError, match=r"no more requests for now \(429\) while creating") as caught:
        gateway.create_project(project_spec(marker="m"))
    assert "wait a minute" in (caught.value.hint or "")


def test_a_server_that_never_takes_them_is_an_error(fake: StudioInMemory, gateway: Gateway) -> None:
    fake.faults += [once("POST", IMPORT, answers(503)) for _ in range(9)]
    with pytest.raises(UncertainWrite):
        deliver(gateway, 1, TASKS)
    assert fake.count("POST", IMPORT) == 3


@pytest.mark.parametrize("seed", range(100))
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


def test_a_large_project_is_exported_in_groups(
    fake: StudioInMemory, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annot.labelstudio.gateway.WHOLE_EXPORT", 9)
    monkeypatch.setattr("annot.labelstudio.gateway.EXPORT_SIZE", 4)
    deliver(gateway, 1, TASKS)
    gateway.annotate(min(fake.tasks), [])
    done: list[int] = []
    pulled = gateway.pull(1, advance=done.append)
    assert [len(task.annotations) for task in pulled] == [1, *[0] * 9]
    assert [task.key for task in pulled] == list(EACH_ONCE)
    assert done == [4, 4, 2]
    assert fake.count("GET", "/export") == 3


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


def test_of_two_projects_with_one_marker_the_one_with_tasks_is_meant(fake: StudioInMemory, gateway: Gateway) -> None:
    spec = project_spec(marker="m")
    first, second = gateway.create_project(spec), gateway.create_project(spec)
    assert gateway.find_project("m") == gateway.project(first)
    gateway.send_tasks(second, TASKS[:3])
    assert gateway.find_project("m") == gateway.project(second)
    assert len(fake.projects) == 3
    gateway.send_tasks(first, TASKS[:1])
    with pytest.raises(StudioError, match=f"projects {first}, {second} have the same marker"):
        gateway.find_project("m")


@pytest.mark.parametrize(
    ("respond", "said"),
    [
        (answers(401), "does not accept the token"),
        (answers(403), "refuses"),
        (answers(404), "found nothing"),
        (answers(500), "failed"),
        (raises(httpx.ConnectError), "no server answers"),
        (raises(httpx.ReadTimeout), "did not answer in time"),
        (raises(httpx.RemoteProtocolError), "broke"),
        (lambda request: httpx.Response(200, text="<html>Welcome</html>"), "not like Label Studio"),
        (lambda request: httpx.Response(200, json=["x"]), "not like Label Studio"),
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


@pytest.mark.parametrize("url", ["studio.example", "ftp://studio.example", "http://", "http://[::1"])
def test_an_address_that_is_none_is_said_in_words(url: str) -> None:
    with pytest.raises(StudioError), Gateway(url, TOKEN) as gateway:
        gateway.whoami()


@pytest.mark.parametrize("token", ["", "two words", "tökén", "line\nbreak"])
def test_a_token_that_cannot_be_one_is_said_in_words(token: str) -> None:
    with pytest.raises(StudioError, match="token"):
        Gateway("http://studio.example", token)
