"""How many cores the work may use, the order of results, and that only a few of them wait to be taken."""

import os
from collections.abc import Iterator

import pytest
from annot.base.parallel import AHEAD, VARIABLES, Engine, in_threads, limited, map_shards
from annot.base.settings import MachineSettings
from threadpoolctl import threadpool_info


def variables() -> list[str | None]:
    return [os.environ.get(name) for name in VARIABLES]


def test_cores_are_limited_as_long_as_the_context_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    for processes, shown in ((3, "3"), (4, "4"), (9, "4")):
        with limited(processes):
            assert variables() == [shown, shown]
        assert variables() == ["7", None]
    with limited(None):
        assert variables() == ["7", None]
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    with limited(9):
        assert variables() == ["9", "9"]


def test_variables_come_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with pytest.raises(ZeroDivisionError), limited(1):
        raise ZeroDivisionError
    assert variables()[0] == "7"


def test_threads_give_results_in_order_and_keep_two_parts_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    taken: list[int] = []

    def parts() -> Iterator[int]:
        for at in range(10):
            taken.append(at)
            yield at

    results = in_threads(lambda at: at * at, parts(), most=1)
    assert next(results) == 0
    # Two are under way or waiting; with the first one taken, one more is asked for.
    assert AHEAD == 2
    assert taken == [0, 1, 2]
    assert [*results] == [at * at for at in range(1, 10)]
    assert [*in_threads(str, [])] == []


def test_linear_algebra_beneath_threads_and_shards_keeps_to_one_core() -> None:
    def threads(_: int) -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    assert [*in_threads(threads, [1], most=1)] == [{1}]
    assert [*map_shards(threads, [1], engine=Engine(1))] == [{1}]


def test_shards_in_this_process_are_done_one_by_one() -> None:
    done: list[int] = []
    results = map_shards(done.append, [5, 6], engine=Engine(1))
    assert done == []
    next(results)
    assert done == [5]
    assert [*results] == [None]
    assert done == [5, 6]
    # A function that cannot be sent to another process is no obstacle for one shard.
    assert [*map_shards(lambda at: at + 1, [1], engine=Engine(2))] == [2]


def test_the_engine_is_that_of_the_settings() -> None:
    assert Engine.of(MachineSettings(processes=3)) == Engine(3)
    both = MachineSettings(processes=3, cluster="tcp://a:1", shards="s3://x")
    assert Engine.of(both) == Engine(3, "tcp://a:1")
    # Files that lie here alone are not seen by workers that fetch theirs from elsewhere.
    assert Engine.in_place(both) == Engine(3)
    near = MachineSettings(processes=3, cluster="tcp://a:1")
    assert Engine.in_place(near) == Engine.of(near)
