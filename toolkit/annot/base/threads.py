"""The same work on many parts by the cores of this process, where the libraries beneath let go of Python's lock.

`annot.base.cores` says how many cores that is.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 2
"""Parts under way or waiting to be taken, for each thread: so many results are in memory at most."""


class Each(Protocol):
    """How the same work is done on many parts: `work(part)` for each, in the order of the parts."""

    def __call__(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]: ...


def in_threads(work: Callable[[T], R], parts: Iterable[T], *, most: int | None = None) -> Iterator[R]:
    """`work(part)` for each part, in the order of the parts. Linear algebra beneath keeps to one core a thread.

    most: threads at the most, where memory does not do for one a core.
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
