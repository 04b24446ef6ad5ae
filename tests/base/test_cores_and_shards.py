"""Cores that the work may use, order of results, and what is asked of threads, processes and a cluster, and when."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from threading import Event
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from annot import __version__
from annot.base import parallel
from annot.base.errors import InputError
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


def test_what_has_not_begun_when_nobody_takes_more_never_does(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    ending = Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            ending.set()
            super().shutdown(wait=wait)

    def work(part: int) -> int:
        begun.append(part)
        if part:
            ending.wait()
        return part

    monkeypatch.setattr("annot.base.parallel.ThreadPoolExecutor", Pool)
    results = in_threads(work, range(9), most=1)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert begun in ([0], [0, 1])


def squared(shard: int) -> int:
    return shard * shard


# -- processes


class Pool:
    """Works at once, in this process; the workers of the shards in `killed` die so often."""

    def __init__(self, asked: list[int], killed: dict[int, int], ended: list[bool]) -> None:
        self.asked, self.killed, self.ended = asked, killed, ended

    def submit(self, work: Callable[..., Any], pickled: bytes, shard: int) -> Future[Any]:
        self.asked.append(shard)
        future: Future[Any] = Future()
        if self.killed.get(shard):
            self.killed[shard] -= 1
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(work(pickled, shard))
        return future

    def shutdown(self, *, cancel_futures: bool = False) -> None:
        self.ended.append(cancel_futures)


class Pools:
    """The pools that were made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **killed: int) -> None:
        self.asked, self.sizes, self.ended = list[int](), list[int](), list[bool]()
        self.killed = {int(shard.removeprefix("shard")): times for shard, times in killed.items()}
        monkeypatch.setattr(parallel, "_pool", self.made)

    def made(self, processes: int) -> Pool:
        self.sizes.append(processes)
        return Pool(self.asked, self.killed, self.ended)


@pytest.mark.parametrize(
    ("processes", "n", "sizes"), [(1, 2, []), (2, 1, []), (2, 2, [2]), (3, 2, [2]), (3, 9, [3]), (4, 0, [])]
)
def test_there_are_as_many_processes_as_asked_for_and_no_more_than_shards(
    monkeypatch: pytest.MonkeyPatch, processes: int, n: int, sizes: list[int]
) -> None:
    pools = Pools(monkeypatch)
    assert list(map_shards(squared, range(n), engine=Engine(processes))) == [at * at for at in range(n)]
    assert pools.sizes == sizes


def test_two_shards_for_each_process_are_under_way_and_one_follows_each_result(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = Pools(monkeypatch)
    results = map_shards(squared, range(20), engine=Engine(3))
    assert next(results) == 0
    assert pools.asked == [0, 1, 2, 3, 4, 5]
    assert next(results) == 1
    assert pools.asked == [0, 1, 2, 3, 4, 5, 6]
    results.close()  # type: ignore[attr-defined]
    # What has not begun is given up.
    assert pools.ended == [True]


def test_a_shard_whose_worker_dies_twice_is_done_the_third_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = Pools(monkeypatch, shard0=2, shard4=2)
    assert list(map_shards(squared, range(5), engine=Engine(2))) == [0, 1, 4, 9, 16]
    # A pool that lost a worker is left to end by itself, and another takes its place.
    assert (pools.sizes, pools.ended) == ([2] * 5, [False] * 4 + [True])


def test_a_worker_keeps_the_work_it_has_and_lets_the_one_before_go() -> None:
    one, other = pickle.dumps(SimpleNamespace(name="one")), pickle.dumps(SimpleNamespace(name="other"))
    first = parallel._loaded(one)
    assert parallel._loaded(one) is first
    parallel._loaded(other)
    assert parallel._loaded(one) is not first


# -- a cluster


class Cluster:
    """A client of a scheduler with so many workers, which work at once."""

    status = "running"

    def __init__(self, workers: int) -> None:
        self.workers, self.asked, self.closed = workers, list[int](), False

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def nthreads(self) -> dict[str, int]:
        return {f"tcp://worker:{at}": 1 for at in range(self.workers)}

    def submit(self, work: Callable[..., Any], *given: Any, pure: bool) -> Any:
        # A pure function is not called again with what it was called with before.
        assert not pure
        if work is parallel._itself:
            return SimpleNamespace(result=lambda: work(*given), done=lambda: True)
        sent, shard, folder, version = given
        assert (folder, version) == (Path.cwd(), __version__)
        self.asked.append(shard)
        return SimpleNamespace(result=lambda: pickle.loads(sent.result())(shard), done=lambda: True)


@pytest.fixture
def dask(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library of clusters, made up."""
    library, comm = ModuleType("distributed"), ModuleType("distributed.comm")
    library.KilledWorker, comm.CommClosedError = ArithmeticError, OSError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", library)
    monkeypatch.setitem(sys.modules, "distributed.comm", comm)
    return library


AT = "tcp://head:8786"


@pytest.mark.usefixtures("dask")
def test_a_cluster_has_two_shards_for_each_worker_it_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(3)
    monkeypatch.setattr(parallel, "_client", lambda address: cluster)
    # One process of this machine, or many: the cluster wins.
    results = map_shards(squared, range(20), engine=Engine(1, AT))
    assert [next(results), cluster.asked] == [0, [0, 1, 2, 3, 4, 5]]
    # Five wait; without workers two may, with one two.
    cluster.workers = 0
    assert [next(results), next(results), len(cluster.asked)] == [1, 4, 6]
    cluster.workers = 1
    assert [next(results), len(cluster.asked)] == [9, 6]
    cluster.workers = 4
    assert [next(results), len(cluster.asked)] == [16, 12]
    assert [*results] == [at * at for at in range(5, 20)]
    assert cluster.closed


@pytest.mark.parametrize(
    ("threads", "version", "fault"),
    [
        (1, __version__, None),
        (2, __version__, "tcp://w: a Dask worker with 2 threads, expected 1"),
        (1, "99.1", f"tcp://w: a Dask worker with annot {__version__}, expected 99.1"),
    ],
)
def test_a_worker_has_one_thread_and_the_commands_annot(
    dask: Any, tmp_path: Path, threads: int, version: str, fault: str | None
) -> None:
    dask.get_worker = lambda: SimpleNamespace(address="tcp://w", state=SimpleNamespace(nthreads=threads))
    work = pickle.dumps(squared)
    if fault is None:
        assert parallel._run_on_cluster(work, 4, tmp_path, version) == 16
        assert parallel._run_on_cluster(work, 4, tmp_path / "not here", version) == 16
    else:
        with pytest.raises(InputError) as error:
            parallel._run_on_cluster(work, 4, tmp_path, version)
        assert error.value.message == fault
