"""The gateway when the server or the network fails: patience, short listings and pulls, lost answers, messages."""

from collections.abc import Callable

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway, deliver
from annot.labelstudio.http_client import UncertainWrite
from annot.labelstudio.studio_records import ProjectSpec
from faulty import EACH_ONCE, LIST, TASKS, TOKEN, answers, raises
from studio_in_memory import StudioInMemory, once

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
