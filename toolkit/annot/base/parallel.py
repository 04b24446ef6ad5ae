"""The same work on many parts: on the cores of this machine, or on a Dask cluster."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from annot import __version__
from annot.base.errors import AnnotError, InputError

if TYPE_CHECKING:
    from distributed import Client

    from annot.base.settings import MachineSettings


# ----------------------------------------------------------------------------------------------------------------------
# Number of cores that a command may use (`processes` of [machine]), and threads that do the same work on many parts.
#
# The number goes into the environment, which the libraries read when they are loaded: OpenMP's variable counts for
# linear algebra (OpenBLAS, MKL), torch and Arrow, loky's for `joblib.cpu_count`, by which our own threads and
# processes are counted. Processes that the command starts inherit both.
# ----------------------------------------------------------------------------------------------------------------------


VARIABLES = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


@contextmanager
def limited(processes: int | None) -> Iterator[None]:
    """Use this many cores at most as long as the context lasts; None leaves the environment as it is.

    A library that was loaded before keeps the number of threads that it has.
    """
    earlier = {name: os.environ.get(name) for name in VARIABLES}
    if processes is not None:
        # Threads of linear algebra that share a core wait for each other.
        most = min(processes, os.cpu_count() or processes)
        os.environ.update(dict.fromkeys(VARIABLES, str(most)))
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""Parts under way or waiting to be taken, for each thread or process: at most this many results are in memory."""


class Each(Protocol):
    """Function that does the same work on many parts: `work(part)` for each, in the order of the parts."""

    def __call__(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]: ...


def in_threads(work: Callable[[T], R], parts: Iterable[T], *, most: int | None = None) -> Iterator[R]:
    """Yield `work(part)` for each part, in the order of the parts. Linear algebra in it keeps to one core a thread.

    most: maximum number of threads, if memory does not suffice for one a core.
    """
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    cores = min(int(cpu_count()), most or sys.maxsize)
    rest = iter(parts)
    with threadpool_limits(1), ThreadPoolExecutor(cores) as pool:
        ahead: deque[Future[R]] = deque(pool.submit(work, part) for part in islice(rest, AHEAD * cores))
        try:
            while ahead:
                result = ahead.popleft().result()
                ahead.extend(pool.submit(work, part) for part in islice(rest, 1))
                yield result
        finally:
            # After an error or an interruption, what has not begun never does.
            pool.shutdown(cancel_futures=True)


# ----------------------------------------------------------------------------------------------------------------------
# Work on every shard of a corpus: in this process, in several, or on a Dask cluster, with the same bytes.
#
# Each shard is worked on by one core, so that sums of floating-point numbers do not depend on how many cores there
# are.
# ----------------------------------------------------------------------------------------------------------------------


S = TypeVar("S")
MOST_KILLED = 3
"""Number of workers that may be killed while the same shard is waited for; then the shard is given up."""
CLUSTER_SECONDS = 30
"""Seconds that a scheduler may take to answer."""
WARN_AFTER = 10.0
"""Seconds without a worker before a warning."""
LOGGER = logging.getLogger("annot")


@dataclass(frozen=True, slots=True)
class Engine:
    """Place where shards are worked on: `processes` of this machine, or the workers of a Dask scheduler.

    processes: 1 or more; 1 stands for this process itself.
    cluster: the scheduler's address, such as `tcp://login:8786`; None if there is none. It wins over `processes`.
    """

    processes: int
    cluster: str | None = None

    @classmethod
    def of(cls, machine: MachineSettings) -> Engine:
        """Engine of the settings; without a number, each core that this process may use has a process."""
        import joblib

        return cls(machine.processes or joblib.cpu_count(), machine.cluster or None)

    @classmethod
    def in_place(cls, machine: MachineSettings) -> Engine:
        """Engine for work on files that only this machine has: its own processes if the workers do not see the
        files.
        """
        engine = cls.of(machine)
        return replace(engine, cluster=None) if machine.url else engine


def map_shards(work: Callable[[S], R], shards: Sequence[S], *, engine: Engine) -> Iterator[R]:
    """Yield `work(shard)` for each shard, in the order of the shards, whatever the order they end in.

    work: a function of a module, a `functools.partial` of one, or an object of a class that can be called; small, as it
    is sent with each shard. Its worker keeps until it ends the data that it makes for itself on the first call. It may
    be called twice with one shard, so it writes whole files, under a name of the shard.

    shards: small descriptions, such as a path and a row group; the worker reads the shard itself.

    Only a few results wait to be taken. A shard whose worker was killed is done again. An error of `work` is raised
    here when the shard's turn comes, and the rest is given up.

    Raises AnnotError if a shard's workers are killed again and again, InputError if the cluster cannot be used.
    """
    if engine.cluster is not None:
        return _map_on_cluster(work, shards, engine.cluster)
    if engine.processes > 1 and len(shards) > 1:
        return _map_in_processes(work, shards, min(engine.processes, len(shards)))
    return (_work_on_one_core(work, shard) for shard in shards)


def _work_on_one_core(work: Callable[[S], R], shard: S) -> R:
    import numpy  # noqa: F401 - its linear algebra is limited only once it is loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return work(shard)


def _map_in_processes(work: Callable[[S], R], shards: Sequence[S], processes: int) -> Iterator[R]:
    pickled = pickle.dumps(work)
    pool = _pool(processes)
    rest = iter(shards)
    ahead: deque[tuple[S, Future[R]]] = deque()
    killed = 0
    try:
        while True:
            next_shards = islice(rest, AHEAD * processes - len(ahead))
            ahead.extend((shard, _submitted(pool, pickled, shard)) for shard in next_shards)
            if not ahead:
                return
            shard, future = ahead[0]
            if _is_lost(future):
                killed += 1
                if killed == MOST_KILLED:
                    raise _unfinished_shard_error(shard)
                pool.shutdown()
                pool = _pool(processes)
                ahead = deque(
                    (shard, _submitted(pool, pickled, shard) if _is_lost(future) else future) for shard, future in ahead
                )
            else:
                killed = 0
                ahead.popleft()
                yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    # Not forked: a fork of a process with threads, as numpy and pyarrow start them, may wait for ever.
    return ProcessPoolExecutor(processes, get_context("spawn"), _begin)


