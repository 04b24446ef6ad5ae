"""Work on shards: in this process, in several and on a Dask cluster; the same bytes, whoever is killed half-way."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import annot.base.parallel
import numpy as np
import pytest
from annot.base.errors import AnnotError, InputError
from annot.base.parallel import AHEAD, MOST_KILLED, Engine, map_shards
from annot.base.settings import MachineSettings
from local_cluster import local_cluster
from threadpoolctl import threadpool_info, threadpool_limits

SERIAL = Engine(processes=1)
TWO = Engine(processes=2)
SHARDS = tuple(range(12))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Engine]:
    with local_cluster() as engine:
        yield engine


@pytest.fixture(params=["serial", "processes", "dask"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return {"serial": SERIAL, "processes": TWO}.get(request.param) or request.getfixturevalue("cluster")


@pytest.fixture(params=["processes", "dask"])
def parallel(request: pytest.FixtureRequest) -> Engine:
    return TWO if request.param == "processes" else request.getfixturevalue("cluster")


def length(shard: int) -> bytes:
    """A sum whose last bits depend on how many threads add up."""
    numbers = np.random.default_rng(shard).random(1_000_000)
    return bytes(np.dot(numbers, numbers).tobytes())


def last_is_quickest(shard: int, *, folder: Path) -> int:
    """Waits, but for the last of four, until a shard after it has ended."""
    if shard % 4 != 3:
        while not (folder / str(shard + 1)).exists():
            pass
    (folder / str(shard)).touch()
    return shard


def kills_its_first_worker(shard: int, *, folder: Path, at: int) -> tuple[int, bool]:
    """Dies by the signal that cannot be caught, the first time that it works on the shard `at`."""
    again = (folder / str(shard)).exists()
    (folder / str(shard)).touch()
    if shard == at and not again:
        os.kill(os.getpid(), signal.SIGKILL)
    return shard * shard, again


def kills_every_worker(shard: int, *, folder: Path) -> int:
    if shard == 5:
        with (folder / "killed").open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def first_alone(shard: int, *, folder: Path) -> int:
    """Ends at once for the first shard, and for the others when there is a file."""
    while shard and not (folder / "end").exists():
        time.sleep(0.05)
    return shard


def refuses(shard: int) -> int:
    if shard == 7:
        raise InputError(f"shard {shard}: refused", faults=["one", "two"], hint="another")
    return shard


def touches(shard: int, *, folder: Path) -> int:
    (folder / str(shard)).touch()
    return shard


def threads_of_linear_algebra(shard: int) -> set[int]:
    return {library["num_threads"] for library in threadpool_info()}


class Counts:
    """Counts its calls, in each worker for itself."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, shard: int) -> tuple[int, int]:
        self.calls += 1
        return os.getpid(), self.calls


def test_the_bytes_are_the_same_wherever_the_shards_are_worked_on(engine: Engine) -> None:
    with threadpool_limits(1):
        expected = [length(shard) for shard in SHARDS]
    assert list(map_shards(length, SHARDS, engine=engine)) == expected


def test_results_come_in_the_order_of_the_shards_whatever_the_order_they_end_in(tmp_path: Path) -> None:
    work = partial(last_is_quickest, folder=tmp_path)
    # Shards 0 to 2 of four can end only backwards, so four workers are needed.
    assert list(map_shards(work, range(4), engine=Engine(processes=4))) == [0, 1, 2, 3]


def test_each_core_works_on_a_shard_of_its_own(engine: Engine) -> None:
    assert set().union(*map_shards(threads_of_linear_algebra, SHARDS[:4], engine=engine)) == {1}


def test_a_killed_worker_loses_nothing(parallel: Engine, tmp_path: Path) -> None:
    work = partial(kills_its_first_worker, folder=tmp_path, at=4)
    results = list(map_shards(work, SHARDS, engine=parallel))
    assert [square for square, _again in results] == [shard * shard for shard in SHARDS]
    assert results[4] == (16, True), "the worker was not killed"


def test_a_shard_that_kills_every_worker_is_given_up_by_name(parallel: Engine, tmp_path: Path) -> None:
    results = map_shards(partial(kills_every_worker, folder=tmp_path), SHARDS, engine=parallel)
    with pytest.raises(AnnotError, match=r"^5: all workers that processed it were killed"):
        list(results)
    assert len((tmp_path / "killed").read_text()) >= MOST_KILLED


def test_what_the_work_raises_is_raised_when_its_turn_comes(engine: Engine) -> None:
    results = map_shards(refuses, SHARDS, engine=engine)
    assert [next(results) for _ in range(7)] == list(range(7))
    with pytest.raises(InputError, match="shard 7: refused") as caught:
        next(results)
    assert (caught.value.faults, caught.value.hint) == (("one", "two"), "another")


def test_only_a_few_results_wait_to_be_taken(engine: Engine, tmp_path: Path) -> None:
    results = map_shards(partial(touches, folder=tmp_path), range(100), engine=engine)
    assert next(results) == 0
    results.close()  # what is under way ends, what waits for a worker is given up
    assert 1 <= len(list(tmp_path.iterdir())) <= 1 + 2 * AHEAD


def test_what_the_work_keeps_lives_as_long_as_the_worker(engine: Engine) -> None:
    seen = list(map_shards(Counts(), SHARDS, engine=engine))
    workers = {process for process, _calls in seen}
    assert sorted(seen) == sorted(
        (process, call) for process in workers for call in range(1, 1 + sum(one == process for one, _ in seen))
    )


