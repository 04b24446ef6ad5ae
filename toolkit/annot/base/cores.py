"""Number of cores that a command may use (`processes` of [machine]), and threads that do the same work on many parts.

The number goes into the environment, which the libraries read when they are loaded: OpenMP's variable counts for linear
algebra (OpenBLAS, MKL), torch and Arrow, loky's for `joblib.cpu_count`, by which our own threads and processes are
counted. Processes that the command starts inherit both.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Protocol, TypeVar

VARIABLES = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


@contextmanager
def limited(processes: int | None) -> Iterator[None]:
    """Use so many cores at most as long as the context lasts; None leaves the environment as it is.

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
"""Parts under way or waiting to be taken, for each thread: at most so many results are in memory."""


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
