"""Each verb of the gateway against the server in memory: what arrives there, and what comes back."""

import httpx
import pytest
from annot.base.errors import StudioError
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import ProjectSpec, labelling_url, project_url
from annot.labelstudio.tasks import TaskKeys
from faulty import TASKS, TOKEN
from studio_in_memory import StudioInMemory, once

NAMES = [made["data"]["pair_id"] for made in TASKS]


def spec(marker: str = "small/judge/a1", instructions: str = "<b>Read</b>") -> ProjectSpec:
    return ProjectSpec(
        marker=marker, title="Judging", description="For a1.", label_config="<View/>", instructions=instructions,
        color="#617ADA",
    )  # fmt: skip


def test_a_project_is_made_for_one_answer_a_task_that_nobody_skips_or_leaves_empty(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    made = fake.projects[gateway.create_project(spec())]
    assert (made["maximum_annotations"], made["show_skip_button"], made["enable_empty_annotation"]) == (1, False, False)
    assert (made["sampling"], made["show_collab_predictions"]) == ("Sequential sampling", True)
    assert made["description"] == "For a1. [annot:small/judge/a1]"
    assert (made["title"], made["expert_instruction"], made["color"]) == ("Judging", "<b>Read</b>", "#617ADA")


def test_instructions_open_by_themselves_if_there_are_any_and_until_they_are_told_not_to(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    first, second = gateway.create_project(spec()), gateway.create_project(spec("m", instructions=""))
    assert [fake.projects[one]["show_instruction"] for one in (first, second)] == [True, False]
    for opens in (False, True):
        gateway.update_project(first, spec(), opens=opens)
        gateway.update_project(second, spec("m", instructions=""), opens=opens)
        assert [fake.projects[one]["show_instruction"] for one in (first, second)] == [opens, False]
        found = gateway.project(first)
        assert found is not None
        assert found.opens_instructions is opens
    gateway.open_instructions(first, False)
    assert fake.projects[first]["show_instruction"] is False


def test_projects_are_listed_by_marker_the_oldest_first(fake: StudioInMemory, gateway: Gateway) -> None:
    one, two, three = (gateway.create_project(spec(marker)) for marker in ("small/judge/a1", "small/judge/a1", "x/y/z"))
    fake.projects[three]["description"] += " and [more]"
    assert gateway.markers() == {"small/judge/a1", "x/y/z"}
    assert [project.project_id for project in gateway.marked_projects("small/judge/a1")] == [one, two]
    assert [project.project_id for project in gateway.marked_projects("small/judge/a1", but=one)] == [two]
    assert gateway.find_project("small/judge/a2") is None
    fake.projects[three]["description"] = None
    assert gateway.markers() == {"small/judge/a1"}


def test_a_project_that_ends_while_projects_are_listed_is_left_out(fake: StudioInMemory, gateway: Gateway) -> None:
    one, two = gateway.create_project(spec()), gateway.create_project(spec())

    def ends(request: httpx.Request) -> httpx.Response:
        fake.delete_project(one)
        return fake.serve(request)

    fake.faults.append(once("GET", f"projects/{one}/?$", ends))
    assert [project.project_id for project in gateway.marked_projects("small/judge/a1")] == [two]


def test_a_project_is_none_only_if_it_is_not_listed_either(fake: StudioInMemory, gateway: Gateway) -> None:
    assert gateway.project(99) is None
    fake.faults.append(once("GET", "projects/1/?$", lambda request: httpx.Response(403, json={"detail": "no"})))
    with pytest.raises(StudioError, match="403"):
        gateway.project(1)


def test_the_links_for_a_person_and_for_the_lead_differ(gateway: Gateway) -> None:
    assert gateway.labelling_url(7) == labelling_url("http://studio.example", 7)
    assert labelling_url("http://s", 7) == "http://s/projects/7/data?labeling=1"
    assert project_url("http://s/", 7) == "http://s/projects/7/data"


def test_a_copy_of_a_project_is_whole_or_refused(fake: StudioInMemory, gateway: Gateway) -> None:
    gateway.send_tasks(1, TASKS[:3])
    gateway.annotate(min(fake.tasks), [], lead_time=3.5)
    copy = gateway.snapshot(1)
    assert copy["project"]["title"] == "Judging"
    assert [len(task["annotations"]) for task in copy["tasks"]] == [1, 0, 0]
    fake.faults.append(once("GET", "/export", lambda request: httpx.Response(200, json=copy["tasks"][:2])))
    with pytest.raises(StudioError, match="counts 3 tasks and sent 2"):
        gateway.snapshot(1)


def test_tasks_are_counted_with_their_skips_and_listed_since_a_moment(fake: StudioInMemory, gateway: Gateway) -> None:
    first, second, third = gateway.send_tasks(1, TASKS[:3])
    fake.annotate(second, [], email="lead@annot.example", cancelled=True)
    gateway.annotate(third, [])
    listed = gateway.tasks_of(1)
    assert [(task.task_id, task.key, task.annotations) for task in listed] == [
        (first, NAMES[0], 0), (second, NAMES[1], 1), (third, NAMES[2], 1),
    ]  # fmt: skip
    assert [task.updated_at for task in listed] == [fake.tasks[one]["updated_at"] for one in (first, second, third)]
    assert [task.task_id for task in gateway.tasks_of(1, since=listed[1].updated_at)] == [second, third]
    assert gateway.count_tasks(1) == 3


def test_without_an_answer_given_when_the_server_deletes_them_tasks_are_gone(
    fake: StudioInMemory, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annot.labelstudio.gateway.EXPORT_SIZE", 3)
    ids = gateway.send_tasks(1, TASKS)
    gateway.annotate(ids[0], [])
    fake.annotate(ids[4], [], email="lead@annot.example", cancelled=True)

    def answered_meanwhile(request: httpx.Request) -> httpx.Response:
        gateway.annotate(ids[6], [])
        return fake.serve(request)

    fake.faults.append(once("POST", "dm/actions", answered_meanwhile, after=2))
    gateway.delete_unanswered(1, ids[:8])
    assert sorted(fake.tasks) == [ids[0], ids[4], ids[6], ids[8], ids[9]]
    assert fake.count("POST", "dm/actions") == 3
    assert fake.count("GET", "/export") == 3


def test_answered_tasks_alone_are_not_named_for_deletion(fake: StudioInMemory, gateway: Gateway) -> None:
    ids = gateway.send_tasks(1, TASKS[:2])
    for one in ids:
        gateway.annotate(one, [])
    fake.requests.clear()
    gateway.delete_unanswered(1, ids)
    assert fake.count("POST", "dm/actions") == 0
    assert len(fake.tasks) == 2


def test_a_project_of_the_size_of_one_export_is_asked_for_whole(
    fake: StudioInMemory, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.send_tasks(1, TASKS)
    for whole, exports, listings in ((10, 1, 1), (9, 2, 2)):
        monkeypatch.setattr("annot.labelstudio.gateway.WHOLE_EXPORT", whole)
        monkeypatch.setattr("annot.labelstudio.gateway.EXPORT_SIZE", 5)
        fake.requests.clear()
        steps: list[int] = []
        assert [task.key for task in gateway.pull(1, advance=steps.append)] == NAMES
        assert (fake.count("GET", "/export"), fake.count("GET", "/api/tasks")) == (exports, listings)
        assert sum(steps) == 10


def test_only_the_tasks_that_are_named_are_pulled(fake: StudioInMemory, gateway: Gateway) -> None:
    ids = gateway.send_tasks(1, TASKS)
    made = gateway.annotate(ids[3], [], lead_time=2.5)
    one, other = gateway.pull(1, task_ids=[ids[7], ids[3]])
    assert ([one.key, one.task_id], [other.key, other.task_id]) == ([NAMES[3], ids[3]], [NAMES[7], ids[7]])
    assert [(given["id"], given["lead_time"]) for given in one.annotations] == [(made, 2.5)]
    assert one.updated_at == fake.tasks[ids[3]]["updated_at"]
    assert one.data == TASKS[3]["data"]
    assert gateway.pull(1, task_ids=[]) == ()


def test_keys_are_sealed_on_the_way_out_and_opened_on_the_way_in(fake: StudioInMemory) -> None:
    keys = TaskKeys(["0f" * 32], [("fic1-method", f"fic{100 + at}") for at in range(1, 11)])
    asked: list[TaskKeys] = []
    with Gateway(
        "http://studio.example", TOKEN, keys=lambda: asked.append(keys) or keys, transport=fake.transport
    ) as one:
        assert asked == []
        one.send_tasks(1, TASKS[:2])
        assert not any("fic" in task["data"]["pair_id"] for task in fake.tasks.values())
        assert [task.key for task in one.tasks_of(1)] == NAMES[:2]
        assert [task.key for task in one.pull(1)] == NAMES[:2]
        fake.import_tasks(1, [{"data": {"text": "theirs"}}])
        assert one.tasks_of(1)[-1].key is None
    assert len(asked) == 1, "looked up once"


def test_a_key_that_is_no_text_is_read_as_text_and_a_missing_one_is_none(
    fake: StudioInMemory, gateway: Gateway
) -> None:
    fake.import_tasks(1, [{"data": {"pair_id": 7}}, {"data": {"other": 1}}])
    assert [task.key for task in gateway.tasks_of(1)] == ["7", None]
    assert [task.key for task in gateway.pull(1)] == ["7", None]