def test_no_shards_give_no_results(engine: Engine) -> None:
    assert list(map_shards(str, (), engine=engine)) == []


PROGRAM = """
import os, sys
from pathlib import Path
from annot.base.parallel import Engine, map_shards
def wait(told):
    os.write(1, told)
    while not Path(__file__).with_name('end').exists(): pass
def work(shard):
    wait(b'at work\\n')
if __name__ == '__main__':
    try:
        list(map_shards(work, range(4), engine=Engine(processes=2)))
    except KeyboardInterrupt:
        sys.exit(130)
elif sys.argv[1:] == ['slowly']:
    wait(b'starting\\n')
"""


@contextmanager
def both_workers(said: str, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process group of its own, once both of its workers have said so; they wait there until there is a file."""
    script = folder / "script.py"
    script.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(2)] == [f"{said}\n"] * 2
            yield process
        finally:
            (folder / "end").touch()


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    with both_workers("at work", tmp_path) as process:
        process.kill()
        # The end of the streams: nobody holds the other ends any more.
        process.communicate(timeout=600)


def test_an_interruption_is_for_the_process_that_started_the_workers(tmp_path: Path) -> None:
    with both_workers("starting", tmp_path, "slowly") as process:
        os.killpg(process.pid, signal.SIGINT)
        (tmp_path / "end").touch()
        _out, complaints = process.communicate(timeout=600)
    assert (process.returncode, complaints) == (130, "")


def test_a_scheduler_that_is_not_there_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("distributed").Client
    monkeypatch.setattr("annot.base.parallel.CLUSTER_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere://x", "127.0.0.1:notaport"):
        with pytest.raises(InputError, match="no Dask scheduler answers") as caught:
            list(map_shards(str, range(3), engine=Engine(processes=1, cluster=address)))
        assert caught.value.message.startswith(address)
        # None is left for the garbage collector to close, which may be just when another one takes the same lock.
        found = [one.status for one in gc.get_objects() if isinstance(one, client)]
        assert set(found) <= {"closed", "newly-created"}


def test_a_scheduler_that_is_killed_is_told_in_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    distributed = pytest.importorskip("distributed")
    with local_cluster() as engine:
        with distributed.Client(engine.cluster, set_as_default=False) as client:
            scheduler = client.run_on_scheduler(os.getpid)
        assert scheduler != os.getpid()
        results = map_shards(partial(first_alone, folder=tmp_path), SHARDS, engine=engine)
        assert next(results) == 0
        threading.Timer(0.5, os.kill, (scheduler, signal.SIGKILL)).start()
        with pytest.raises(AnnotError, match="the connection to the Dask scheduler broke") as caught:
            list(results)
    (tmp_path / "end").touch()
    assert caught.value.message.startswith(str(engine.cluster))
    assert "run the same command again" in str(caught.value.hint)
    assert caught.value.__suppress_context__
    assert not [record.getMessage() for record in caplog.records if record.exc_info], "a traceback"


def test_a_command_without_workers_says_so_once_and_waits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert annot.base.parallel.SAID_AFTER == 10
    monkeypatch.setattr("annot.base.parallel.SAID_AFTER", 1.0)
    with local_cluster(workers=0) as engine:
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", str(engine.cluster), "--nthreads", "1"]
        started: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            started.append(subprocess.Popen([*worker, "--no-dashboard"], stderr=subprocess.DEVNULL))

        later = threading.Timer(1.6, start)
        later.start()
        assert list(map_shards(str, range(3), engine=engine)) == ["0", "1", "2"]
        later.join()
        for process in started:
            process.terminate()
            process.wait(60)
    told = [record.getMessage() for record in caplog.records if record.name == "annot"]
    assert told == [f"{engine.cluster} has had no worker for 1 s; waiting for one"]


def test_without_dask_a_cluster_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="needs Dask") as caught:
        list(map_shards(str, range(3), engine=Engine(processes=1, cluster="tcp://127.0.0.1:9")))
    assert caught.value.hint == "pip install 'annot-collections[cluster]'"


def test_a_machine_that_is_too_busy_for_a_client_is_an_error(cluster: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_runner: object) -> None:
        raise AssertionError  # as distributed does when its thread did not come to run

    monkeypatch.setattr(pytest.importorskip("distributed.utils").LoopRunner, "start", fails)
    with pytest.raises(AnnotError, match="this machine is too busy"):
        list(map_shards(str, range(3), engine=cluster))


def test_a_worker_with_threads_is_refused() -> None:
    with local_cluster(workers=1, threads=2) as engine, pytest.raises(InputError, match="2 threads, expected 1"):
        list(map_shards(str, range(3), engine=engine))


def test_a_worker_with_another_annot_is_refused(cluster: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annot.base.parallel.__version__", "99.1")
    with pytest.raises(InputError, match=f"with annot {annot.__version__}, expected 99.1"):
        list(map_shards(str, range(3), engine=cluster))


def test_the_settings_name_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Engine.of(MachineSettings(processes=3)) == Engine(processes=3, cluster=None)
    assert Engine.of(MachineSettings(cluster="tcp://head:8786")).cluster == "tcp://head:8786"
    assert Engine.in_place(MachineSettings(cluster="tcp://head:8786")).cluster == "tcp://head:8786"
    assert Engine.in_place(MachineSettings(cluster="tcp://head:8786", shards="s3://bucket/study")).cluster is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be given to a process here")
def test_by_default_each_core_that_may_be_used_has_a_process() -> None:
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from annot.base.parallel import Engine; from annot.base.settings import MachineSettings\n"
        "print(Engine.of(MachineSettings()).processes)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
