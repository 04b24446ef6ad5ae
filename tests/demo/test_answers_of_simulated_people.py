"""What simulated people do in a project: open tasks are answered once, and all that have an answer are counted."""

from types import SimpleNamespace
from typing import Any, Self

import pytest
from annot_demo import simulated_people
from annot_demo.simulated_people import SimulatedAnswer


class Studio:
    """A project with tasks: answered, with an answer that is not counted yet, two open, and one without a key."""

    def __init__(self, *_: object, **__: object) -> None:
        self.pulled: list[list[int]] = []
        self.written: list[tuple[int, Any, float]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def tasks_of(self, project: int) -> list[Any]:
        keys = {1: "answered", 2: "uncounted", 3: "open", 4: "unknown", 5: None}
        return [SimpleNamespace(task_id=at, key=key, annotations=int(at == 1)) for at, key in keys.items()]

    def pull(self, project: int, *, task_ids: list[int]) -> list[Any]:
        self.pulled.append(task_ids)
        return [SimpleNamespace(key="uncounted", annotations=[{}])]

    def annotate(self, task_id: int, result: Any, *, lead_time: float) -> None:
        self.written.append((task_id, result, lead_time))


@pytest.fixture
def studio(monkeypatch: pytest.MonkeyPatch) -> Studio:
    made = Studio()
    monkeypatch.setattr(simulated_people, "Gateway", lambda *_, **__: made)
    monkeypatch.setattr(simulated_people, "split_key", lambda key: key)
    monkeypatch.setattr(simulated_people, "write_result", lambda predicted, **said: (predicted, said["grade"]))
    return made


def answered(sent: Any) -> tuple[int, int]:
    """How many tasks have an answer then, and how often one more was reported."""
    told: list[None] = []

    def respond(asked: Any) -> Any:
        return None if asked == "unknown" else (SimulatedAnswer(2, None, None, 12.5), "why")

    project: Any = SimpleNamespace(url="http://studio.example", number=7)
    done = simulated_people._answer(
        project,
        sent,
        "token",
        respond,
        keys=SimpleNamespace(),
        one_more=lambda: told.append(None),  # type: ignore[arg-type]
    )
    return done, len(told)


def test_open_tasks_are_answered_and_those_with_an_answer_are_left_as_they_are(studio: Studio) -> None:
    assert answered(None) == (3, 3)
    assert studio.written == [(3, ({}, 2), 12.5)]
    # Only the first that seems open may have an answer that is not counted.
    assert studio.pulled == [[2]]


def test_tasks_that_do_not_matter_in_the_round_are_left_out(studio: Studio) -> None:
    assert answered({"open": {"grade": 1}, "answered": {}}) == (2, 2)
    assert studio.written == [(3, ({"grade": 1}, 2), 12.5)]
    assert answered({}) == (0, 0)
