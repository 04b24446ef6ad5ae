"""How many cores a command may use: `processes` of [machine], for whatever works in it.

The number goes into the environment, which the libraries read when they are loaded: OpenMP's variable counts for linear
algebra (OpenBLAS, MKL), torch and Arrow, loky's for `joblib.cpu_count`, by which our own threads and processes are
counted. Processes that the command starts inherit both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLES = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


@contextmanager
def limited(processes: int | None) -> Iterator[None]:
    """Use so many cores at most as long as the context lasts; None leaves the environment as it is.

    A library that was loaded before keeps the number of threads that it has.
    """
    before = {name: os.environ.get(name) for name in VARIABLES}
    if processes is not None:
        # Threads of linear algebra that share a core wait for each other.
        most = min(processes, os.cpu_count() or processes)
        os.environ.update(dict.fromkeys(VARIABLES, str(most)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