def _submitted(pool: ProcessPoolExecutor, pickled: bytes, shard: Any) -> Future[Any]:
    """Future of the shard; it counts as lost if the pool has just broken."""
    # The first call starts the workers, and they inherit the mask: an interruption is for this process alone.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_run_in_process, pickled, shard)
    except BrokenProcessPool as error:
        future: Future[Any] = Future()
        future.set_exception(error)
        return future
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)


def _is_lost(future: Future[Any]) -> bool:
    """True if the worker was killed before the result was there; waits for one of the two."""
    return isinstance(future.exception(), BrokenProcessPool)


def _begin() -> None:
    """Make a process a worker of the pool: it ends with the process that started it, even one that is killed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@lru_cache(maxsize=1)
def _loaded(pickled: bytes) -> Callable[[Any], Any]:
    """Work of this worker, with the data that it made for itself."""
    work: Callable[[Any], Any] = pickle.loads(pickled)
    return work


def _run_in_process(pickled: bytes, shard: Any) -> Any:
    return _work_on_one_core(_loaded(pickled), shard)


def _map_on_cluster(work: Callable[[S], R], shards: Sequence[S], cluster: str) -> Iterator[R]:
    client = _client(cluster)
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    with client:
        try:
            # Sent once, made anew when its worker is killed, unlike data that is scattered.
            sent = client.submit(_itself, pickle.dumps(work), pure=False)
            _wait_for(sent, client, cluster)
            rest = iter(shards)
            ahead: deque[tuple[S, Any]] = deque()
            while True:
                # Workers come and go.
                room = AHEAD * max(1, _workers(client, cluster))
                ahead.extend(
                    (shard, client.submit(_run_on_cluster, sent, shard, Path.cwd(), __version__, pure=False))
                    for shard in islice(rest, max(0, room - len(ahead)))
                )
                if not ahead:
                    return
                shard, future = ahead.popleft()
                _wait_for(future, client, cluster)
                try:
                    result = future.result()
                except KilledWorker:
                    raise _unfinished_shard_error(shard) from None
                yield result
        except (CommClosedError, CancelledError):
            raise _lost_cluster_error(cluster) from None


def _wait_for(future: Any, client: Client, cluster: str) -> None:
    """Wait until the future has ended, and warn once if there is no worker for long."""
    warned = False
    while not future.done():
        try:
            future.exception(timeout=WARN_AFTER)
        except TimeoutError:
            if not _workers(client, cluster) and not warned:
                LOGGER.warning("%s has had no worker for %.0f s; waiting for one", cluster, WARN_AFTER)
                warned = True


def _workers(client: Client, cluster: str) -> int:
    """Number of workers now."""
    if client.status != "running":
        raise _lost_cluster_error(cluster)
    try:
        return len(client.nthreads())
    except OSError:
        raise _lost_cluster_error(cluster) from None


def _lost_cluster_error(cluster: str) -> AnnotError:
    return AnnotError(
        f"{cluster}: the connection to the Dask scheduler broke, so the command ended before its work was done",
        hint="start the scheduler and its workers again, then run the same command again: it continues; "
        "if the address has changed, correct `cluster` under [machine] in annot.toml, or give `--cluster`",
    )


def _client(cluster: str) -> Client:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise InputError(
            "a cluster needs Dask, which is not installed", hint="pip install 'annot-collections[cluster]'"
        ) from None

    class Closing(Client):  # type: ignore[misc]
        def start(self, **arguments: Any) -> None:
            try:
                super().start(**arguments)
            except BaseException:
                # Left to the garbage collector, its thread may stop while another one starts: each waits for the other.
                self.close()
                raise

        def close(self, *arguments: Any, **options: Any) -> None:
            # One that is looking for a scheduler that was lost logs that it is closed, traceback and all.
            disabled = logging.root.manager.disable
            logging.disable()
            try:
                super().close(*arguments, **options)
            finally:
                logging.disable(disabled)

    try:
        return Closing(cluster, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError, AssertionError) as error:
        # An AssertionError is all that Client says when a thread that it started did not run within ten seconds.
        reason = str(error) or "this machine is too busy"
        raise InputError(
            f"{cluster}: no Dask scheduler answers: {reason}", hint="expected one such as tcp://login:8786"
        ) from None


def _itself(pickled: bytes) -> bytes:
    return pickled


def _run_on_cluster(pickled: bytes, shard: Any, folder: Path, version: str) -> Any:
    """Do the work in the folder of the command, so that a relative path means the same."""
    from distributed import get_worker

    worker = get_worker()
    if worker.state.nthreads > 1:
        raise InputError(
            f"{worker.address}: a Dask worker with {worker.state.nthreads} threads, expected 1",
            hint="start the workers with `--nthreads 1`, and more of them",
        )
    if __version__ != version:
        raise InputError(
            f"{worker.address}: a Dask worker with annot {__version__}, expected {version}",
            hint="install the same annot for all workers",
        )
    with chdir(folder) if folder.is_dir() else nullcontext():
        return _run_in_process(pickled, shard)


def _unfinished_shard_error(shard: object) -> AnnotError:
    return AnnotError(
        f"{shard}: all workers that processed it were killed",
        hint="they may have run out of memory: try fewer processes (`processes` under [machine] in annot.toml)",
    )
