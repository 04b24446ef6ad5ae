"""Work on shards with processes and a cluster that are made up: what is asked of them, in which order, and when."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from annot import __version__
from annot.base import parallel
from annot.base.errors import AnnotError, InputError
from annot.base.parallel import Engine, map_shards


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


def test_a_shard_whose_worker_dies_three_times_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    Pools(monkeypatch, shard1=3)
    results = map_shards(squared, range(5), engine=Engine(2))
    assert next(results) == 0
    with pytest.raises(AnnotError, match=r"^1: all workers that processed it were killed"):
        next(results)


def test_a_worker_keeps_the_work_it_has_and_lets_the_one_before_go() -> None:
    one, other = pickle.dumps(SimpleNamespace(name="one")), pickle.dumps(SimpleNamespace(name="other"))
    first = parallel._loaded(one)
    assert parallel._loaded(one) is first
    parallel._loaded(other)
    assert parallel._loaded(one) is not first


def test_a_worker_ends_with_the_process_that_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[Any] = []
    parent = SimpleNamespace(join=lambda: happened.append("the parent ended"))
    monkeypatch.setattr(parallel, "parent_process", lambda: parent)
    monkeypatch.setattr(parallel.os, "_exit", happened.append)

    class Thread:
        def __init__(self, *, target: Callable[[], None], daemon: bool) -> None:
            # A thread that waits for ever must not keep a worker that has nothing left to do.
            assert daemon
            self.start = target

    monkeypatch.setattr(parallel.threading, "Thread", Thread)
    parallel._begin()
    assert happened == ["the parent ended", 1]


# -- a cluster


class KilledWorkerError(Exception):
    """As `distributed` raises it."""


class CommClosedError(OSError):
    """As `distributed` raises it."""


class Task:
    """A future of a cluster, which is waited for in vain `late` times."""

    def __init__(self, result: Callable[[], Any], late: int = 0) -> None:
        self.result, self.late = result, late

    def done(self) -> bool:
        return not self.late

    def exception(self, timeout: float) -> None:
        self.late -= 1
        raise TimeoutError


class Cluster:
    """A client of a scheduler with so many workers, which work at once."""

    def __init__(self, workers: int, *, killing: int | None = None, late: int = 0) -> None:
        self.workers, self.killing, self.late = workers, killing, late
        self.asked, self.closed, self.status = list[int](), False, "running"

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def nthreads(self) -> dict[str, int]:
        return {f"tcp://worker:{at}": 1 for at in range(self.workers)}

    def submit(self, work: Callable[..., Any], *given: Any, pure: bool) -> Task:
        # A pure function is not called again with what it was called with before.
        assert not pure
        if work is parallel._itself:
            return Task(lambda: work(*given), self.late)
        sent, shard, folder, version = given
        assert (folder, version) == (Path.cwd(), __version__)
        self.asked.append(shard)
        return Task(lambda: self.worked(sent, shard))

    def worked(self, sent: Task, shard: int) -> Any:
        if shard == self.killing:
            raise KilledWorkerError
        return pickle.loads(sent.result())(shard)


@pytest.fixture
def dask(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library of clusters, made up."""
    library, comm = ModuleType("distributed"), ModuleType("distributed.comm")
    library.KilledWorker, comm.CommClosedError = KilledWorkerError, CommClosedError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", library)
    monkeypatch.setitem(sys.modules, "distributed.comm", comm)
    return library


AT = "tcp://head:8786"


def on(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, n: int = 20) -> Any:
    monkeypatch.setattr(parallel, "_client", lambda address: cluster)
    # One process of this machine, or many: the cluster wins.
    return map_shards(squared, range(n), engine=Engine(1, AT))


@pytest.mark.usefixtures("dask")
def test_a_cluster_has_two_shards_for_each_worker_it_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(3)
    results = on(cluster, monkeypatch)
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


@pytest.mark.usefixtures("dask")
def test_work_is_sent_before_there_is_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(0)
    assert [next(on(cluster, monkeypatch)), cluster.asked] == [0, [0, 1]]


@pytest.mark.usefixtures("dask")
def test_a_shard_that_the_cluster_gives_up_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    results = on(Cluster(1, killing=1), monkeypatch)
    assert next(results) == 0
    with pytest.raises(AnnotError, match=r"^1: all workers that processed it were killed"):
        next(results)


@pytest.mark.usefixtures("dask")
def test_a_cluster_that_is_not_there_any_more_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(2)
    results = on(cluster, monkeypatch)
    assert next(results) == 0
    cluster.status = "closed"
    with pytest.raises(AnnotError, match=f"^{AT}: the connection to the Dask scheduler broke"):
        next(results)


@pytest.mark.usefixtures("dask")
@pytest.mark.parametrize(("workers", "said"), [(0, [f"{AT} has had no worker for 10 s; waiting for one"]), (1, [])])
def test_a_cluster_without_workers_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, workers: int, said: list[str]
) -> None:
    assert [*on(Cluster(workers, late=3), monkeypatch, n=2)] == [0, 1]
    assert [record.getMessage() for record in caplog.records] == said


def test_a_client_is_not_the_default_and_a_busy_machine_is_told(dask: Any) -> None:
    class Client:
        def __init__(self, address: str, *, timeout: float, set_as_default: bool) -> None:
            # The default client would be found by other work of this process.
            assert (address, set_as_default) == (AT, False)
            self.start()

        def start(self, **_: Any) -> None:
            if busy:
                raise AssertionError

        def close(self, *_: Any, **__: Any) -> None: ...

    dask.Client = Client
    busy = False
    assert isinstance(parallel._client(AT), Client)
    busy = True
    with pytest.raises(AnnotError, match="no Dask scheduler answers: this machine is too busy"):
        parallel._client(AT)


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
