"""`annot pull --watch` against a real server: what changed is brought in, and nothing is missed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from annot.base.errors import StudioError
from annot.judging.exchange.collecting import PullResult
from annot.labelstudio.gateway import Gateway
from annot.labelstudio.studio_records import PulledTask
from annot.steps import exchange
from annot.steps.exchange import watch
from annot.store.answers import GONE, JUDGEMENTS
from annot.store.database import open_store
from fixtures_studio import Studio
from studies import Study, make_study
from study_stages import quietly


@pytest.fixture(scope="module")
def planned(memory: Studio, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A dozen pairs or so for two assessors, nothing sent."""
    return make_study(tmp_path_factory.mktemp("watch") / "planned", memory, name="watch", per_method=3)


@pytest.fixture
def study(planned: Study, tmp_path: Path, request: pytest.FixtureRequest) -> Study:
    """The study of this test alone, sent to the server."""
    sent = planned.copy(tmp_path / "study", request.node.name.removeprefix("test_")[:40])
    exchange.push(sent.workspace, round="judging", dry_run=False, advance=quietly)
    return sent


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tasks each export brought."""
    sizes: list[int] = []
    export = Gateway._exported

    def counted(self: Gateway, project_id: int, task_ids: Sequence[int], *, expected: int) -> tuple[PulledTask, ...]:
        found = export(self, project_id, task_ids, expected=expected)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(Gateway, "_exported", counted)
    return sizes


class Enough(Exception):
    """Ends a watch."""


def watched(study: Study, *events: Callable[[], object]) -> tuple[list[PullResult], list[str]]:
    """What a watch shows and tells while one event happens after each of its pulls."""
    coming = list(events)
    shown: list[PullResult] = []
    told: list[str] = []

    def happens(_seconds: float) -> None:
        if not coming:
            raise Enough
        coming.pop(0)()

    def pulls(seen: Any) -> PullResult:
        return exchange.pull(study.workspace, round="judging", advance=quietly, seen=seen)

    with suppress(Enough):
        watch(pulls, every=60, wait=happens, show=shown.append, tell=told.append, after=lambda news, trouble: None)
    assert not coming
    return shown, told


def news(shown: Sequence[PullResult]) -> list[list[tuple[str, int, int]]]:
    return [[(row.assessor, row.new, row.changed) for row in one.assessors] for one in shown]


def assert_a_full_pull_finds_nothing_new(study: Study) -> None:
    pulled = exchange.pull(study.workspace, round="judging", advance=quietly)
    assert [(row.new, row.changed) for row in pulled.assessors] == [(0, 0), (0, 0)]


def test_only_what_changed_is_brought_in_and_nothing_is_missed(study: Study, exported: list[int]) -> None:
    one, two = study.planned()["a1"][:2]
    (other,) = study.planned()["a2"][:1]
    every = sum(map(len, study.planned().values()))
    ids: dict[Any, int] = {}

    def first() -> None:
        assert sum(exported) == every
        ids.update(study.judge("a1", {one: 1, two: 2}))

    def nothing() -> None:
        assert sum(exported) == every + 2

    def changed() -> None:
        assert sum(exported) == every + 2, "nothing happened in between"
        with study.as_person("a1") as person:
            person.change_annotation(ids[one], [*rating("3")])
        study.judge("a2", {other: 0})

    def deleted() -> None:
        assert sum(exported) == every + 4
        with study.as_person("a1") as person:
            person.delete_annotation(ids[two])

    shown, told = watched(study, first, nothing, changed, deleted)
    assert sum(exported) == every + 5
    assert news(shown) == [[("a1", 2, 0)], [("a1", 0, 1), ("a2", 1, 0)], [("a1", 0, 1)]]
    assert [pulled.open for pulled in shown] == [every - 2, every - 3, every - 3], "a deleted answer counts on"
    assert told == []
    assert_a_full_pull_finds_nothing_new(study)


def rating(value: str) -> list[dict[str, Any]]:
    return [{"from_name": "rating", "to_name": "pair", "type": "choices", "value": {"choices": [value]}}]


def test_it_ends_when_everything_is_judged(study: Study) -> None:
    plan = study.planned()
    shown, _ = watched(
        study,
        lambda: study.judge("a1", dict.fromkeys(plan["a1"], 1)),
        lambda: study.judge("a2", dict.fromkeys(plan["a2"], None)),
    )
    assert news(shown) == [[("a1", len(plan["a1"]), 0)], [("a2", len(plan["a2"]), 0)]]
    assert shown[-1].open == 0
    assert_a_full_pull_finds_nothing_new(study)


def test_a_task_that_is_gone_is_told(study: Study) -> None:
    (project,) = study.projects()["a1"]
    task_id = max(study.in_store("a1").values())

    def gone() -> None:
        with study.studio.gateway() as gateway:
            gateway.delete_task(task_id)

    def all_of_it() -> None:
        with study.studio.gateway() as gateway:
            gateway.delete_project(project)

    shown, _ = watched(study, gone, lambda: None, all_of_it)
    assert [pulled.notes for pulled in shown] == [
        ("a1: 1 task missing from the server; `annot push` sends those without an answer again",),
        ("a1: the project is missing from the server; `annot push` creates it again with its open tasks",),
    ]


def test_of_a_pair_that_stands_twice_both_answers_stay_on_record(study: Study) -> None:
    pair = study.planned()["a1"][0]
    ids = study.judge("a1", {pair: 1})
    (project,) = study.projects()["a1"]
    (first,) = [task for task in study.as_exported("a1") if task["annotations"]]
    with study.studio.gateway() as gateway:
        (second,) = gateway.send_tasks(project, [{"data": first["data"], "predictions": []}])
    study.answer("a1", second, 2)

    def changed() -> None:
        with study.as_person("a1") as person:
            person.change_annotation(ids[pair], rating("3"))

    watched(study, changed)
    with open_store(study.workspace.database_url) as store, store.read() as session:
        given = [line.record for line in JUDGEMENTS.history(session, *pair) if line.record.assessor == "a1"]
    assert not [flag for one in given for flag in one.flags if flag.startswith(GONE)]
    assert_a_full_pull_finds_nothing_new(study)


def test_a_pull_that_breaks_off_loses_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is broken off when one project is recorded and the other is not."""
    plan = study.planned()
    export = Gateway._exported

    def answers() -> None:
        study.judge("a1", {plan["a1"][0]: 1})
        study.judge("a2", {plan["a2"][0]: 1})
        (second,) = study.projects()["a2"]

        def broken(self: Gateway, project_id: int, *rest: Any, **more: Any) -> tuple[PulledTask, ...]:
            if project_id == second:
                raise StudioError("the connection broke")
            return export(self, project_id, *rest, **more)

        monkeypatch.setattr(Gateway, "_exported", broken)

    def mended() -> None:
        monkeypatch.setattr(Gateway, "_exported", export)

    shown, told = watched(study, answers, lambda: None, mended)
    assert told == ["the connection broke; trying again every 60 s", "pulling again"]
    assert news(shown) == [[("a2", 1, 0)]]
    assert shown[0].open == sum(map(len, plan.values())) - 2
    assert_a_full_pull_finds_nothing_new(study)
