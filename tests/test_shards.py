"""Work on shards: in this process, in several and on a Dask cluster; the same bytes, whoever is killed half-way."""

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
from annot.base.parallel import MOST_KILLED, Engine, map_shards
from local_cluster import local_cluster
from threadpoolctl import threadpool_limits

SERIAL = Engine(processes=1)
TWO = Engine(processes=2)
SHARDS = tuple(range(12))


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


def test_what_the_work_keeps_lives_as_long_as_the_worker(engine: Engine) -> None:
    seen = list(map_shards(Counts(), SHARDS, engine=engine))
    workers = {process for process, _calls in seen}
    assert sorted(seen) == sorted(
        (process, call) for process in workers for call in range(1, 1 + sum(one == process for one, _ in seen))
    )


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
    assert annot.base.parallel.WARN_AFTER == 10
    monkeypatch.setattr("annot.base.parallel.WARN_AFTER", 1.0)
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
